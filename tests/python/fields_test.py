"""Fields and power spectra of the Python package, against their definitions."""

import unittest

import numpy as np

from package_case import main

import zhalo

random = np.random.default_rng(5)
LENGTH = 20.0
POSITIONS = random.random((3000, 3)) * LENGTH
MASSES = random.uniform(1, 2, len(POSITIONS))


class Fields(unittest.TestCase):
    def setUp(self):
        self.domain = zhalo.Domain(zhalo.Particles(POSITIONS, masses=MASSES), LENGTH)

    def test_nearest_grid_points(self):
        num = (6, 5, 4)
        edges = [np.linspace(0, LENGTH, n + 1) for n in num]
        wanted, _ = np.histogramdd(POSITIONS, edges, weights=MASSES)
        field = self.domain.paint(num, window="ngp")
        np.testing.assert_allclose(field.values, wanted, rtol=1e-12)
        self.assertAlmostEqual(field.sum, MASSES.sum())
        self.assertAlmostEqual(field.mean, wanted.mean())
        self.assertAlmostEqual(field.effective_number, MASSES.sum() ** 2 / (MASSES**2).sum())
        self.assertEqual(field.first_plane, 0)
        counts = self.domain.paint(num, "ngp", weights="count", dtype=np.float32).values
        np.testing.assert_array_equal(counts, np.histogramdd(POSITIONS, edges)[0])
        self.assertEqual(counts.dtype, np.float32)
        overdensity = self.domain.paint(num, "ngp", values="overdensity").values
        np.testing.assert_allclose(overdensity, wanted / wanted.mean() - 1, atol=1e-12)

    def test_cloud_in_cell(self):
        one = zhalo.Domain(np.array([[0.75, 0.5, 0.5]]), 4.0)  # a quarter beyond a cell's middle
        for window, shares in (
            ("cic", [0.75, 0.25, 0, 0]),
            ("tsc", [0.6875, 0.28125, 0, 0.03125]),
        ):
            values = one.paint(4, window=window).values
            np.testing.assert_allclose(values.sum(axis=(1, 2)), shares, atol=1e-12)
        self.assertAlmostEqual(one.paint(4, window="pcs").values.sum(), 1)

    def test_power(self):
        num = 12
        field = self.domain.paint(num, window="cic", values="overdensity").values
        raw = np.abs(np.fft.fftn(field) / field.size) ** 2 * LENGTH**3
        axis = np.fft.fftfreq(num, 1 / num)
        for compensation, along in (
            ("none", np.ones(num)),
            ("window", np.sinc(axis / num) ** 4),
            ("shot_noise", 1 - 2 / 3 * np.sin(np.pi * axis / num) ** 2),
        ):
            with self.subTest(compensation):
                window = np.einsum("i,j,k->ijk", along, along, along)
                spectrum = self.domain.power_spectrum(
                    num, window="cic", interlaced=False, compensation=compensation
                )
                self.assert_power(spectrum, raw / window)

    def assert_power(self, spectrum, power):
        num = len(power)
        axis = np.fft.fftfreq(num, 1 / num)
        squared = sum(k**2 for k in np.meshgrid(axis, axis, axis, indexing="ij"))
        fundamental = 2 * np.pi / LENGTH
        self.assertEqual(len(spectrum.k), num // 2 - 1)
        self.assertAlmostEqual(spectrum.nyquist, num / 2 * fundamental)
        for i in range(num // 2 - 1):
            bin_ = (squared >= (i + 1) ** 2) & (squared < (i + 2) ** 2)
            self.assertEqual(spectrum.num_modes[i], bin_.sum())
            self.assertAlmostEqual(spectrum.power[i] / power[bin_].mean(), 1)
            self.assertAlmostEqual(spectrum.k[i] / np.sqrt(squared[bin_]).mean() / fundamental, 1)
            self.assertAlmostEqual(spectrum.k_lo[i], (i + 1) * fundamental)
            self.assertAlmostEqual(spectrum.k_hi[i], (i + 2) * fundamental)
        noise = LENGTH**3 * (MASSES**2).sum() / MASSES.sum() ** 2
        self.assertAlmostEqual(spectrum.shot_noise, noise)

    def test_particles_at_random_have_their_shot_noise(self):
        for options in ({}, {"interlaced": True}, {"window": "pcs"}, {"weights": "count"}):
            spectrum = self.domain.power_spectrum(24, **options)
            ratio = np.average(spectrum.power, weights=spectrum.num_modes) / spectrum.shot_noise
            self.assertLess(abs(ratio - 1), 0.1, options)


if __name__ == "__main__":
    main()
