"""zhalo_fft_bench: the fields of its report, its own arithmetic, that both transforms are right,
and its errors. No time is judged.

fft_bench_test.py PROGRAM
"""

import json
import math
import statistics
import sys
import unittest

from command_case import NEEDS_MPI, PROGRAM, CommandCase, launcher

EPSILON = {"float": 2.0**-23, "double": 2.0**-52}
REPETITIONS = 2


class FftBench(CommandCase):
    def report(self, ranks, *arguments):
        """What a run writes."""
        status, output, errors = self.run_command(
            *("--repetitions", REPETITIONS, "--json", "report.json", *arguments),
            launcher=launcher(ranks),
        )
        self.assertEqual((status, errors), (0, ""))
        report = json.loads((self.folder / "report.json").read_text())
        self.assertEqual((report["ranks"], report["repetitions"]), (ranks, REPETITIONS))
        # A line for each case, behind the two lines that name the columns.
        self.assertEqual(
            len(output.strip().split("\n\n")[1].splitlines()), 2 + len(report["cases"])
        )
        return report

    def check_side(self, case, side, transferred):
        """One library's figures: sums and quotients computed again, errors near rounding."""
        seconds = [sum(pair) for pair in zip(side["forward_seconds"], side["backward_seconds"])]
        self.assertEqual(
            (len(side["forward_seconds"]), len(side["backward_seconds"])),
            (REPETITIONS, REPETITIONS),
        )
        self.assertGreater(min(side["forward_seconds"] + side["backward_seconds"]), 0)
        self.assertAlmostEqual(side["median_seconds"], statistics.median(seconds), delta=1e-9)
        self.assertEqual(side["min_seconds"], min(seconds))
        self.assertGreater(side["plan_seconds"], 0)
        limits = (side["memory_limit_seconds"], side["link_limit_seconds"])
        half = side["median_seconds"] / 2
        self.assertAlmostEqual(side["f_lo"] * half, max(limits), delta=1e-6 * max(limits))
        self.assertAlmostEqual(side["f_hi"] * half, sum(limits), delta=1e-6 * sum(limits))
        self.assertEqual(side["link_limit_seconds"] > 0, transferred)
        self.assertGreater(side["round_trip_error"], 0)
        self.assertLess(
            side["round_trip_error"], 5 * EPSILON[case["type"]] * math.log2(case["size"] ** 3)
        )
        num = case["size"]
        self.assertGreaterEqual(
            side["array_bytes"],
            num * num * 2 * (num // 2 + 1) * (4 if case["type"] == "float" else 8),
        )

    def check_limits(self, case, ranks):
        """The formulas of --help."""
        rows, columns = case["shape"]
        self.assertEqual(rows * columns, ranks)
        local = case["size"] ** 3 * (4 if case["type"] == "float" else 8) / ranks
        exchanges = (rows > 1) + (columns > 1)
        memory = (6 + 2 * exchanges) * local / case["memory_bytes_per_second"]
        self.assertAlmostEqual(case["zhalo"]["memory_limit_seconds"], memory, delta=1e-9 * memory)
        if ranks > 1:
            link = local * ((1 - 1 / rows) + (1 - 1 / columns)) / case["link_bytes_per_second"]
            self.assertAlmostEqual(case["zhalo"]["link_limit_seconds"], link, delta=1e-9 * link)

    def bytes_crossing(self, case):
        """What all ranks send in one transform: y to z among the ranks of a row of them, x to y
        among those of a column. Shares of n items are those of n // p items and, of n % p ranks,
        one more."""

        def moved(n, m, p):
            shares = [(n // p + (i < n % p), m // p + (i < m % p)) for i in range(p)]
            return n * m - sum(one * other for one, other in shares)

        rows, columns = case["shape"]
        num, kept = case["size"], case["size"] // 2 + 1
        return (num * moved(num, kept, columns) + kept * moved(num, num, rows)) * (
            8 if case["type"] == "float" else 16
        )

    def check(self, report):
        ranks = report["ranks"]
        self.assertTrue(report["cases"])
        for case in report["cases"]:
            with self.subTest(
                ranks=ranks,
                type=case["type"],
                decomposition=case["decomposition"],
                exchange=case["exchange"],
            ):
                self.check_limits(case, ranks)
                self.check_side(case, case["zhalo"], ranks > 1)
                self.assertGreaterEqual(case["zhalo"]["workspace_bytes"], 0)
                self.assertEqual(
                    case["zhalo"]["shared_bytes"] > 0, case["exchange"] == "shared_memory"
                )
                self.assertEqual(case["zhalo"]["bytes_sent"], self.bytes_crossing(case))
                self.assertEqual(case["peer"] is None, report["peer"] is None)
                if case["peer"] is not None:
                    self.check_beside(case, ranks)

    def check_beside(self, case, ranks):
        zhalo, peer = case["zhalo"], case["peer"]
        self.check_side(case, peer, ranks > 1)
        self.assertAlmostEqual(
            case["ratio_of_medians"] * zhalo["median_seconds"], peer["median_seconds"], delta=1e-9
        )
        self.assertAlmostEqual(
            case["ratio_of_min"] * zhalo["min_seconds"], peer["min_seconds"], delta=1e-9
        )
        self.assertLess(
            case["spectra_difference"], 10 * EPSILON[case["type"]] * math.log2(case["size"] ** 3)
        )
        self.assertLess(zhalo["round_trip_error"], 10 * peer["round_trip_error"])

    def names_of(self, report):
        return [
            (case["size"], case["type"], case["decomposition"].split()[0], case["exchange"])
            for case in report["cases"]
        ]

    def test_one_rank(self):
        report = self.report(1, "--sizes", "16,9")
        self.check(report)
        self.assertEqual(
            self.names_of(report),
            [(size, kind, "slab", "none") for size in (16, 9) for kind in ("float", "double")],
        )

    def test_threads(self):
        report = self.report(
            1, "--sizes", 16, "--types", "double", "--threads", 2, "--effort", "measure"
        )
        self.check(report)
        self.assertEqual(
            (report["threads"], report["effort"], len(report["cases"])), (2, "measure", 1)
        )

    @NEEDS_MPI
    def test_two_ranks(self):
        report = self.report(2, "--sizes", 16, "--splits", "slab")
        self.check(report)
        self.assertEqual(
            self.names_of(report),
            [
                (16, kind, "slab", way)
                for kind in ("float", "double")
                for way in ("shared_memory", "messages")
            ],
        )

    @NEEDS_MPI
    def test_four_ranks(self):
        """Uneven shares, and pencils."""
        report = self.report(4, "--sizes", 18, "--types", "float", "--ways", "messages")
        self.check(report)
        self.assertEqual([case["shape"] for case in report["cases"]], [[4, 1], [2, 2]])

    def test_without_peer(self):
        report = self.report(1, "--sizes", 16, "--types", "float", "--no-peer")
        self.check(report)
        self.assertIsNone(report["peer"])
        self.assertIsNone(report["cases"][0]["ratio_of_medians"])

    def test_report_on_standard_output(self):
        status, output, errors = self.run_command(
            "--sizes", 8, "--types", "float", "--repetitions", 1, "--json", "-"
        )
        self.assertEqual((status, errors), (0, ""))
        self.assertEqual(json.loads(output)["cases"][0]["size"], 8)

    def test_help_has_the_formulas(self):
        output = self.succeed("--help")
        for word in ("--sizes", "T_mem", "T_link", "f_lo", "f_hi"):
            self.assertIn(word, output)

    def test_errors(self):
        for options, word in {
            "--sizes 0": "--sizes has 0",
            "--sizes 16,none": "none",
            "--types half": "float, double",
            "--splits cube": "slab, pencil",
            "--ways pigeon": "shared_memory, messages",
            "--effort none": "estimate",
            "--threads 0": "--threads is 0",
            "--repetitions 0": "--repetitions is 0",
            "--nonsense": "--nonsense",
            "--json .": "--json",
        }.items():
            with self.subTest(options):
                self.assert_refused(
                    (
                        ["--sizes", "8", *options.split()]
                        if "--sizes" not in options
                        else options.split()
                    ),
                    word,
                )

    @NEEDS_MPI
    def test_error_on_ranks(self):
        """All ranks leave, and one speaks."""
        status, _, errors = self.run_command("--sizes", 0, launcher=launcher(2))
        self.assertEqual((status, errors.count(f"{PROGRAM.name}: error: ")), (2, 1), errors)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
