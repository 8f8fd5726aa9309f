"""The command ics: its spectrum and velocities, what it writes for any number of ranks and files,
and every bad input.

ics_test.py PROGRAM DATA SNAPSHOTS
"""

import json
import re
import subprocess

import h5py
import numpy as np
from command_case import (
    AS_ANYBODY,
    NEEDS_MPI,
    PROGRAM,
    SECONDS,
    CommandCase,
    environment_of,
    launcher,
    main,
    obeys_modes,
    shows_results,
)
from scipy.integrate import quad

OMEGA_M, OMEGA_L = 0.3, 0.7


def hubble(a):
    return np.sqrt(OMEGA_M / a**3 + OMEGA_L + (1 - OMEGA_M - OMEGA_L) / a**2)


def growing_mode(a):
    """Heath 1977: H times the integral of da / (a H)^3."""
    return hubble(a) * quad(lambda x: (x * hubble(x)) ** -3, 0, a, epsabs=0, epsrel=1e-10)[0]


def growth(a):
    return growing_mode(a) / growing_mode(1)


def growth_rate(a):
    """d ln D / d ln a."""
    step = 1e-4
    return (np.log(growing_mode(a * (1 + step))) - np.log(growing_mode(a / (1 + step)))) / (
        2 * np.log(1 + step)
    )


def linear_power(k):
    """A spectrum of the usual shape (Bardeen et al. 1986, Gamma = 0.2), without meaning in its
    height."""
    q = k / 0.2
    transfer = (
        np.log(1 + 2.34 * q)
        / (2.34 * q)
        * (1 + 3.89 * q + (16.1 * q) ** 2 + (5.46 * q) ** 3 + (6.71 * q) ** 4) ** -0.25
    )
    return 6e5 * k**0.96 * transfer**2


def smooth_power(omega_m, omega_b, h, index, sigma8):
    """Eisenstein & Hu 1998 without oscillations (eq. 26, 28 to 31), with this sigma8."""
    matter, fraction = omega_m * h**2, omega_b / omega_m
    sound = 44.5 * np.log(9.83 / matter) / np.sqrt(1 + 10 * (omega_b * h**2) ** 0.75)
    alpha = 1 - 0.328 * np.log(431 * matter) * fraction + 0.38 * np.log(22.3 * matter) * fraction**2

    def shape(k):
        q = (
            k
            * (2.7255 / 2.7) ** 2
            / (omega_m * h * (alpha + (1 - alpha) / (1 + (0.43 * k * h * sound) ** 4)))
        )
        logarithm = np.log(2 * np.e + 1.8 * q)
        return k**index * (logarithm / (logarithm + (14.2 + 731 / (1 + 62.5 * q)) * q**2)) ** 2

    k = np.geomspace(1e-5, 50, 200000)
    x = 8 * k
    integrand = shape(k) * (3 * (np.sin(x) - x * np.cos(x)) / x**3) ** 2 * k**3 / (2 * np.pi**2)
    height = sigma8**2 / np.trapz(integrand, np.log(k))
    return lambda k: height * shape(np.maximum(k, 1e-9))


def read(*paths):
    """Header attributes of the first file, and the particles of all."""
    columns = {name: [] for name in ("Coordinates", "Velocities", "ParticleIDs")}
    for path in paths:
        with h5py.File(path) as file:
            for name, parts in columns.items():
                parts.append(file["PartType1"][name][()])
    with h5py.File(paths[0]) as file:
        attributes = {**file["Parameters"].attrs, **file["Header"].attrs}
    return attributes, {name: np.concatenate(parts) for name, parts in columns.items()}


def centres(num, box):
    """Of the cells, in the order of the ids."""
    axis = (np.arange(num) + 0.5) * box / num
    return np.stack(np.meshgrid(axis, axis, axis, indexing="ij"), axis=-1).reshape(-1, 3)


def displacements(particles, num, box):
    moved = particles["Coordinates"].astype(np.float64) - centres(num, box)
    return moved - box * np.round(moved / box)


def painted(positions, num, box):
    """Overdensity at the centres of num^3 cells, by cloud-in-cell."""
    position = positions / box * num - 0.5
    cell = np.floor(position).astype(int)
    part = position - cell
    mesh = np.zeros(num**3)
    for corner in np.ndindex(2, 2, 2):
        weight = np.prod(np.where(corner, part, 1 - part), axis=1)
        x, y, z = ((cell + corner) % num).T
        mesh += np.bincount((x * num + y) * num + z, weight, num**3)
    return mesh.reshape(num, num, num) / mesh.mean() - 1


def spectrum(positions, mesh, box, num_bins, model):
    """P(k) in bins of the fundamental and `model` in the same bins."""
    modes = np.fft.fftn(painted(positions, mesh, box)) / mesh**3
    wave = np.fft.fftfreq(mesh) * mesh
    window = np.sinc(wave / mesh) ** 2
    modes /= window[:, None, None] * window[None, :, None] * window[None, None, :]
    length = np.sqrt(
        wave[:, None, None] ** 2 + wave[None, :, None] ** 2 + wave[None, None, :] ** 2
    ).ravel()
    number = np.round(length).astype(int)
    kept = (number > 0) & (number <= num_bins)
    counts = np.bincount(number[kept])
    mean = [
        np.bincount(number[kept], values) / np.maximum(counts, 1)
        for values in (
            (box**3 * np.abs(modes) ** 2).ravel()[kept],
            model(2 * np.pi / box * length[kept]),
        )
    ]
    return mean[0][1:], mean[1][1:]


class IcsCase(CommandCase):
    def write_table(self, name="linear.txt"):
        k = np.geomspace(1e-3, 100, 2000)
        np.savetxt(
            self.folder / name,
            np.column_stack([k, linear_power(k)]),
            header="k [h/Mpc]  P [(Mpc/h)^3]",
        )

    def made(self, *arguments, output="ics.hdf5", **environment):
        self.succeed(*arguments, "-q", "-o", output, **environment)
        return read(self.folder / output)


class Physics(IcsCase):
    def test_the_spectrum_is_the_linear_one(self):
        self.write_table()
        num, box = 64, 150
        for options, seed in ((["--lpt", 2], 1), (["--lpt", 1, "--double"], 12)):
            _, particles = self.made(
                "--num",
                num,
                "--box-size",
                box,
                "--linear-power",
                "linear.txt",
                "--fixed",
                "--seed",
                seed,
                *options,
            )
            # Twice as fine as the particles: what aliases is far away. Up to half the Nyquist
            # frequency of the particles.
            found, expected = spectrum(
                particles["Coordinates"].astype(np.float64), 2 * num, box, num // 4, linear_power
            )
            np.testing.assert_allclose(found, growth(1 / 50) ** 2 * expected, rtol=0.05)

    @shows_results
    def test_the_spectrum_of_a_random_field_scatters_about_it(self):
        self.write_table()
        num, box = 48, 150
        _, particles = self.made(
            "--num", num, "--box-size", box, "--linear-power", "linear.txt", "--redshift", 30
        )
        found, expected = spectrum(
            particles["Coordinates"].astype(np.float64), 2 * num, box, num // 4, linear_power
        )
        ratio = found / (growth(1 / 31) ** 2 * expected)
        self.assertGreater(np.std(ratio[:4]), 0.01)
        self.assertAlmostEqual(np.mean(ratio[4:]), 1, delta=0.05)

    @shows_results
    def test_the_default_spectrum(self):
        num, box = 64, 300
        options = ["--num", num, "--box-size", box, "--fixed", "--lpt", 1, "--double", "--sigma8"]
        _, particles = self.made(*options, 0.9)
        found, expected = spectrum(
            particles["Coordinates"],
            2 * num,
            box,
            num // 4,
            smooth_power(0.3, 0.045, 0.7, 0.96, 0.9),
        )
        ratio = found / (growth(1 / 50) ** 2 * expected)
        np.testing.assert_allclose(ratio, 1, atol=0.15)  # the oscillations
        self.assertAlmostEqual(np.mean(ratio), 1, delta=0.04)
        _, smaller = self.made(*options, 0.45)
        np.testing.assert_allclose(
            displacements(particles, num, box), 2 * displacements(smaller, num, box), atol=1e-9
        )

    def test_velocities_are_those_of_growing_modes(self):
        num, box, redshift = 16, 40, 9
        a = 1 / (1 + redshift)
        attributes, particles = self.made(
            "--num", num, "--box-size", box, "--redshift", redshift, "--lpt", 1, "--double"
        )
        self.assertAlmostEqual(attributes["Time"], a)
        rate = 100 * a * hubble(a) * growth_rate(a)
        moved = displacements(particles, num, box)
        self.assertGreater(np.std(moved), 0.1)
        np.testing.assert_allclose(
            particles["Velocities"] * np.sqrt(a), rate * moved, rtol=1e-5, atol=1e-6
        )

    @shows_results
    def test_inverted_fields_are_opposite(self):
        options = ["--num", 15, "--box-size", 40, "--double", "--redshift", 5]
        moved = {}
        for name, more in {
            "plus": ["--lpt", 1],
            "minus": ["--lpt", 1, "--inverted"],
            "second plus": [],
            "second minus": ["--inverted"],
        }.items():
            moved[name] = displacements(self.made(*options, *more)[1], 15, 40)
        np.testing.assert_allclose(moved["plus"], -moved["minus"], atol=1e-12)
        second = moved["second plus"] + moved["second minus"]  # twice the second order
        self.assertGreater(np.std(second), 1e-3)
        np.testing.assert_allclose(moved["second plus"] - second / 2, moved["plus"], atol=1e-12)

    @shows_results
    def test_more_particles_in_the_same_box_have_the_same_large_scales(self):
        modes = []
        for num in (15, 32):
            options = ("--box-size", 60, "--lpt", 1, "--double", "--seed", 3)
            _, particles = self.made("--num", num, *options)
            moved = displacements(particles, num, 60)[:, 0].reshape(num, num, num)
            # Displacements are at the centres of cells: here phases count from the box's corner.
            phase = np.exp(-1j * np.pi / num * np.arange(4))
            modes.append(
                np.fft.fftn(moved)[:4, :4, :4]
                / num**3
                * phase[:, None, None]
                * phase[None, :, None]
                * phase[None, None, :]
            )
        self.assertGreater(np.abs(modes[1]).max(), 1e-3)
        np.testing.assert_allclose(modes[0], modes[1], rtol=0, atol=1e-12)

    @shows_results
    def test_universes_with_curvature(self):
        options = ("--num", 8, "--box-size", 20, "--double", "--lpt", 1)
        _, flat = self.made(*options)
        _, open_one = self.made(*options, "--omega-l", 0)
        global OMEGA_L
        before = growth(1 / 50)
        OMEGA_L = 0
        try:
            ratio = growth(1 / 50) / before
        finally:
            OMEGA_L = 0.7
        np.testing.assert_allclose(
            displacements(open_one, 8, 20), ratio * displacements(flat, 8, 20), rtol=1e-6, atol=1e-9
        )


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
