"""The example with bodies in memory of a device finds the haloes of the example on the host.

in_situ_device_test.py IN_SITU_DEVICE IN_SITU
"""

import os
import shutil
import sys
import unittest

from program import run

DEVICE, HOST = sys.argv[1:3]
MPIEXEC = shutil.which("mpiexec")


def steps_of(program, ranks, devices):
    """The lines that say what was found, and the errors."""
    launcher = [MPIEXEC, "-n", str(ranks)] if ranks > 1 else []
    environment = dict(os.environ, ZHALO_EMULATED_DEVICES=str(devices))
    if "ASAN_OPTIONS" in environment:  # MPI libraries keep memory until the process ends
        environment["ASAN_OPTIONS"] += ":detect_leaks=0"
    status, output, errors = run([*launcher, program, 3000, 60], ".", 200, environment)
    return status, [line for line in output.splitlines() if line.startswith("step")], errors


@unittest.skipUnless(MPIEXEC, "there is no mpiexec")
class InSituDevice(unittest.TestCase):
    def test_haloes_are_those_of_the_host(self):
        status, expected, errors = steps_of(HOST, 1, 0)
        self.assertEqual((status, len(expected)), (0, 3), errors)
        for ranks, devices in ((1, 1), (2, 2), (3, 1)):
            with self.subTest(ranks=ranks, devices=devices):
                self.assertEqual(steps_of(DEVICE, ranks, devices)[:2], (0, expected))

    def test_without_a_device(self):
        status, found, errors = steps_of(DEVICE, 1, 0)
        self.assertNotEqual(status, 0)
        self.assertEqual(found, [])
        self.assertIn("in_situ_device: ", errors)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
