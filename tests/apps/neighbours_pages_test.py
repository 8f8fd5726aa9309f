"""docs/neighbours.md: its command as it stands there, its C++, and the example on several ranks.

  neighbours_pages_test.py PROGRAM ROOT

Blocks of `cpp` are the marked parts of the example's source.
"""

import re

from page_case import NEEDS_MPIRUN, PageCase, main, sections


@NEEDS_MPIRUN
class Pages(PageCase):
    def test_page(self):
        blocks = [text for kind, text in self.run_page("neighbours.md") if kind == "cpp"]
        self.assertEqual(blocks, sections("local_flow.cpp"))
        self.assertGreater(len(blocks), 1)

    def test_the_example_finds_the_same_on_any_number_of_ranks(self):
        outputs = [
            self.run_text(f"mpirun -n {ranks} --oversubscribe local_flow 3000")
            for ranks in (1, 2, 3)
        ]
        self.assertRegex(outputs[0], r"^mean density \d")
        self.assertEqual(outputs, [outputs[0]] * 3)

    def test_the_infall_is_the_mean_distance(self):
        # The spheres fall with v = -x: the mean infall is about the mean distance of 32 neighbours,
        # 3/4 of the furthest, inside.
        output = self.run_text("local_flow 20000")
        density, infall = map(
            float, re.fullmatch(r"mean density (\S+), mean infall (\S+)\n", output).groups()
        )
        furthest = (32 / density / 4.18879) ** (1 / 3)
        self.assertAlmostEqual(infall / (0.75 * furthest), 1, delta=0.1)


if __name__ == "__main__":
    main()
