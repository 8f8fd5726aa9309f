"""docs/c.md: its commands as they stand there, its C and Fortran, and the examples on several
ranks.

  c_pages_test.py PROGRAM ROOT

Blocks of `c` and `fortran` are the marked parts of the examples' sources. A block of `console` has
a command behind "$ ", and what it prints.
"""

import re
import unittest

from page_case import NEEDS_MPIRUN, PROGRAM, ROOT, PageCase, main, sections


@NEEDS_MPIRUN
class Pages(PageCase):
    def test_page(self):
        blocks = self.run_page("c.md")
        for kind, sources, min_num in (
            ("c", ["haloes.c", "gas.c"], 11),
            ("fortran", ["haloes_fortran.f90"], 2),
        ):
            quoted = sorted(text for name, text in blocks if name == kind)
            self.assertEqual(quoted, sorted(sections(*sources)))
            self.assertGreaterEqual(len(quoted), min_num)

    def test_the_examples_find_the_same_on_any_number_of_ranks(self):
        for example in ("haloes", "gas"):
            outputs = [
                self.run_text(f"mpirun -n {ranks} --oversubscribe {example} 5000")
                for ranks in (1, 2, 3)
            ]
            self.assertRegex(outputs[0], r"^5 haloes, ")
            self.assertEqual(outputs, [outputs[0]] * 3)

    def test_fortran(self):
        if not (PROGRAM.parent / "haloes_fortran").exists():
            raise unittest.SkipTest("there is no Fortran compiler, or no mpi_f08")
        consoles = re.findall(r"^```console\n\$ (.*)\n((?:.*\n)*?)```", self.page(), re.MULTILINE)
        self.assertEqual(len(consoles), 1)
        for command, expected in consoles:
            self.assertEqual(self.run_text(command), expected)

    def page(self):
        return (ROOT / "docs/c.md").read_text()


if __name__ == "__main__":
    main()
