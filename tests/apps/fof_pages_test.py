"""docs/slurm.md and docs/in-situ.md: their commands as they stand there, their batch scripts, their C++.

  fof_pages_test.py PROGRAM ROOT

Blocks of `sh` are run in order, with the commands on PATH; a block of `text` is their output, "..." being lines or parts of lines that are left
out. Blocks of `slurm` run with an srun that hands the command to mpiexec. Blocks of `cpp` are the marked parts of the example's source.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

PROGRAM, ROOT = (Path(argument).absolute() for argument in sys.argv[1:3])
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
SECTION = re.compile(r"^// \[(\w+)\]\n(.*?)^// \[\1\]\n", re.MULTILINE | re.DOTALL)
SRUN = """#!/bin/sh
while case "$1" in --*) true;; *) false;; esac; do shift; done
exec mpiexec -n 2 "$@"
"""


@unittest.skipUnless(shutil.which("mpiexec") and shutil.which("mpirun"), "there is no mpirun")
class Pages(unittest.TestCase):
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
        path = f"{self.folder / 'bin'}:{PROGRAM.parent}:{os.environ['PATH']}"
        if "ASAN_OPTIONS" in os.environ:  # MPI libraries keep memory until the process ends
            environment["ASAN_OPTIONS"] = os.environ["ASAN_OPTIONS"] + ":detect_leaks=0"
        result = subprocess.run(["bash", "-euc", text], cwd=self.folder, capture_output=True, text=True, check=False, timeout=120,
                                stdin=subprocess.DEVNULL, env={**os.environ, "PATH": path, **environment})
        self.assertEqual((result.returncode, result.stderr), (0, ""), text)
        return result.stdout.replace("\r\n", "\n")

    def assert_lines(self, expected, output):
        """All lines of `expected` in this order; nothing between two of them unless "..." is."""
        def pattern(line):
            return "(?:.*\n)*?" if line == "..." else ".*".join(map(re.escape, line.split("..."))) + "\n"
        self.assertRegex(output, "(?m)^" + "".join(map(pattern, expected.splitlines())))

    def run_page(self, name):
        """Returns the blocks of other kinds."""
        output, others = "", []
        for kind, text in BLOCK.findall((ROOT / "docs" / name).read_text()):
            if kind == "sh":
                output = self.run_text(text)
            elif kind == "text":
                self.assert_lines(text, output)
            else:
                others.append((kind, text))
        return others

    def test_slurm(self):
        scripts = self.run_page("slurm.md")
        self.assertEqual([kind for kind, _ in scripts], ["slurm", "slurm"])
        for _, text in scripts:
            output = self.run_text(text, SLURM_CPUS_PER_TASK="1", SNAPSHOT="data/gadget4-dm64/snapshot_001.hdf5")
            self.assertRegex(output, r"\nRuns on +2 ranks on 1 machine: ")
            self.assertRegex(output, r"\nGroups +468\n")

    def test_in_situ(self):
        code = self.run_page("in-situ.md")
        sections = dict(SECTION.findall((ROOT / "apps/examples/in_situ.cpp").read_text()))
        self.assertEqual([("cpp", section) for section in sections.values() if section], sorted_as(code, sections))

    def test_the_example_finds_the_same_on_any_number_of_ranks(self):
        outputs = set()
        for ranks in (1, 2, 4):
            output = self.run_text(f"mpirun -n {ranks} --oversubscribe in_situ 20000 100")
            outputs.add("\n".join(line for line in output.splitlines() if line.startswith("step")))
            peaks = [int(number) for number in re.findall(r"at most (\d+) bytes", output)]
            self.assertEqual(len(peaks), 5)
            self.assertLess(max(peaks), 2 * min(peaks))
        self.assertEqual(len(outputs), 1, outputs)
        last = outputs.pop().splitlines()[-1]
        self.assertGreater(int(re.search(r"step 100: (\d+) haloes", last)[1]), 10)


def sorted_as(code, sections):
    """The page's blocks in the order of the source, each once."""
    order = list(sections.values())
    return sorted(code, key=lambda block: order.index(block[1]) if block[1] in order else len(order))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
