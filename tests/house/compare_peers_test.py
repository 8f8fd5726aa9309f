"""scripts/compare-peers: its tables from real runs of zhalo's programs beside numpy, scipy and
stand-ins for other peers; a wrong result of a peer is named; its rules.

compare_peers_test.py FOLDER     of zhalo_bench and zhalo_fft_bench
"""

import importlib.util
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
import numpy as np  # noqa: E402
from compare_peers import groups, painting, power, transforms  # noqa: E402

PROGRAMS = ""
MODULES = {
    "hfof": "from stand_in_peers import fof",
    "pykdtree": "",
    "pykdtree.kdtree": "from stand_in_peers import KDTree",
    "MAS_library": "from stand_in_peers import MA",
    "Pk_library": "from stand_in_peers import Pk",
}
WORK = ["groups", "neighbours", "painting", "power"]
TINY = "--points clustered --num 2e3 --repetitions 1 --b 0.2 --k 8 --windows cic --grid 16".split()
TRANSFORMS = "--sizes 8 --ranks 1 2 --types float --splits slab --ways messages".split()


def write_stand_ins(folder):
    for name, text in MODULES.items():
        is_package = any(other.startswith(name + ".") for other in MODULES)
        path = folder.joinpath(*name.split("."))
        path = path / "__init__.py" if is_package else path.with_suffix(".py")
        path.parent.mkdir(exist_ok=True)
        path.write_text(text + "\n")


class Runs(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.path = Path(self.folder.name)
        self.modules = self.path / "modules"
        self.modules.mkdir()

    def tearDown(self):
        self.folder.cleanup()

    def compare(self, *words, fault=""):
        """Exit status, all output, and the figures."""
        out = self.path / "figures.json"
        out.unlink(missing_ok=True)
        folders = [self.modules, Path(__file__).parent, ROOT / "scripts"]
        environment = {"PYTHONPATH": ":".join(map(str, folders)), "STAND_IN_FAULT": fault}
        given = ["--programs", PROGRAMS, "--nanoflann", self.path, "--json", out, *TINY, *words]
        result = subprocess.run(
            [sys.executable, ROOT / "scripts/compare-peers", *map(str, given)],
            capture_output=True,
            text=True,
            check=False,
            env={**os.environ, **environment},
        )
        figures = json.loads(out.read_text()) if out.exists() else None
        return result.returncode, result.stdout + result.stderr, figures

    def test_tables(self):
        status, output, figures = self.compare("--threads", "1", "2", *TRANSFORMS)
        self.assertEqual(status, 0, output)
        found = {(row["kind"], row["peer"]["name"]) for row in figures["rows"] if row["peer"]}
        for one in (
            ("groups", "scipy"),
            ("neighbours", "scipy"),
            ("painting", "numpy"),
            ("power", "numpy"),
        ):
            self.assertIn(one, found)
        self.assertNotIn("| NO |", output)
        self.assertIn("nanoflann is not found: there is no ", output)
        self.assertIn("arborx is not found: --arborx", output)
        self.assertEqual({row["threads"] for row in figures["rows"]}, {1, 2})
        self.assertEqual(len(figures["transforms"]), 3, output)  # 1 and 2 ranks, 2 threads
        for row in figures["rows"]:
            self.assertTrue(row["agree"], row["why"])
            self.assertGreater(row["zhalo"][0]["wall"], 0)
            self.assertGreater(row["zhalo"][0]["bytes"], 0)

    def test_points_in_z_order(self):
        words = ["--work", "painting", "--peers", "numpy", "--order", "z-order"]
        status, output, figures = self.compare(*words)
        self.assertEqual(status, 0, output)
        for row in figures["rows"]:
            self.assertTrue(row["name"].endswith(" in Z-order"), row["name"])
            self.assertTrue(row["agree"], row["why"])

    def test_plots(self):
        plots = self.path / "plots"
        words = ["--work", "painting", "--peers", "numpy", "--plots", plots]
        status, output, _ = self.compare(*words, "--num", "1e3", "2e3")
        self.assertEqual(status, 0, output)
        if importlib.util.find_spec("matplotlib") is None:
            self.assertIn("no plots: matplotlib is not found", output)
        else:
            picture = plots / "peers-painting-number.png"
            self.assertEqual(picture.read_bytes()[1:4], b"PNG", output)

    def stand_ins(self, fault, *work):
        write_stand_ins(self.modules)
        program = self.path / "program"
        stand_ins = Path(__file__).with_name("stand_in_peers.py")
        program.write_text(f'#!/bin/sh\nexec {sys.executable} -B {stand_ins} "$@"\n')
        program.chmod(0o755)
        words = ["--work", *work, "--arborx", program, "--gadget4", program]
        peers = ["hfof", "pykdtree", "pylians", "arborx", "gadget4"]
        return self.compare(*words, "--peers", *peers, fault=fault)

    def test_right_results_agree(self):
        status, output, figures = self.stand_ins("", *WORK)
        self.assertEqual(status, 0, output)
        self.assertEqual(len([row for row in figures["rows"] if row["peer"]]), 7, output)
        clocks = {"ArborX": 0.5, "GADGET-4": 0.75}  # of the stand-ins
        for row in figures["rows"]:
            name = row["peer"]["name"]
            if name in clocks:
                self.assertEqual([run["cpu"] for run in row["peer"]["runs"]], [clocks[name]])

    def test_wrong_results_are_named(self):
        for fault, kinds in {
            "labels": ["groups", "groups", "groups"],
            "distances": ["neighbours", "neighbours"],
            "indices": ["neighbours", "neighbours"],
            "cells": ["painting"],
            "power": ["power"],
            "modes": ["power"],
        }.items():
            with self.subTest(fault):
                status, output, figures = self.stand_ins(fault, kinds[0])
                self.assertEqual(status, 1, output)
                self.assertEqual(
                    [row["kind"] for row in figures["rows"] if not row["agree"]], kinds, output
                )
                self.assertEqual(output.count("| NO |"), len(kinds))
                self.assertEqual(output.count(" differs: "), len(kinds))

    def test_a_peer_that_fails_is_named_and_the_others_run(self):
        status, output, figures = self.stand_ins("dies", "groups", "painting")
        self.assertEqual(status, 1, output)
        self.assertIn("hfof failed: OSError: a planted fault", output)
        found = [row["peer"]["name"] for row in figures["rows"] if row["peer"]]
        self.assertEqual(found, ["ArborX", "GADGET-4", "Pylians"], output)

    def test_missing_programs(self):
        status, output, _ = self.compare("--programs", self.path)
        self.assertEqual(status, 2, output)
        self.assertIn("zhalo_bench: build it", output)


class Rules(unittest.TestCase):
    def why(self, module, problem, wanted, found):
        with tempfile.TemporaryDirectory() as folder:
            paths = [Path(folder, name) for name in ("ours", "theirs")]
            for path, values in zip(paths, (wanted, found)):
                values.tofile(path)
            return module.why_differ(problem, *paths, True)

    def test_any_labels_become_smallest_members(self):
        found = groups.smallest_members(np.array([7, 3, 7, 0, 3]))
        self.assertEqual(found.tolist(), [0, 1, 0, 3, 1])

    def test_groups_that_are_not_listed(self):
        ours = np.repeat([0, 40], [40, 10])
        for theirs, agree in (
            (np.repeat([7, -1], [40, 10]), True),
            (np.repeat([7, -1], [39, 11]), False),
            (np.repeat([7, 8], [40, 10]), True),
            (np.repeat([-1, 8], [40, 10]), False),
        ):
            self.assertEqual(self.why(groups, {}, ours, theirs) is None, agree, theirs)

    def test_painting_by_hand(self):
        point = np.array([[0.25, 0.3, 0.99]])  # of cells of 1/4: on an edge, and across the box
        for order, along_z in ((1, [0, 0, 0, 1]), (2, [0.46, 0, 0, 0.54])):
            field = painting.paint(point, 4, order)
            self.assertAlmostEqual(field.sum(), 1)
            np.testing.assert_allclose(field.sum(axis=(0, 1)), along_z, atol=1e-12)
        np.testing.assert_allclose(painting.paint(point, 4, 3).sum(axis=(1, 2))[:2], [0.5, 0.5])
        self.assertAlmostEqual(painting.paint(point, 4, 4).sum(), 1)

    def test_cells(self):
        wanted = np.full(8, 2, np.float32)
        for change, agree in ((1e-6, True), (1e-5, False), (np.nan, False)):
            found = wanted.copy()
            found[3] += change
            self.assertEqual(self.why(painting, {"cells": 2}, wanted, found) is None, agree)
        self.assertIsNotNone(self.why(painting, {"cells": 2}, wanted, wanted[:4]))

    def test_bins(self):
        wanted = np.array([[1.0, 5.0, 26.0], [2.0, 3.0, 90.0]])
        for index, factor, agree in (
            ((0, 1), 1 + 1e-5, True),
            ((0, 1), 1 + 3e-5, False),
            ((1, 1), np.nan, False),
            ((1, 2), 2, False),
        ):
            found = wanted.copy()
            found[index] *= factor
            self.assertEqual(self.why(power, {}, wanted, found) is None, agree)
        self.assertIsNotNone(self.why(power, {}, wanted, wanted[:1]))

    def test_power_of_one_wave(self):
        x = np.arange(8) / 8
        wave = np.broadcast_to(np.cos(2 * np.pi * 2 * x), (8, 8, 8))
        found = power.binned_power(np.fft.rfftn(wave), 1)
        self.assertEqual(found[:, 2].tolist(), [26, 66, 158])
        # Two modes of |a|^2 = 1/4 each, among those of its bin, behind the window of a cell.
        self.assertAlmostEqual(found[1, 1], 2 * 0.25 / np.sinc(2 / 8) ** 2 / 66)
        self.assertAlmostEqual(found[0, 1], 0)

    def test_transforms(self):
        def agrees(error, difference):
            side = {"round_trip_error": error}
            case = {"type": "float", "zhalo": side, "peer": side, "spectra_difference": difference}
            return transforms.agrees(case)

        self.assertTrue(agrees(1e-7, 1e-7))
        for wrong in (1e-4, float("nan")):
            self.assertFalse(agrees(1e-7, wrong))
            self.assertFalse(agrees(wrong, 1e-7))


if __name__ == "__main__":
    PROGRAMS = sys.argv.pop(1)
    unittest.main()
