"""What the tests under a real Slurm share: a cluster, and commands that run in it.

Every test script is called with  PROGRAM ROOT [unittest arguments]:  a command, whose folder has
the others, and the root of the sources. It starts itself again in a machine of its own.

A rank of Open MPI 4.1.4 that Slurm 22.05 starts crashes in MPI_Init now and then, where many ranks
share few cores: a message comes before there is a function for it. Such a run is made again.
"""

import os
import re
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "apps"))

import own_machine  # noqa: E402
import program  # noqa: E402
from cluster import COMMANDS, Cluster  # noqa: E402
from page_case import BLOCK, PROGRAM, ROOT, main  # noqa: E402

__all__ = [
    "BLOCK",
    "MAX_TRIALS",
    "NODES",
    "PAGE",
    "RANKS",
    "SECONDS",
    "SlurmCase",
    "contents",
    "crashed_in_mpi",
    "main",
    "start_cluster",
]

SECONDS = 60  # until a run counts as hanging
NODES, RANKS = 3, 6
MAX_TRIALS = 8
FIRST_WORDS = re.compile(r"^ +\d+\.\d s  open$", re.MULTILINE)  # zhalo's, after MPI_Init
PAGE = (ROOT / "docs/slurm.md").read_text()
SNAPSHOT = "gadget4-dm64/snapshot_001.hdf5"


def start_cluster(num_nodes=NODES, cpus=RANKS // NODES, **how):
    """For all tests of a script: goes on in a machine of its own, in which there is a Cluster."""
    own_machine.enter(COMMANDS)
    names = ["head", *(f"n{number + 1}" for number in range(num_nodes))]
    shared = own_machine.prepare(names, {"programs": PROGRAM.parent, "data": ROOT / "data"})
    os.environ["PATH"] = f"{shared / 'programs'}:{os.environ['PATH']}"
    (shared / "cluster").mkdir()
    SlurmCase.shared = shared
    SlurmCase.snapshot = shared / "data" / SNAPSHOT
    SlurmCase.cluster = Cluster(shared / "cluster", num_nodes, cpus, **how)
    unittest.addModuleCleanup(SlurmCase.cluster.stop)
    SlurmCase.cluster.start()


def crashed_in_mpi(output, errors):
    """Before zhalo said a word. Runs that are asked must not be quiet."""
    return "Segmentation fault" in errors and not FIRST_WORDS.search(output)


def contents(folder):
    """What a reader would take for results, by name."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not path.name.startswith(".")
    }


class SlurmCase(unittest.TestCase):
    """Each test has an empty folder that all nodes see."""

    shared = snapshot = cluster = None

    def setUp(self):
        holder = tempfile.TemporaryDirectory(dir=self.shared)
        self.addCleanup(holder.cleanup)
        self.folder = Path(holder.name)

    def run_command(self, *command, **environment):
        """Exit status, output and errors, on the head node."""
        return program.run(
            command, self.folder, SECONDS, {**self.cluster.environment(), **environment}
        )

    def succeed(self, *command, **environment):
        """Output of a run that must succeed without a word on standard error."""
        status, output, errors = self.run_command(*command, **environment)
        self.assertEqual((status, errors), (0, ""), f"{command}\n{output}")
        return output

    def on_ranks(self, *command, mpi="pmix"):
        """The arguments that run a command on six ranks of three nodes, once those are free."""
        self.cluster.wait_for_nodes()
        return ("srun", f"--mpi={mpi}", "-N", NODES, "-n", RANKS, *command)

    def succeed_on_ranks(self, *command):
        """Output of a run on six ranks of three nodes that must succeed. It must not be quiet."""
        for _ in range(MAX_TRIALS):
            status, output, errors = self.run_command(*self.on_ranks(*command))
            if not crashed_in_mpi(output, errors):
                break
        self.assertEqual((status, errors), (0, ""), f"{command}\n{output}")
        return output
