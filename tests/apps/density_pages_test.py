"""docs/density.md: its commands as they stand there, and what they print.

density_pages_test.py PROGRAM ROOT
"""

from page_case import NEEDS_MPIRUN, PageCase, main


@NEEDS_MPIRUN
class Pages(PageCase):
    def test_density(self):
        if "this build has no cairo" in self.run_text("density --help"):
            self.skipTest("built without cairo")
        self.assertEqual(self.run_page("density.md"), [])


if __name__ == "__main__":
    main()
