"""fof where something is missing, wrong, or left out: it says so, and never uses zeros for what is
not there.

fof_warnings_test.py PROGRAM DATA SNAPSHOTS
"""

import json
import re
import shutil

import h5py
import numpy as np
from check_catalogue import VELOCITIES
from command_case import MPIEXEC
from fof_case import GADGET, GAS, SNAPSHOTS, SWIFT, FofCase, main

SNAPSHOT = GADGET / "snapshot_001.hdf5"


class Warnings(FofCase):
    def copy_of_snapshot(self, edit):
        """Of the snapshot, edit(file) done to it."""
        shutil.copy(SNAPSHOT, self.folder / "snapshot_001.hdf5")
        with h5py.File(self.folder / "snapshot_001.hdf5", "r+") as file:
            edit(file)
        return "snapshot_001.hdf5"

    def assert_one_warning(self, arguments, *words):
        """And the same with -q, and in the report for machines."""
        for quiet in ([], ["-q"]):
            status, _, errors = self.run_fof(*arguments, *quiet, "--json", "report.json")
            self.assertEqual(
                (status, errors.count("fof: warning: "), errors.count("\n")), (0, 1, 1), errors
            )
            for word in words:
                self.assertIn(word, errors)
        self.assertIn(
            words[0], json.loads((self.folder / "report.json").read_text())["warnings"][0]
        )

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

    def test_a_box_that_is_no_box(self):
        for size, words in ((-10.0, "-10"), (np.nan, "nan"), ([10.0, 20.0], "10, 20")):
            with self.subTest(size):

                def edit(file, size=size):
                    file["Header"].attrs["BoxSize"] = size

                name = self.copy_of_snapshot(edit)
                given = ["--rlink-abs", "0.15", "--meansep", "0.78", "--periodic", "no"]
                self.assert_one_warning([name, *given], f"BoxSize is {words}, which is no size")

    def test_a_redshift_that_was_not_filled_in(self):
        def edit(file):
            header = file["Header"].attrs
            header["Time"], header["Redshift"] = 0.5, 0.0
            for group in ("Header", "Parameters"):
                if group in file:
                    file[group].attrs.pop("ComovingIntegrationOn", None)

        self.assert_one_warning(
            [self.copy_of_snapshot(edit), "--meansep", "0.78"],
            "its Time, 0.5, is not the scale factor of its Redshift, 0",
        )

    def test_gravity_of_the_run(self):
        """The mean separation is that of the G that the run used."""
        gravity = {}
        for stated in (0.0, 43.0071):

            def edit(file, stated=stated):
                file["Parameters"].attrs["GravityConstantInternal"] = stated

            text = self.fof(self.copy_of_snapshot(edit), "--meansep", "rho", "--dry-run")
            gravity[stated] = float(re.search(r"and G = (\S+) in the file's units", text)[1])
        self.assertEqual(gravity[43.0071], 43.0071)
        self.assertAlmostEqual(gravity[0.0], 6.6738e-8 * 1.989e43 / 3.085678e24 / 1e10, places=4)

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

    def test_cosmology_that_is_missing_is_nan(self):
        names = ("Omega0", "OmegaLambda", "OmegaBaryon", "HubbleParam")

        def edit(file):
            for name in names:
                file["Parameters"].attrs.pop(name, None)

        path = self.copy_of_snapshot(edit)
        self.fof(path, "-q", "--rlink-abs", 0.15625, "--membership")
        header = self.catalogue(1)[1]
        for name in names:
            self.assertTrue(np.isnan(header[name]), name)
        self.assertAlmostEqual(header["Time"], 1, places=12)
        self.assertEqual(header["ComovingIntegrationOn"], 1)
        with h5py.File(self.folder / "fof_output/membership_001.0.hdf5", "r") as file:
            self.assertTrue(np.isnan(file["Header"].attrs["Omega0"]))

    def test_run_without_cosmology(self):
        """Time is not a scale factor: the catalogue has it as it is, and h is 1."""

        def edit(file):
            file["Parameters"].attrs["ComovingIntegrationOn"] = np.int32(0)
            file["Header"].attrs["Time"] = 3.25

        path = self.copy_of_snapshot(edit)
        text = self.fof(path, "--rlink-abs", 0.15625, "--json", "report.json")
        self.assertRegex(text, r"\nCosmology +none, the time is 3.25\n")
        snapshot = json.loads((self.folder / "report.json").read_text())["snapshot"]
        self.assertEqual((snapshot["cosmological"], snapshot["time"]), (False, 3.25))
        header = self.catalogue(1)[1]
        for name, value in {
            "Time": 3.25,
            "Redshift": 0,
            "Omega0": 0,
            "OmegaLambda": 0,
            "OmegaBaryon": 0,
            "HubbleParam": 1,
            "ComovingIntegrationOn": 0,
        }.items():
            self.assertEqual(header[name], value, name)
        with h5py.File(
            self.folder / "fof_output/groups_001/fof_subhalo_tab_001.0.hdf5", "r"
        ) as file:
            scalings = {name: data.attrs.get("a_scaling") for name, data in file["Group"].items()}
        self.assertEqual({name for name, a in scalings.items() if a not in (None, 0)}, set())
        self.assertIn("GroupPos", scalings)
        with h5py.File(self.folder / path, "r+") as file:
            file["Header"].attrs["Time"] = -1.0
        self.assert_one_warning([path, "--rlink-abs", 0.15625], "Header/Time is", "not used")
        self.assertTrue(np.isnan(self.catalogue(1)[1]["Time"]))

    def test_time_without_redshift(self):
        """It is a scale factor where there is a density, whatever its value."""
        for time in (0.5, 1.0, 1.5):
            for density in (None, 0.0, 0.3):

                def edit(file, time=time, density=density):
                    del file["Parameters"].attrs["ComovingIntegrationOn"]
                    del file["Header"].attrs["Redshift"]
                    file["Header"].attrs["Time"] = time
                    for group in (file["Header"].attrs, file["Parameters"].attrs):
                        if "Omega0" in group:
                            del group["Omega0"]
                    if density is not None:
                        file["Header"].attrs["Omega0"] = density

                with self.subTest(time=time, density=density):
                    path = self.copy_of_snapshot(edit)
                    self.fof(path, "--rlink-abs", 0.15625, "--dry-run", "--json", "report.json")
                    snapshot = json.loads((self.folder / "report.json").read_text())["snapshot"]
                    self.assertEqual(snapshot["cosmological"], density == 0.3)

    def test_no_time_and_no_redshift(self):
        def edit(file):
            del file["Parameters"].attrs["ComovingIntegrationOn"]
            for name in ("Time", "Redshift"):
                del file["Header"].attrs[name]

        path = self.copy_of_snapshot(edit)
        options = ["--rlink-abs", 0.15625, "--meansep", 0.78]
        self.assert_one_warning([path, *options], "no Time or Redshift", "not cosmological")

    def test_time_that_is_none(self):
        for value in (-1.0, np.nan, "early"):
            with self.subTest(value):
                path = self.copy_of_snapshot(
                    lambda file, value=value: file["Header"].attrs.__setitem__("Time", value)
                )
                self.assert_one_warning([path], "Header/Time is", "not used")

    def test_units_of_swift_that_are_none(self):
        """Each is then the usual one; that lengths are in Mpc shows in the mass in the box."""
        length, mass = ("length_in_cm", 3.085678e24), ("mass_in_g", 1.989e43)
        velocity = ("velocity_in_cm_per_s", 1e5)
        cases = (
            ("Unit mass in cgs (U_M)", [mass]),
            ("Unit time in cgs (U_t)", [velocity]),
            ("Unit length in cgs (U_L)", [length, velocity]),
        )
        for value in (0.0, np.zeros(0)):
            for name, replaced in cases:
                with self.subTest(name=name, value=value):
                    shutil.copy(SNAPSHOTS / "good" / "swift" / "snap_0001.hdf5", self.folder)
                    with h5py.File(self.folder / "snap_0001.hdf5", "r+") as file:
                        file["Units"].attrs[name] = value
                    arguments = ["snap_0001.hdf5", "--dry-run", "--meansep", "0.78"]
                    self.assert_one_warning(arguments, f"Units/{name} is no positive number")
                    report = json.loads((self.folder / "report.json").read_text())
                    units = report["snapshot"]["units"]
                    for unit, expected in replaced:
                        self.assertAlmostEqual(units[unit] / expected, 1)

    def test_a_mass_in_the_table_that_is_none(self):
        """The dataset's are taken; without one there are none."""
        for value in (np.nan, np.inf, -1.0):
            with self.subTest(value):

                def edit(file, value=value):
                    table = file["Header"].attrs["MassTable"]
                    file["PartType1/Masses"] = np.full(262144, table[1], np.float32)
                    table[1] = value
                    file["Header"].attrs["MassTable"] = table

                path = self.copy_of_snapshot(edit)
                words = f"Header/MassTable has {value:g} for type 1, which is no mass"
                self.assert_one_warning([path], words)
                with h5py.File(self.folder / path, "r+") as file:
                    del file["PartType1/Masses"]
                self.assert_refused([path], "has no masses of particle type 1")

    def test_two_masses(self):
        """The table's is taken. The dataset's may be rounded."""
        for factors in ((1, 1, 1), (1, 1.001, 1), (1.001, 1, 1), (1, 1, 1.001)):

            def edit(file, factors=factors):
                masses = np.full(262144, file["Header"].attrs["MassTable"][1])
                masses[[0, 1, -1]] *= factors
                file["PartType1/Masses"] = masses.astype(np.float32)

            path = self.copy_of_snapshot(edit)
            with self.subTest(factors):
                if factors[0] == factors[2]:
                    self.fof(path)  # not every mass is looked at
                else:
                    words = ("MassTable has 4.07516 for type 1", "Masses has 4.07924 for particle")
                    self.assert_one_warning([path], *words, "the table is taken")
                self.assertAlmostEqual(self.catalogue(1)[0]["GroupMass"][0], 23921.1986, places=3)

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
        status, text, errors = self.run_fof(
            SNAPSHOT, "--box-size", 10, "--wrap", "--meansep", 0.78
        )
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


class PeriodicInSwift(FofCase):
    def planned(self, value):
        path = self.folder / "swift_0000.hdf5"
        path.write_bytes((SWIFT / "snap_0000.hdf5").read_bytes())
        with h5py.File(path, "r+") as file:
            file["Parameters"].attrs["InitialConditions:periodic"] = value
        status, output, errors = self.run_fof(path, "--dry-run")
        self.assertEqual(status, 0, errors)
        return output, errors

    def test_periodic_or_not(self):
        """As text, as SWIFT writes it, and as a number."""
        for value in (b"1", "1", 1, 1.0, [1]):
            output, errors = self.planned(value)
            self.assertRegex(output, r"\nBox .*, periodic\n")
            self.assertEqual(errors, "")
        for value in (b"0", "0", 0, 0.0, [0]):
            output, errors = self.planned(value)
            self.assertRegex(output, r"\nBox .*, not periodic\n")
            self.assertNotIn("InitialConditions", errors)

    def test_what_says_neither(self):
        cases = ((b"yes", "yes"), ("00", "00"), (2, "2"), (h5py.Empty("f4"), "no text"))
        for value, words in cases:
            _, errors = self.planned(value)
            self.assertRegex(errors, f"warning: .*InitialConditions:periodic is {words}")
            self.assertIn("--periodic yes or no", errors)


if __name__ == "__main__":
    main()
