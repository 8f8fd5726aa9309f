"""Pages of docs/ as tests: their commands as they stand there.

Every test script is called with  PROGRAM ROOT [unittest arguments]:  a command, whose folder goes
on PATH, and the root of the sources. Blocks of `sh` and `python` are run in order, where data/ is
as in a clone. A block of `output` or `text` is their output, `text` with "..." for lines or parts
of lines that are left out. Blocks of `slurm` run with an srun that hands the command to mpiexec.
"""

import os
import re
import shutil
import sys
import tempfile
import unittest
from pathlib import Path

import program

PROGRAM, ROOT = (Path(argument).absolute() for argument in (sys.argv + ["."] * 2)[1:3])
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
# What a page quotes of an example's source: the lines between two that name them.
SECTION = re.compile(r"^ *(?://|!) \[(\w+)\]\n(.*?)^ *(?://|!) \[\1\]\n", re.MULTILINE | re.DOTALL)
SRUN = """#!/bin/sh
while case "$1" in --*) true;; *) false;; esac; do shift; done
exec mpiexec -n 2 "$@"
"""
NEEDS_MPIRUN = unittest.skipUnless(
    shutil.which("mpiexec") and shutil.which("mpirun"), "there is no mpirun"
)


def sections(*examples):
    """The marked parts of the sources of examples, in their order."""
    code = "".join((ROOT / "apps/examples" / example).read_text() for example in examples)
    return [text for _, text in SECTION.findall(code)]


class PageCase(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = Path(holder.name)
        (self.folder / "data").symlink_to(ROOT / "data")
        (self.folder / "bin").mkdir()
        srun = self.folder / "bin/srun"
        srun.write_text(SRUN)
        srun.chmod(0o755)

    def run_text(self, text, **environment):
        folders = self.folder / "bin", Path(sys.executable).parent, PROGRAM.parent
        path = ":".join([*map(str, folders), os.environ["PATH"]])
        if "ASAN_OPTIONS" in os.environ:  # MPI libraries keep memory until the process ends
            environment["ASAN_OPTIONS"] = os.environ["ASAN_OPTIONS"] + ":detect_leaks=0"
        status, output, errors = program.run(
            ["bash", "-euc", text],
            self.folder,
            120,
            {**os.environ, "PATH": path, **environment},
        )
        self.assertEqual((status, errors), (0, ""), text)
        return output.replace("\r\n", "\n")

    def assert_lines(self, expected, output):
        """All lines of `expected` in this order; nothing between two of them unless "..." is."""

        def pattern(line):
            return (
                "(?:.*\n)*?"
                if line == "..."
                else ".*".join(map(re.escape, line.split("..."))) + "\n"
            )

        self.assertRegex(output, "(?m)^" + "".join(map(pattern, expected.splitlines())))

    def run_page(self, name):
        """Returns the blocks of other kinds."""
        output, others = "", []
        for kind, text in BLOCK.findall((ROOT / "docs" / name).read_text()):
            if kind == "sh":
                output = self.run_text(text)
            elif kind == "python":
                (self.folder / "block.py").write_text(text)
                output = self.run_text(f"{sys.executable} -B block.py")
            elif kind == "output":
                self.assertEqual(output, text)
            elif kind == "text":
                self.assert_lines(text, output)
            else:
                others.append((kind, text))
        return others


def main():
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
