"""fof on the same particles in the styles of many codes: the same groups from each; gas and stars
beside them.

fof_styles_test.py PROGRAM DATA SNAPSHOTS
"""

import json
import shutil

import h5py
import numpy as np
from fof_case import GADGET, SNAPSHOTS, SWIFT, FofCase, main

GOOD = SNAPSHOTS / "good"
HUBBLE = 0.678
MASS = 4.075161606358441


class Styles(FofCase):
    reference = None  # found once

    def setUp(self):
        super().setUp()
        if Styles.reference is None:
            self.fof(GADGET / "snapshot_001.hdf5", "--membership", "-o", "reference")
            Styles.reference = (
                *self.membership(1, out="reference"),
                self.catalogue(1, out="reference")[0],
            )
        self.expected_group, self.expected_ids, self.expected = Styles.reference
        self.assertEqual(len(self.expected["GroupLen"]), 468)

    def check(self, snapshot, *options, length=1.0, mass=1.0, ids_add=0, **environment):
        """`length` and `mass` are the expected units of the reference in those of the snapshot."""
        shutil.rmtree(self.folder / "fof_output", ignore_errors=True)  # of another snapshot
        self.fof(snapshot, "--membership", *options, **environment)
        group, ids = self.membership(1)
        table, header = self.catalogue(1)
        np.testing.assert_array_equal(group, self.expected_group)
        np.testing.assert_array_equal(ids, self.expected_ids + ids_add)
        np.testing.assert_array_equal(
            self.ids_by_group(table), self.ids_by_group(self.expected) + ids_add
        )
        np.testing.assert_array_equal(table["GroupLen"], self.expected["GroupLen"])
        np.testing.assert_allclose(table["GroupMass"], self.expected["GroupMass"] * mass, rtol=1e-6)
        for name in ("GroupPos", "GroupExtentRadius", "GroupInertiaRadius"):
            np.testing.assert_allclose(
                table[name], self.expected[name] * length, rtol=1e-5, atol=1e-4 * length
            )
        np.testing.assert_allclose(
            table["GroupVelPeculiar"], self.expected["GroupVelPeculiar"], rtol=1e-6, atol=1e-6
        )
        self.assertAlmostEqual(header["LinkingLength"] / length, 0.15625, places=7)

    def test_gadget4_three_files_one_empty(self):
        for path in (
            "split",
            "split/snapshot_001.0.hdf5",
            "split/snapshot_001.2.hdf5",
            "split/snapshot_001",
        ):
            with self.subTest(path):
                self.check(GOOD / path)

    def test_gadget4_double(self):
        self.check(GOOD / "double" / "snapshot_001.hdf5")
        self.assertEqual(self.catalogue(1)[1]["UnitsAssumed"], 0)

    def test_gadget4_wide_ids(self):
        self.check(GOOD / "ids64" / "snapshot_001", ids_add=1 << 40)

    def test_gadget4_integer_positions(self):
        self.check(GOOD / "integer32" / "snapshot_001.hdf5")
        self.check(GOOD / "integer64" / "snapshot_001.hdf5")

    def test_gadget2(self):
        self.check(GOOD / "gadget2" / "snapshot_001.hdf5")
        self.assertEqual(self.catalogue(1)[1]["UnitsAssumed"], 1)
        self.check(GOOD / "flat" / "snapshot_001.hdf5")

    def test_arepo(self):
        self.check(GOOD / "arepo" / "snapdir_001", length=1000)

    def test_eagle(self):
        self.check(GOOD / "eagle" / "snapshot_001_z000p000")

    def test_gizmo(self):
        self.check(GOOD / "gizmo" / "snapdir_001")

    def test_time_from_the_redshift(self):
        """Where the file has no scale factor."""
        shutil.copy(SWIFT / "snap_0000.hdf5", self.folder / "snap_0000.hdf5")
        with h5py.File(self.folder / "snap_0000.hdf5", "r+") as file:
            redshift = file["Cosmology"].attrs["Redshift"][0]
            del file["Cosmology"].attrs["Scale-factor"]
        self.fof("snap_0000.hdf5", "-q")
        header = self.catalogue(0)[1]
        self.assertAlmostEqual(header["Time"], 1 / (1 + redshift))
        self.assertEqual(header["Redshift"], redshift)

    def planned(self, path, *options):
        """What a dry run says of a snapshot, and its warnings."""
        status, output, errors = self.run_fof(path, "--dry-run", "-q", "--json", "-", *options)
        self.assertEqual(status, 0, errors)
        return json.loads(output)["snapshot"], errors

    def test_swift_leaves_out_a_type(self):
        """The totals of the run stay in the header."""
        path = self.folder / "snap_0000.hdf5"
        shutil.copy(SWIFT / "snap_0000.hdf5", path)
        with h5py.File(path, "r+") as file:
            for name in ("NumPart_Total", "TotalNumberOfParticles"):
                counts = file["Header"].attrs[name]
                counts[4] = 7
                file["Header"].attrs[name] = counts
        snapshot, errors = self.planned(path)
        self.assertEqual(errors, "")
        self.assertEqual([kind["type"] for kind in snapshot["types"]], [1])
        self.assertTrue(any("7 particles of type 4" in note for note in snapshot["notes"]))
        with h5py.File(path, "r+") as file:
            counts = file["Header"].attrs["TotalNumberOfParticles"]
            counts[1] += 7
            file["Header"].attrs["TotalNumberOfParticles"] = counts
        status, _, errors = self.run_fof(path, "--dry-run", "-q")
        self.assertEqual(status, 2)
        self.assertRegex(errors, r"says 262151 particles of type 1 in total.* hold 262144")

    def test_swift_leaves_out_masses(self):
        """Of dark matter alone; the header states the mean of the run, in internal units."""
        path = self.folder / "snap_0001.hdf5"
        shutil.copy(GOOD / "swift" / "snap_0001.hdf5", path)
        self.fof(path, "-o", "with")
        with h5py.File(path, "r+") as file:
            internal = file["InternalCodeUnits"].attrs
            internal["Unit mass in cgs (U_M)"] = 4 * internal["Unit mass in cgs (U_M)"]
            masses = file["PartType1/Masses"][:]
            table = np.zeros(7)
            table[1] = masses.astype(np.float64).mean() / 4
            file["Header"].attrs["InitialMassTable"] = table
            critical = "Critical density at redshift zero [internal units]"
            file["Cosmology"].attrs[critical] = file["Cosmology"].attrs[critical] / 4
            del file["PartType1/Masses"]
        snapshot, _ = self.planned(path)
        self.assertEqual(snapshot["types"][0]["mass_source"], "InitialMassTable")
        self.assertTrue(any("no masses of type 1" in note for note in snapshot["notes"]))
        self.fof(path, "-o", "without")
        expected, found = self.catalogue(1, out="with")[0], self.catalogue(1, out="without")[0]
        np.testing.assert_array_equal(found["GroupLen"], expected["GroupLen"])
        np.testing.assert_allclose(found["GroupMass"], expected["GroupMass"], rtol=1e-6)

    def test_initial_conditions_for_swift(self):
        """They have SWIFT's units, and neither /Cosmology nor a name of a code."""
        path = self.folder / "ics_000.hdf5"
        with h5py.File(GADGET / "snapshot_001.hdf5", "r") as source, h5py.File(path, "w") as file:
            header = file.create_group("Header").attrs
            header.update(source["Header"].attrs)
            header.update({"Time": 0.02, "Redshift": 49.0})
            for name in ("HubbleParam", "Omega0", "OmegaLambda"):
                header.pop(name, None)
            file.create_group("Units").attrs.update(
                {
                    "Unit length in cgs (U_L)": 3.08567758149e24,
                    "Unit mass in cgs (U_M)": 1.98841e43,
                    "Unit time in cgs (U_t)": 3.08567758149e19,
                }
            )
            source.copy("PartType1", file)
        snapshot, _ = self.planned(path)
        self.assertEqual(snapshot["code"], "SWIFT")
        self.assertTrue(snapshot["cosmological"])
        self.assertEqual(snapshot["cosmology"]["scale_factor"], 0.02)
        self.assertEqual(snapshot["cosmology"]["redshift"], 49)
        self.assertEqual((snapshot["units"]["length"], snapshot["units"]["h_free"]), ("Mpc", True))
        self.assertFalse(snapshot["units"]["assumed"])
        self.fof(path, "-o", "ics")
        with h5py.File(path, "r+") as file:
            file["Header"].attrs["Redshift"] = 0.0  # of a run without cosmology
        snapshot, _ = self.planned(path)
        self.assertFalse(snapshot["cosmological"])
        with h5py.File(path, "r+") as file:
            file["Header"].attrs.update({"Time": 0.02, "Redshift": 49.0, "HubbleParam": 0.7})
        self.assertNotEqual(self.planned(path)[0]["code"], "SWIFT")  # it may have factors of h
        found = self.catalogue(0, out="ics")[0]
        np.testing.assert_allclose(
            found["GroupVelPeculiar"] * self.velocity_factor(),
            self.expected["GroupVelPeculiar"],
            rtol=1e-6,
            atol=1e-6,
        )

    @staticmethod
    def velocity_factor():
        """Of GADGET's snapshot, whose velocities the copy has without it."""
        with h5py.File(GADGET / "snapshot_001.hdf5", "r") as file:
            return np.sqrt(file["Header"].attrs["Time"])

    def test_arepo_without_gas(self):
        """None of its options is compiled in; its gravitational constant is its own."""
        path = self.copy_of("gadget2", 50.0, SELFGRAVITY=b"", NTYPES=6.0)
        self.assertEqual(self.planned(path)[0]["code"], "GADGET-2/3")
        with h5py.File(path, "a") as file:
            file["Header"].attrs["Composition_vector_length"] = np.int32(0)
        self.assertEqual(self.planned(path)[0]["code"], "AREPO")

    def test_time_0_is_no_scale_factor(self):
        """The first snapshot of an isolated run, which has a density from its parameters."""
        path = self.copy_of("gadget2", 50.0)
        with h5py.File(path, "a") as file:
            file["Header"].attrs.update({"Time": 0.0, "Redshift": 0.0})
        snapshot, errors = self.planned(path, "--meansep", "volume")
        self.assertFalse(snapshot["cosmological"])
        self.assertEqual(snapshot["time"], 0)
        self.assertRegex(errors, "its Time, 0, is not the scale factor of its Redshift, 0")
        with h5py.File(path, "a") as file:
            file["Header"].attrs["ComovingIntegrationOn"] = np.int32(1)
        self.assertEqual(self.planned(path)[0]["cosmology"]["scale_factor"], 1)

    def test_a_box_with_one_side_of_0(self):
        path = self.copy_of("double", np.array([50.0, 50.0, 0.0]))
        _, errors = self.planned(path, "--periodic", "no")
        self.assertRegex(errors, "warning: .*BoxSize is 50, 50, 0, which is no size of a box")
        _, errors = self.planned(self.copy_of("double", np.zeros(3)), "--periodic", "no")
        self.assertNotIn("BoxSize", errors)

    def copy_of(self, path, box, **options):
        """A copy with another BoxSize, compiled with more options."""
        copy = self.folder / "copy_001.hdf5"
        shutil.copy(GOOD / path / "snapshot_001.hdf5", copy)
        with h5py.File(copy, "a") as file:
            file["Header"].attrs["BoxSize"] = box
            file.require_group("Config").attrs.update(options)
        return copy

    def test_boxes_compiled_to_be_no_cubes(self):
        """GADGET-4 halves BoxSize, AREPO multiplies it; integers span BoxSize itself."""
        halved = {f"LONG_{axis}_BITS": 1.0 for axis in "XYZ"}
        self.check(self.copy_of("double", 100.0, **halved))
        path = self.copy_of("integer32", 100.0, **halved)
        with h5py.File(path, "a") as file:
            file["PartType1/IntCoordinates"][...] = file["PartType1/IntCoordinates"][:] // 2
        self.check(path)
        doubled = {"VORONOI": b"", "LONG_X": 2.0, "LONG_Y": b"2", "LONG_Z": "2.0"}
        self.check(self.copy_of("gadget2", 25.0, **doubled))
        for options, box in (
            ({"LONG_X_BITS": 1.0, "LONG_Z_BITS": 2.0}, [50, 100, 25]),
            ({"LONG_Y": 0.5, "LONG_Z": 3.0}, [100, 50, 300]),
        ):
            path = self.copy_of("double", 100.0, **options)
            for own, expected in (([], box), (["--box-size", "200"], [200] * 3)):
                report = json.loads(self.run_fof(path, "--dry-run", "-q", "--json", "-", *own)[1])
                self.assertEqual(report["snapshot"]["box_length"], expected)
        _, _, errors = self.run_fof(self.copy_of("double", 50.0, LONG_X=b"(2)"), "--dry-run", "-q")
        self.assertRegex(errors, "warning: .*Config/LONG_X is no factor")

    def test_boxes_open_along_one_axis(self):
        for options in ({"GRAVITY_TALLBOX": 2.0}, {"VORONOI": b"", "REFLECTIVE_Y": b"1"}):
            path = self.copy_of("double", 50.0, **options)
            _, _, errors = self.run_fof(path, "--dry-run", "-q")
            name = list(options)[-1]
            self.assertRegex(errors, f"warning: .*Config/{name} says .* not periodic along one")

    def test_swift(self):
        self.check(
            GOOD / "swift" / "snap_0001.hdf5",
            "--meansep",
            "volume",
            length=1 / HUBBLE,
            mass=1 / HUBBLE,
        )
        self.check(
            GOOD / "swift_distributed" / "snap_0001.hdf5",
            "--meansep",
            "volume",
            length=1 / HUBBLE,
            mass=1 / HUBBLE,
        )

    def test_swift_files_that_hdf5_finds_elsewhere(self):
        """Beside the file that a link leads to, and in one of several folders."""
        snapshot = (GOOD / "swift_distributed" / "snap_0001.hdf5").resolve()
        (self.folder / "link_0001.hdf5").symlink_to(snapshot)
        shutil.copy(snapshot, self.folder / "copy_0001.hdf5")
        for name, folders in (
            ("link_0001.hdf5", None),
            ("copy_0001.hdf5", f"/nowhere:{snapshot.parent}"),
        ):
            with self.subTest(name):
                self.check(
                    name,
                    "--meansep",
                    "volume",
                    length=1 / HUBBLE,
                    mass=1 / HUBBLE,
                    HDF5_VDS_PREFIX=folders,
                )

    def test_membership_over_two_types(self):
        """Dark matter and stars of the EAGLE file, whose stars lie where the first five particles
        lie."""
        self.fof(
            GOOD / "eagle" / "snapshot_001_z000p000",
            "--membership",
            "--link-types",
            "4,1",
            "--rlink-abs",
            0.15625,
        )
        group, _ = self.membership(1)
        stars, star_ids = self.membership(1, particle_type=4)
        np.testing.assert_array_equal(group, self.expected_group)
        np.testing.assert_array_equal(stars, group[:5])
        np.testing.assert_array_equal(star_ids, np.arange(5) + (1 << 50))
        table, _ = self.catalogue(1)
        np.testing.assert_array_equal(table["GroupLenType"][:, 1], self.expected["GroupLen"])
        self.assertEqual(table["GroupLenType"][0, 4], 5)
        self.assertEqual(table["GroupLenType"][:, 4].sum(), 5)
        self.assertAlmostEqual(table["GroupMassType"][0, 4], 0.5, places=6)
        np.testing.assert_allclose(
            table["GroupMassType"].sum(axis=1), table["GroupMass"], rtol=1e-12
        )

    def test_gas_and_dark_matter(self):
        """Every second particle becomes gas of half the mass; both are linked."""
        path = self.folder / "mixed_001.hdf5"
        with h5py.File(GADGET / "snapshot_001.hdf5", "r") as source, h5py.File(path, "w") as file:
            for name in ("Header", "Parameters", "Config"):
                file.create_group(name).attrs.update(source[name].attrs)
            num = len(source["PartType1/ParticleIDs"])
            file["Header"].attrs["NumPart_ThisFile"] = file["Header"].attrs["NumPart_Total"] = (
                np.array([num // 2, num // 2], np.uint64)
            )
            file["Header"].attrs["MassTable"] = np.array([MASS / 2, MASS])
            for name, values in source["PartType1"].items():
                file["PartType0/" + name], file["PartType1/" + name] = values[0::2], values[1::2]
        self.fof(path, "--membership", "--link-types", "0,1", "--rlink-abs", 0.15625)
        group = np.empty(num, np.int64)
        group[0::2], group[1::2] = (
            self.membership(1, particle_type=0)[0],
            self.membership(1, particle_type=1)[0],
        )
        row = self.assert_same_sets(group, self.expected_group)
        table, _ = self.catalogue(1)
        gas, dark = table["GroupLenType"][row, 0], table["GroupLenType"][row, 1]
        np.testing.assert_array_equal(gas + dark, self.expected["GroupLen"])
        np.testing.assert_array_equal(gas, np.bincount(self.expected_group[0::2] + 1)[1:])
        np.testing.assert_allclose(table["GroupMass"][row], MASS * (gas / 2 + dark), rtol=1e-6)

    def test_double_positions_stay_double(self):
        """Two bunches just more than one linking length apart: float32 would join them."""
        path = self.folder / "pair_001.hdf5"
        pos = np.full((80, 3), 40.0)
        pos[40:, 0] += 1 + 1e-9
        with h5py.File(path, "w") as file:
            file.create_group("Header").attrs.update(
                NumPart_ThisFile=np.array([0, 80], np.uint64),
                NumPart_Total=np.array([0, 80], np.uint64),
                NumFilesPerSnapshot=1,
                MassTable=np.array([0.0, 1.0]),
                BoxSize=50.0,
                Time=0.0,
                Redshift=0.0,
            )
            file["PartType1/Coordinates"] = pos
        reports = {}
        for length in (1.0, 1 + 2e-9):
            status, output, errors = self.run_fof(
                path, "-q", "--rlink-abs", repr(length), "--json", "-"
            )
            self.assertEqual(status, 0, errors)
            reports[length] = json.loads(output)["result"]
        self.assertEqual([group["length"] for group in reports[1.0]["largest_groups"]], [40, 40])
        self.assertEqual([group["length"] for group in reports[1 + 2e-9]["largest_groups"]], [80])


if __name__ == "__main__":
    main()
