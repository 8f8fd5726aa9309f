"""fof on ids of every type that codes store: each is kept, or the file is refused.

fof_ids_test.py PROGRAM DATA SNAPSHOTS
"""

import h5py
import numpy as np
from fof_case import FofCase, main
from knn_case import Snapshot

NUM = 300


class Ids(FofCase):
    def write(self, ids):
        Snapshot({1: NUM}).write(self.folder / "snapshot_007")
        with h5py.File(self.folder / "snapshot_007.hdf5", "a") as file:
            file["PartType1/ParticleIDs"] = ids

    def ids_after(self, ids):
        self.write(ids)
        self.succeed("snapshot_007", "--meansep", "0.69", "--min-size", "3", "--membership", "-q")
        group, found = self.membership(7)
        catalogue, _ = self.catalogue(7)
        np.testing.assert_array_equal(np.sort(catalogue["ID"]), np.sort(found[group >= 0]))
        self.assertGreater(len(catalogue["ID"]), 0)
        return found

    def test_every_integer(self):
        number = np.arange(NUM)
        for kind in ("u2", "u4", ">u4", "u8", ">u8", "i2", "i4", ">i4", "i8", ">i8"):
            with self.subTest(kind):
                np.testing.assert_array_equal(self.ids_after(number.astype(kind)), number)

    def test_unsigned_ids_stored_with_a_sign(self):
        for bits in (32, 64):
            with self.subTest(bits):
                ids = (np.arange(NUM) + 2 ** (bits - 1) - NUM // 2).astype(f"u{bits // 8}")
                self.assertTrue((ids.view(f"i{bits // 8}") < 0).any())
                np.testing.assert_array_equal(self.ids_after(ids.view(f"i{bits // 8}")), ids)

    def test_ids_that_are_no_integers(self):
        self.write(np.arange(NUM, dtype=np.float64))
        for options in ([], ["--dry-run"]):
            with self.subTest(options):
                self.assert_refused(
                    ["snapshot_007", "--meansep", "0.69", *options],
                    "/PartType1/ParticleIDs holds floating-point numbers of 64 bits",
                    "integers of up to 64 bits: write it so, or remove it",
                )


if __name__ == "__main__":
    main()
