"""docs/initial-conditions.md: its commands as they stand there, and what they print.

ics_pages_test.py PROGRAM ROOT
"""

from page_case import NEEDS_MPIRUN, PageCase, main


@NEEDS_MPIRUN
class Pages(PageCase):
    def test_page(self):
        self.assertEqual(self.run_page("initial-conditions.md"), [])


if __name__ == "__main__":
    main()
