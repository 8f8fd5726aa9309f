"""The command density: fields and spectra against numpy, ranks and files, pictures pixel by pixel,
bad input.

density_test.py PROGRAM DATA SNAPSHOTS
"""

import json
import os
import re
import shutil

import h5py
import numpy as np
from command_case import NEEDS_MPI, PROGRAM, SNAPSHOTS, SWIFT, launcher, shows_results
from density_case import (
    GADGET,
    DensityCase,
    lightness,
    main,
    paint,
    pixels_of,
    power,
    read_table,
    wave_numbers,
)
from scipy.integrate import quad



class Fields(DensityCase):
    def test_real_snapshot(self):
        path, pos, box = self.real()
        self.succeed(path, "--grid", 32, "-q")
        self.assertEqual(self.files(), ["density_001.hdf5"])
        self.assert_field(self.density("density_001.hdf5"), paint(pos, box, 32))

    @shows_results
    def test_windows(self):
        """Also particles on edges, odd grids, several types and files, masses of their own."""
        snapshot = self.snapshot({0: 200, 1: 300}, num_files=3)
        pos = snapshot.joined([0, 1])
        mass = np.concatenate([snapshot.mass[0], snapshot.mass[1]])
        for window, n in (("ngp", 5), ("cic", 16), ("tsc", 17), ("pcs", 6)):
            with self.subTest(window):
                self.succeed(
                    "snapshot_007",
                    "--grid",
                    n,
                    "--window",
                    window,
                    "--types",
                    "1,0",
                    "-q",
                    "-o",
                    "out.hdf5",
                )
                self.assert_field(
                    self.density("out.hdf5"), paint(pos, snapshot.box, n, window, mass)
                )
        self.succeed(
            "snapshot_007",
            "--grid",
            8,
            "--types",
            "1,0",
            "--weights",
            "number",
            "-q",
            "-o",
            "out.hdf5",
        )
        self.assert_field(self.density("out.hdf5"), paint(pos, snapshot.box, 8))

    @NEEDS_MPI
    def test_ranks_and_files(self):
        """The same bits, in any number of files."""
        path, _, _ = self.real()
        self.succeed(path, "--grid", 18, "-q", "-o", "one.hdf5")
        one = (self.folder / "one.hdf5").read_bytes()
        for ranks in (2, 3, 4):
            self.succeed(
                path,
                "--grid",
                18,
                "-q",
                "-o",
                "many.hdf5",
                "--files",
                1,
                launcher=launcher(ranks),
            )
            self.assertTrue((self.folder / "many.hdf5").read_bytes() == one, f"{ranks} ranks")
        self.succeed(
            path, "--grid", 18, "-q", "-o", "many.hdf5", "--master", launcher=launcher(4)
        )
        self.assertEqual(
            [name for name in self.files() if name.startswith("many")],
            [f"many.{i}.hdf5" for i in range(4)] + ["many.hdf5"],
        )
        np.testing.assert_array_equal(self.density("many.hdf5"), self.density("one.hdf5"))
        first = 0
        for i in range(4):
            with h5py.File(self.folder / f"many.{i}.hdf5", "r") as file:
                self.assertEqual(file["Density"].attrs["FirstPlane"], first)
                first += len(file["Density"])

    @NEEDS_MPI
    @shows_results
    def test_estimates_bound_what_ranks_use(self):
        """But for the program itself, 48 MiB, and small tables."""
        snapshot = self.snapshot({1: 10**6})
        snapshot.pos[1] = np.random.default_rng(2).random((10**6, 3), np.float32) * snapshot.box
        snapshot.write(self.folder / "snapshot_007", velocities=False)
        for weights in ("mass", "number"):
            for ranks in (1, 2, 3):
                arguments = ("--grid", 32, "--weights", weights, "-q", "--json", "report.json")
                self.succeed("snapshot_007", *arguments, launcher=launcher(ranks))
                report = json.loads((self.folder / "report.json").read_text())
                room = report["estimate"]["memory_bytes_per_rank"] - 47 * 2**20
                self.assertLessEqual(report["result"]["peak_pool_bytes"], room)

    def test_a_folder_in_the_way_of_the_field(self):
        """Only if there is a field."""
        self.snapshot({1: 100})
        (self.folder / "density_007.hdf5").mkdir()
        self.succeed("snapshot_007", "--grid", 4, "--power", "pk.txt", "-q")
        self.assert_refused(
            ["snapshot_007", "--grid", 4], "'density_007.hdf5' is a folder: name a file"
        )

    def test_attributes(self):
        snapshot = self.snapshot({1: 100})
        self.succeed(
            "snapshot_007", "--grid", 4, "--window", "tsc", "--interlace", "--compensate", "-q"
        )
        with h5py.File(self.folder / "density_007.hdf5", "r") as file:
            density = dict(file["Density"].attrs)
            self.assertEqual(
                (density["Window"], density["Weights"], density["Compensation"]),
                (b"tsc", b"mass", b"window"),
            )
            self.assertEqual(
                (density["Interlaced"], density["FirstPlane"], density["GridSize"].tolist()),
                (1, 0, [4, 4, 4]),
            )
            self.assertEqual(
                (density["BoxSize"].tolist(), density["BoxCorner"].tolist()),
                ([10, 10, 10], [0, 0, 0]),
            )
            np.testing.assert_allclose(
                density["Mean"], snapshot.mass[1].sum(dtype=np.float64) / 4**3, rtol=1e-6
            )
            self.assertEqual(density["Unit"], b"")
            self.assertIn(b"units of its mean", density["Description"])
            self.assertEqual(file["Parameters"].attrs["Types"].tolist(), [1])
            self.assertEqual(
                (file["Header"].attrs["Redshift"], file["Header"].attrs["NumFiles"]), (0, 1)
            )

    def test_compensated(self):
        """Mode by mode: divided by the window. The mean stays."""
        path, pos, box = self.real()
        n = 16
        self.succeed(path, "--grid", n, "--compensate", "-q", "-o", "out.hdf5")
        modes = np.fft.fftn(paint(pos, box, n))
        for k in wave_numbers(n):
            modes /= np.sinc(k / n) ** 2
        expected = np.fft.ifftn(modes / modes[0, 0, 0]).real * n**3
        density = self.density("out.hdf5")
        np.testing.assert_allclose(density, expected, rtol=1e-5, atol=1e-5 * expected.max())
        self.assertAlmostEqual(float(density.mean(dtype=np.float64)), 1, places=5)

    def test_interlaced(self):
        """Both meshes in one, without modes at the Nyquist frequencies of even grids."""
        path, pos, box = self.real()
        for n in (15, 16):
            how = ["--window", "tsc", "--interlace", "--compensate", "-q", "-o", "out.hdf5"]
            self.succeed(path, "--grid", n, *how)
            k = wave_numbers(n)
            shifted = np.fft.fftn(paint(pos, box, n, "tsc", shift=0.5))
            modes = np.fft.fftn(paint(pos, box, n, "tsc"))
            modes = (modes + shifted * np.exp(-1j * np.pi / n * sum(k))) / 2
            for c in k:
                modes *= (2 * np.abs(c) != n) / np.sinc(c / n) ** 3
            expected = np.fft.ifftn(modes / modes[0, 0, 0]) * n**3
            self.assertLess(np.abs(expected.imag).max(), 1e-9 * expected.real.max())
            np.testing.assert_allclose(
                self.density("out.hdf5"), expected.real, atol=1e-5 * expected.real.max()
            )

    def test_axes_have_no_names(self):
        """With two axes of the particles exchanged the field is the exchanged one."""
        snapshot = self.snapshot({1: 400})
        pos = snapshot.pos[1].copy()
        for compensation in ("none", "window"):
            how = ["--grid", 16, "--window", "tsc", "--interlace", "--compensate", compensation]
            self.succeed("snapshot_007", *how, "-q", "-o", "out.hdf5")
            expected = self.density("out.hdf5")
            for a, b in ((0, 2), (1, 2), (0, 1)):
                order = [0, 1, 2]
                order[a], order[b] = b, a
                snapshot.pos[1][:] = pos[:, order]
                snapshot.write(self.folder / "exchanged_007")
                self.succeed("exchanged_007", *how, "-q", "-o", "out.hdf5")
                np.testing.assert_allclose(
                    self.density("out.hdf5").swapaxes(a, b),
                    expected,
                    rtol=0,
                    atol=1e-5 * expected.max(),
                )


class Spectra(DensityCase):
    def overdensity_modes(self, pos, box, n, window="cic", shift=0.0):
        field = paint(pos, box, n, window, shift=shift)
        return np.fft.fftn(field / field.mean() - 1) / n**3

    def assert_table(self, name, expected, **how):
        _, table = read_table(self.folder / name)
        k_mean, p, count, _ = expected
        np.testing.assert_array_equal(table["modes"], count)
        np.testing.assert_allclose(table["k_mean"], k_mean, rtol=1e-7)
        np.testing.assert_allclose(table["P"], p, rtol=how.get("rtol", 1e-5))
        return table

    def test_painted(self):
        path, pos, box = self.real()
        n = 32
        self.succeed(
            path,
            "--grid",
            n,
            "--compensate",
            "none",
            "--power",
            "pk.txt",
            "--multipoles",
            "y",
            "-q",
        )
        self.assertEqual(self.files(), ["pk.txt"])  # no field unless it is asked for
        expected = power(self.overdensity_modes(pos, box, n), n, box, axis=1)
        table = self.assert_table("pk.txt", expected)
        for i, pole in enumerate(expected[3]):
            np.testing.assert_allclose(
                table[f"P_{2 * i}"], pole, rtol=1e-5, atol=1e-5 * expected[1].max()
            )
        np.testing.assert_allclose(table["k_lo"], 2 * np.pi / box * np.arange(1, n // 2), rtol=1e-7)
        np.testing.assert_array_equal(table["k_hi"][:-1], table["k_lo"][1:])
        header = " ".join(read_table(self.folder / "pk.txt")[0])
        for words in (
            "Mpc/h",
            "CIC",
            "compensation: none",
            "shot noise",
            "redshift 0",
            "262144 particles",
        ):
            self.assertIn(words, header)
        noise = float(header.split("sum(w)^2 = ")[1].split(",")[0])
        self.assertAlmostEqual(noise / (box**3 / len(pos)), 1, places=6)

    def test_bins(self):
        """Edges of one's own, against a count of the modes between them."""
        path, pos, box = self.real()
        n = 16
        unit = 2 * np.pi / box
        modes = self.overdensity_modes(pos, box, n)
        k = np.sqrt(sum(c**2 for c in wave_numbers(n))) * unit
        power_of = box**3 * np.abs(modes) ** 2
        linear = np.append(np.arange(0, 0.9, 0.25), 0.9)
        logarithmic = np.append(0.3 * 10 ** (np.arange(5) / 8), 1.2)
        for options, edges in (
            (("--k-min", 0, "--k-max", 0.9, "--bin-width", 0.25), linear),
            (("--bins", "log", "--k-min", 0.3, "--k-max", 1.2, "--per-decade", 8), logarithmic),
        ):
            self.succeed(
                path, "--grid", n, "--compensate", "none", "--power", "pk.txt", "-q", *options
            )
            table = read_table(self.folder / "pk.txt")[1]
            np.testing.assert_allclose(table["k_lo"], edges[:-1], rtol=1e-7)
            np.testing.assert_allclose(table["k_hi"], edges[1:], rtol=1e-7)
            for row, (low, high) in enumerate(zip(edges[:-1], edges[1:])):
                inside = (k >= low) & (k < high) & (k > 0)
                self.assertEqual(table["modes"][row], inside.sum())
                np.testing.assert_allclose(table["P"][row], power_of[inside].mean(), rtol=1e-5)
                np.testing.assert_allclose(table["k_mean"][row], k[inside].mean(), rtol=1e-7)

    def test_redshift_space(self):
        """Multipoles of the positions that numpy moves: by H of the parameters, and by SWIFT's."""
        n = 24
        path, pos, box = self.real(0)
        with h5py.File(path) as file:
            a = file["Header"].attrs["Time"]
            given = file["Parameters"].attrs
            matter, lambda_ = given["Omega0"], given["OmegaLambda"]
            velocity = file["PartType1/Velocities"][:, 1] * np.sqrt(a)
        rate = 100 * np.sqrt(matter / a**3 + (1 - matter - lambda_) / a**2 + lambda_)
        self.assert_in_redshift_space(path, pos, velocity / (a * rate), box, n)

        # A run may have lengths without 1/h, which H0 says.
        shutil.copy(path, self.folder / "free.hdf5")
        with h5py.File(self.folder / "free.hdf5", "r+") as file:
            file["Parameters"].attrs.update({"Hubble": 67.8, "HubbleParam": 1.0})
        path = self.folder / "free.hdf5"
        self.assert_in_redshift_space(path, pos, velocity / (a * 0.678 * rate), box, n)

        path = SWIFT / "snap_0000.hdf5"
        with h5py.File(path) as file:
            a = file["Header"].attrs["Scale-factor"]
            rate = file["Cosmology"].attrs["H [internal units]"]  # km/s/Mpc
            pos = file["PartType1/Coordinates"][:]
            velocity = file["PartType1/Velocities"][:, 1]
            box = file["Header"].attrs["BoxSize"][0]
        text = self.assert_in_redshift_space(path, pos, velocity / (a * rate), box, n)
        self.assertIn(f"redshift space along y: {1 / (a * rate)[0]:.4g}", text)

    def test_redshift_space_of_a_file_without_units(self):
        """A part of the particles, as in a sample, tells that lengths are in Mpc/h, too."""
        path, pos, _ = self.real(0)
        options = ["--grid", 16, "--redshift-space", "y", "--weights", "number", "-o"]
        self.succeed(path, *options, "whole.hdf5")
        for part in (1, 100):
            shutil.copy(path, self.folder / "bare.hdf5")
            with h5py.File(self.folder / "bare.hdf5", "r+") as file:
                for attributes in (file["Header"].attrs, file["Parameters"].attrs):
                    for name in [name for name in attributes if name.startswith("Unit")]:
                        del attributes[name]
                file["Header"].attrs["MassTable"] = file["Header"].attrs["MassTable"] / part
            status, text, errors = self.run_command("bare.hdf5", *options, "bare_field.hdf5")
            self.assertEqual((status, errors.count("\n")), (0, 1), errors)
            self.assertIn("states no units: --redshift-space moves particles as if", errors)
            self.assertIn("were in Mpc/h (", errors)
            self.assertRegex(text, r"\nNote +The file states no units; lengths are taken as Mpc/h")
            np.testing.assert_array_equal(
                self.density("bare_field.hdf5"), self.density("whole.hdf5")
            )

    def test_redshift_space_in_kpc(self):
        """As in Mpc."""
        path, pos, box = self.real(0)
        shutil.copy(path, self.folder / "kpc.hdf5")
        with h5py.File(self.folder / "kpc.hdf5", "r+") as file:
            file["PartType1/Coordinates"][:] = pos * np.float32(1000)
            file["Header"].attrs["BoxSize"] = 1000 * box
            for attributes in (file["Header"].attrs, file["Parameters"].attrs):
                if "UnitLength_in_cm" in attributes:
                    attributes["UnitLength_in_cm"] = attributes["UnitLength_in_cm"] / 1000
            file["Parameters"].attrs["Hubble"] = file["Parameters"].attrs["Hubble"] / 1000
        options = ["--grid", 16, "--redshift-space", "z", "-o"]
        in_mpc = self.succeed(path, *options, "mpc_field.hdf5")
        in_kpc = self.succeed("kpc.hdf5", *options, "kpc_field.hdf5")
        shift = re.compile(r"redshift space along z: (\S+) (\S+) for 1 km/s")
        (mpc, unit), (kpc, other) = (shift.search(text).groups() for text in (in_mpc, in_kpc))
        self.assertEqual((unit, other), ("Mpc/h", "kpc/h"))
        self.assertAlmostEqual(float(kpc) / float(mpc), 1000, delta=0.01)
        np.testing.assert_allclose(
            self.density("kpc_field.hdf5"), self.density("mpc_field.hdf5"), rtol=0, atol=1e-3
        )

    def assert_in_redshift_space(self, path, pos, shift, box, n):
        moved = pos.astype(np.float64)
        moved[:, 1] = (moved[:, 1] + shift) % box
        how = ("--redshift-space", "y", "--multipoles", "y", "--compensate", "none")
        text = self.succeed(path, "--grid", n, "--power", "pk.txt", "-o", "moved.hdf5", *how)
        expected = power(self.overdensity_modes(moved, box, n), n, box, axis=1)
        table = self.assert_table("pk.txt", expected, rtol=1e-4)
        for i, pole in enumerate(expected[3]):
            np.testing.assert_allclose(
                table[f"P_{2 * i}"], pole, rtol=1e-4, atol=1e-4 * expected[1].max()
            )
        self.assertIn("redshift space: y + v_y / (a H)", (self.folder / "pk.txt").read_text())
        with h5py.File(self.folder / "moved.hdf5") as file:
            self.assertEqual(file["Density"].attrs["RedshiftSpace"], b"y")
        return text

    def test_redshift_space_of_a_velocity_that_is_none(self):
        path, _, _ = self.real(0)
        shutil.copy(path, self.folder / "fast.hdf5")
        with h5py.File(self.folder / "fast.hdf5", "r+") as file:
            file["PartType1/Velocities"][7, 1] = 1e30
        self.assert_refused(
            ["fast.hdf5", "--grid", 8, "--redshift-space", "y"],
            "particle 7 of type 1 moves",
            "sides of the box into redshift space",
        )
        self.succeed("fast.hdf5", "--grid", 8, "--redshift-space", "x", "-q")

    def test_redshift_space_needs_velocities_and_a_cosmology(self):
        snapshot = self.snapshot({1: 100})
        arguments = ["snapshot_007", "--grid", 8, "--redshift-space", "z"]
        snapshot.write(self.folder / "snapshot_007", velocities=False)
        for more in ([], ["--dry-run"]):
            self.assert_refused([*arguments, *more], "no velocities of particle type 1")
        snapshot.write(self.folder / "snapshot_007")
        with h5py.File(self.folder / "snapshot_007.hdf5", "r+") as file:
            file["PartType1/Velocities"][17, 2] = np.nan
        self.assert_refused(arguments, "particle 17 of type 1", "velocity", "not finite")
        snapshot.write(self.folder / "snapshot_007")
        with h5py.File(self.folder / "snapshot_007.hdf5", "r+") as file:
            file["Header"].attrs["ComovingIntegrationOn"] = np.int32(0)
        self.assert_refused(arguments, "not of a cosmological run")

    def test_units(self):
        """In brackets where they are no word; comoving only in a cosmology."""
        self.snapshot({1: 100})
        with h5py.File(self.folder / "snapshot_007.hdf5", "r+") as file:
            file["Header"].attrs["ComovingIntegrationOn"] = np.int32(1)
        units = "units: k in 1/(Mpc/h), P in (Mpc/h)^3, lengths comoving"
        self.succeed("snapshot_007", "--grid", 8, "--power", "pk.txt", "-q")
        self.assertIn(units, read_table(self.folder / "pk.txt")[0])
        with h5py.File(self.folder / "snapshot_007.hdf5", "r+") as file:
            file["Header"].attrs["ComovingIntegrationOn"] = np.int32(0)
        text = self.succeed("snapshot_007", "--grid", 8, "--power", "pk.txt")
        self.assertIn("units: k in 1/Mpc, P in Mpc^3", read_table(self.folder / "pk.txt")[0])
        self.assertRegex(
            text, r"k up to [0-9.]+ Mpc\^-1, shot noise [0-9.]+ Mpc\^3 not subtracted\n"
        )

    def test_default_compensation(self):
        """The one against shot noise without interlacing, that of the window with it."""
        path, pos, box = self.real()
        n = 24
        k = wave_numbers(n)
        self.succeed(path, "--grid", n, "--power", "pk.txt", "-q")
        modes = self.overdensity_modes(pos, box, n)
        for c in k:
            modes /= np.sqrt(1 - 2 / 3 * np.sin(np.pi * c / n) ** 2)
        self.assert_table("pk.txt", power(modes, n, box))

        self.succeed(path, "--grid", n, "--window", "tsc", "--interlace", "--power", "pk.txt", "-q")
        second = self.overdensity_modes(pos, box, n, "tsc", shift=0.5)
        modes = (
            self.overdensity_modes(pos, box, n, "tsc") + second * np.exp(-1j * np.pi / n * sum(k))
        ) / 2
        for c in k:
            modes /= np.sinc(c / n) ** 3
        self.assert_table("pk.txt", power(modes, n, box))

    def test_shot_noise(self):
        """The table says where random particles have it at all k, and where they do not."""
        snapshot = self.snapshot({1: 200_000})
        rng = np.random.default_rng(3)
        snapshot.pos[1] = rng.random((200_000, 3), np.float32) * snapshot.box
        snapshot.write(self.folder / "snapshot_007", velocities=False)
        cases = {
            ("cic",): True,
            ("cic", "--interlace"): True,
            ("pcs", "--interlace"): True,
            ("cic", "--interlace", "--k-max", 7): True,
            ("cic", "--interlace", "--k-max", 15): False,
            ("cic", "--k-max", 15): True,
            ("ngp", "--compensate", "none"): True,
            ("ngp", "--interlace"): False,
            ("tsc", "--compensate", "none"): False,
            ("cic", "--compensate", "window"): False,
            ("cic", "--compensate", "shot-noise", "--interlace"): False,
        }
        for how, is_flat in cases.items():
            with self.subTest(how):
                self.succeed(
                    "snapshot_007", "--grid", 32, "--power", "pk.txt", "-q", "--window", *how
                )
                header, table = read_table(self.folder / "pk.txt")
                line = next(line for line in header if line.startswith("shot noise"))
                noise, _, claim = line.split(" = ")[1].partition(", which P contains")
                self.assertEqual(claim, "" if is_flat else " times a function of k")
                last = table["P"][-1] / float(noise)  # of 5000 modes, just below Nyquist
                if is_flat:
                    self.assertLess(abs(last - 1), 0.07)
                else:
                    self.assertGreater(abs(last - 1), 0.15)

    @NEEDS_MPI
    def test_ranks(self):
        """One table for all, and the field with it as it is without."""
        path, _, _ = self.real()
        how = [path, "--grid", 16, "--interlace", "-q"]
        bins = ["--bins", "log", "--per-decade", 8]
        self.succeed(*how, *bins, "--power", "one.txt")
        self.succeed(*how, "-o", "one.hdf5")
        self.succeed(
            *how,
            *bins,
            "--power",
            "three.txt",
            "-o",
            "three.hdf5",
            "--files",
            1,
            launcher=launcher(3),
        )
        one, three = (read_table(self.folder / name)[1] for name in ("one.txt", "three.txt"))
        np.testing.assert_array_equal(one["modes"], three["modes"])
        np.testing.assert_allclose(one["P"], three["P"], rtol=1e-6)
        np.testing.assert_allclose(one["k_hi"][:-2] / one["k_lo"][:-2], 10 ** (1 / 8), rtol=1e-6)
        np.testing.assert_allclose(
            self.density("three.hdf5"), self.density("one.hdf5"), rtol=1e-4, atol=1e-4
        )

    @shows_results
    def test_growth(self):
        """Between z = 1.02 and 0 the largest modes grow as linear theory says: of the same phases,
        so without most of the sample variance."""
        powers, scale_factors = [], []
        for number in (0, 1):
            path, _, _ = self.real(number)
            self.succeed(path, "--grid", 32, "--window", "tsc", "--power", "pk.txt", "-q")
            table = read_table(self.folder / "pk.txt")[1]
            powers.append(np.average(table["P"][:2], weights=table["modes"][:2]))
            with h5py.File(path, "r") as file:
                scale_factors.append(float(file["Header"].attrs["Time"]))
                matter = float(file["Parameters"].attrs["Omega0"])

        def growth(a):
            hubble = lambda x: np.sqrt(matter / x**3 + 1 - matter)  # noqa: E731
            return hubble(a) * quad(lambda x: (x * hubble(x)) ** -3, 0, a)[0]

        expected = (growth(scale_factors[1]) / growth(scale_factors[0])) ** 2
        self.assertAlmostEqual(powers[1] / powers[0] / expected, 1, delta=GROWTH_TOLERANCE)


# Modes beyond the linear regime couple to those of 0.13 to 0.38 h/Mpc, of which there are 92.
GROWTH_TOLERANCE = 0.1


class Pictures(DensityCase):
    GRID, SIDE = 50, 250  # five pixels a cell
    LEFT, ABOVE = 26, 24  # of the map on the sheet

    def setUp(self):
        super().setUp()
        if "this build has no cairo" in self.succeed("--help"):
            self.skipTest("built without cairo")

    def draw(self, *options, name="map.png", side=SIDE):
        path, pos, box = self.real()
        self.succeed(path, "--grid", self.GRID, "--pixels", side, "--image", name, "-q", *options)
        return pixels_of(self.folder / name), pos, box

    def map_of(self, pixels):
        """[cell to the right][cell upwards] of the map: lightness at the centres of cells."""
        area = lightness(pixels)[
            self.ABOVE : self.ABOVE + self.SIDE, self.LEFT : self.LEFT + self.SIDE
        ]
        centres = np.arange(self.GRID) * 5 + 2
        return area[::-1][np.ix_(centres, centres)].T

    def assert_shows(self, pixels, projected):
        """Where there is more it is lighter, and as evenly as the logarithm."""
        shown, t = self.map_of(pixels), np.log(projected)
        inner = (shown > 0.2) & (shown < 0.9)
        self.assertGreater(inner.mean(), 0.5)
        self.assertGreater(np.corrcoef(shown[inner], t[inner])[0, 1], 0.98)
        self.assertGreater(shown.ravel()[projected.argmax()], 0.93)
        self.assertEqual([name for name in self.files() if name.endswith("hdf5")], [])

    def test_name_that_is_no_text(self):
        """Latin-1, a lone surrogate, and the beginning of a character: all are drawn."""
        names = (b"h\xe9_001", b"\xed\xa0\x80_001", b"\xf0\x9f_001", b"\xc3\xa9_001")
        for at, name in enumerate(os.fsdecode(name + b".hdf5") for name in names):
            self.snapshot({1: 20}, name="plain_001")
            os.rename(self.folder / "plain_001.hdf5", self.folder / name)
            self.succeed(name, "--grid", 4, "--image", f"{at}.png", "-q")
            self.assertGreater(pixels_of(self.folder / f"{at}.png").size, 0)

    @shows_results
    def test_projections(self):
        for axis, name in enumerate("xyz"):
            with self.subTest(name):
                pixels, pos, box = self.draw("--project", name)
                self.assertEqual(pixels.shape[:2], (297, 319))
                self.assert_shows(pixels, paint(pos, box, self.GRID).sum(axis=axis))

    def test_layer(self):
        """Through the periodic edge, with parts of cells: 47.3 to 50 and 0 to 5.2 of 50."""
        pixels, pos, box = self.draw("--from", 47.3, "--depth", 7.9)
        shares = np.zeros(self.GRID)
        shares[:5] = shares[48:] = 1
        shares[5], shares[47] = 0.2, 0.7
        projected = paint(pos, box, self.GRID) @ shares
        self.assert_shows(pixels, np.maximum(projected, 1e-3))

    @shows_results
    def test_colours(self):
        """The lightness of the colour bar rises evenly."""
        pixels, _, _ = self.draw()
        column = lightness(pixels[:, (104 + 1000 + 28 + 14) // 4])[32:264]
        self.assertGreater(np.corrcoef(column, np.arange(len(column)))[0, 1] ** 2, 0.999)
        self.assertLess(np.diff(column).max(), 0)

    def changed(self, plain, drawn, side, box):
        """Where pixels of two maps differ, in lengths of the box, to the right and upwards."""
        area = np.s_[2 * self.ABOVE : 2 * self.ABOVE + side, 2 * self.LEFT : 2 * self.LEFT + side]
        rows, columns = np.nonzero((plain[area] != drawn[area]).any(axis=2))
        return (columns + 0.5) / side * box, box - (rows + 0.5) / side * box

    def test_haloes(self):
        """Circles where haloes are, and nowhere else; around the largest one a ring of pixels of
        their colour."""
        side = 500
        plain, _, box = self.draw(side=side)
        drawn, _, _ = self.draw(
            "--haloes",
            GADGET / "fof_tab_001.hdf5",
            "--min-size",
            1000,
            name="haloes.png",
            side=side,
        )
        with h5py.File(GADGET / "fof_tab_001.hdf5", "r") as file:
            centres = file["Group/GroupPos"][:][file["Group/GroupLen"][:] >= 1000][:, :2]
        x, y = self.changed(plain, drawn, side, box)
        self.assertGreater(len(x), 20)
        apart = np.abs(np.stack([x, y], axis=1)[:, None] - centres)
        distance = np.hypot(*np.minimum(apart, box - apart).transpose(2, 0, 1))
        self.assertLess(
            distance.min(axis=1).max(), 0.6
        )  # this catalogue has no radii: circles of 4 units of the sheet
        self.assertEqual(len(set(distance.argmin(axis=1))), len(centres))

    @NEEDS_MPI
    def test_ranks_draw_the_same_picture(self):
        for axis in "xyz":
            layer = ("--project", axis, "--from", 3, "--depth", 20)
            self.draw(*layer, name="one.png")
            one = (self.folder / "one.png").read_bytes()
            for ranks in (2, 3):
                path = GADGET / "snapshot_001.hdf5"
                picture = ("--grid", self.GRID, "--pixels", self.SIDE, "--image", "many.png", "-q")
                self.succeed(path, *picture, *layer, launcher=launcher(ranks))
                self.assertTrue((self.folder / "many.png").read_bytes() == one, (axis, ranks))

    def test_radii_of_haloes(self):
        """The first of these that a catalogue has, around the first of two centres."""
        side, radius, centre = 500, 5.0, np.array([10.0, 20.0, 30.0])
        others = ["GroupExtentRadius", "Group_R_Crit200", "Group_R_Mean200"]
        for at, name in enumerate(others):
            for axis, of_map in (("x", [1, 2]), ("y", [0, 2]), ("z", [0, 1])):
                with h5py.File(self.folder / "one_halo.hdf5", "w") as file:
                    file.create_group("Header").attrs["Ngroups_ThisFile"] = 1
                    file["Group/GroupCM"] = [centre if at == 2 else centre + 9]
                    if at < 2:
                        file["Group/GroupPos"] = [centre]
                    file["Group/GroupMass"], file["Group/GroupLen"] = [1.0], [40]
                    for other in others[at:]:
                        file[f"Group/{other}"] = [radius if other == name else 2 * radius]
                plain, _, box = self.draw("--project", axis, side=side)
                options = ("--project", axis, "--haloes", "one_halo.hdf5")
                drawn, _, _ = self.draw(*options, name="haloes.png", side=side)
                x, y = self.changed(plain, drawn, side, box)
                right, up = centre[of_map]
                distance = np.hypot(x - right, y - up)
                self.assertGreater(len(x), 100)
                self.assertLess(np.abs(distance - radius).max(), 0.3, (name, axis))

    def write_haloes(self, name, centres, radii, **header):
        with h5py.File(self.folder / name, "w") as file:
            num = len(centres)
            file.create_group("Header").attrs.update({"Ngroups_ThisFile": num, **header})
            file["Group/GroupPos"] = centres
            file["Group/GroupMass"], file["Group/GroupLen"] = np.ones(num), np.full(num, 40)
            file["Group/GroupExtentRadius"] = radii

    def test_haloes_that_cannot_be_drawn(self):
        """They are left out with a warning, and take no time."""
        path, _, box = self.real()
        centres = np.full((7, 3), 20.0)
        centres[3:6, 2] = [np.nan, 1e300, 2.5 * box]
        radii = [np.inf, 1e30, np.nan, 1, 1, 1, 1]
        self.write_haloes("seven.hdf5", centres, radii)
        self.write_haloes("one.hdf5", centres[6:], radii[6:])
        one, _, _ = self.draw("--haloes", "one.hdf5")
        options = ("--grid", self.GRID, "--pixels", self.SIDE, "--image", "haloes.png")
        more = ("--haloes", "seven.hdf5", "--json", "report.json", "-q")
        status, _, errors = self.run_command(path, *options, *more)
        self.assertEqual((status, errors.count("\n")), (0, 1), errors)
        self.assertIn("6 of the 7 haloes of 'seven.hdf5' are not drawn", errors)
        report = json.loads((self.folder / "report.json").read_text())
        self.assertEqual(report["result"]["haloes"], {"in_catalogue": 7, "drawn": 1})
        drawn = pixels_of(self.folder / "haloes.png")
        area = np.s_[self.ABOVE : self.ABOVE + self.SIDE, self.LEFT : self.LEFT + self.SIDE]
        np.testing.assert_array_equal(one[area], drawn[area])

    def test_files_of_several_catalogues(self):
        """Files that are missing from a set, or are of another one, are errors."""
        path, _, box = self.real()
        options = [path, "--grid", 8, "--image", "map.png", "-q", "--haloes", "set.0.hdf5"]
        header = {"NumFiles": 2, "Ngroups_Total": 5, "BoxSize": box, "Redshift": 0.0}
        centres, radii = np.full((5, 3), 20.0), np.ones(5)
        self.write_haloes("set.0.hdf5", centres[:3], radii[:3], **header)
        self.write_haloes("set.1.hdf5", centres[3:], radii[3:], **header)
        self.succeed(*options)
        for other in ({"BoxSize": box / 2}, {"Redshift": 5.0}, {"NumFiles": 7}):
            with self.subTest(other):
                self.write_haloes("set.1.hdf5", centres[3:], radii[3:], **{**header, **other})
                self.assert_refused(options, "'set.1.hdf5' is of another catalogue", "set.0.hdf5")
        for first in (0, 5):  # all groups in one of the files
            self.write_haloes("set.0.hdf5", centres[:first], radii[:first], **header)
            self.write_haloes("set.1.hdf5", centres[first:], radii[first:], **header)
            for name in ("set.0.hdf5", "set.1.hdf5") if first == 0 else ("set.0.hdf5",):
                self.succeed(*options[:-1], name)
        self.write_haloes("set.0.hdf5", centres[:3], radii[:3], **header)
        self.write_haloes("set.1.hdf5", centres[4:], radii[4:], **header)
        self.assert_refused(options, "the Header says 5 groups in all", "have 4")
        for size in (-100.0, np.full(2, box), np.nan):
            self.write_haloes("set.0.hdf5", centres, radii, BoxSize=size)
            self.assert_refused(options, "set.0.hdf5", "is no size of a box")

    def test_haloes_in_the_layer(self):
        """Those from its lower end on to below its upper end, also across the box's edge."""
        path, _, box = self.real()
        centres = np.full((6, 3), box / 2)
        centres[:5, 1] = [box - 1, 0.5, 1, 1.5, box - 1.5]  # the layer is from -1 to 1.5
        with h5py.File(self.folder / "haloes.hdf5", "w") as file:
            file.create_group("Header").attrs.update(  # as of a file that shows two others
                {"NumFiles": 2, "Ngroups_ThisFile": 6, "Ngroups_Total": 6}
            )
            file["Group/GroupPos"] = centres
            file["Group/GroupMass"] = np.ones(6)
            file["Group/GroupLen"] = np.full(6, 40)
        layer = ("--project", "y", "--from", -1, "--depth", 2.5)
        self.draw("--haloes", "haloes.hdf5", *layer, "--json", "report.json")
        report = json.loads((self.folder / "report.json").read_text())
        self.assertEqual(report["result"]["haloes"], {"in_catalogue": 6, "drawn": 3})

    def test_haloes_in_a_box_that_is_no_cube(self):
        """The code's catalogue has the BoxSize of the header."""
        shutil.copy(GADGET / "snapshot_001.hdf5", self.folder / "long_001.hdf5")
        with h5py.File(self.folder / "long_001.hdf5", "r+") as file:
            file["Config"].attrs.update(LONG_X=2.0)
        options = ("--grid", 8, "--image", "map.png", "--haloes", "haloes.hdf5", "-q")
        shutil.copy(GADGET / "fof_tab_001.hdf5", self.folder / "haloes.hdf5")
        self.succeed("long_001.hdf5", *options)
        with h5py.File(self.folder / "haloes.hdf5", "r+") as file:
            file["Header"].attrs["BoxSize"] = 51.0
        self.assert_refused(["long_001.hdf5", *options], "are in a box with sides of 51")

    def test_haloes_of_another_time(self):
        """They are drawn, with a warning."""
        with h5py.File(GADGET / "fof_tab_001.hdf5", "r") as source:
            with h5py.File(self.folder / "fof_tab_007.hdf5", "w") as file:
                for name in ("Header", "Parameters", "Group"):
                    source.copy(name, file)
                file["Header"].attrs["Redshift"] = 0.5
        path, _, _ = self.real()
        status, _, errors = self.run_command(
            path, "--grid", 8, "--image", "map.png", "--haloes", "fof_tab_007.hdf5", "-q"
        )
        self.assertEqual(status, 0, errors)
        self.assertEqual(errors.count("density: warning: "), 1, errors)
        self.assertIn("'fof_tab_007.hdf5' are of redshift 0.500", errors)
        self.assertIn("the particles of redshift 0.000", errors)

    def test_haloes_are_not_in_redshift_space(self):
        path, _, _ = self.real()
        options = ["--grid", 8, "--image", "map.png", "--haloes", GADGET / "fof_tab_001.hdf5", "-q"]
        status, _, errors = self.run_command(path, *options, "--redshift-space", "x")
        self.assertEqual((status, errors.count("\n")), (0, 1), errors)
        self.assertIn("density: warning: --redshift-space moves particles, but not", errors)

    def test_in_both(self):
        """Field, table and picture of one run; the report for machines."""
        self.draw(
            "-o",
            "field.hdf5",
            "--power",
            "pk.txt",
            "--json",
            "report.json",
            "--haloes",
            GADGET / "fof_tab_001.hdf5",
        )
        self.assertEqual(self.files(), ["field.hdf5", "map.png", "pk.txt", "report.json"])
        report = json.loads((self.folder / "report.json").read_text())
        self.assertEqual(report["result"]["files"], ["./field.hdf5", "pk.txt", "map.png"])
        density = self.density("field.hdf5").astype(np.float64)
        np.testing.assert_allclose(report["result"]["field"]["max"], density.max())
        np.testing.assert_allclose(
            report["result"]["field"]["standard_deviation"], density.std(), rtol=1e-5
        )
        self.assertEqual(report["result"]["painted"]["num_particles"], 64**3)
        self.assertEqual(report["options"]["power_compensation"], "shot-noise")
        box, power = report["box_length"][0], report["result"]["power"]
        self.assertAlmostEqual(power["fundamental"], 2 * np.pi / box)
        self.assertAlmostEqual(power["nyquist"], self.GRID * np.pi / box)
        self.assertEqual(report["result"]["haloes"]["drawn"], 200)


# Options on a snapshot of types 0 and 1, and words of the message.
OPTIONS = {
    "--grid 0": ["--grid", "1 to 1048576"],
    "--grid -4": ["--grid", "1 to 1048576"],
    "--grid many": ["--grid", "many"],
    "--grid 100000": ["--grid 100000", "100000^3 cells", "PiB", "available", "fewer cells"],
    "--grid 9999999999": ["--grid", "9999999999"],
    "--window top": ["--window", "top", "ngp, cic, tsc, pcs"],
    "--weights light": ["--weights", "light", "mass, number"],
    "--types 5": ["type 5", "types 0, 1"],
    "--image i.png --depth 1e-30": ["--depth is 1e-30", "of the box's side"],
    "--image i.png --from 1e300": ["--from is 1e+300", "sides of the box"],
    "--power p.txt --box-size 1e-320": ["--box-size", "positive and finite"],
    "--redshift-space q": ["--redshift-space", "q", "x, y, z"],
    "--types dark": ["--types", "dark"],
    "--compensate all": ["--compensate", "all", "none, window, shot-noise"],
    "--power p.txt --bin-width 1e-9": [
        "bins of width 1e-09",
        "fewer than 1048576",
        "--bin-width of at least",
    ],
    "--power p.txt --k-max 1e9": ["fewer than 1048576", "--bin-width of at least"],
    "--power p.txt --k-min 1e9": ["begin at k = 1e+09", "--k-min", "without"],
    "--power p.txt --k-min 2 --k-max 2": ["begin at k = 2 and end at 2"],
    "--power p.txt --k-min -1": ["--k-min is -1", "0 or more"],
    "--power p.txt --bins log --k-min 0": ["--k-min is 0", "more than 0"],
    "--power p.txt --k-max 0": ["--k-max", "positive"],
    "--k-max 1": ["--k-max", "--power"],
    "--bins log": ["--bins", "--power"],
    "--power p.txt --bins odd": ["--bins", "odd", "linear, log"],
    "--power p.txt --bin-width 0": ["--bin-width", "positive"],
    "--power p.txt --bins log --bin-width 1": ["--bin-width", "--per-decade"],
    "--power p.txt --per-decade 4": ["--per-decade", "--bins log"],
    "--power p.txt --multipoles r": ["--multipoles", "r", "x, y, z"],
    "--power folder": ["--power", "folder", "name a file"],
    "--power none/p.txt": ["--power", "none/p.txt", "'none' is not there"],
    "--power text.txt/p.txt": ["text.txt"],
    "--power snapshot_007.hdf5": ["--power", "snapshot_007.hdf5", "is read"],
    "--power report.json": ["--power", "--json", "report.json"],
    "--power folder/../folder/p.txt --json folder/p.txt": [
        "--power",
        "--json",
        "folder/p.txt",
        "same file",
    ],
    "--power link/p.txt --json folder/p.txt": ["--power", "--json", "folder/p.txt", "same file"],
    "--power - -q": ["--power", "--json", "standard output"],
    "--power out.0.hdf5 -o out.hdf5": ["--power", "out.0.hdf5", "-o out.hdf5"],
    "--power ./out.hdf5 -o link/../out": ["--power", "out.hdf5", "-o"],
    "--power folder/out.17.hdf5 -o link/out --files 2": ["--power", "folder/out.17.hdf5", "-o"],
    "-o folder": ["-o", "folder", "name a file"],
    "-o text.txt/out.hdf5": ["text.txt"],
    "-o snapshot_007": ["snapshot_007.hdf5", "is read"],
    "--periodic no": ["not in a periodic box", "--periodic yes", "--box-size"],
    "--box-size 0": ["--box-size", "0"],
    "--project z": ["--project", "--image"],
    "--depth 3": ["--depth", "--image"],
    "--haloes catalogue": ["--haloes", "--image"],
    "--no-such-option": ["--no-such-option", "density --help"],
}
PICTURE_OPTIONS = {
    "--project q": ["--project", "q", "x, y, z"],
    "--depth 11": ["--depth", "11", "10", "along z"],
    "--depth 0": ["--depth", "0", "positive"],
    "--from nan": ["--from", "finite"],
    "--image map.jpg": ["--image", "map.jpg", ".png"],
    "--pixels 5": ["--pixels", "100 to 10000"],
    "--min-size 5": ["--min-size", "--haloes"],
    "--min-halo 5": ["there is no option --min-halo", "--min-size"],
    "--power p.txt --files 2": ["--files", "no field", "-o"],
    "--image map.png --master": ["--master", "no field", "-o"],
    "--haloes bare_groups.hdf5 --min-size -5": ["--min-size is -5", "negative"],
    "--haloes bare_groups.hdf5": ["bare_groups.hdf5", "no /Group/GroupMass", "GroupLen"],
    "--power link/../map.png": ["--power", "--image", "map.png", "same file"],
    "--dry-run --power none/p.txt": ["--power", "'none' is not there"],
    "--haloes unwritten_groups.hdf5": ["unwritten_groups.hdf5", "GroupPos", "never written"],
    "--haloes groups_007 --json groups_007/fof_tab_007.0.hdf5": [
        "--json",
        "fof_tab_007.0.hdf5",
        "is read",
    ],
    "--haloes long_groups.hdf5": ["sides of 10 x 10 x 20", "one of 10:"],
    "--power bare_groups.hdf5": ["bare_groups.hdf5", "not written by --power"],
    "--power text.txt": ["text.txt", "not written by --power"],
    "--json bare_groups.hdf5": ["bare_groups.hdf5", "not written by --json"],
    "--json settings.json": ["settings.json", "not written by --json"],
    "--image photo.png": ["photo.png", "not written by --image"],
    "--power begun.txt": ["begun.txt", "not written by --power"],
    "--haloes nowhere": ["nowhere", "no such file"],
    "--haloes folder": ["folder", "no catalogue"],
    "--haloes snapshot_007.hdf5": ["snapshot_007.hdf5", "no catalogue of groups"],
    f"--haloes {GADGET / 'fof_tab_001.hdf5'}": ["sides of 50", "one of 10"],
}


class BadInput(DensityCase):
    def setUp(self):
        super().setUp()
        self.snapshot({0: 20, 1: 50})
        (self.folder / "text.txt").write_text("1 2 3\n")
        (self.folder / "begun.txt").write_text("#")
        (self.folder / "settings.json").write_text('{"colour": "blue"}')
        (self.folder / "photo.png").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(200))
        (self.folder / "folder").mkdir()
        (self.folder / "link").symlink_to("folder")
        with h5py.File(self.folder / "bare_groups.hdf5", "w") as file:
            file.create_group("Header").attrs["BoxSize"] = 10.0
            file["Group/GroupPos"] = np.ones((3, 3))
        with h5py.File(self.folder / "long_groups.hdf5", "w") as file:
            file.create_group("Header").attrs["BoxSize"] = [10.0, 10.0, 20.0]
            file["Group/GroupPos"] = np.ones((3, 3))
            file["Group/GroupMass"] = np.ones(3)
            file["Group/GroupLen"] = np.ones(3, np.int32)
        (self.folder / "groups_007").mkdir()
        with h5py.File(self.folder / "groups_007/fof_tab_007.0.hdf5", "w") as file:
            file.create_group("Header").attrs["BoxSize"] = 10.0
            file["Group/GroupPos"], file["Group/GroupMass"], file["Group/GroupLen"] = (
                np.ones((3, 3)),
                np.ones(3),
                np.ones(3, np.int32),
            )
        with h5py.File(self.folder / "unwritten_groups.hdf5", "w") as file:
            file.create_dataset("Group/GroupPos", (3, 3), np.float64)

    def test_columns_that_are_not_used(self):
        """What is wrong with them is an error of the fields that need them."""
        with h5py.File(self.folder / "snapshot_007.hdf5", "r+") as file:
            particles = file["PartType1"]
            masses = particles["Masses"][:]
            for name in ("Masses", "Velocities", "ParticleIDs"):
                if name in particles:
                    del particles[name]
            particles["ParticleIDs"] = np.arange(50.0)
            particles["Velocities"] = np.ones((50, 2))
            particles.create_dataset("Masses", data=masses, compression="lzf")
        arguments = ["snapshot_007.hdf5", "--grid", 4, "--types", 1]
        self.succeed(*arguments, "--weights", "number", "-o", "out", "-q")
        (self.folder / "out.hdf5").unlink()
        for options in ([], ["--dry-run"]):
            self.assert_refused([*arguments, *options], "Masses", "lzf", "install that filter")
            self.assert_refused(
                [*arguments, "--weights", "number", "--redshift-space", "x", *options],
                "/PartType1/Velocities has the shape (50, 2)",
                "write it so, or remove it",
            )

    def test_options(self):
        for options, words in OPTIONS.items():
            with self.subTest(options):
                grid = [] if "--grid" in options else ["--grid", 4]
                report = "-" if options == "--power - -q" else "report.json"
                json_file = [] if "--json" in options else ["--json", report]
                self.assert_refused(
                    ["snapshot_007.hdf5", *grid, *json_file, *options.split()], *words
                )

    def test_absolute_names(self):
        """One file, told by a relative and by an absolute path."""
        self.assert_refused(
            ["snapshot_007.hdf5", "--grid", 4, "--power", "x.txt", "--json", self.folder / "x.txt"],
            "--power",
            "--json",
            "same file",
        )

    def test_snapshot_behind_compensate(self):
        self.assert_refused(
            ["--grid", 4, "--compensate", "snapshot_007.hdf5"],
            "snapshot_007.hdf5",
            "none, window, shot-noise",
            "behind",
        )
        self.succeed("--grid", 4, "--compensate", "window", "snapshot_007.hdf5", "-q")

    def test_picture_options(self):
        if "this build has no cairo" in self.succeed("--help"):
            self.assert_refused(
                ["snapshot_007.hdf5", "--image", "map.png"], "cannot draw", "ZHALO_CAIRO"
            )
            return
        for options, words in PICTURE_OPTIONS.items():
            with self.subTest(options):
                self.assert_refused(
                    [
                        "snapshot_007.hdf5",
                        "--grid",
                        4,
                        *([] if "--image" in options else ["--image", "map.png"]),
                        *options.split(),
                    ],
                    *words,
                )

    def test_snapshots(self):
        for name, words in {
            "none_such.hdf5": ["no such file"],
            "text.hdf5": ["HDF5"],
            "no_box.hdf5": ["--box-size"],
            "nan.hdf5": ["not finite"],
        }.items():
            with self.subTest(name):
                self.assert_refused(
                    [
                        SNAPSHOTS / "bad" / name,
                        "--grid",
                        8,
                        "-o",
                        "deep/out.hdf5",
                        "--power",
                        "p.txt",
                    ],
                    *words,
                )
        self.snapshot({0: 30, 1: 20}, name="two_001")
        self.assert_refused(["two_001", "--grid", 4, "--types", "4,5"], "type 4", "types 0, 1")
        status, _, errors = self.run_command("two_001", "--grid", 4, "--types", "0,4,1", "-q")
        words = "'two_001' has no particles of type 4 (--types): it is left out"
        self.assertEqual((status, errors), (0, f"density: warning: {words}\n"))
        self.succeed("two_001", "--grid", 4, "--types", "0,1", "-q", "-o", "there")
        np.testing.assert_array_equal(self.density("density_001.hdf5"), self.density("there.hdf5"))
        self.snapshot({1: 20}, name="bare_001").write(self.folder / "bare_001", masses=False)
        self.assert_refused(["bare_001", "--grid", 4], "no masses", "--weights number")
        self.succeed("bare_001", "--grid", 4, "--weights", "number", "-q", "-o", "bare.hdf5")

    def refuse_masses(self, name, masses, *words):
        """Whatever is made of them; numbers of particles are."""
        snapshot = self.snapshot({1: 20}, name=name)
        snapshot.mass[1][:] = masses
        snapshot.write(self.folder / name)
        for how in ([], ["--power", "p.txt"], ["--interlace"]):
            self.assert_refused([name, "--grid", 4, *how], *words)
        self.succeed(name, "--grid", 4, "--weights", "number", "-q", "-o", f"out_{name}")

    def test_masses(self):
        self.refuse_masses(
            "massless_001", 0, "masses of the 20 particles", "sum to 0", "--weights number"
        )
        self.refuse_masses(
            "negative_001",
            np.where((np.arange(20) // 2) == 3, -1, 1),
            "2 of 20 particles have a mass that is negative",
            "the first is particle 6",
        )

    def test_name_of_two_lines(self):
        """Comments of a table stay comments."""
        self.snapshot({1: 20}, name="two\nlines_001")
        self.succeed("two\nlines_001.hdf5", "--grid", 8, "--power", "p.txt", "-q")
        header, table = read_table(self.folder / "p.txt")
        self.assertIn("two\\x0alines_001.hdf5", header[0])
        self.assertIn("k_mean", table)

    def test_grids_without_waves(self):
        for cells in (1, 2):
            status, _, errors = self.run_command(
                "snapshot_007", "--grid", cells, "--power", "p.txt", "-q"
            )
            self.assertEqual((status, errors.count("\n")), (0, 1))
            self.assertIn(f"density: warning: --grid {cells}", errors)
            self.assertIn("spectrum is empty", errors)

    def test_box_that_is_wrong(self):
        self.assert_refused(["snapshot_007", "--grid", 4, "--box-size", 4], "outside", "--wrap")
        self.succeed("snapshot_007", "--grid", 4, "--box-size", 4, "--wrap", "-q")
        self.assert_refused(
            ["snapshot_007", "--grid", 4, "--box-size", "1e300"], "1e+300", "32 bits"
        )

    def test_dry_run(self):
        """Tells what an absurd grid needs, and writes nothing."""
        before = self.files()
        status, output, errors = self.run_command("snapshot_007", "--grid", 100000, "--dry-run")
        self.assertEqual(status, 0)
        self.assertRegex(errors, r"need [0-9.]+ PiB on")
        # 4 bytes of field and 8 of sums in each cell: 12e15 bytes.
        memory = float(output.split("Memory       at most ")[1].split(" PiB")[0])
        self.assertAlmostEqual(memory * 2**50 / 12e15, 1, delta=0.01)
        self.assertEqual(self.files(), before)

    def test_dry_run_knows_the_masses_of_the_file(self):
        """Those of the header take no memory, and of the particles as much as in the file."""
        snapshot = self.snapshot({1: 5000})
        memory = {}
        for kind in (None, "f4", "f8"):
            if kind:
                snapshot.mass[1] = snapshot.mass[1].astype(kind)
            snapshot.write(self.folder / "snapshot_007", masses=bool(kind))
            if not kind:
                with h5py.File(self.folder / "snapshot_007.hdf5", "r+") as file:
                    file["Header"].attrs["MassTable"] = [0.0, 1, 0, 0, 0, 0]
            for weights in ("mass", "number"):
                arguments = ("--grid", 8, "--weights", weights, "--dry-run", "-q", "--json", "-")
                report = json.loads(self.succeed("snapshot_007", *arguments))
                memory[kind, weights] = report["estimate"]["memory_bytes"]
        least = memory[None, "number"]
        for kind, extra in ((None, 0), ("f4", 4), ("f8", 8)):
            self.assertAlmostEqual(memory[kind, "mass"] - least, 5000 * extra, delta=1)
            self.assertAlmostEqual(memory[kind, "number"], least, delta=1)

    def test_more_bytes_than_integers(self):
        """2^60 cells, of 4 bytes in the file, and of at least 12 in memory."""
        before = self.files()
        status, output, errors = self.run_command(
            "snapshot_007",
            "--grid",
            2**20,
            "--power",
            "pk.txt",
            "--interlace",
            "-o",
            "f.hdf5",
            "--dry-run",
        )
        self.assertEqual(status, 0)
        self.assertIn("Output       4.0 EiB", output)
        memory = float(output.split("Memory       at most ")[1].split(" EiB")[0])
        self.assertGreaterEqual(memory, 12)
        self.assertIn(f"need {memory:.1f} EiB on a machine", errors)
        self.assertEqual(self.files(), before)
        self.assertEqual(PROGRAM.name, "density")


if __name__ == "__main__":
    main()
