"""docs/python.md: its programs and what they print, the one for many ranks on three, and its list
of functions. And the program of README.md.
"""

import ast
import re
import sys
import unittest

from package_case import ROOT, SITE, main

sys.path.insert(0, str(ROOT / "tests/apps"))
from page_case import NEEDS_MPIRUN, PageCase  # noqa: E402


def signatures(stub):
    """Of the functions and values in a stub: "Domain.num(species=0)", "Domain.num_species"."""
    classes = [node for node in ast.parse(stub).body if isinstance(node, ast.ClassDef)]
    for kind in classes:
        for function in kind.body:
            if not isinstance(function, ast.FunctionDef):
                continue
            name = kind.name if function.name == "__init__" else f"{kind.name}.{function.name}"
            if "__" in name:
                continue
            of_function = function.args
            of_function.args = of_function.args[1:]
            for argument in (*of_function.args, *of_function.kwonlyargs, of_function.vararg):
                if argument is not None:
                    argument.annotation = None
            is_value = bool(function.decorator_list)
            yield name if is_value else f"{name}({ast.unparse(of_function)})"


def listed(block):
    """The same of the page's list: a class begins a line, its members have a dot."""
    kind = ""
    for line in re.sub(r"\n {5,}", " ", block).splitlines():
        if line.startswith(" "):
            yield from (kind + member for member in re.split(r", (?=\.)", line.strip()))
        elif line:
            kind = re.match(r"\w+", line)[0]
            if line.endswith(")"):
                yield line


class Pages(PageCase):
    def run_text(self, text, **environment):
        return super().run_text(text, PYTHONPATH=str(SITE), **environment)

    def test_page(self):
        kinds = [kind for kind, _ in self.run_page("python.md")]
        self.assertEqual(kinds, ["console", "console", "pyi"])

    def test_functions(self):
        """Each with its arguments and their defaults, as in the stubs."""
        page = (ROOT / "docs/python.md").read_text()
        (block,) = re.findall(r"^## All functions\n.*?^```pyi\n(.*?)^```$", page, re.M | re.S)
        stub = (SITE / "zhalo/_zhalo.pyi").read_text()
        self.assertEqual(sorted(listed(block)), sorted(signatures(stub)))

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
