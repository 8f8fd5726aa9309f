"""docs/knn.md: its commands as they stand there, and what they print.

knn_pages_test.py PROGRAM ROOT
"""

from page_case import NEEDS_MPIRUN, PageCase, main


@NEEDS_MPIRUN
class Pages(PageCase):
    def test_knn(self):
        self.assertEqual([kind for kind, _ in self.run_page("knn.md") if kind != "cpp"], [])


if __name__ == "__main__":
    main()
