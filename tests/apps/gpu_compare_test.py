"""scripts/gpu-compare: its table from real runs of zhalo_bench beside a stand-in for jz-tree, whose
wrong results are named; its rules; what it says of what is missing. No GPU is needed.

gpu_compare_test.py PROGRAM
"""

import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "scripts"))
import compare_rules as rules  # noqa: E402
import numpy as np  # noqa: E402
from compare_peers.agreement import why_groups_differ  # noqa: E402

PROGRAM = ""
STAND_IN = Path(__file__).with_name("stand_in_peer.py")


def compare(*words, fault=""):
    """Exit status and all output of the script."""
    result = subprocess.run(
        [sys.executable, ROOT / "scripts/gpu-compare", *map(str, words)],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "STAND_IN_FAULT": fault},
    )
    return result.returncode, result.stdout + result.stderr


class Runs(unittest.TestCase):
    words = "--exec threads:1 --kinds clustered --num 3e3 --k 8 --repetitions 1".split()

    def compare(self, *words, fault=""):
        with tempfile.TemporaryDirectory() as folder:
            python = Path(folder, "python")  # of the same Python as this
            python.write_text(f'#!/bin/sh\nshift\nexec {sys.executable} -B {STAND_IN} "$@"\n')
            python.chmod(0o755)
            out = Path(folder, "figures.json")
            given = ["--bench", PROGRAM, *self.words, "--python", python, "--json", out, *words]
            status, output = compare(*given, fault=fault)
            return status, output, json.loads(out.read_text()) if out.exists() else None

    def test_table(self):
        status, output, figures = self.compare()
        self.assertEqual(status, 0, output)
        table = [line for line in output.split("\n") if line.startswith("|")]
        self.assertEqual(len(table), 5, output)
        for line, what in zip(table[2:], ("FoF with catalogue", "FoF labels", "kNN, k = 8")):
            self.assertIn(what, line)
            self.assertTrue(line.startswith("| clustered 3e3 |") and line.endswith("| yes |"), line)
        self.assertIn("ArborX is left out", output)
        self.assertIn("a trial only", output)
        for row in figures["rows"]:
            self.assertAlmostEqual(row["theirs"], 0.5e9 / 3000)
            self.assertAlmostEqual(row["ratio"], row["theirs"] / row["zhalo"])
            self.assertGreater(row["zhalo"], 0)

    def test_wrong_results_are_named(self):
        for fault, wrong in {
            "labels": ["FoF with catalogue", "FoF labels"],
            "haloes": ["FoF with catalogue"],
            "distances": ["kNN, k = 8"],
            "indices": ["kNN, k = 8"],
        }.items():
            with self.subTest(fault):
                status, output, figures = self.compare(fault=fault)
                self.assertEqual(status, 1, output)
                differ = [row["what"] for row in figures["rows"] if not row["agree"]]
                self.assertEqual([one.split(", b")[0] for one in differ], wrong, output)
                self.assertEqual(output.count("| NO |"), len(wrong))
                self.assertEqual(output.count("a stand-in differs: "), len(wrong))

    def test_absent_peers_are_left_out(self):
        status, output, figures = self.compare(fault="none")
        self.assertEqual((status, figures["rows"]), (0, []), output)
        self.assertIn("jz-tree is left out: python ended with 1: no module jztree", output)

    def test_without_a_device(self):
        status, output, _ = self.compare("--exec", "cuda:none")
        self.assertEqual(status, 2, output)
        self.assertIn("is there a GPU", output)

    def test_dry_run_runs_nothing(self):
        status, output = compare("--bench", "none", "--dry-run", "--num", "1e6", "--k", "8")
        self.assertEqual(status, 0, output)
        for words in ("--write-points", "jztree_driver.py", "exec:cuda$", "--write-neighbours"):
            self.assertIn(words, output)

    def test_carry_asks_for_the_target(self):
        carry = ("--carry", "none", "--dry-run", "--python-version", "3.11", "--cuda", "12")
        status, output = compare(*carry)
        self.assertEqual(status, 0, output)
        for word in ("--no-deps", "--python-version=3.11", "jztree-cu12=="):
            self.assertIn(word, output)

    def test_usage(self):
        self.assertEqual(compare()[0], 2)
        self.assertEqual(compare("--help")[0], 0)


class Rules(unittest.TestCase):
    def test_groups(self):
        ours = np.array([0, 0, 2, 2, 4])
        self.assertIsNone(why_groups_differ(ours, np.array([1, 1, 3, 3, 4])))
        for theirs in ([0, 0, 0, 0, 4], [0, 1, 2, 2, 4], [0, 0, 2, 2, 9], [0, 0, 2, 2]):
            with self.subTest(theirs):
                self.assertIsNotNone(why_groups_differ(ours, np.array(theirs)))

    def test_a_pair_in_a_million_may_differ(self):
        ours = np.arange(3_000_000)
        for linked, agree in ((6, True), (7, False)):
            theirs = ours.copy()
            theirs[1 : 2 * linked : 2] -= 1
            self.assertEqual(why_groups_differ(ours, theirs) is None, agree)

    def test_transforms(self):
        def cases(difference):
            return {
                "fft/float/256/exec:cuda": [{"real_time": 2.0}],
                "cufft/float/256/exec:cuda": [{"real_time": 3.0, "difference": difference}],
            }

        (row,) = rules.transform_rows(cases(1e-7))
        self.assertEqual((row["points"], row["ratio"], row["agree"]), ("float 256^3", 1.5, True))
        found = cases(1e-7)
        found["fft/float/256/exec:cuda"][0]["GB_per_second"] = 800.0
        found["copy/1GiB/exec:cuda"] = [{"GB_per_second": 1600.0}]
        _, limit = rules.transform_rows(found)
        self.assertEqual((limit["theirs"], limit["ratio"], limit["agree"]), (1.0, 0.5, True))
        for difference in (1e-4, float("nan")):
            (row,) = rules.transform_rows(cases(difference))
            self.assertFalse(row["agree"])
            self.assertIn("spectra differ", row["why"])


if __name__ == "__main__":
    PROGRAM = sys.argv[1]
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
