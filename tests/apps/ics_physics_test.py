"""The command ics: spectrum, velocities and growth against their definitions.

ics_physics_test.py PROGRAM DATA SNAPSHOTS
"""

import numpy as np
from command_case import main, shows_results
from ics_case import (
    IcsCase,
    displacements,
    growth,
    growth_rate,
    hubble,
    linear_power,
    smooth_power,
    spectrum,
)


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
        ratio = growth(1 / 50, omega_l=0) / growth(1 / 50)
        np.testing.assert_allclose(
            displacements(open_one, 8, 20), ratio * displacements(flat, 8, 20), rtol=1e-6, atol=1e-9
        )


if __name__ == "__main__":
    main()
