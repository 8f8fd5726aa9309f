"""docs/slurm.md and docs/in-situ.md: their commands as they stand there, their batch scripts, their
C++.

  fof_pages_test.py PROGRAM ROOT

Blocks of `cpp` are the marked parts of the examples' sources.
"""

import re

from page_case import NEEDS_MPIRUN, PageCase, main, sections


@NEEDS_MPIRUN
class Pages(PageCase):
    def test_slurm(self):
        scripts = self.run_page("slurm.md")
        self.assertEqual([kind for kind, _ in scripts], ["slurm", "slurm"])
        for _, text in scripts:
            output = self.run_text(
                text, SLURM_CPUS_PER_TASK="1", SNAPSHOT="data/gadget4-dm64/snapshot_001.hdf5"
            )
            self.assertRegex(output, r"\nRuns on +2 ranks on 1 machine: ")
            self.assertRegex(output, r"\nGroups +468\n")

    def test_in_situ(self):
        code = self.run_page("in-situ.md")
        parts = [text for text in sections("in_situ.cpp", "in_situ_device.cpp") if text]
        self.assertEqual([("cpp", part) for part in parts], sorted_as(code, parts))

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


def sorted_as(code, order):
    """The page's blocks in the order of the source, each once."""
    return sorted(
        code, key=lambda block: order.index(block[1]) if block[1] in order else len(order)
    )


if __name__ == "__main__":
    main()
