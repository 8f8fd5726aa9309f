"""zhalo_bench: the names of its cases, its counters, files of points and neighbours, and its
errors.

bench_test.py PROGRAM
"""

import array
import json
import math
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

PROGRAM = ""


def run(*arguments):
    """Exit status, output and errors."""
    result = subprocess.run(
        [PROGRAM, *map(str, arguments)], capture_output=True, text=True, check=False
    )
    return result.returncode, result.stdout, result.stderr


def components(points, length, box):
    """For each point the smallest index in its group, by comparing all pairs in float64."""
    label = list(range(len(points)))

    def root(i):
        while label[i] != i:
            i = label[i]
        return i

    def difference(a, b):
        d = abs(a - b)
        return min(d, box - d)

    for i, p in enumerate(points):
        for j, q in enumerate(points[:i]):
            if sum(difference(a, b) ** 2 for a, b in zip(p, q)) <= length * length:
                low, high = sorted((root(i), root(j)))
                label[high] = low
    return [root(i) for i in range(len(points))]


def nearest(points, k, box):
    """For each point the distances in float64 of its k nearest, itself included, by comparing all
    pairs."""

    def distance(p, q):
        return math.sqrt(sum(min(abs(a - b), box - abs(a - b)) ** 2 for a, b in zip(p, q)))

    return [sorted(distance(p, q) for q in points)[:k] for p in points]


class Bench(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.path = Path(self.folder.name)

    def tearDown(self):
        self.folder.cleanup()

    def write_points(self, kind, num, *order):
        path = self.path / f"{kind}.f32"
        given = ("--write-points", path, "--kind", kind, "--num", num, *order)
        self.assertEqual(run(*given)[0], 0)
        values = array.array("f", path.read_bytes())
        return path, list(zip(values[0::3], values[1::3], values[2::3]))

    def test_names_of_cases(self):
        status, output, _ = run("--benchmark_list_tests", "--benchmark_filter=threads:")
        points = [
            f"{kind}/{num}" for kind in ("uniform", "clustered") for num in ("1e5", "1e6", "1e7")
        ]
        searches = [f"fof/{one}/b{b}" for one in points for b in ("0.2", "0.7")]
        searches += [
            f"knn/{what}/{one}/k{k}"
            for what in ("self", "queries", "reduce")
            for one in points
            for k in (8, 16, 32, 64)
        ]
        searches += [f"fft/{real}/{num}" for real in ("float", "double") for num in (128, 256, 512)]
        searches += [
            f"{what}/{window}/{kind}/{num}/{order}"
            for what in ("paint", "readout", "power")
            for window in ("ngp", "cic", "tsc", "pcs")
            for kind in ("uniform", "clustered")
            for num in ("1e6", "1e7")
            for order in ("z-order", "random")
        ]
        wanted = {f"{search}/threads:{threads}" for search in searches for threads in (1, 2)}
        self.assertEqual((status, set(output.split())), (0, wanted))

    def test_transforms(self):
        one, two = self.cases_of("^fft/float/128/threads")
        self.assertEqual(
            (one["name"], two["name"]), ("fft/float/128/threads:1", "fft/float/128/threads:2")
        )
        for case in one, two:
            seconds = case["real_time"] * 1e-3
            # Of the same order: the rate is from a clock of its own, and other programs may run
            # between the two.
            self.assertAlmostEqual(
                case["GB_per_second"] / (12 * 4 * 128**3 / seconds * 1e-9), 1, delta=0.9
            )
            self.assertGreater(
                case["workspace_MB"], 128 * 128 * 65 * 8 * 1e-6
            )  # backward with two arrays keeps the modes

    def cases_of(self, regex, *arguments):
        """What google-benchmark reports of the cases that match."""
        out = self.path / "out.json"
        status, _, errors = run(
            *arguments,
            "--benchmark_min_time=0.001",
            f"--benchmark_filter={regex}",
            f"--benchmark_out={out}",
            "--benchmark_out_format=json",
        )
        self.assertEqual(status, 0, errors)
        return json.loads(out.read_text())["benchmarks"]

    def test_counters_of_a_file(self):
        points, _ = self.write_points("clustered", "3e4")
        cases = self.cases_of("fof/.*threads:", "--points", points, "--box-size", 1)
        self.assertEqual(
            [case["name"] for case in cases],
            [f"fof/points/b{b}/threads:{threads}" for b in (0.2, 0.7) for threads in (1, 2)],
        )
        for case in cases:
            phases = sum(
                case[phase]
                for phase in ("bounds", "sort", "tree", "link", "labels")
            )
            self.assertGreater(phases, 0)
            self.assertLessEqual(phases, case["ns_per_particle"])
            self.assertAlmostEqual(
                case["total"],
                case["ns_per_particle"] + case["catalogue"],
                delta=1e-6 * case["total"],
            )
            self.assertGreater(case["with_catalogue"], 0)
            self.assertGreater(case["ns_per_particle_first"], 0)
            self.assertGreaterEqual(case["bytes_per_particle"], 8)  # the labels
            self.assertGreaterEqual(case["bytes_per_particle_catalogue"], 8)
            self.assertGreater(case["groups"], case["haloes"])
            self.assertGreater(case["haloes"], 0)

    def test_labels_are_the_groups(self):
        path, points = self.write_points("dense", 500)
        length, box = 0.03, 1.0
        labels = self.path / "labels.i64"
        given = ("--points", path, "--box-size", box, "--rlink-abs", length)
        self.assertEqual(run(*given, "--write-labels", labels)[0], 0)
        found = list(array.array("q", labels.read_bytes()))
        self.assertEqual(found, components(points, length, box))
        self.assertLess(len(set(found)), 400)

    def check_neighbour_counters(self, case, num, k):
        phases = sum(case[phase] for phase in ("sort", "tree", "search"))
        self.assertGreater(phases, 0)
        self.assertLessEqual(phases, case["ns_per_query"])
        self.assertGreater(case["ns_per_query_first"], 0)
        self.assertGreater(case["bytes_per_query"], 0)
        self.assertGreaterEqual(case["pairs_per_query"], k)  # each neighbour was looked at
        self.assertLessEqual(case["pairs_per_query"], num)
        self.assertGreaterEqual(case["leaves_per_query"], 1)

    def test_neighbours_of_a_file(self):
        points, _ = self.write_points("clustered", "1e4")
        cases = self.cases_of("knn/.*threads:", "--points", points, "--box-size", 1)
        self.assertEqual(
            [case["name"] for case in cases],
            [f"knn/points/k{k}/threads:{threads}" for k in (8, 16, 32, 64) for threads in (1, 2)],
        )
        for case in cases:
            self.check_neighbour_counters(case, 10000, int(case["name"].split("/")[2][1:]))

    def test_neighbours_of_queries_and_reduced(self):
        queries, reduced = self.cases_of("knn/(queries|reduce)/uniform/1e5/k8/threads:1$")
        self.check_neighbour_counters(queries, 100000, 8)
        self.assertGreater(reduced["search"], 0)
        self.assertGreater(reduced["bytes_per_query"], 0)
        self.assertNotIn("pairs_per_query", reduced)

    def test_written_neighbours_are_the_nearest(self):
        num, k = 400, 5
        path, points = self.write_points("uniform", num)
        out = self.path / "neighbours"
        self.assertEqual(
            run("--points", path, "--box-size", 1, "--write-neighbours", out, "--k", k)[0], 0
        )
        data = out.read_bytes()
        self.assertEqual(len(data), num * k * (4 + 8))
        distance, index = array.array("f", data[: 4 * num * k]), array.array(
            "q", data[4 * num * k :]
        )
        for i, row in enumerate(nearest(points, k, 1.0)):
            self.assertEqual(index[i * k], i)
            self.assertEqual(len(set(index[i * k : (i + 1) * k])), k)
            for wanted, found in zip(row, distance[i * k : (i + 1) * k]):
                self.assertAlmostEqual(wanted, found, delta=1e-6)

    def test_meshes_of_a_file(self):
        points, _ = self.write_points("clustered", "1e4")
        given = ("--points", points, "--grid", 16, "--threads", "1,3")
        cases = self.cases_of("(paint|power)/.*threads:", *given)
        self.assertEqual(
            [case["name"] for case in cases],
            [
                f"{work}/points/{window}/threads:{threads}"
                for work in ("paint", "power")
                for window in ("ngp", "cic", "tsc", "pcs")
                for threads in (1, 3)
            ],
        )
        for case in cases:
            self.assertGreater(case["ns_per_particle"], 0)
            self.assertGreater(case["bytes_per_particle"], 0)

    def test_a_written_field_has_the_shares_of_its_points(self):
        cells = 4
        path, points = self.write_points("uniform", 30)
        out = self.path / "field"
        given = ("--points", path, "--grid", cells, "--window", "cic")
        self.assertEqual(run(*given, "--write-field", out)[0], 0)
        found = array.array("f", out.read_bytes())
        self.assertEqual(len(found), cells**3)

        def share(x, i):
            """By definition: the overlap of a cell with a cell around the point."""
            apart = abs(x * cells - (i + 0.5))
            return max(0, 1 - min(apart, cells - apart))

        for cell, value in enumerate(found):
            i, j, k = cell // cells**2, cell // cells % cells, cell % cells
            wanted = sum(share(x, i) * share(y, j) * share(z, k) for x, y, z in points)
            self.assertAlmostEqual(value, wanted, delta=1e-5)

    def test_a_written_power_spectrum_counts_all_modes(self):
        path, _ = self.write_points("uniform", 1000)
        out = self.path / "power"
        for compensation in ("none", "window", "shot-noise"):
            given = ("--points", path, "--grid", 8, "--compensation", compensation)
            self.assertEqual(run(*given, "--write-power", out)[0], 0)
            numbers = array.array("d", out.read_bytes())
            self.assertEqual(list(numbers[2::3]), [26, 66, 158])  # 1, 2, 3 <= |k| < 2, 3, 4
            self.assertTrue(all(number > 0 for number in numbers))

    def test_points_are_what_was_asked_for(self):
        _, points = self.write_points("uniform", "1e3")
        self.assertEqual(len(points), 1000)
        self.assertTrue(all(0 <= x < 1 and not math.isnan(x) for point in points for x in point))

    def test_points_in_z_order(self):
        _, points = self.write_points("clustered", "1e3")
        _, in_order = self.write_points("clustered", "1e3", "--z-order")
        self.assertEqual(sorted(in_order), sorted(points))

        def cell(point):  # of the eight octants of the cube, as the Z-order visits them
            return sum((x >= 0.5) << axis for axis, x in enumerate(reversed(point)))

        cells = [cell(point) for point in in_order]
        self.assertEqual(len(set(cells)), 8)
        visited = [a for a, b in zip(cells, cells[1:] + [None]) if a != b]
        self.assertEqual(len(visited), 8)

    def test_errors_are_one_line_and_status_2(self):
        short = self.path / "short.f32"
        short.write_bytes(b"1234567")
        for arguments, message in (
            (["--points", self.path / "none"], "cannot open"),
            (["--points", short], "not a multiple of 12"),
            (["--nonsense"], "unknown option '--nonsense'"),
            (
                ["--write-points", self.path / "x", "--kind", "lumpy"],
                "must be uniform, clustered or dense",
            ),
            (["--write-points", self.path / "no" / "x"], "cannot write"),
            (["--points", short, "--write-neighbours", self.path / "x"], "not a multiple of 12"),
            (["--points", short, "--device"], "--device is given without"),
            (["--points", short, "--window", "cic"], "--window is given without"),
            (["--points", short, "--compensation", "none"], "--compensation is given without"),
            (["--points", short, "--write-field", "x", "--window", "cubic"], "must be ngp, cic"),
            (["--points", short, "--threads", "0"], "--threads must be"),
            (["--write-power", "x"], "is given without --points"),
            (["--points", short, "--z-order"], "--z-order is given without --write-points"),
            (["--points", short, "--rlink-abs", "-1"], "--rlink-abs"),
        ):
            status, _, errors = run(*arguments)
            self.assertEqual(status, 2, arguments)
            self.assertIn(message, errors.strip().split("\n")[0 if "rlink" in message else -1])


if __name__ == "__main__":
    PROGRAM = sys.argv.pop(1)
    unittest.main()
