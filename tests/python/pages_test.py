"""docs/python.md: its programs and what they print, and the one for many ranks on three. And the
program of README.md.
"""

import re
import sys
import unittest

from package_case import ROOT, SITE, main

sys.path.insert(0, str(ROOT / "tests/apps"))
from page_case import NEEDS_MPIRUN, PageCase  # noqa: E402


class Pages(PageCase):
    def run_text(self, text, **environment):
        return super().run_text(text, PYTHONPATH=str(SITE), **environment)

    def test_page(self):
        kinds = [kind for kind, _ in self.run_page("python.md")]
        self.assertEqual(kinds, ["console", "console"])

    def test_readme(self):
        readme = (ROOT / "README.md").read_text()
        (program,) = re.findall(r"^```python\n(.*?)^```$", readme, re.M | re.S)
        (self.folder / "readme.py").write_text(program)
        output = self.run_text(f"{sys.executable} -B readme.py")
        self.assertRegex(output, r"^\d+ groups, the largest of \d+ around \[.*\]\n$")

    @NEEDS_MPIRUN
    def test_ranks(self):
        page = (ROOT / "docs/python.md").read_text()
        (program,) = re.findall(r"^```python\n(from mpi4py.*?)^```$", page, re.M | re.S)
        ((command, expected),) = re.findall(r"^\$ (mpirun .*)\n((?:.*\n)*?)```", page, re.M)
        (self.folder / "groups.py").write_text(program)
        self.assertEqual(self.run_text(command.replace("-n 3", "-n 3 --oversubscribe")), expected)


if __name__ == "__main__":
    main()
