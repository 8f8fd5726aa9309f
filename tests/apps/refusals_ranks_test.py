"""Any of the commands on three ranks, with inputs that hold no or the wrong data, or outputs
that must not be replaced: as on one rank, one message, status 2, nothing left behind. (What limits,
signals and other runs do is in faults_test.py and lost_ranks_test.py.)

  refusals_ranks_test.py PROGRAM DATA SNAPSHOTS
"""

import unittest

import h5py
import numpy as np
from command_case import NEEDS_MPI, PROGRAM, SNAPSHOTS, CommandCase, launcher, main
from knn_case import Snapshot

BAD = SNAPSHOTS / "bad"
RANKS = launcher(3)
# Of each command: arguments, and words of the message.
REFUSALS = {
    "fof": {
        "snapshot_007 --json snapshot_007.hdf5": ["--json", "is read"],
        "snapshot_007 -o out --json out/groups_007/fof_subhalo_tab_007.0.hdf5": [
            "--json",
            "-o out/",
        ],
        f"{BAD}/virtual_gap.hdf5": ["Coordinates", "incomplete"],
        f"{BAD}/virtual_no_dataset.hdf5": ["Coordinates", "no dataset 'none'"],
        f"{BAD}/unwritten_chunks.hdf5": ["Coordinates", "never written"],
        f"{BAD}/external_short.hdf5": ["short.raw"],
        f"{BAD}/signed_coordinates.hdf5": ["signed integers"],
        f"{BAD}/link_loop": ["symbolic links"],
        "snapshot_007 --box-size 1e300 --meansep 0.7": ["1e+300", "32 bits"],
        "snapshot_007 --json /dev/full --meansep 0.7": ["/dev/full"],
    },
    "knn": {
        "snapshot_007 -k 0": ["-k", "1 to 4096"],
        "snapshot_007 --query not_finite.hdf5": ["10 of 10 queries", "not finite"],
        "snapshot_007 --query none.hdf5": ["none.hdf5", "no such file"],
        "snapshot_007 -o snapshot_007.hdf5": ["snapshot_007.hdf5", "is read"],
        "snapshot_007 -o points.hdf5/out.hdf5": ["points.hdf5"],
        "snapshot_007 -k 4 --json snapshot_007.hdf5": ["--json", "is read"],
        "snapshot_007 -k 4 --query points.hdf5 --json points.hdf5": ["--json", "is read"],
        "snapshot_007 -k 4 -o out.hdf5 --json out.hdf5": ["--json", "-o"],
        "snapshot_007 -k 4 -o /dev/null": ["/dev/null", "a device"],
        "snapshot_007 -k 4 --query unwritten.hdf5": ["never written"],
        "timeless_003 -k 4": ["timeless_003.2.hdf5", "another snapshot", "time"],
        f"{BAD}/virtual_none.hdf5 -k 4": ["missing"],
        "snapshot_007 -k 4 --box-size 1e300": ["1e+300", "32 bits"],
    },
    "density": {
        "snapshot_007 --grid 0": ["--grid", "1 to 1048576"],
        "snapshot_007 --grid 100000": ["--grid 100000", "PiB", "available"],
        "snapshot_007 -o power.txt/out.hdf5": ["power.txt"],
        "snapshot_007 --power power.txt/p.txt": ["power.txt"],
        "snapshot_007 --grid 4 --json snapshot_007.hdf5": ["--json", "is read"],
        "snapshot_007 --grid 4 --image map.png --haloes unwritten_groups.hdf5": [
            "unwritten_groups.hdf5"
        ],
        f"{BAD}/unwritten.hdf5 --grid 4": ["never written"],
        "snapshot_007 --grid 4 --box-size 1e300": ["1e+300", "32 bits"],
    },
    "ics": {
        "--num 4 --box-size 50 --linear-power power.txt --json power.txt": ["--json", "is read"],
        "--num 4 --box-size 50 -o out.hdf5 --json out.hdf5": ["--json", "-o"],
    },
}[PROGRAM.name]


@NEEDS_MPI
class OnRanks(CommandCase):
    def setUp(self):
        super().setUp()
        (self.folder / "out/groups_007").mkdir(parents=True)
        Snapshot({1: 500}).write(self.folder / "snapshot_007")
        Snapshot({1: 60}).write(self.folder / "timeless_003", num_files=3)
        with h5py.File(self.folder / "timeless_003.2.hdf5", "r+") as file:
            for name in ("Time", "Redshift"):
                del file["Header"].attrs[name]
        (self.folder / "power.txt").write_text(
            "".join(f"{k} {1 / k}\n" for k in (0.01, 0.1, 1.0, 10.0))
        )
        with h5py.File(self.folder / "points.hdf5", "w") as file:
            file["Coordinates"] = np.ones((10, 3))
        with h5py.File(self.folder / "not_finite.hdf5", "w") as file:
            file["Coordinates"] = np.full((10, 3), np.nan)
        with h5py.File(self.folder / "unwritten.hdf5", "w") as file:
            file.create_dataset("Coordinates", (10, 3), np.float64)
        with h5py.File(self.folder / "unwritten_groups.hdf5", "w") as file:
            file.create_dataset("Group/GroupPos", (3, 3), np.float64)

    def contents(self):
        return {path: path.read_bytes() for path in self.folder.rglob("*") if path.is_file()}

    def test_refusals(self):
        before = self.contents()
        for arguments, words in REFUSALS.items():
            with self.subTest(arguments):
                self.assert_refused(arguments.split(), *words, launcher=RANKS)
        self.assertEqual(self.contents(), before)

    @unittest.skipUnless(PROGRAM.name == "fof", "its -o names a folder")
    def test_names_with_newlines(self):
        """Nothing but the folders that were made is removed."""
        (self.folder / "points").write_text("of the user")
        before = self.contents()
        for folder in ("out\npoints", "new\nname/points"):
            self.assert_refused([BAD / "nan.hdf5", "-o", folder], "not finite", launcher=RANKS)
        self.assertEqual(self.contents(), before)
        self.assertFalse((self.folder / "new\nname").exists())

    @unittest.skipUnless(PROGRAM.name == "fof", "of catalogues")
    def test_velocities_that_are_not_finite(self):
        with h5py.File(self.folder / "snapshot_007.hdf5", "r+") as file:
            file["PartType1/Velocities"][:] = np.nan
        status, _, errors = self.run_command(
            "snapshot_007", "--rlink-abs", 0.5, "--min-size", 2, "-q", launcher=RANKS
        )
        self.assertEqual((status, errors.count("fof: warning: the velocities of")), (0, 1), errors)

    @unittest.skipUnless(PROGRAM.name == "knn", "its -o names a file")
    def test_names_with_percent_signs(self):
        status, _, errors = self.run_command(
            "snapshot_007",
            "-k",
            2,
            "--files",
            2,
            "--master",
            "-o",
            "k%%.hdf5",
            "-q",
            launcher=RANKS,
        )
        self.assertEqual((status, errors), (0, ""))
        with h5py.File(self.folder / "k%%.hdf5") as file:
            np.testing.assert_array_equal(
                file["PartType1/Indices"][:, 0], np.arange(500)
            )  # each is nearest to itself

    @unittest.skipUnless(PROGRAM.name == "density", "of power spectra")
    def test_grids_without_waves(self):
        status, _, errors = self.run_command(
            "snapshot_007", "--grid", 2, "--power", "p.txt", "-q", launcher=RANKS
        )
        self.assertEqual((status, errors.count("density: warning: --grid 2")), (0, 1), errors)


if __name__ == "__main__":
    main()
