"""fof on snapshots whose header lacks something, or says what cannot be.

fof_headers_test.py PROGRAM DATA SNAPSHOTS
"""

import json
import re
import shutil

import h5py
import numpy as np
from fof_case import SNAPSHOTS, SWIFT, FofCase, main


class Headers(FofCase):
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
