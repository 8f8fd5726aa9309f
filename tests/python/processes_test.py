"""The Python package in processes of their own: Ctrl-C, and after the end of MPI."""

import shutil
import subprocess
import sys
import unittest

from package_case import SITE, main

INTERRUPTED = """
import os, signal, sys, threading
sys.path.insert(0, sys.argv[1])
import numpy as np
import zhalo

positions = np.random.default_rng(1).random((200000, 3))
domain = zhalo.Domain(positions, 1.0)
go_on = threading.Event()

def interrupt():
    go_on.wait()
    os.kill(os.getpid(), signal.SIGINT)

threading.Thread(target=interrupt).start()
try:
    go_on.set()
    found = domain.knn(64)
    while True:  # the signal was sent before the call, and is seen at its end at the latest
        pass
except KeyboardInterrupt:
    print("interrupted")
print(domain.knn(2)[1].shape)
"""

AFTER_MPI = """
import sys
sys.path.insert(0, sys.argv[1])
import numpy as np
from mpi4py import MPI
import zhalo

comm = MPI.COMM_WORLD
context = zhalo.Context(comm, threads=1, timeout=60)
positions = np.random.default_rng(comm.rank).random((500, 3))
domain = zhalo.Domain(positions, 1.0, context)
groups = domain.friends_of_friends(0.05)
haloes = groups.catalogue(2)
MPI.Finalize()
refused = (
    lambda: domain.knn(4),
    lambda: domain.friends_of_friends(0.1),
    lambda: zhalo.Domain(positions, 1.0, context),
    lambda: haloes.in_group_order(positions),
    lambda: domain.paint(8),
    lambda: domain.power_spectrum(8),
    lambda: zhalo.Context(comm),
)
num_said = 0
for call in refused:
    try:
        call()
    except RuntimeError as error:
        num_said += "MPI is finalised" in str(error)
assert num_said == len(refused), num_said
# What needs no other rank goes on.
assert len(haloes["GroupMass"]) == len(haloes) > 0
assert zhalo.Domain(positions, 1.0).knn(3)[1].shape == (500, 3)
del domain
print("fine")  # and the rest is destroyed at the end
"""


class Processes(unittest.TestCase):
    def run_program(self, program, *starter):
        return subprocess.run(
            [*starter, sys.executable, "-B", "-c", program, str(SITE)],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=200,
            check=False,
        )

    def test_an_interrupt_arrives_when_the_call_ends(self):
        result = self.run_program(INTERRUPTED)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertEqual(result.stdout, "interrupted\n(200000, 2)\n")

    @unittest.skipUnless(shutil.which("mpirun"), "there is no mpirun")
    def test_after_the_end_of_mpi(self):
        for ranks in (1, 2):
            result = self.run_program(AFTER_MPI, "mpirun", "-n", str(ranks), "--oversubscribe")
            self.assertEqual((result.returncode, result.stderr), (0, ""))
            self.assertEqual(result.stdout, "fine\n" * ranks)


if __name__ == "__main__":
    main()
