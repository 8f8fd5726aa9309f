"""The command knn: what it computes from neighbours, against numpy.

knn_reductions_test.py PROGRAM DATA SNAPSHOTS
"""

import json

import h5py
import numpy as np
from knn_case import KnnCase, Truth, main


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
            mass, velocity = (
                snapshot.mass[1][indices].astype(np.float64),
                snapshot.vel[1][indices].astype(np.float64),
            )
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


if __name__ == "__main__":
    main()
