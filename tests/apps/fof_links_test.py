"""fof on files in which something else is in the place of particles: links that lead nowhere, a
dataset where a group should be, what only a newer HDF5 reads.

fof_links_test.py PROGRAM DATA SNAPSHOTS
"""

import os

import h5py
import numpy as np
from fof_case import FofCase, main
from knn_case import Snapshot

NUM = 300
OPTIONS = ("--rlink-abs", "0.1", "--meansep", "1")


class Links(FofCase):
    def write(self, target):
        """A snapshot whose particles are behind a link to /data in another file, which is not
        there."""
        snapshot = Snapshot({1: NUM})
        snapshot.write(self.folder / "snap_007")
        with h5py.File(self.folder / "snap_007.hdf5", "r+") as file:
            with h5py.File(self.folder / "whole.hdf5", "w") as other:
                file.copy("PartType1", other, "data")
            del file["PartType1"]
            file["PartType1"] = target
        return "snap_007.hdf5"

    def test_to_other_files(self):
        name = self.write(h5py.ExternalLink("other.hdf5", "/data"))
        other = self.folder / "other.hdf5"
        start = [name, "/PartType1 is a link that leads nowhere: it names '/data'", "'other.hdf5'"]
        self.assert_refused([name, *OPTIONS], *start, "it is missing", "put that file there")
        other.mkdir()
        self.assert_refused([name, *OPTIONS], *start, "is not a file", "put the right file")
        other.rmdir()
        other.write_text("hello")
        self.assert_refused([name, *OPTIONS], *start, "not an HDF5 file", "put the right file")
        other.unlink()
        with h5py.File(other, "w"):
            pass
        self.assert_refused([name, *OPTIONS], *start, "has no such object", "mend the link")
        os.replace(self.folder / "whole.hdf5", other)
        self.fof(name, *OPTIONS)

    def test_within_the_file(self):
        name = self.write(h5py.SoftLink("/none"))
        self.assert_refused(
            [name, *OPTIONS], name, "/PartType1", "leads nowhere", "'/none' in the same file"
        )

    def test_a_dataset_in_place_of_a_group(self):
        snapshot = Snapshot({1: NUM})
        snapshot.write(self.folder / "snap_007")
        with h5py.File(self.folder / "snap_007.hdf5", "r+") as file:
            del file["PartType1"]
            file["PartType1"] = np.zeros(3)
        self.assert_refused(
            ["snap_007.hdf5", *OPTIONS],
            "/PartType1 is no group",
            "there is no /PartType1/Coordinates",
            "write a group",
        )

    def test_a_version_that_hdf5_does_not_know(self):
        """The number is in the layout message of a dataset of one row: 3 there is 9 here."""
        with h5py.File(self.folder / "new_007.hdf5", "w", libver="earliest") as file:
            file.create_group("Header").attrs.update(Snapshot({1: 1}).header({1: 1}, 1))
            file["PartType1/Coordinates"] = np.ones((1, 3))
            offset = file["PartType1/Coordinates"].id.get_offset()
        data = (self.folder / "new_007.hdf5").read_bytes()
        layout = b"\x03\x01" + offset.to_bytes(8, "little")  # version, contiguous, address
        self.assertEqual(data.count(layout), 1)
        (self.folder / "new_007.hdf5").write_bytes(
            data.replace(layout, b"\x09\x01" + layout[2:])
        )
        self.assert_refused(
            ["new_007.hdf5", *OPTIONS], "Coordinates", "version", "newer HDF5", "v110"
        )


if __name__ == "__main__":
    main()
