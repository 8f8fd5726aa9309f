"""fof where something is missing, wrong, or left out: it says so, and never uses zeros for what is
not there.

fof_warnings_test.py PROGRAM DATA SNAPSHOTS
"""

import json
import shutil

import h5py
import numpy as np
from catalogue_files import VELOCITIES
from command_case import MPIEXEC, SWIFT
from fof_case import GADGET, GAS, SNAPSHOT, SNAPSHOTS, FofCase, main


class Warnings(FofCase):
    def test_more_than_the_memory_of_the_machine(self):
        """The number is what a run needs at most: it may try."""
        huge = SNAPSHOTS / "huge/with_high_word_004.hdf5"
        status, output, errors = self.run_fof(huge, "--dry-run", "--rlink-abs", "0.01")
        self.assertEqual(status, 0, errors)
        memory = output.split("Memory       at most ")[1].split(" for")[0]
        self.assertIn(f"particles may need {memory} on a machine that has ", errors)

    def test_warnings(self):
        cases = {
            ("--rlink", "0.6"): "0.6 mean separations",
            ("--rlink", "1e-4"): "0.0001 mean separations",
            ("--rlink-abs", "13"): "0.26 times the box's side",
            ("--meansep", "rho", "--box-size", "60"): "differ by 20.0%",
        }
        for options, words in cases.items():
            with self.subTest(options):
                status, _, errors = self.run_fof(SNAPSHOT, "--dry-run", *options)
                self.assertEqual(status, 0)
                self.assertTrue(
                    any(
                        line.startswith("fof: warning: ") and words in line
                        for line in errors.splitlines()
                    ),
                    errors,
                )
                self.assertEqual(
                    self.run_fof(SNAPSHOT, "--dry-run", "-q", *options), (0, "", errors)
                )

    def test_velocities_that_are_not_finite(self):
        shutil.copy(SNAPSHOT, self.folder / "snapshot_001.hdf5")
        self.fof(SNAPSHOT, "--membership", "-q", "-o", "whole")
        group, _ = self.membership(1, out="whole")
        with h5py.File(self.folder / "snapshot_001.hdf5", "r+") as file:
            velocities = file["PartType1/Velocities"][:]
            velocities[np.flatnonzero(group == 3)[0], 1] = np.nan
            velocities[np.flatnonzero(group == 5)[0], 2] = np.inf
            velocities[np.flatnonzero(group < 0)[0]] = np.nan  # of no consequence
            file["PartType1/Velocities"][:] = velocities
        status, _, errors = self.run_fof("snapshot_001.hdf5", "--json", "report.json")
        words = "the velocities of 2 of 468 groups are not finite"
        self.assertEqual(
            (status, errors.count("fof: warning: "), words in errors), (0, 1, True), errors
        )
        self.assertIn(words, json.loads((self.folder / "report.json").read_text())["warnings"][0])

    def test_one_number_that_spoils_all_sums(self):
        """Of a particle in no group, far beyond all others. What is 10^8 times theirs is left
        alone."""
        self.fof(SNAPSHOT, "--membership", "-q", "-o", "whole")
        group, _ = self.membership(1, out="whole")
        lone = np.flatnonzero(group < 0)[0]

        def copy(dataset, factor):
            def edit(file):
                columns = file["PartType1"]
                if dataset == "Masses":
                    columns["Masses"] = np.full(len(group), 0.5, np.float32)
                    file["Header"].attrs["MassTable"] = np.zeros(6)
                values = columns[dataset][:]
                values[lone] = factor * np.abs(values).max()
                columns[dataset][:] = values

            return self.copy_of_snapshot(edit)

        cases = {
            ("Velocities", 1e16): ("the velocities of 468 of 468 groups", "largest velocity"),
            ("Velocities", 1e33): ("the velocities of 468 of 468 groups", "largest velocity"),
            ("Masses", 1e28): ("the masses and all other sums of 468 of 468", "largest mass"),
            ("Coordinates", 1e16): ("the centres and radii of ", "the extent of all particles"),
        }
        options = ["--rlink-abs", 0.15625, "--meansep", 0.78125]
        for (dataset, factor), words in cases.items():
            with self.subTest(dataset, factor=factor):
                path = copy(dataset, factor)
                periodic = "no" if dataset == "Coordinates" else "yes"
                self.assert_one_warning([path, *options, "--periodic", periodic], *words)
        if MPIEXEC:
            path = copy("Velocities", 1e33)
            status, _, errors = self.run_fof(path, *options, launcher=(MPIEXEC, "-n", "3"))
            self.assertEqual(status, 0, errors)
            self.assertIn("of 468 of 468 groups have lost", errors)
        for dataset in ("Velocities", "Masses", "Coordinates"):
            with self.subTest(dataset):
                path = copy(dataset, 1e8)
                periodic = "no" if dataset == "Coordinates" else "yes"
                self.fof(path, "-q", *options, "--periodic", periodic)

    def test_velocities_that_are_missing_are_left_out(self):
        """Groups are the same; of velocities there is nothing, not zeros."""
        self.fof(SNAPSHOT, "-q", "-o", "whole")
        path = self.copy_of_snapshot(lambda file: file.pop("PartType1/Velocities"))
        self.assertRegex(
            self.fof(path, "--json", "report.json"),
            r"\nVelocities +the snapshot has none of type 1, so the catalogue has none\n",
        )
        whole, table = self.catalogue(1, "whole")[0], self.catalogue(1)[0]
        self.assertEqual(sorted(set(whole) - set(table)), sorted(VELOCITIES))
        for name, values in table.items():
            np.testing.assert_array_equal(values, whole[name])
        report = json.loads((self.folder / "report.json").read_text())
        self.assertIsNone(report["result"]["largest_groups"][0]["velocity"])
        if MPIEXEC:
            self.assertEqual(
                self.run_fof(path, "-q", "--files", 1, launcher=(MPIEXEC, "-n", "3"))[0], 0
            )
            self.assertEqual(sorted(self.catalogue(1)[0]), sorted(table))

    def test_chunks_beyond_the_snapshots(self):
        for chunk in (0, 1, 2):
            name = f"snapshot_001.{chunk}.hdf5"
            shutil.copy(SNAPSHOTS / "good/split" / name, self.folder)
        options = ["--meansep", 0.78]
        self.fof("snapshot_001.0.hdf5", *options, "-q")
        shutil.copy(self.folder / name, self.folder / "snapshot_001.7.hdf5")
        for given in ("snapshot_001.0.hdf5", "snapshot_001.7.hdf5", self.folder):
            self.assert_one_warning(
                [given, *options], "snapshot_001.7.hdf5' is not read", "has 3 files"
            )
        shutil.copy(self.folder / name, self.folder / "snapshot_001.3.hdf5")
        self.assert_one_warning(
            ["snapshot_001", *options], "snapshot_001.3.hdf5' and 1 more like it are", "has 3 files"
        )

    def test_chunks_that_each_say_to_be_all(self):
        """As tools write them that forget NumFilesPerSnapshot. A number may be a redshift's."""
        source, options = SNAPSHOTS / "good/double/snapshot_001.hdf5", ["--dry-run"]
        for name in ("chunks/snap_001.0", "chunks/snap_001.1", "times/snap_z0.500"):
            path = self.folder / f"{name}.hdf5"
            path.parent.mkdir(exist_ok=True)
            shutil.copy(source, path)
        self.fof("times", *options)  # without a word
        shutil.copy(source, self.folder / "times/snap_z0.750.hdf5")
        self.fof("times/snap_z0.750.hdf5", *options)
        for given, other in (
            ("chunks", "snap_001.1.hdf5"),
            ("chunks/snap_001", "snap_001.1.hdf5"),
            ("chunks/snap_001.1.hdf5", "snap_001.0.hdf5"),
            ("times", "snap_z0.750.hdf5"),
        ):
            self.assert_one_warning([given, *options], f"{other}' is not read", "has 1 file (")

    def test_the_number_of_a_snapshot_behind_a_point(self):
        shutil.copy(SNAPSHOTS / "good/double/snapshot_001.hdf5", self.folder / "snap.007.hdf5")
        self.fof("snap.007.hdf5", "-q")
        self.assertTrue((self.folder / "fof_output/groups_007").is_dir())
        shutil.copy(self.folder / "snap.007.hdf5", self.folder / "snap.008.hdf5")
        self.assert_one_warning([self.folder, "--dry-run"], "snap.008.hdf5' is not read")

    def test_a_number_that_is_too_large(self):
        source = SNAPSHOTS / "bad" / "outside.hdf5"
        for name, number in (("snap_0000000000012", "012"), ("snap_123456789", "123456789")):
            shutil.copy(source, self.folder / f"{name}.hdf5")
            self.fof(f"{name}.hdf5", "--meansep", 0.78, "-q")
            self.assertTrue((self.folder / f"fof_output/groups_{number}").is_dir())
        shutil.copy(source, self.folder / "snap_20261127114500.hdf5")
        self.assert_one_warning(
            ["snap_20261127114500.hdf5", "--meansep", 0.78], "snap_20261127114500", "000", "-o"
        )

    def test_types_that_are_left_out_are_named(self):
        text = self.fof(GAS / "snap_0000.hdf5", "--dry-run")
        self.assertRegex(text, r"\nLeft out +262144 particles of type 0 \(--attach-types 0\)\n")
        self.assertNotIn(
            "Left out", self.fof(GAS / "snap_0000.hdf5", "--dry-run", "--attach-types", 0)
        )

    def test_types_without_positions_cannot_be_attached(self):
        text = self.fof(SNAPSHOTS / "good/arepo/snapdir_001", "--dry-run")
        self.assertRegex(text, r"\nType 3 +7, no Coordinates\n")
        self.assertNotIn("Left out", text)

    def test_half_a_periodic_box_is_the_longest_link(self):
        status, _, errors = self.run_fof(SNAPSHOT, "--rlink-abs", 25, "--dry-run", "-q")
        self.assertEqual((status, "is 0.5 times the box's side" in errors), (0, True), errors)
        self.assert_refused([SNAPSHOT, "--rlink-abs", 25.000001], "more than half of a periodic")

    def test_types_to_link_that_are_not_there(self):
        snapshot, options = GAS / "snap_0000.hdf5", ["--meansep", "rho", "--link-types"]
        self.fof(snapshot, *options, "1", "-q", "-o", "one")
        self.assert_one_warning(
            [snapshot, *options, "4,1"], "has no particles of type 4 (--link-types): it is left out"
        )
        self.assertEqual(self.catalogue(0)[1]["Checksum"], self.catalogue(0, "one")[1]["Checksum"])

    def test_types_to_link_that_the_header_does_not_count(self):
        snapshot = GADGET / "snapshot_001.hdf5"  # counts types 0 and 1
        self.assert_one_warning(
            [snapshot, "--dry-run", "--link-types", "1,4"],
            "has no particles of type 4 (--link-types): it is left out",
        )
        self.assert_one_warning(  # neutrinos, which only some codes have
            [snapshot, "--dry-run", "--link-types", "1,6"],
            "has no particles of type 6 (--link-types): it is left out",
        )

    def test_runs_in_two_dimensions(self):
        shutil.copy(SWIFT / "snap_0000.hdf5", self.folder)
        with h5py.File(self.folder / "snap_0000.hdf5", "r+") as file:
            file["Header"].attrs["Dimension"] = np.array([2], np.int32)
        words = "is of a run in 2 dimensions, but is taken for one in 3"
        self.assert_one_warning(["snap_0000.hdf5", "--dry-run"], words)


class WrongBox(FofCase):
    def test_many_particles_outside(self):
        for launcher in ((), (MPIEXEC, "-n", "3")) if MPIEXEC else ((),):
            self.assert_refused(
                [SNAPSHOT, "--box-size", 10],
                "260136 of 262144 particles",
                "outside",
                "10, 10, 10",
                "--box-size",
                "--wrap",
                launcher=launcher,
            )
        status, text, errors = self.run_fof(SNAPSHOT, "--box-size", 10, "--wrap", "--meansep", 0.78)
        self.assertEqual((status, errors.count("\n")), (0, 1), errors)
        self.assertIn("1 of 149 groups span half of the periodic box or more", errors)
        self.assertIn("260136 particles", text)
        self.assertRegex(text, r"\nNote +The box is the cube .* own is 50 x 50 x 50\.\n")

    def filament(self, length, box):
        """One group of particles along x."""
        pos = np.full((2 * length + 1, 3), 5.0)
        pos[:, 0] = 2 + np.arange(len(pos)) / 2
        with h5py.File(self.folder / "filament_001.hdf5", "w") as file:
            header = file.create_group("Header").attrs
            header["NumPart_ThisFile"] = header["NumPart_Total"] = [0, len(pos), 0, 0, 0, 0]
            header["MassTable"] = [0.0, 1, 0, 0, 0, 0]
            header["BoxSize"], header["NumFilesPerSnapshot"] = box, 1
            file["PartType1/Coordinates"] = pos
        return "filament_001.hdf5"

    def test_groups_wider_than_half_the_box(self):
        """Nearest images of a group that is not as wide have one centre."""
        for length, is_wide in ((20, False), (35, True)):
            options = [self.filament(length, 50.0), "--rlink-abs", 1]
            status, _, errors = self.run_fof(*options)
            words = "1 of 1 groups span half of the periodic box or more" if is_wide else ""
            self.assertEqual((status, words in errors, errors == ""), (0, True, not is_wide))
            centre = self.catalogue(1)[0]["GroupPos"][0][0]
            self.assertEqual(abs(centre - (2 + length / 2)) < 1e-6, not is_wide)
            self.fof(*options, "--periodic", "no")

    def test_few_particles_outside(self):
        """One of 1000, as rounding leaves them."""
        self.assertRegex(
            self.fof(SNAPSHOTS / "bad" / "outside.hdf5", "--meansep", 0.78),
            r"\nWrapped +1 particle ",
        )

    def test_lengths_whose_squares_have_no_room(self):
        self.assert_refused(
            [SNAPSHOT, "--box-size", "1e300", "--meansep", 0.78], "1e+300", "32 bits", "unit"
        )


if __name__ == "__main__":
    main()
