"""What the tests of the readers share: catalogues that fof wrote, and what zhalo says is in them.

Every test script is called with  PROGRAM DATA SNAPSHOTS [unittest arguments]  by the Python of the
readers' environment (environment.py). What a reader gives is compared with the files themselves,
read with h5py.
"""

import atexit
import functools
import shutil
import subprocess
import sys
import tempfile
import unittest
import warnings
from pathlib import Path

import h5py
import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "apps"))
from catalogue_files import Catalogue  # noqa: E402
from check_catalogue import Membership  # noqa: E402
from command_case import GADGET, GAS, PROGRAM, SECONDS, SNAPSHOTS, SWIFT, main  # noqa: E402

__all__ = [
    "GADGET_EARLY",
    "GADGET_NOW",
    "GAS_SNAPSHOT",
    "LAYOUTS",
    "ReaderCase",
    "SNAPSHOTS",
    "SOURCES",
    "SWIFT_SNAPSHOT",
    "changed",
    "main",
    "written",
]

GADGET_NOW = GADGET / "snapshot_001.hdf5"  # z = 0
GADGET_EARLY = GADGET / "snapshot_000.hdf5"  # z = 1
SWIFT_SNAPSHOT, GAS_SNAPSHOT = SWIFT / "snap_0000.hdf5", GAS / "snap_0000.hdf5"


class Written:
    """What one run of fof wrote: where it lies, and what is in it."""

    def __init__(self, out, snapshot):
        self.out, self.snapshot = str(out), str(snapshot)
        self.catalogue = Catalogue(self.out)
        self.membership = Membership(self.out, self.catalogue.number)
        self.membership.check_against(self.catalogue)
        self.columns, self.num = self.catalogue.columns, self.catalogue.num
        self.stem = self.catalogue.master[: -len(".hdf5")]
        self.kinds = sorted(self.membership.group_of)  # particle types, linked and attached

    def path(self, layout):
        """What a user opens; without a master any of the numbered files."""
        return self.catalogue.master if layout == "a master" else self.catalogue.paths[0]

    def ids_of(self, group):
        """The ids of a group's members, sorted."""
        first = self.columns["GroupOffset"][group]
        return np.sort(self.catalogue.ids[first : first + self.columns["GroupLen"][group]])


def new_folder():
    """An empty folder that lasts as long as the tests."""
    folder = tempfile.mkdtemp()
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return Path(folder)


@functools.lru_cache(maxsize=None)
def written(snapshot, *options):
    """The catalogue and the membership that fof writes with these options."""
    out = new_folder()
    result = subprocess.run(
        [PROGRAM, snapshot, "-q", "-o", out, "--membership", *options],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    if result.returncode != 0:
        raise AssertionError(f"fof {snapshot}: {result.stderr}")
    return Written(out, snapshot)


def changed(snapshot, change):
    """A copy of a snapshot; change(file) has been done to it."""
    copy = new_folder() / snapshot.name
    shutil.copyfile(snapshot, copy)
    with h5py.File(copy, "a") as file:
        change(file)
    return copy


def add_velocities(file):
    """Any velocities: those of data/swift-gas64 were left out."""
    random = np.random.default_rng(1)
    for kind in (0, 1):
        group = file[f"PartType{kind}"]
        shape = group["Coordinates"].shape
        group["Velocities"] = random.normal(0, 300, shape).astype(np.float32)


WITH_GAS = changed(GAS_SNAPSHOT, add_velocities)
SOURCES = {
    "GADGET-4, z = 0": (GADGET_NOW,),
    "GADGET-4, z = 1": (GADGET_EARLY,),
    "SWIFT": (SWIFT_SNAPSHOT,),
    "SWIFT with gas": (WITH_GAS, "--attach-types", "0", "--attach-radius", "1"),
}
LAYOUTS = {
    "one file": ("--files", "1"),
    "three files": ("--files", "3"),
    "a master": ("--files", "3", "--master"),
}


class ReaderCase(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        warnings.simplefilter("ignore")  # the readers' own, about numpy and each other

    def on_each(self, check, sources=tuple(SOURCES), layouts=tuple(LAYOUTS)):
        """check(what was written, name of the layout) for each of these."""
        for source in sources:
            for layout in layouts:
                with self.subTest(source=source, layout=layout):
                    check(written(*SOURCES[source], *LAYOUTS[layout]), layout)

    def assert_columns(self, read, ours):
        """Every column of ours, by name, is what `read(name)` gives, to the last bit."""
        for name, column in ours.items():
            with self.subTest(column=name):
                np.testing.assert_array_equal(np.asarray(read(name)), column)
