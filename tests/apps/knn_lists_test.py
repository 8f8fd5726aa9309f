"""The command knn: neighbours against scipy's cKDTree, also of other points.

knn_lists_test.py PROGRAM DATA SNAPSHOTS
"""

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


if __name__ == "__main__":
    main()
