"""docs/mesh.md: its command as it stands there, its C++, and the example on several ranks.

  mesh_pages_test.py PROGRAM ROOT

Blocks of `cpp` are the marked parts of the example's source.
"""

import math
import re

from page_case import NEEDS_MPIRUN, PageCase, main, sections

OUTPUT = re.compile(
    r"k (\S+) h/Mpc: P (\S+) .*, (\d+) modes; of random particles (\S+)\n"
    r"highest overdensity (\S+), strongest pull (\S+)\n"
)


@NEEDS_MPIRUN
class Pages(PageCase):
    def test_page(self):
        blocks = sorted(text for kind, text in self.run_page("mesh.md") if kind == "cpp")
        self.assertEqual(blocks, sorted(sections("overdensity.cpp")))
        self.assertEqual(len(blocks), 5)

    def test_a_wave_is_found_again(self):
        # Displacements of 1 Mpc/h in a box of 100: to first order two of 26 modes with half of the
        # wave's overdensity.
        k = 2 * math.pi / 100
        outputs = [
            self.run_text(f"mpirun -n {ranks} --oversubscribe overdensity 24")
            for ranks in (1, 2, 5)
        ]
        self.assertEqual(len(set(outputs)), 1)
        k_mean, power, modes, noise, highest, pull = map(
            float, OUTPUT.fullmatch(outputs[0]).groups()
        )
        self.assertAlmostEqual(
            k_mean, k * (6 + 12 * math.sqrt(2) + 8 * math.sqrt(3)) / 26, delta=1e-4
        )
        self.assertEqual(modes, 26)
        self.assertAlmostEqual(power, 100**3 * 2 * (k / 2) ** 2 / 26, delta=0.5)
        self.assertAlmostEqual(noise, 100**3 / 48**3, delta=0.01)
        self.assertAlmostEqual(highest, 1 / (1 - k) - 1, delta=0.004)
        self.assertAlmostEqual(pull, 1, delta=0.01)


if __name__ == "__main__":
    main()
