"""The command ics: bad input and its messages.

ics_bad_input_test.py PROGRAM DATA SNAPSHOTS
"""

import json

import numpy as np
from command_case import AS_ANYBODY, main, obeys_modes
from ics_case import IcsCase, read

SEEDS = "0 to 9223372036854775807 are possible"
# Options after --num 8 --box-size 10, and words of the message.
OPTIONS = {
    "--num 0": ["--num", "0", "1 to 1000000"],
    "--num -4": ["--num", "-4"],
    "--num 99999999999999999999": ["--num"],
    "--num many": ["--num", "many"],
    "--num 100000": ["--num", "100000", "PiB", "available"],
    "--num 1000000": ["--num", "1000000", "EiB", "available"],
    "--box-size 0": ["--box-size", "0", "positive"],
    "--box-size -5": ["--box-size", "-5", "positive"],
    "--box-size inf": ["--box-size", "positive"],
    "--box-size 1e200": ["--box-size", "1e+200", "mass"],
    "--box-size 1e60": ["--box-size", "1e+60", "--double"],
    "--box-size 1e-30": ["--box-size", "1e-30", "--double"],
    "--box-size 1e-200": ["--box-size", "1e-200", "mass"],
    "--box 5": ["there is no option --box", "--box-size"],
    "--power good.txt": ["there is no option --power", "--linear-power"],
    "--redshift 1e300": ["--redshift", "1e+300", "growth"],
    "--redshift 1e70": ["--redshift", "1e+70", "growth"],
    "--redshift -0.9999": ["--redshift", "-0.9999", "growth"],
    "--redshift -1": ["--redshift", "-1"],
    "--redshift nan": ["--redshift", "nan"],
    "--lpt 3": ["--lpt", "3", "1 or 2"],
    "--seed -1": ["--seed", "-1 is out of range", SEEDS],
    "--seed -010": ["--seed", "out of range", SEEDS],
    "--seed -0x5": ["--seed is '-0x5' (must be a whole number)"],
    "--seed 18446744073709551615": ["--seed", "18446744073709551615 is out of range", SEEDS],
    "--seed -99999999999999999999": ["--seed", "out of range", SEEDS],
    "--seed 1.5": ["--seed", "1.5"],
    "--omega-m 0": ["--omega-m", "0"],
    "--omega-m 0.1 --omega-l 3": ["Omega_Lambda", "expand"],
    "--omega-b 0.3": ["--omega-b", "--omega-m"],
    "--omega-b -0.1": ["--omega-b"],
    "--omega-l nan": ["--omega-l"],
    "--hubble 0": ["--hubble"],
    "--hubble 70": ["--hubble is 70", "0.7 for 70 km/s/Mpc"],
    "-o -": ["-o -", "standard output"],
    "--ns 9": ["spectral index", "9"],
    "--sigma8 0": ["--sigma8"],
    "--linear-power none.txt": ["none.txt", "No such file"],
    "--linear-power folder": ["folder"],
    "--seed 9223372036854775808": ["--seed", "9223372036854775808", "out of range", SEEDS],
    "--linear-power good.txt --ns 1": ["--ns", "--linear-power"],
    "--linear-power words.txt": ["words.txt", "line 3", "two"],
    "--linear-power one_column.txt": ["one_column.txt", "line 2"],
    "--linear-power falling.txt": ["falling.txt", "line 4", "ascend"],
    "--linear-power close.txt": ["close.txt", "line 3", "ascend"],
    "--linear-power steep.txt --sigma8 0.8": ["sigma8 inf", "longer table"],
    "--linear-power negative.txt": ["negative.txt", "line 2", "positive"],
    "--linear-power binary.txt": ["binary.txt", "line 2", "'0.2 \\x00\\x1b[2J'"],
    "--linear-power comma.txt": ["comma.txt", "line 2", "'0.2 10,5'"],
    "--linear-power exponent.txt": ["exponent.txt", "line 2", "'1 1.0+10'"],
    "--linear-power underscore.txt": ["underscore.txt", "line 1", "'1_000 2'"],
    "--linear-power short.txt": ["short.txt", "1 points"],
    "--linear-power empty.txt": ["empty.txt"],
    "--linear-power power.hdf5 -o power.hdf5": ["power.hdf5"],
    "--linear-power good.txt --json folder/../good.txt": ["--json", "good.txt", "is read"],
    "--linear-power first.txt -o second": ["second.hdf5", "first.txt", "is read"],
    "-o out.hdf5 --json ./out.hdf5": ["--json", "out.hdf5", "-o"],
    "-o out --json out.3.hdf5": ["--json", "out.3.hdf5", "-o"],
    "-o /dev/null": ["-o", "/dev/null", "a device"],
    "-o folder": ["-o", "folder", "name a file"],
    "-o good.txt/out.hdf5": ["good.txt"],
    "--files -1": ["--files", "1 to 1000000"],
    "--device abacus": ["--device", "abacus"],
    "--threads -1": ["--threads", "-1"],
    "-q -v": ["--quiet", "--verbose"],
    "snapshot_000.hdf5": ["snapshot_000.hdf5"],
    "--no-such-option": ["--no-such-option", "ics --help"],
}


class BadInput(IcsCase):
    def setUp(self):
        super().setUp()
        (self.folder / "folder").mkdir()
        for name, text in {
            "good": "# k P\n0.001 100\n100 0.01 # last\n",
            "words": "# k P\n0.1 100\n0.2 high\n",
            "one_column": "0.1 2\n0.2\n",
            "falling": "0.1 1\n\n0.2 1\n0.15 1\n",
            "close": "0.1 1\n10 1\n10.000000000000002 1\n",
            "steep": "1 1\n2 1e300\n",
            "negative": "0.1 1\n0.2 -1\n",
            "comma": "0.1 1\n0.2 10,5\n",
            "exponent": "0.1 1\n1 1.0+10\n",
            "underscore": "1_000 2\n",
            "columns": "0.001 1 7 8\n100\t0.002\twords\n",
            "short": "0.1 1\n",
            "empty": "",
            "marked": "\ufeff0.001 100\n100 0.01\n",
            "binary": "0.1 1\n0.2 \0\x1b[2J\n",
            "power.hdf5": "0.1 1\n0.2 1\n",
        }.items():
            path = self.folder / (name if "." in name else f"{name}.txt")
            path.write_text(text, encoding="utf-8")
        (self.folder / "first.txt").symlink_to("second.hdf5")
        (self.folder / "second.hdf5").symlink_to("good.txt")

    def test_options(self):
        for words, message in OPTIONS.items():
            with self.subTest(words):
                options = words.split()
                base = [] if options[0] in ("--num", "--box-size") else ["--num", "8"]
                base += ["--box-size", "10"] if options[0] != "--box-size" else ["--num", "8"]
                self.assert_refused([*base, *options], *message)

    def test_what_is_needed_is_said(self):
        self.assert_refused(["--box-size", "10"], "--num", "ics --help")
        self.assert_refused(["--num", "10"], "--box-size", "ics --help")

    def test_a_good_table_with_comments(self):
        small = ("--num", 4, "--box-size", 10)
        self.succeed(*small, "--linear-power", "good.txt", "-q", "-o", "made.hdf5")
        self.succeed(
            "--num",
            4,
            "--box-size",
            10,
            "--linear-power",
            "good.txt",
            "--sigma8",
            0.7,
            "-q",
            "-o",
            "again.hdf5",
        )
        first, second = (read(self.folder / name)[0] for name in ("made.hdf5", "again.hdf5"))
        self.assertAlmostEqual(second["Sigma8"], 0.7)
        self.assertNotAlmostEqual(first["Sigma8"], 0.7)

    def test_a_table_that_begins_with_a_byte_order_mark(self):
        self.assertEqual((self.folder / "marked.txt").read_bytes()[:4], b"\xef\xbb\xbf0")
        made = [
            self.made("--num", 4, "--box-size", 10, "--linear-power", table)[1]["Coordinates"]
            for table in ("marked.txt", "good.txt")
        ]
        np.testing.assert_array_equal(*made)

    def test_a_table_that_does_not_cover_the_box_or_sigma8(self):
        box = ["--num", 16, "--box-size", 200, "--json", "r.json", "-o", "made.hdf5"]
        box += ["--linear-power"]
        modes = "modes of 0.0314159 to 0.380898"  # 2 pi / L, and sqrt(3) * 7 times that

        def warnings(text, *more):
            (self.folder / "t.txt").write_text(text)
            status, output, errors = self.run_command(*box, "t.txt", *more)
            self.assertEqual(status, 0)
            report = json.loads((self.folder / "r.json").read_text())
            lines = [f"ics: warning: {sentence}\n" for sentence in report["warnings"]]
            self.assertEqual(errors, "".join(lines))
            return output, report["power_table"], errors

        output, table, errors = warnings("0.3 900\n0.8 100\n")
        self.assertIn(
            "k = 0.0314159 to 0.251327 h/Mpc along an axis; the table has 0.3 to 0.8\n", output
        )
        self.assertEqual(errors.count("\n"), 2)
        words = "--linear-power 't.txt': the table has k = 0.3 to 0.8 h/Mpc"
        self.assertEqual(errors.count(words), 2)
        self.assertIn(modes, errors)
        self.assertAlmostEqual(table["min_k"], 0.3)
        self.assertAlmostEqual(table["max_k"], 0.8)
        self.assertIn(f"{100 * table['sigma8_squared_beyond']:.3g}% of sigma8 squared", errors)
        # P rises: sigma8 has no end, also where the table is normalised by it.
        for more in ([], ["--sigma8", 0.8]):
            _, table, errors = warnings("0.001 1\n0.01 10\n", *more)
            self.assertGreater(table["sigma8_squared_beyond"], 0.99)
            self.assertEqual(errors.count("\n"), 2)
        # The modes, but not sigma8; sigma8, but not the modes; both.
        self.assertRegex(warnings("0.03141 9\n0.3809 1\n")[2], r"^[^\n]*% of sigma8[^\n]*\n$")
        _, table, errors = warnings("0.0315 1\n0.07 2\n5 1e-5\n")
        self.assertRegex(errors, rf"^[^\n]*{modes}[^\n]*\n$")
        self.assertEqual(warnings("0.01 9\n0.2 1\n5 1e-5\n")[2], "")
        report = self.succeed("--num", 4, "--box-size", 10, "--dry-run", "-q", "--json", "-")
        self.assertIsNone(json.loads(report)["power_table"])

    def test_further_columns_are_left_out(self):
        small = ("--num", 4, "--box-size", 10)
        self.succeed(*small, "--linear-power", "columns.txt", "-q", "-o", "made.hdf5")

    @obeys_modes
    def test_a_folder_that_may_not_be_written_to(self):
        (self.folder / "folder").chmod(0o500)
        arguments = ["--num", "4", "--box-size", "10", "-o", "folder/ics.hdf5"]
        self.assert_refused(arguments, "folder", launcher=AS_ANYBODY)

    def test_help_and_version(self):
        self.assertIn("Usage: ics --num N --box-size L", self.succeed("--help"))
        self.assertIn("zhalo", self.succeed("--version"))


if __name__ == "__main__":
    main()
