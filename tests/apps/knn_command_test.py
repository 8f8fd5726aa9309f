"""The command knn: neighbours against scipy's cKDTree, queries of their own, files, reports.

knn_command_test.py PROGRAM DATA SNAPSHOTS
"""

import json
import os

import h5py
import numpy as np
from command_case import shows_results
from knn_case import BOX, KnnCase, Truth, main


class Lists(KnnCase):
    @shows_results
    def test_real_snapshot(self):
        path, source = self.real()
        self.succeed(path, "-k", 8, "-q", "-o", "out.hdf5")
        self.assert_neighbours(self.results("out"), Truth(source.pos, source.box), source.pos, 8)
        self.assertEqual(self.files(), ["out.hdf5"])

    def test_made_snapshot(self):
        """Many k, also more than there are particles; one file and several; the default name."""
        snapshot = self.snapshot({1: 1500}, num_files=3)
        truth = Truth(snapshot.pos[1])
        for k in (1, 2, 7, 32, 33, 64, 133):
            with self.subTest(k=k):
                self.succeed("snapshot_007", "-k", k, "-q")
                self.assert_neighbours(self.results("knn_007"), truth, snapshot.pos[1], k)

    def test_default_k(self):
        snapshot = self.snapshot({1: 300})
        self.succeed("snapshot_007.hdf5", "-q")
        self.assert_neighbours(self.results("knn_007"), Truth(snapshot.pos[1]), snapshot.pos[1], 32)

    def test_without_self(self):
        snapshot = self.snapshot({1: 800})
        self.succeed("snapshot_007", "-k", 5, "--exclude-self", "-q")
        self.assert_neighbours(
            self.results("knn_007"), Truth(snapshot.pos[1]), snapshot.pos[1], 5, exclude_self=True
        )

    def test_not_periodic_and_double(self):
        snapshot = self.snapshot({1: 900}, kind=np.float64)
        self.succeed("snapshot_007", "-k", 6, "--periodic", "no", "-q")
        self.assert_neighbours(
            self.results("knn_007"), Truth(snapshot.pos[1], None), snapshot.pos[1], 6
        )

    def test_box_size(self):
        """A smaller box moves particles inside; the file's word does not hold then."""
        snapshot = self.snapshot({1: 500}, kind=np.float64)
        self.assert_refused(["snapshot_007", "-k", 6, "--box-size", 4], "outside", "--wrap")
        output = self.succeed("snapshot_007", "-k", 6, "--box-size", 4, "--wrap")
        outside = (snapshot.pos[1] >= 4).any(axis=1).sum()
        self.assertIn(f"{outside} positions outside the periodic box", output)
        pos = snapshot.pos[1] % 4
        results = self.results("knn_007")
        np.testing.assert_allclose(
            results["Distances"], Truth(pos, 4).nearest(pos, 6)[0], rtol=1e-9, atol=1e-12
        )

    def test_several_types(self):
        """All of the lower type come first, whatever the order on the command line."""
        snapshot = self.snapshot({0: 400, 1: 300, 4: 50}, num_files=2)
        self.succeed("snapshot_007", "--types", "4,0", "-k", 9, "-q")
        truth = Truth(snapshot.joined([0, 4]))
        both = self.results("knn_007", "PartType0"), self.results("knn_007", "PartType4")
        self.assert_neighbours(
            {name: np.concatenate([part[name] for part in both]) for name in both[0]},
            truth,
            snapshot.joined([0, 4]),
            9,
        )
        with h5py.File(self.folder / "knn_007.hdf5", "r") as file:
            self.assertEqual(sorted(file), ["Header", "Parameters", "PartType0", "PartType4"])
            self.assertEqual(file["Parameters"].attrs["Types"].tolist(), [0, 4])
            self.assertEqual(file["Parameters"].attrs["FirstIndex"].tolist(), [0, 400, 450])
            self.assertEqual(file["Header"].attrs["NumPart_Total"].tolist(), [400, 0, 0, 0, 50, 0])
            self.assertIn("types 0, 4", file["PartType4/Indices"].attrs["Description"].decode())

    def test_types_that_are_not_there_are_left_out(self):
        """Each with a warning, also those of queries."""
        self.snapshot({0: 40, 1: 60})
        self.snapshot({1: 20}, name="other_001", seed=2)
        self.succeed("snapshot_007", "--types", "1,0", "-k", 5, "-q", "-o", "two")
        status, _, errors = self.run_command(
            "snapshot_007", "--types", "1,4,0", "-k", 5, "-q", "-o", "three"
        )
        words = "'snapshot_007' has no particles of type 4 (--types): it is left out"
        self.assertEqual((status, errors.splitlines()), (0, [f"knn: warning: {words}"]))
        for group in ("PartType0", "PartType1"):
            two, three = self.results("two", group), self.results("three", group)
            np.testing.assert_array_equal(three["Indices"], two["Indices"])
        status, _, errors = self.run_command(
            "snapshot_007", "--types", "0,1", "--query", "other_001", "-k", 5, "-q"
        )
        self.assertEqual(status, 0, errors)
        self.assertIn("'other_001' has no particles of type 0 (--query-types)", errors)

    def test_max_radius(self):
        """Rows end where the radius does; a neighbour at exactly the radius counts."""
        snapshot = self.snapshot({1: 700}, kind=np.float64)
        snapshot.pos[1][:3] = [[1, 1, 1], [1.5, 1, 1], [1, 1.75, 1]]
        snapshot.write(self.folder / "snapshot_007")
        self.succeed("snapshot_007", "-k", 20, "--max-radius", 0.5, "-q")
        results = self.results("knn_007")
        distances, indices = Truth(snapshot.pos[1]).nearest(snapshot.pos[1], 20)
        far = distances > 0.5
        np.testing.assert_array_equal(np.isinf(results["Distances"]), far)
        np.testing.assert_array_equal(results["Indices"] == -1, far)
        np.testing.assert_allclose(
            results["Distances"][~far], distances[~far], rtol=1e-12, atol=1e-14
        )
        self.assertIn(1, results["Indices"][0])
        self.assertNotIn(2, results["Indices"][0])

    def test_fewer_particles_than_k(self):
        snapshot = self.snapshot({1: 5})
        status, _, errors = self.run_command("snapshot_007", "-k", 8, "-q")
        self.assertEqual((status, errors.count("\n")), (0, 1))
        self.assertRegex(errors, "^knn: warning: -k is 8, but .* 5 particles")
        planned = ("snapshot_007", "-q", "--exclude-self", "--dry-run", "-k")
        status, _, errors = self.run_command(*planned, 5)
        self.assertEqual((status, errors.count("\n")), (0, 1))
        self.assertRegex(errors, "^knn: warning: -k is 5, but .* 4 particles")
        self.succeed(*planned, 4)
        results = self.results("knn_007")
        np.testing.assert_array_equal(results["Indices"][:, 5:], -1)
        self.assertTrue(np.isinf(results["Distances"][:, 5:]).all())
        self.assert_neighbours(
            {name: values[:, :5] for name, values in results.items()},
            Truth(snapshot.pos[1]),
            snapshot.pos[1],
            5,
        )

    def test_lattice(self):
        """Full of ties at distances that are exact: neighbours by distance, then by index."""
        snapshot = self.snapshot({1: 512})
        snapshot.pos[1][:] = (
            np.stack(np.meshgrid(*[np.arange(8)] * 3), axis=-1).reshape(-1, 3) * 1.25
        )
        snapshot.write(self.folder / "snapshot_007")
        self.succeed("snapshot_007", "-k", 20, "-q")
        separation = np.abs(snapshot.pos[1][:, None].astype(np.float64) - snapshot.pos[1][None])
        squared = (np.minimum(separation, BOX - separation) ** 2).sum(axis=2)
        expected = np.argsort(squared, axis=1, kind="stable")[:, :20]
        np.testing.assert_array_equal(self.results("knn_007")["Indices"], expected)

    def test_twins_are_ordered_by_index(self):
        snapshot = self.snapshot({1: 64})
        snapshot.pos[1][:] = 3
        snapshot.write(self.folder / "snapshot_007")
        self.succeed("snapshot_007", "-k", 10, "-q")
        results = self.results("knn_007")
        np.testing.assert_array_equal(results["Indices"], np.tile(np.arange(10), (64, 1)))
        self.assertEqual(np.abs(results["Distances"]).max(), 0)


class Queries(KnnCase):
    def test_queries_of_another_box(self):
        """A warning, whichever side differs."""
        self.snapshot({1: 40})
        self.snapshot({1: 40}, name="other_001")
        for axis in range(3):
            sides = np.full(3, BOX)
            sides[axis] += 2
            with h5py.File(self.folder / "other_001.hdf5", "r+") as file:
                file["Header"].attrs["BoxSize"] = sides
            status, _, errors = self.run_command(
                "snapshot_007", "-k", 2, "--query", "other_001", "--dry-run", "-q"
            )
            self.assertEqual((status, errors.count("\n")), (0, 1), errors)
            self.assertIn("that of the queries {:g}, {:g}, {:g}".format(*sides), errors)

    def test_warnings_of_the_snapshot_of_queries(self):
        """Here that a file beside it is not read, because its header says that it is alone."""
        self.snapshot({1: 40})
        self.snapshot({1: 40}, name="other_001", num_files=2)
        for number in range(2):
            with h5py.File(self.folder / f"other_001.{number}.hdf5", "r+") as file:
                header = file["Header"].attrs
                header["NumFilesPerSnapshot"] = 1
                header["NumPart_Total"] = header["NumPart_ThisFile"]
        (self.folder / "others").mkdir()
        for number in range(2):
            name = f"other_001.{number}.hdf5"
            (self.folder / name).rename(self.folder / "others" / name)
        status, _, errors = self.run_command(
            "snapshot_007", "-k", 2, "--query", "others", "--dry-run", "-q"
        )
        self.assertEqual((status, errors.count("\n")), (0, 1), errors)
        self.assertIn("other_001.1.hdf5", errors)
        self.assertIn("not read", errors)

    def test_points(self):
        snapshot = self.snapshot({1: 800})
        for kind in (np.float32, np.float64):
            with self.subTest(kind.__name__):
                points = np.random.default_rng(5).uniform(-2, BOX + 2, (37, 3)).astype(kind)
                with h5py.File(self.folder / "points.hdf5", "w") as file:
                    file["Coordinates"] = points
                self.succeed("snapshot_007", "-k", 4, "--query", "points.hdf5", "--wrap", "-q")
                results = self.results("knn_007", "Query")
                self.assertEqual(results["Distances"].dtype, kind)
                expected = Truth(snapshot.pos[1]).nearest(points % kind(BOX), 4)[0]
                np.testing.assert_allclose(results["Distances"], expected, rtol=1e-6, atol=1e-5)
                with h5py.File(self.folder / "knn_007.hdf5", "r") as file:
                    self.assertEqual(sorted(file), ["Header", "Parameters", "Query"])
                    query = file["Parameters"].attrs["Query"].decode()
                    self.assertEqual(query, str(self.folder / "points.hdf5"))
                    self.assertEqual(file["Query/Distances"].attrs["SelfIncluded"], 0)

    def test_across_an_edge(self):
        """float32 rounds distances there, by 2e-7 of the box at most; with queries in float64 all
        arithmetic is float64, and exact to its own rounding."""
        snapshot = self.snapshot({1: 4000})
        pos = snapshot.pos[1]
        pos[:, 0] = np.random.default_rng(6).normal(0, 0.01 * BOX, len(pos)) % BOX
        pos[pos >= BOX] = 0
        snapshot.write(self.folder / "snapshot_007")
        with h5py.File(self.folder / "points.hdf5", "w") as file:
            file["Coordinates"] = pos.astype(np.float64)
        expected, neighbours = Truth(pos).nearest(pos, 8)
        self.succeed("snapshot_007", "-k", 8, "-q")
        error = np.abs(self.results("knn_007")["Distances"] - expected).max() / BOX
        self.assertTrue(1e-8 < error <= 2e-7, error)
        self.succeed("snapshot_007", "-k", 8, "--query", "points.hdf5", "-q")
        results = self.results("knn_007", "Query")
        np.testing.assert_array_equal(results["Indices"], neighbours)
        np.testing.assert_allclose(results["Distances"], expected, rtol=1e-14, atol=0)

    def test_another_snapshot(self):
        snapshot = self.snapshot({0: 300, 1: 800, 4: 200})
        other = self.snapshot({0: 100, 1: 250, 4: 70}, name="other_001", num_files=2, seed=3)
        for types, query_types, options in (
            ([1], [1], ()),
            ([1], [0, 4], ("--query-types", "0,4")),
            ([0, 4], [1], ("--types", "0,4", "--query-types", 1)),
        ):
            with self.subTest(options=options):
                self.succeed("snapshot_007", "-k", 5, "--query", "other_001", "-q", *options)
                truth = Truth(snapshot.joined(types))
                for query_type in query_types:
                    self.assert_neighbours(
                        self.results("knn_007", f"PartType{query_type}"),
                        truth,
                        other.pos[query_type],
                        5,
                    )

    def test_types_of_the_same_snapshot(self):
        snapshot = self.snapshot({1: 500, 4: 200})
        self.succeed(
            "snapshot_007", "-k", 1, "--query", "snapshot_007.hdf5", "--query-types", 4, "-q"
        )
        self.assert_neighbours(
            self.results("knn_007", "PartType4"), Truth(snapshot.pos[1]), snapshot.pos[4], 1
        )

    def test_no_queries(self):
        self.snapshot({1: 50})
        with h5py.File(self.folder / "none.hdf5", "w") as file:
            file["Coordinates"] = np.zeros((0, 3))
        self.succeed("snapshot_007", "-k", 3, "--query", "none.hdf5", "-q")
        self.assertEqual(self.results("knn_007", "Query")["Indices"].shape, (0, 3))


def spline(q):
    return (
        8 / np.pi * np.where(q < 0.5, 1 - 6 * q**2 + 6 * q**3, np.where(q < 1, 2 * (1 - q) ** 3, 0))
    )


def wendland_c2(q):
    return 21 / (2 * np.pi) * np.where(q < 1, (1 - q) ** 4 * (1 + 4 * q), 0)


def wendland_c4(q):
    return 495 / (32 * np.pi) * np.where(q < 1, (1 - q) ** 6 * (1 + 6 * q + 35 / 3 * q**2), 0)


class Reductions(KnnCase):
    """The formulas of docs/knn.md, applied by numpy to the lists."""

    group, what = "PartType1", "particles"  # of the results, and in the messages

    def check(self, snapshot, *options, own=0):
        """`own`: of the neighbours that come first, those that are the query itself."""
        for kernel, shape in (("cubic", spline), ("c2", wendland_c2), ("c4", wendland_c4)):
            self.succeed(
                "snapshot_007",
                "-k",
                24,
                "--reduce",
                "kth,mean-radius",
                "--reduce",
                "density,sigma-v",
                "--lists",
                "--kernel",
                kernel,
                "-q",
                *options,
            )
            results = self.results("knn_007")
            r, indices = results["Distances"].astype(np.float64), results["Indices"]
            mass, velocity = snapshot.mass[1][indices].astype(np.float64), snapshot.vel[1][
                indices
            ].astype(np.float64)
            np.testing.assert_array_equal(results["KthRadius"], r[:, -1])
            np.testing.assert_allclose(results["MeanRadius"], r[:, own:].mean(axis=1), rtol=1e-12)
            support = r[:, -1:]
            np.testing.assert_allclose(
                results["Density"], (mass * shape(r / support) / support**3).sum(axis=1), rtol=1e-12
            )
            bulk = (mass[:, :, None] * velocity).sum(axis=1) / mass.sum(axis=1)[:, None]
            squares = (mass[:, :, None] * (velocity - bulk[:, None]) ** 2).sum(axis=(1, 2))
            np.testing.assert_allclose(
                results["VelocityDispersion"], np.sqrt(squares / (3 * mass.sum(axis=1))), rtol=1e-11
            )

    def test_self_included(self):
        self.check(self.snapshot({1: 600}), own=1)

    def test_self_left_out(self):
        self.check(self.snapshot({1: 600}), "--exclude-self")

    def test_double(self):
        self.check(self.snapshot({1: 600}, kind=np.float64), "--periodic", "no", own=1)

    def test_queries(self):
        snapshot = self.snapshot({1: 600})
        self.snapshot({1: 90}, name="other_001", seed=4)
        self.check(snapshot, "--query", "other_001")

    def test_without_lists_the_numbers_are_the_same(self):
        self.snapshot({1: 600})
        self.succeed("snapshot_007", "-k", 7, "--reduce", "density", "--lists", "-q", "-o", "both")
        self.succeed("snapshot_007", "-k", 7, "--reduce", "density", "-q", "-o", "alone")
        np.testing.assert_array_equal(
            self.results("both")["Density"], self.results("alone")["Density"]
        )

    def test_velocities_that_are_not_finite(self):
        """Dispersions that have such a neighbour are NaN, and counted in a warning."""
        snapshot = self.snapshot({1: 300})
        with h5py.File(self.folder / "snapshot_007.hdf5", "r+") as file:
            file["PartType1/Velocities"][7, 1] = np.nan
            file["PartType1/Velocities"][250, 0] = np.inf
        _, neighbours = Truth(snapshot.pos[1]).nearest(snapshot.pos[1], 5)
        without = np.isin(neighbours, (7, 250)).any(axis=1)
        status, _, errors = self.run_command(
            "snapshot_007", "-k", 5, "--reduce", "kth,sigma-v", "-q", "--json", "report.json"
        )
        words = f"velocity dispersions of {without.sum()} of 300 particles are not finite"
        self.assertEqual((status, errors.count("\n"), words in errors), (0, 1, True), errors)
        self.assertIn(words, json.loads((self.folder / "report.json").read_text())["warnings"][0])
        np.testing.assert_array_equal(
            np.isnan(self.results("knn_007")["VelocityDispersion"]), without
        )

    def check_infinite_densities(self, options, infinite, *words):
        """Infinite where `infinite` is true, and counted in one warning with these words."""
        status, _, errors = self.run_command(
            "snapshot_007", "--reduce", "density", "-q", "--json", "report.json", *options
        )
        density = next(iter(self.results("knn_007", self.group).values()))
        np.testing.assert_array_equal(np.isinf(density), infinite)
        self.assertTrue(np.isfinite(density[~infinite]).all())
        self.assertEqual((status, errors.count("\n")), (0, 1 if infinite.any() else 0), errors)
        warnings = json.loads((self.folder / "report.json").read_text())["warnings"]
        counted = f"the densities of {infinite.sum()} of {len(infinite)} {self.what} are infinite"
        for word in (counted, *words) if infinite.any() else ():
            self.assertIn(word, errors)
            self.assertIn(word, warnings[0])

    def test_densities_of_particles_alone(self):
        """Within the radius they have only themselves: infinite, and said so."""
        snapshot = self.snapshot({1: 900}, kind=np.float64)
        pos = snapshot.pos[1]
        alone = Truth(pos).nearest(pos, 2)[0][:, 1] > 0.3
        self.assertTrue(0 < alone.sum() < 900)
        within = ["-k", 7, "--max-radius", 0.3]
        words = ["within --max-radius 0.3 ", "the particle itself", "leave --max-radius out"]
        self.check_infinite_densities(within, alone, *words)
        self.check_infinite_densities(["-k", 7], np.zeros(900, bool))
        self.check_infinite_densities([*within, "--exclude-self"], np.zeros(900, bool))

    def test_densities_of_particles_at_one_position(self):
        snapshot = self.snapshot({1: 300})
        snapshot.pos[1][:20] = 3
        snapshot.write(self.folder / "snapshot_007")
        at_one = np.arange(300) < 20
        words = ["at most 20", "same position", "larger -k"]
        self.check_infinite_densities(["-k", 20], at_one, *words)
        self.check_infinite_densities(["-k", 21], np.zeros(300, bool))
        with h5py.File(self.folder / "points.hdf5", "w") as file:
            file["Coordinates"] = np.float32([[3, 3, 3], [4, 4, 4]])
        self.group, self.what = "Query", "queries"
        how = ["-k", 20, "--query", "points.hdf5", "--max-radius", 5]
        words = ["--max-radius 5 ", "own position"]
        self.check_infinite_densities(how, np.array([True, False]), *words)

    def test_nobody_within_reach(self):
        """Radius 0 and no self: infinite radius, no density, nothing moves."""
        self.snapshot({1: 50})
        self.succeed(
            "snapshot_007",
            "-k",
            3,
            "--exclude-self",
            "--max-radius",
            0,
            "--reduce",
            "kth,mean-radius,density,sigma-v",
            "-q",
            "--json",
            "report.json",
        )
        results = self.results("knn_007")
        self.assertTrue(np.isinf(results["KthRadius"]).all())
        report = json.loads((self.folder / "report.json").read_text())
        kth = {column["name"]: column for column in report["result"]["columns"]}["KthRadius"]
        self.assertEqual([kth[name] for name in ("min", "mean", "max")], [None] * 3)
        self.assertEqual((kth["finite"], kth["total"]), (0, 50))
        for name in ("MeanRadius", "Density", "VelocityDispersion"):
            self.assertEqual(np.abs(results[name]).max(), 0)


class Files(KnnCase):
    def test_attributes(self):
        self.snapshot({1: 100})
        self.succeed(
            "snapshot_007",
            "-k",
            3,
            "--reduce",
            "density,kth",
            "--lists",
            "--kernel",
            "c2",
            "-q",
            "-o",
            "out.hdf5",
        )
        with h5py.File(self.folder / "out.hdf5", "r") as file:
            group, parameters, header = (
                file["PartType1"],
                file["Parameters"].attrs,
                file["Header"].attrs,
            )
            self.assertEqual(sorted(group), ["Density", "Distances", "Indices", "KthRadius"])
            self.assertEqual(
                (group["Distances"].attrs["Unit"], group["Distances"].attrs["to_cgs"]),
                (b"Mpc/h", 3.085678e24),
            )
            self.assertEqual(
                [
                    group["Distances"].attrs[name]
                    for name in ("a_scaling", "h_scaling", "mass_scaling", "length_scaling")
                ],
                [1, -1, 0, 1],
            )
            self.assertEqual(group["Density"].attrs["Unit"], b"(1e10 Msun/h) (Mpc/h)^-3")
            self.assertAlmostEqual(
                group["Density"].attrs["to_cgs"] / (1.989e43 / 3.085678e24**3), 1, places=12
            )
            self.assertEqual(
                [
                    group["Density"].attrs[name]
                    for name in ("a_scaling", "h_scaling", "mass_scaling", "length_scaling")
                ],
                [-3, 2, 1, -3],
            )
            self.assertEqual(
                (group["Density"].attrs["Kernel"], group["Density"].dtype),
                (b"Wendland C2", np.float64),
            )
            for dataset in group.values():
                self.assertEqual(
                    [dataset.attrs[name] for name in ("K", "SelfIncluded", "Periodic")], [3, 1, 1]
                )
            self.assertEqual(
                (group["Indices"].attrs["Missing"], group["Distances"].attrs["Missing"]),
                (-1, np.inf),
            )
            self.assertIn("row in PartType1", group["Indices"].attrs["Description"].decode())
            self.assertEqual(
                (parameters["Code"], parameters["Snapshot"], parameters["K"]),
                (b"zhalo", bytes((self.folder / "snapshot_007.hdf5").absolute()), 3),
            )
            self.assertEqual((header["NumFiles"], header["BoxSize"]), (1, BOX))
            np.testing.assert_array_equal(
                group["KthRadius"][:], group["Distances"][:, -1].astype(np.float64)
            )

    def test_run_without_cosmology(self):
        """Nothing scales with a: Time is a time."""
        self.snapshot({1: 100})
        with h5py.File(self.folder / "snapshot_007.hdf5", "r+") as file:
            file["Header"].attrs["ComovingIntegrationOn"] = np.int32(0)
            file["Header"].attrs["Time"] = 3.25
        self.succeed("snapshot_007", "-k", 3, "--reduce", "density,kth", "--lists", "-q")
        with h5py.File(self.folder / "knn_007.hdf5", "r") as file:
            self.assertEqual(file["Header"].attrs["Time"], 3.25)
            for name in ("Density", "KthRadius", "Distances", "Indices"):
                attributes = file["PartType1"][name].attrs
                self.assertEqual((attributes["a_scaling"], attributes["h_scaling"]), (0, 0), name)
            self.assertEqual(file["PartType1/Density"].attrs["Unit"], b"(1e10 Msun) (Mpc)^-3")

    def test_what_is_written(self):
        """Lists, unless a reduction is asked for without them."""
        self.snapshot({1: 60})
        for options, names in (
            ((), ["Distances", "Indices"]),
            (("--lists",), ["Distances", "Indices"]),
            (("--reduce", "kth"), ["KthRadius"]),
            (("--reduce", "kth", "--reduce", "sigma-v"), ["KthRadius", "VelocityDispersion"]),
            (
                ("--reduce", "mean-radius,kth", "--lists"),
                ["Distances", "Indices", "KthRadius", "MeanRadius"],
            ),
        ):
            with self.subTest(options):
                self.succeed(*options, "snapshot_007", "-k", 4, "-q", "-o", "out")
                self.assertEqual(sorted(self.results("out")), names)

    def test_several_files_and_a_master(self):
        """Each run over the files of the one before: nothing of another number stays."""
        self.snapshot({1: 200})
        self.succeed("snapshot_007", "-k", 3, "-q", "-o", "deep/out.hdf5")
        expected = self.results("deep/out")
        for number, master in ((3, True), (2, False), (1, True), (4, False), (1, False)):
            with self.subTest(number=number, master=master):
                self.succeed(
                    "snapshot_007",
                    "-k",
                    3,
                    "-q",
                    "-o",
                    "deep/out.hdf5",
                    "--json",
                    "report.json",
                    "--files",
                    number,
                    *(["--master"] if master else []),
                )
                names = [f"out.{k}.hdf5" for k in range(number)] if number > 1 else []
                whole = master or number == 1
                self.assertEqual(
                    sorted(os.listdir(self.folder / "deep")),
                    sorted(names + (["out.hdf5"] if whole else [])),
                )
                report = json.loads((self.folder / "report.json").read_text())
                self.assertEqual(
                    report["result"]["files"],
                    [f"deep/{name}" for name in names + (["out.hdf5"] if whole else [])],
                )
                seen = [self.results("deep/out")]
                if whole:
                    with h5py.File(self.folder / "deep/out.hdf5", "r") as file:
                        seen.append({name: values[:] for name, values in file["PartType1"].items()})
                for results in seen:
                    for name, values in expected.items():
                        np.testing.assert_array_equal(results[name], values)

    def test_a_folder_with_results_beside_one_snapshot(self):
        self.snapshot({1: 200})
        self.succeed("snapshot_007", "-k", 3, "-q")
        expected = self.results("knn_007")
        self.succeed(".", "-k", 3, "-q", "-o", "again")
        again = self.results("again")
        for name, values in expected.items():
            np.testing.assert_array_equal(again[name], values)

    def test_the_longest_name(self):
        """Names under which files wait for their commit are no longer."""
        self.snapshot({1: 200})
        longest = os.pathconf(self.folder, "PC_NAME_MAX")
        name, report = (longest - len(".hdf5")) * "n", longest * "j"
        self.succeed("snapshot_007", "-k", 3, "-q", "-o", name, "--json", report)
        self.assertIn(f"{name}.hdf5", os.listdir(self.folder))
        self.assertIn(report, os.listdir(self.folder))

    def test_names_with_percent_signs(self):
        """HDF5 has a meaning for them in the names of a master's parts."""
        self.snapshot({1: 200})
        for name in ("k%%.hdf5", "k%.hdf5", "%b.hdf5", "100%d%"):
            with self.subTest(name):
                self.succeed("snapshot_007", "-k", 3, "-q", "-o", name, "--files", 2, "--master")
                stem = name.removesuffix(".hdf5")
                parts = []
                for number in range(2):
                    with h5py.File(self.folder / f"{stem}.{number}.hdf5", "r") as file:
                        parts.append(file["PartType1/Indices"][:])
                with h5py.File(self.folder / f"{stem}.hdf5", "r") as file:
                    np.testing.assert_array_equal(
                        file["PartType1/Indices"][:], np.concatenate(parts)
                    )

    def test_reads_do_not_need_masses_or_velocities(self):
        snapshot = self.snapshot({1: 60})
        snapshot.write(self.folder / "snapshot_007", masses=False, velocities=False)
        self.succeed("snapshot_007", "-k", 4, "-q", "--reduce", "kth,mean-radius", "--lists")
        self.assert_neighbours(self.results("knn_007"), Truth(snapshot.pos[1]), snapshot.pos[1], 4)


class Reports(KnnCase):
    def test_estimates_know_the_columns_of_the_file(self):
        """Velocities and masses in float64 take 4 bytes a number more than in float32."""
        snapshot = self.snapshot({1: 200})
        memory = {}
        for kind in (np.float32, np.float64):
            for columns in (snapshot.vel, snapshot.mass):
                columns[1] = columns[1].astype(kind)
            snapshot.write(self.folder / "snapshot_007")
            for words in ("kth", "density,sigma-v"):
                arguments = ("-k", 3, "--reduce", words, "--dry-run", "-q", "--json", "-")
                report = json.loads(self.succeed("snapshot_007", *arguments))
                memory[kind, words] = report["estimate"]["memory_bytes"]
        found = [memory[np.float64, w] - memory[np.float32, w] for w in ("kth", "density,sigma-v")]
        self.assertEqual(found, [0, 200 * (3 + 1) * 4])

    def test_json(self):
        self.snapshot({1: 200})
        self.succeed(
            "snapshot_007", "-k", 3, "-q", "--json", "report.json", "--reduce", "kth", "--lists"
        )
        report = json.loads((self.folder / "report.json").read_text())
        results = self.results("knn_007")
        self.assertEqual(
            (report["num_particles"], report["num_queries"], report["query"], report["dry_run"]),
            (200, 200, None, False),
        )
        self.assertEqual(
            (
                report["options"]["k"],
                report["options"]["max_radius"],
                report["options"]["reductions"],
            ),
            (3, None, ["kth"]),
        )
        self.assertEqual(report["result"]["files"], ["./knn_007.hdf5"])
        columns = {column["name"]: column for column in report["result"]["columns"]}
        self.assertEqual(sorted(columns), ["Distances", "KthRadius"])
        self.assertAlmostEqual(columns["KthRadius"]["mean"], results["KthRadius"].mean(), places=9)
        self.assertEqual(columns["KthRadius"]["max"], results["KthRadius"].max())
        self.assertEqual(
            (columns["Distances"]["finite"], columns["Distances"]["total"]), (200, 200)
        )
        self.assertIn("write", [phase["name"] for phase in report["result"]["phases"]])

    def test_one_search_serves_all_reductions(self):
        """With lists or without: as many pairs are tested as for one of them."""
        self.snapshot({1: 200})
        searches = []
        for options in (("kth",), ("kth,density,sigma-v",), ("kth,density", "--lists")):
            self.succeed("snapshot_007", "-k", 3, "-q", "--json", "r.json", "--reduce", *options)
            searches.append(json.loads((self.folder / "r.json").read_text())["result"]["search"])
        self.assertGreater(searches[0]["pairs_tested"], 200)
        for search in searches[1:]:
            for count in ("pairs_tested", "leaves_visited", "chunks"):
                self.assertEqual(search[count], searches[0][count], count)

    def test_json_on_standard_output(self):
        self.snapshot({1: 40})
        report = json.loads(self.succeed("snapshot_007", "-k", 3, "-q", "--json", "-"))
        self.assertEqual(report["num_queries"], 40)

    def test_dry_run(self):
        """Writes nothing; says how large the file becomes."""
        self.snapshot({1: 20000})
        before = self.files()
        output = self.succeed("snapshot_007", "--dry-run", "--json", "-", "-q")
        report = json.loads(output)
        self.assertEqual(
            (report["dry_run"], report["result"], report["output"]), (True, None, "knn_007.hdf5")
        )
        self.assertIn("20000 of type 1", self.succeed("snapshot_007", "--dry-run"))
        self.assertEqual(self.files(), before)
        self.succeed("snapshot_007", "-q")
        size = (self.folder / "knn_007.hdf5").stat().st_size
        self.assertTrue(size <= report["estimate"]["output_bytes"] <= size + 100000)

    def test_help_and_version(self):
        self.assertIn("Usage: knn SNAPSHOT", self.succeed("--help"))
        self.assertIn("zhalo", self.succeed("--version"))

    def test_text(self):
        snapshot = self.snapshot({1: 300})
        output = self.succeed("snapshot_007", "-k", 5, "-v")
        for words in (
            "300 of type 1",
            "5 of each",
            "Distances, Indices",
            "Search box   periodic, 10 x 10 x 10",
            "Written      ./knn_007.hdf5",
        ):
            self.assertIn(words, output)
        kth = Truth(snapshot.pos[1]).nearest(snapshot.pos[1], 5)[0][:, -1]
        self.assertRegex(output, rf"Distances +{kth.min():.4g}\d* ")


if __name__ == "__main__":
    main()
