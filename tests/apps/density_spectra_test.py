"""The command density: power spectra against numpy, also in redshift space.

density_spectra_test.py PROGRAM DATA SNAPSHOTS
"""

import re
import shutil

import h5py
import numpy as np
from command_case import NEEDS_MPI, SWIFT, launcher, shows_results
from density_case import DensityCase, main, paint, power, read_table, wave_numbers
from scipy.integrate import quad

# Modes beyond the linear regime couple to those of 0.13 to 0.38 h/Mpc, of which there are 92.
GROWTH_TOLERANCE = 0.1


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
            self.measure(
                [path, "--grid", n, "--compensate", "none", *options],
                is_warned=edges[-1] > n * unit / 2,
            )
            table = read_table(self.folder / "pk.txt")[1]
            np.testing.assert_allclose(table["k_lo"], edges[:-1], rtol=1e-7)
            np.testing.assert_allclose(table["k_hi"], edges[1:], rtol=1e-7)
            for row, (low, high) in enumerate(zip(edges[:-1], edges[1:])):
                inside = (k >= low) & (k < high) & (k > 0)
                self.assertEqual(table["modes"][row], inside.sum())
                np.testing.assert_allclose(table["P"][row], power_of[inside].mean(), rtol=1e-5)
                np.testing.assert_allclose(table["k_mean"][row], k[inside].mean(), rtol=1e-7)

    def measure(self, arguments, is_warned):
        """Into pk.txt; whether bins are beyond the Nyquist frequency."""
        status, _, errors = self.run_command(*arguments, "--power", "pk.txt", "-q")
        self.assertEqual((status, bool(errors)), (0, is_warned), errors)
        self.assertIn("is beyond the Nyquist frequency" if is_warned else "", errors)

    def test_table_beside_the_field(self):
        """In a folder that is made."""
        path, _, _ = self.real()
        files = ["-o", "new/field.hdf5", "--power", "new/pk.txt", "--json", "new/report.json"]
        self.succeed(path, "--grid", 4, "--dry-run", "-q", *files[:4])
        self.assertEqual(self.files(), [])
        self.succeed(path, "--grid", 4, "-q", *files)
        self.assertEqual(len(self.files()), 4)

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
                self.measure(
                    ["snapshot_007", "--grid", 32, "--window", *how], is_warned=15 in how
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


if __name__ == "__main__":
    main()
