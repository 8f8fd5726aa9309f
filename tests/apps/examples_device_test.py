"""The examples that compute on devices find what those on the host find.

  examples_device_test.py FOLDER_OF_THE_PROGRAMS
"""

import os
import shutil
import sys
import unittest
from pathlib import Path

from program import run

PROGRAMS = Path(sys.argv[1])
MPIEXEC = shutil.which("mpiexec")


def run_example(name, arguments, ranks, devices):
    """The status, the output and the errors."""
    launcher = [MPIEXEC, "-n", str(ranks)] if ranks > 1 else []
    environment = dict(os.environ, ZHALO_EMULATED_DEVICES=str(devices))
    if "ASAN_OPTIONS" in environment:  # MPI libraries keep memory until the process ends
        environment["ASAN_OPTIONS"] += ":detect_leaks=0"
    return run([*launcher, PROGRAMS / name, *arguments], ".", 200, environment)


def steps_of(name, ranks, devices):
    """The lines that say what was found, and the errors."""
    status, output, errors = run_example(name, (3000, 60), ranks, devices)
    return status, [line for line in output.splitlines() if line.startswith("step")], errors


@unittest.skipUnless(MPIEXEC, "there is no mpiexec")
class LocalFlow(unittest.TestCase):
    def test_a_functor_finds_the_same_on_devices(self):
        status, expected, errors = run_example("local_flow", (2000,), 1, 0)
        self.assertEqual(status, 0, errors)
        self.assertRegex(expected, "^mean density")
        for ranks, devices in ((1, 1), (2, 2), (3, 1)):
            with self.subTest(ranks=ranks, devices=devices):
                found = run_example("local_flow_cuda", (2000,), ranks, devices)
                self.assertEqual(found[:2], (0, expected), found[2])


@unittest.skipUnless(MPIEXEC, "there is no mpiexec")
class InSituDevice(unittest.TestCase):
    def test_haloes_are_those_of_the_host(self):
        status, expected, errors = steps_of("in_situ", 1, 0)
        self.assertEqual((status, len(expected)), (0, 3), errors)
        for ranks, devices in ((1, 1), (2, 2), (3, 1)):
            with self.subTest(ranks=ranks, devices=devices):
                self.assertEqual(steps_of("in_situ_device", ranks, devices)[:2], (0, expected))

    def test_without_a_device(self):
        status, found, errors = steps_of("in_situ_device", 1, 0)
        self.assertNotEqual(status, 0)
        self.assertEqual(found, [])
        self.assertIn("in_situ_device: ", errors)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
