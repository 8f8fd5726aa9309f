"""fof on columns that cannot be read: an error of those that need them only, with what to do about
it.

fof_columns_test.py PROGRAM DATA SNAPSHOTS
"""

import h5py
import numpy as np
from fof_case import FofCase, main
from knn_case import Snapshot

NUM = 300
OPTIONS = ("--rlink-abs", "0.1", "--meansep", "1")
LZF = {"chunks": True, "compression": "lzf"}  # h5py has that filter, HDF5 does not
LZF_WORDS = ("compressed with lzf (number 32000)", "install that filter", "HDF5_PLUGIN_PATH")
# HDF5 cuts such numbers to 64 bits.
INT128 = h5py.h5t.STD_I64LE.copy()
INT128.set_size(16)
INT128.set_precision(128)


def rewrite(file, path, **options):
    """The same numbers, stored in another way."""
    values = file[path][:]
    del file[path]
    file.create_dataset(path, data=values, **options)


def replace(file, path, values):
    if path in file:
        del file[path]
    file[path] = values


def never_write_masses(file):
    del file["PartType1/Masses"]
    file.create_dataset("PartType1/Masses", (NUM,), np.float32)


class Columns(FofCase):
    def write(self, change, counts=None):
        snapshot = Snapshot(counts or {0: NUM, 1: NUM})
        snapshot.write(self.folder / "snap_007")
        with h5py.File(self.folder / "snap_007.hdf5", "r+") as file:
            change(file)
        return "snap_007.hdf5"

    def assert_needed_by_type_0_only(self, change, *words):
        """A run with type 0 is refused, already by --dry-run; one with type 1 alone is not."""
        name = self.write(change)
        for dry in ([], ["--dry-run"]):
            for types in (
                ["--link-types", "0"],
                ["--link-types", "0,1"],
                ["--link-types", "1", "--attach-types", "0"],
            ):
                self.assert_refused([name, *types, *OPTIONS, *dry], name, "PartType0", *words)
        self.fof(name, "--link-types", "1", *OPTIONS)

    def test_filters_that_are_missing(self):
        for column in ("Coordinates", "Velocities", "Masses"):
            with self.subTest(column):
                self.assert_needed_by_type_0_only(
                    lambda file, column=column: rewrite(file, f"PartType0/{column}", **LZF),
                    f"PartType0/{column}",
                    *LZF_WORDS,
                )

    def test_shapes(self):
        for column, values, shape in (
            ("Coordinates", np.ones((NUM, 2), np.float32), "(300, 2)"),
            ("Velocities", np.ones((NUM, 4), np.float32), "(300, 4)"),
            ("Masses", np.ones((NUM, 2), np.float32), "(300, 2)"),
            ("ParticleIDs", np.ones((NUM, 2), np.uint32), "(300, 2)"),
            ("Velocities", h5py.Empty("f4"), "()"),
        ):
            with self.subTest(column, shape=shape):
                self.assert_needed_by_type_0_only(
                    lambda file, column=column, values=values: (
                        replace(file, "PartType0/ParticleIDs", np.arange(NUM)),
                        replace(file, "PartType1/ParticleIDs", np.arange(NUM)),
                        replace(file, f"PartType0/{column}", values),
                    ),
                    f"/PartType0/{column} has the shape {shape}",
                    "write it so",
                )

    def test_text_in_place_of_numbers(self):
        self.assert_needed_by_type_0_only(
            lambda file: (
                replace(file, "PartType0/ParticleIDs", np.full(NUM, b"7")),
                replace(file, "PartType1/ParticleIDs", np.arange(NUM)),
            ),
            "/PartType0/ParticleIDs does not hold numbers",
            "write numbers, or remove it",
        )

    def test_masses_beside_a_table(self):
        """Not needed, whatever is wrong with them."""
        for change in (
            lambda file: rewrite(file, "PartType1/Masses", **LZF),
            lambda file: replace(file, "PartType1/Masses", h5py.Empty("f4")),
            never_write_masses,
        ):

            def with_table(file, change=change):
                change(file)
                file["Header"].attrs["MassTable"] = np.ones(6)

            self.fof(self.write(with_table, {1: NUM}), *OPTIONS)

    def test_a_type_without_particles(self):
        for values in (h5py.Empty("f4"), np.zeros((0, 2)), np.zeros((0,), "S3")):

            def change(file, values=values):
                for column in ("Coordinates", "Masses", "ParticleIDs"):
                    file[f"PartType4/{column}"] = values

            self.fof(self.write(change), "--link-types", "1", *OPTIONS)

    def test_ids_of_more_than_64_bits(self):
        def change(file):
            space = h5py.h5s.create_simple((NUM,))
            group = file["PartType1"].id
            ids = h5py.h5d.create(group, b"ParticleIDs", INT128, space)
            ids.write(h5py.h5s.ALL, h5py.h5s.ALL, np.arange(NUM))

        name = self.write(change, {1: NUM})
        for options in ([], ["--membership"], ["--dry-run"]):
            self.assert_refused(
                [name, *OPTIONS, *options],
                name,
                "/PartType1/ParticleIDs holds integers of 128 bits",
                "up to 64 bits",
                "remove it",
            )

    def test_a_column_that_one_file_of_many_spoils(self):
        Snapshot({1: NUM}).write(self.folder / "set_007", num_files=3)
        with h5py.File(self.folder / "set_007.1.hdf5", "r+") as file:
            rewrite(file, "PartType1/Velocities", **LZF)
        for number in range(3):
            self.assert_refused(
                [f"set_007.{number}.hdf5", *OPTIONS], "set_007.1.hdf5", "Velocities", *LZF_WORDS
            )

    def test_a_filter_that_is_missing_behind_a_virtual_file(self):
        def change(file):
            pos = file["PartType1/Coordinates"][:]
            layout = h5py.VirtualLayout(pos.shape, pos.dtype)
            for number, rows in enumerate((slice(0, 100), slice(100, NUM))):
                with h5py.File(self.folder / f"part.{number}.hdf5", "w") as part:
                    part.create_dataset("pos", data=pos[rows], **(LZF if number else {}))
                layout[rows] = h5py.VirtualSource(
                    f"part.{number}.hdf5", "pos", pos[rows].shape, pos.dtype
                )
            del file["PartType1/Coordinates"]
            file.create_virtual_dataset("PartType1/Coordinates", layout)

        name = self.write(change, {1: NUM})
        self.assert_refused([name, *OPTIONS], name, "Coordinates", "part.1.hdf5", *LZF_WORDS)


if __name__ == "__main__":
    main()
