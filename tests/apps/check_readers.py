#!/usr/bin/env python3
"""Opens a catalogue with the field's own readers: yt, pynbody and illustris_python, those that are installed.

    check_readers.py SNAPSHOT OUT

OUT holds one groups_NNN that was made from SNAPSHOT, dark matter in one file. Exit code 77 if none of the three is installed.
Needs numpy and h5py.
"""

import glob
import importlib.util
import sys
import warnings

import h5py
import numpy as np


class Expected:
    """What the files say, read by hand."""

    def __init__(self, out):
        folder = glob.glob(f"{out}/groups_*")[0]
        self.number = folder[-3:]
        self.paths = sorted(glob.glob(f"{folder}/*.*.hdf5"), key=lambda path: int(path.split(".")[-2]))
        with_column = [h5py.File(path, "r") for path in self.paths]
        self.length = np.concatenate([f["Group/GroupLen"][:] for f in with_column])
        self.position = np.concatenate([f["Group/GroupPos"][:] for f in with_column])
        self.ids = np.concatenate([f["IDs/ID"][:] for f in with_column])
        self.first = np.cumsum(self.length) - self.length

    def members(self, group):
        return np.sort(self.ids[self.first[group]:][:self.length[group]])


def check_yt(_, out, expected):
    import yt

    yt.set_log_level(50)
    catalogue = yt.load(expected.paths[0])
    assert type(catalogue).__name__ == "GadgetFOFDataset"
    assert np.array_equal(catalogue.all_data()["Group", "GroupLen"].v, expected.length)
    for group in range(len(expected.length)):
        halo = catalogue.halo("Group", group)
        assert np.array_equal(np.sort(halo["Group", "member_ids"].v.astype(np.uint64)), expected.members(group)), group
        assert np.allclose(halo.position.to("code_length").v, expected.position[group]), group


def check_pynbody(snapshot, _, expected):
    import pynbody
    from pynbody.halo.subfindhdf import Gadget4SubfindHDFCatalogue, TNGSubfindHDFCatalogue

    particles = pynbody.load(snapshot)
    for reader in (Gadget4SubfindHDFCatalogue, TNGSubfindHDFCatalogue):
        groups = reader(particles, filename=expected.paths[0])
        assert len(groups) == len(expected.length)
        assert [len(groups[i]) for i in range(20)] == list(expected.length[:20])
        assert np.allclose(groups[0].properties["GroupPos"].view(np.ndarray), expected.position[0])


def check_illustris_python(_, out, expected):
    import illustris_python

    groups = illustris_python.groupcat.loadHalos(out, int(expected.number), fields=["GroupLen", "GroupPos"])
    assert np.array_equal(groups["GroupLen"], expected.length)
    assert np.allclose(groups["GroupPos"], expected.position)


def main(snapshot, out):
    warnings.simplefilter("ignore")
    expected = Expected(out)
    opened = 0
    for name, check in (("yt", check_yt), ("pynbody", check_pynbody), ("illustris_python", check_illustris_python)):
        if importlib.util.find_spec(name) is None:
            print(f"check_readers: {name} is not installed: skipped")
            continue
        check(snapshot, out, expected)
        opened += 1
        print(f"check_readers: {name} opens {out}: {len(expected.length)} groups")
    return 0 if opened else 77


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]) if len(sys.argv) == 3 else __doc__)
