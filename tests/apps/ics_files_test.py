"""The command ics: what it writes, for any number of ranks and files, and its reports.

ics_files_test.py PROGRAM DATA SNAPSHOTS
"""

import json
import re
import subprocess

import numpy as np
from command_case import NEEDS_MPI, PROGRAM, SECONDS, environment_of, launcher, main
from ics_case import IcsCase, centres, displacements, read


class Output(IcsCase):
    def test_the_file_says_what_it_is(self):
        attributes, particles = self.made(
            "--num",
            "005",
            "--box-size",
            12.5,
            "--redshift",
            3,
            "--seed",
            "010",
            "--omega-m",
            0.25,
            "--omega-b",
            0.04,
            "--hubble",
            0.72,
            "--ns",
            1,
            "--sigma8",
            0.9,
            output="my.snapshot",
        )
        self.assertEqual([name for name in self.files()], ["my.snapshot.hdf5"])
        self.assertEqual(attributes["NumPart_Total"].tolist(), [0, 125, 0, 0, 0, 0])
        self.assertEqual(
            (attributes["BoxSize"], attributes["Time"], attributes["Redshift"]), (12.5, 0.25, 3)
        )
        self.assertEqual(
            (attributes["Omega0"], attributes["OmegaLambda"], attributes["OmegaBaryon"]),
            (0.25, 0.75, 0.04),
        )
        self.assertEqual(
            (attributes["HubbleParam"], attributes["Seed"], attributes["SpectralIndex"]),
            (0.72, 10, 1),
        )
        self.assertAlmostEqual(attributes["Sigma8"], 0.9)
        self.assertAlmostEqual(
            attributes["MassTable"][1] / (0.25 * 27.7536627 * 12.5**3 / 125), 1, delta=1e-3
        )
        self.assertEqual(particles["ParticleIDs"].tolist(), list(range(1, 126)))
        self.assertEqual(particles["Coordinates"].dtype, np.float32)

    def made(self, *arguments, output="ics.hdf5", **environment):
        self.succeed(*arguments, "-q", "-o", output, **environment)
        return read(self.folder / (output if output.endswith(".hdf5") else output + ".hdf5"))

    def test_any_number_of_particles(self):
        for num in (1, 2, 3, 10, 21):
            status, _, errors = self.run_command("--num", num, "--box-size", 5)
            self.assertEqual(status, 0)
            # There are no modes but the Nyquist frequency's.
            self.assertRegex(
                errors, r"^ics: warning: --num \d: .* no mode .*\n$" if num < 3 else "^$"
            )
            attributes, particles = read(self.folder / "ics.hdf5")
            self.assertEqual(attributes["NumPart_Total"][1], num**3)
            x = particles["Coordinates"]
            self.assertTrue(np.all((x >= 0) & (x < 5)))
            if num < 3:
                np.testing.assert_allclose(x, centres(num, 5))
                self.assertEqual(np.abs(particles["Velocities"]).max(), 0)

    def test_runs_repeat_bit_for_bit_with_any_number_of_threads(self):
        for options in ([], ["--double"]):
            files = []
            for threads in (1, 2, 3):
                self.succeed(
                    "--num",
                    20,
                    "--box-size",
                    30,
                    "--threads",
                    threads,
                    "-q",
                    "-o",
                    "again.hdf5",
                    *options,
                )
                files.append((self.folder / "again.hdf5").read_bytes())
            self.assertEqual(files, [files[0]] * 3)

    def test_fof_reads_it(self):
        self.succeed("--num", 32, "--box-size", 25, "--redshift", 0, "-q")
        result = subprocess.run(
            [PROGRAM.parent / "fof", "ics.hdf5", "--json", "fof.json", "-q"],
            cwd=self.folder,
            capture_output=True,
            text=True,
            check=False,
            timeout=SECONDS,
            env=environment_of(()),
        )
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        report = json.loads((self.folder / "fof.json").read_text())
        snapshot = report["snapshot"]
        self.assertEqual((snapshot["code"], snapshot["notes"]), ("GADGET-4", []))
        self.assertEqual(
            (snapshot["units"]["length"], snapshot["units"]["mass"]), ("Mpc/h", "1e10 Msun/h")
        )
        self.assertEqual(report["warnings"], [])
        # The particles' mass fills the box as Omega_m says.
        expected = snapshot["cosmology"]["critical_density"] * 0.3 * 25**3 / 32**3
        self.assertAlmostEqual(snapshot["types"][0]["uniform_mass"] / expected, 1, delta=1e-9)

    def test_a_dry_run_writes_nothing(self):
        report = json.loads(
            self.succeed("--num", 64, "--box-size", 50, "--dry-run", "-q", "--json", "-")
        )
        self.assertEqual(
            (report["dry_run"], report["num_particles"], report["result"]), (True, 64**3, None)
        )
        self.assertGreater(report["estimate"]["output_bytes"], 64**3 * 32)
        self.assertEqual(self.files(), [])
        output = self.succeed("--num", 64, "--box-size", 50, "--dry-run")
        for words in ("262144 = 64^3", "Memory", "Output", "ics.hdf5"):
            self.assertIn(words, output)

    def test_a_dry_run_bounds_what_a_run_takes(self):
        """Without second order there is no second potential, nor its field."""
        for order, num_floats in ((1, 12), (2, 14)):
            arguments = ("--num", 64, "--box-size", 50, "--lpt", order)
            self.succeed(*arguments, "-q", "--json", "report.json")
            report = json.loads((self.folder / "report.json").read_text())
            columns = 64**3 * (4 * num_floats + 8)
            self.assertEqual(report["estimate"]["memory_bytes"], columns + 2**25)
            self.assertLessEqual(report["result"]["peak_pool_bytes"], columns)

    def test_a_dry_run_of_far_too_many_says_what_they_need(self):
        status, output, errors = self.run_command("--num", 100000, "--box-size", 50, "--dry-run")
        self.assertEqual(status, 0)
        self.assertIn("PiB", output)
        self.assertRegex(
            errors, r"^ics: warning: --num 100000: .* need .* PiB on a machine that has .*\n$"
        )
        output, errors = self.run_command("--num", 1000000, "--box-size", 50, "--dry-run")[1:]
        # 14 floats and an id for each of 1e18; in the file six floats and an id.
        self.assertIn(f"at most {64e18 / 2**60:.1f} EiB", output)
        self.assertIn(f"{32e18 / 2**60:.1f} EiB in", output)
        self.assertIn(f"need {64e18 / 2**60:.1f} EiB on", errors)

    def test_the_report(self):
        output = self.succeed("--num", 16, "--box-size", 50, "--json", "report.json", "-v")
        for words in (
            "Particles",
            "Redshift",
            "sigma8 0.8",
            "Displaced",
            "km/s rms",
            "random field",
            "displace",
            "Written",
        ):
            self.assertIn(words, output)
        phases = re.findall(r"^ +[\d.]+ s  (.+)$", output, re.MULTILINE)
        expected = ["random field", "displace", "modes", "transform", "write", "commit"]
        self.assertEqual(phases, expected)  # each once, though modes and transforms alternate
        self.assertRegex(output, r"\nPeak memory .*; fields and particles [\d.]+ [KM]iB\n")
        result = json.loads((self.folder / "report.json").read_text())
        _, particles = read(self.folder / "ics.hdf5")
        moved = displacements(particles, 16, 50)
        self.assertAlmostEqual(
            result["result"]["rms_displacement"] / np.sqrt(np.mean(np.sum(moved**2, axis=1))),
            1,
            delta=1e-4,
        )
        self.assertAlmostEqual(
            result["result"]["max_displacement"] / np.sqrt(np.sum(moved**2, axis=1)).max(),
            1,
            delta=1e-4,
        )
        velocity = particles["Velocities"].astype(np.float64) / np.sqrt(50)
        self.assertAlmostEqual(
            result["result"]["rms_velocity"] / np.sqrt(np.mean(np.sum(velocity**2, axis=1))),
            1,
            delta=1e-4,
        )
        self.assertLess(
            result["result"]["peak_pool_bytes"], result["estimate"]["memory_bytes_per_rank"]
        )

    def test_displacements_that_float32_rounds_away(self):
        for num, box, words in (
            (8, 1e6, r"up to 0\.0625 Mpc/h apart.*more than the displacements, which are lost"),
            (16, 50000, r"up to 0\.00391 Mpc/h apart, .* rounding, (\S+) Mpc/h rms"),
            (16, 1000, None),
        ):
            options = ["--num", num, "--box-size", box]
            _, exact = self.made(*options, "--double")
            status, _, errors = self.run_command(*options, "-q", "--json", "report.json")
            self.assertEqual(status, 0)
            _, rounded = read(self.folder / "ics.hdf5")
            moved = displacements(exact, num, box)
            lost = displacements(rounded, num, box) - moved
            noise = np.sqrt(np.mean(np.sum(lost**2, axis=1)))
            part = noise / np.sqrt(np.mean(np.sum(moved**2, axis=1)))
            self.assertEqual(part > 0.01, words is not None)
            warnings = json.loads((self.folder / "report.json").read_text())["warnings"]
            self.assertEqual(errors, "".join(f"ics: warning: {text}\n" for text in warnings))
            if words is None:
                self.assertEqual(warnings, [])
                continue
            self.assertEqual(len(warnings), 1)
            for expected in (f"--box-size {box:.10g}: ", "--double", words):
                self.assertRegex(warnings[0], expected)
            if box == 50000:
                predicted = float(re.search(words, warnings[0])[1])
                self.assertAlmostEqual(predicted / noise, 1, delta=0.05)

    @NEEDS_MPI
    def test_any_ranks_and_files_hold_the_same_particles(self):
        options = ["--num", 13, "--box-size", 20, "--double", "-q"]
        self.succeed(*options)
        _, reference = read(self.folder / "ics.hdf5")
        for ranks, files in ((3, 2), (2, 1), (1, 3)):
            status, _, errors = self.run_command(
                *options, "-o", "many.hdf5", "--files", files, launcher=launcher(ranks)
            )
            self.assertEqual((status, errors), (0, ""))
            paths = [
                self.folder / (f"many.{number}.hdf5" if files > 1 else "many.hdf5")
                for number in range(files)
            ]
            attributes, particles = read(*paths)
            self.assertEqual(attributes["NumFilesPerSnapshot"], files)
            np.testing.assert_array_equal(particles["ParticleIDs"], reference["ParticleIDs"])
            for name in ("Coordinates", "Velocities"):
                np.testing.assert_allclose(particles[name], reference[name], rtol=0, atol=1e-11)
            for path in self.folder.glob("many*"):
                path.unlink()


if __name__ == "__main__":
    main()
