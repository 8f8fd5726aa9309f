"""docs/fft.md: its command as it stands there, its C++, and the example on several ranks.

  fft_pages_test.py PROGRAM ROOT

Blocks of `cpp` are the marked parts of the example's source.
"""

import math
import re

from page_case import NEEDS_MPIRUN, PageCase, main, sections


@NEEDS_MPIRUN
class Pages(PageCase):
    def test_page(self):
        blocks = sorted(text for kind, text in self.run_page("fft.md") if kind == "cpp")
        self.assertEqual(blocks, sorted(sections("smooth.cpp")))
        self.assertEqual(len(blocks), 4)

    def test_a_smoothed_wave_is_lower_by_the_gaussian(self):
        k = [2 * math.pi / 100 * number for number in (2, 1, 0)]
        amplitude = math.exp(-0.5 * sum(component**2 for component in k) * 10**2)
        spacing = 100 / 24
        for ranks in (1, 2, 5):
            output = self.run_text(f"mpirun -n {ranks} --oversubscribe smooth 24")
            found = [
                float(word)
                for word in re.fullmatch(
                    r"amplitude (\S+), steepest slope (\S+)\n", output
                ).groups()
            ]
            # 24 cells have one at the wave's crest and one where it is steepest; differences see
            # sin(k h) / h for k.
            self.assertAlmostEqual(found[0], amplitude, delta=1e-6)
            self.assertAlmostEqual(
                found[1], amplitude * math.sin(k[0] * spacing) / spacing, delta=1e-6
            )


if __name__ == "__main__":
    main()
