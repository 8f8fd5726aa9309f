"""zhalo_bench: the names of its cases, its counters, files of points in and out, and its errors.

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
    result = subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True, check=False)
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


class Bench(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.path = Path(self.folder.name)

    def tearDown(self):
        self.folder.cleanup()

    def write_points(self, kind, num):
        path = self.path / f"{kind}.f32"
        self.assertEqual(run("--write-points", path, "--kind", kind, "--num", num)[0], 0)
        values = array.array("f", path.read_bytes())
        return path, list(zip(values[0::3], values[1::3], values[2::3]))

    def test_names_of_cases(self):
        status, output, _ = run("--benchmark_list_tests", "--benchmark_filter=threads:")
        wanted = {f"fof/{kind}/{num}/b{b}/threads:{threads}" for kind in ("uniform", "clustered") for num in ("1e5", "1e6", "1e7")
                  for b in ("0.2", "0.7") for threads in (1, 2)}
        self.assertEqual((status, set(output.split())), (0, wanted))

    def test_counters_of_a_file(self):
        points, _ = self.write_points("clustered", "3e4")
        out = self.path / "out.json"
        status, _, errors = run("--points", points, "--box", 1, "--benchmark_min_time=0.001", "--benchmark_filter=threads:",
                                f"--benchmark_out={out}", "--benchmark_out_format=json")
        self.assertEqual(status, 0, errors)
        cases = json.loads(out.read_text())["benchmarks"]
        self.assertEqual([case["name"] for case in cases],
                         [f"fof/points/b{b}/threads:{threads}" for b in (0.2, 0.7) for threads in (1, 2)])
        for case in cases:
            phases = sum(case[phase] for phase in ("bounds", "keys", "sort", "gather", "tree", "link", "labels"))
            self.assertGreater(phases, 0)
            self.assertLessEqual(phases, case["ns_per_particle"])
            self.assertAlmostEqual(case["total"], case["ns_per_particle"] + case["catalogue"], delta=1e-6 * case["total"])
            self.assertGreater(case["ns_per_particle_first"], 0)
            self.assertGreaterEqual(case["bytes_per_particle"], 8)  # the labels
            self.assertGreaterEqual(case["bytes_per_particle_catalogue"], 8)
            self.assertGreater(case["groups"], case["haloes"])
            self.assertGreater(case["haloes"], 0)

    def test_labels_are_the_groups(self):
        path, points = self.write_points("dense", 500)
        length, box = 0.03, 1.0
        labels = self.path / "labels.i64"
        self.assertEqual(run("--points", path, "--box", box, "--rlink-abs", length, "--write-labels", labels)[0], 0)
        found = list(array.array("q", labels.read_bytes()))
        self.assertEqual(found, components(points, length, box))
        self.assertLess(len(set(found)), 400)

    def test_points_are_what_was_asked_for(self):
        _, points = self.write_points("uniform", "1e3")
        self.assertEqual(len(points), 1000)
        self.assertTrue(all(0 <= x < 1 and not math.isnan(x) for point in points for x in point))

    def test_errors_are_one_line_and_status_2(self):
        short = self.path / "short.f32"
        short.write_bytes(b"1234567")
        for arguments, message in ((["--points", self.path / "none"], "cannot open"), (["--points", short], "not a multiple of 12"),
                                   (["--nonsense"], "unknown option '--nonsense'"),
                                   (["--write-points", self.path / "x", "--kind", "lumpy"], "must be uniform, clustered or dense"),
                                   (["--write-points", self.path / "no" / "x"], "cannot write"),
                                   (["--points", short, "--rlink-abs", "-1"], "--rlink-abs")):
            status, _, errors = run(*arguments)
            self.assertEqual(status, 2, arguments)
            self.assertIn(message, errors.strip().split("\n")[0 if "rlink" in message else -1])


if __name__ == "__main__":
    PROGRAM = sys.argv.pop(1)
    unittest.main()
