"""fof, knn and density on inputs that draw on other files: through external links, virtual
datasets, external storage, links of the file system. A run that would replace one of these is
refused before anything is read. The same run on other inputs replaces it, so that it is this alone
which stops it.

  inputs_stay_test.py PROGRAM
"""

import os
import shutil
import unittest

import h5py
import numpy as np
from command_case import MPIEXEC, PROGRAM, launcher, main
from knn_case import KnnCase

GROUP = "PartType1"
POINTS = f"{GROUP}/Coordinates"
# Options, one of the names of results, and what they hold besides particles.
OPTIONS, HELD, ATTRIBUTES = {
    "fof": (
        ["--meansep", 0.7],
        "fof_output/groups_007/fof_subhalo_tab_007.3.hdf5",
        {"Ngroups_Total": 0},
    ),
    "knn": (["-k", 2, "-o", "held", "--files", 2], "held.3.hdf5", {"NumPart_Total": [0] * 6}),
    "density": (
        ["--grid", 4, "--weights", "number", "-o", "held", "--files", 2],
        "held.3.hdf5",
        {},
    ),
}[PROGRAM.name]


def virtual(file, path, source, name):
    """A virtual dataset that shows one of another file. The path may be absolute."""
    with h5py.File(source, "r") as other:
        shape, kind = other[name].shape, other[name].dtype
    layout = h5py.VirtualLayout(shape, kind)
    layout[:] = h5py.VirtualSource(str(source), name, shape)
    file.create_virtual_dataset(path, layout)


class InputsStay(KnnCase):
    def setUp(self):
        super().setUp()
        self.snapshot({1: 60})
        self.held = self.folder / HELD
        self.held.parent.mkdir(parents=True, exist_ok=True)
        self.make_held()

    def make_held(self):
        """As if an earlier run of this command had written it; it has particles, too."""
        with h5py.File(self.held, "w") as file, h5py.File(self.folder / "snapshot_007.hdf5") as own:
            own.copy(GROUP, file)
            header = file.create_group("Header")
            header.attrs.update({"NumFiles": 4, **ATTRIBUTES})
            file.create_group("Parameters").attrs["Code"] = "zhalo"

    def drawing(self, name="drawing_007.hdf5"):
        """A snapshot without particles, to which these are to be added."""
        shutil.copy(self.folder / "snapshot_007.hdf5", self.folder / name)
        file = h5py.File(self.folder / name, "r+")
        del file[GROUP]
        self.addCleanup(file.close)
        return file

    def assert_it_stays(self, *arguments, read="drawing_007.hdf5", ranks=1):
        before = self.held.read_bytes()
        for more in ([], ["--dry-run"]):
            self.assert_refused(
                [read, *OPTIONS, *more, *arguments],
                "would replace",
                self.held.name,
                "is read",
                "choose another name",
                launcher=launcher(ranks),
            )
        self.assertEqual(self.held.read_bytes(), before)

    def test_it_is_replaced_by_others(self):
        self.succeed("snapshot_007.hdf5", *OPTIONS, "-q")
        self.assertFalse(self.held.exists())

    def test_external_links(self):
        """Of a group, a dataset, behind a link inside the file, in a file between."""
        with h5py.File(self.folder / "between.hdf5", "w") as file:
            file["there"] = h5py.ExternalLink(HELD, GROUP)
        shutil.copy(self.folder / "snapshot_007.hdf5", self.folder / "end.hdf5")
        with h5py.File(self.held, "r+") as file:
            file["back"] = h5py.ExternalLink(self.folder / "end.hdf5", GROUP)
        ways = {
            "group": {GROUP: h5py.ExternalLink(HELD, GROUP)},
            "absolute": {GROUP: h5py.ExternalLink(self.held, GROUP)},
            "dataset": {POINTS: h5py.ExternalLink(HELD, POINTS)},
            "soft": {
                "elsewhere": h5py.ExternalLink(HELD, "/"),
                GROUP: h5py.SoftLink(f"/elsewhere/{GROUP}"),
            },
            "chain": {GROUP: h5py.ExternalLink("between.hdf5", "there")},
            "passed": {GROUP: h5py.ExternalLink(HELD, "back")},
        }
        for way, links in ways.items():
            with self.subTest(way):
                with self.drawing() as file:
                    for path, link in links.items():
                        file[path] = link
                self.assert_it_stays()

    def test_groups_of_attributes(self):
        """The header alone may lie in another file."""
        shutil.copy(self.folder / "snapshot_007.hdf5", self.folder / "drawing_007.hdf5")
        with h5py.File(self.folder / "drawing_007.hdf5", "r+") as file:
            attributes = dict(file["Header"].attrs)
            del file["Header"]
            file["Header"] = h5py.ExternalLink(HELD, "there")
        with h5py.File(self.held, "r+") as file:
            file.create_group("there").attrs.update(attributes)
        self.assert_it_stays()

    def test_virtual_datasets(self):
        """Of the file, of a virtual dataset that shows it, of links to it; a part of many."""
        with h5py.File(self.folder / "between.hdf5", "w") as file:
            virtual(file, "shown", self.held, POINTS)
            file["linked"] = h5py.ExternalLink(HELD, POINTS)
        for source, name in (
            (self.held, POINTS),
            (self.folder / "between.hdf5", "shown"),
            (self.folder / "between.hdf5", "linked"),
        ):
            with self.subTest(source=source.name, name=name):
                with self.drawing() as file:
                    virtual(file, POINTS, source, name)
                self.assert_it_stays()

    def test_one_part_of_many(self):
        """Of a master; the names of its parts are relative to it."""
        with h5py.File(self.held) as held, self.drawing() as file:
            points = held[POINTS][:]
            layout = h5py.VirtualLayout(points.shape, points.dtype)
            for number in range(4):
                rows = slice(15 * number, 15 * (number + 1))
                part = self.folder / f"part.{number}.hdf5"
                with h5py.File(part, "w") as other:
                    other[POINTS] = points[rows]
                name = HELD if number == 2 else part.name
                layout[rows] = h5py.VirtualSource(name, POINTS, points[:15].shape)
            file.create_virtual_dataset(POINTS, layout)
        with h5py.File(self.held, "r+") as held:
            del held[POINTS]
            held[POINTS] = points[30:45]
        for ranks in (1, 3) if MPIEXEC else (1,):
            self.assert_it_stays(ranks=ranks)

    def test_one_file_of_many(self):
        """Another rank than the first looks into it."""
        self.snapshot({1: 60}, name="many_007", num_files=3)
        with h5py.File(self.folder / "many_007.2.hdf5", "r+") as file:
            points = file[POINTS][:]
            del file[POINTS]
            file[POINTS] = h5py.ExternalLink(HELD, POINTS)
        with h5py.File(self.held, "r+") as held:
            del held[POINTS]
            held[POINTS] = points
        for ranks in (1, 3) if MPIEXEC else (1,):
            self.assert_it_stays(read="many_007", ranks=ranks)

    def test_external_storage(self):
        """Bytes without HDF5."""
        with h5py.File(self.held) as held, self.drawing() as file:
            points = held[POINTS][:]
            file.create_dataset(
                POINTS,
                points.shape,
                points.dtype,
                external=[(HELD, 0, h5py.h5f.UNLIMITED)],
            )
        self.held.write_bytes(points.tobytes())
        self.assert_it_stays()

    def test_chains_of_links(self):
        """A result in place of any of them would show under the input's name."""
        (self.folder / "real").mkdir()
        os.rename(self.folder / "snapshot_007.hdf5", self.folder / "real/end_007.hdf5")
        self.held.unlink()
        self.held.symlink_to(self.folder / "real/end_007.hdf5")
        (self.folder / "second.hdf5").symlink_to(HELD)
        (self.folder / "first_007.hdf5").symlink_to("second.hdf5")
        for read in ("first_007.hdf5", "real/end_007.hdf5"):
            self.assert_refused([read, *OPTIONS], "would replace", read, "is read")
        self.assertTrue(self.held.is_symlink())

    def test_two_names_of_one_file(self):
        self.held.unlink()
        os.link(self.folder / "snapshot_007.hdf5", self.held)
        self.assert_refused(
            ["snapshot_007.hdf5", *OPTIONS], "would replace", "snapshot_007", "is read"
        )

    @unittest.skipUnless(PROGRAM.name == "knn", "queries are given to knn")
    def test_queries(self):
        """Points, and those of another snapshot."""
        with h5py.File(self.folder / "points.hdf5", "w") as file:
            file["Coordinates"] = h5py.ExternalLink(HELD, POINTS)
        with self.drawing() as file:
            file[GROUP] = h5py.ExternalLink(HELD, GROUP)
        for query in ("points.hdf5", "drawing_007.hdf5"):
            for ranks in (1, 3) if MPIEXEC else (1,):
                self.assert_it_stays("--query", query, read="snapshot_007.hdf5", ranks=ranks)

    @unittest.skipUnless(PROGRAM.name == "density", "density shows haloes")
    def test_haloes(self):
        if "this build has no cairo" in self.succeed("--help"):
            self.skipTest("this build has no pictures")
        with h5py.File(self.held, "r+") as file:
            file["there/GroupPos"] = np.ones((3, 3))
            file["there/GroupMass"] = np.ones(3)
            file["there/GroupLen"] = np.ones(3, np.int32)
        with h5py.File(self.folder / "haloes.hdf5", "w") as file:
            file.create_group("Header").attrs["BoxSize"] = 10.0
            file["Group"] = h5py.ExternalLink(HELD, "there")
        self.assert_it_stays(
            "--image", "map.png", "--haloes", "haloes.hdf5", read="snapshot_007.hdf5"
        )

    def test_reports(self):
        """A report replaces no storage of an input, even if it begins as a report does."""
        with h5py.File(self.held) as held, self.drawing() as file:
            points = held[POINTS][:]
            begin = b'{\n  "command": "fof"'.ljust(32)
            file.create_dataset(
                POINTS,
                points.shape,
                points.dtype,
                external=[("bytes.json", len(begin), h5py.h5f.UNLIMITED)],
            )
        (self.folder / "bytes.json").write_bytes(begin + points.tobytes())
        before = (self.folder / "bytes.json").read_bytes()
        self.assert_refused(
            ["drawing_007.hdf5", *OPTIONS, "--json", "bytes.json"],
            "--json 'bytes.json' would replace",
            "is read",
        )
        self.assertEqual((self.folder / "bytes.json").read_bytes(), before)


if __name__ == "__main__":
    main()
