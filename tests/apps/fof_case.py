"""What the tests of the command fof share: running it in an empty folder, reading what it wrote.

Every test script is called with  PROGRAM DATA SNAPSHOTS [unittest arguments]:  the command, the folder of the real snapshots, and the
folder that make_snapshots.py filled.
"""
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import h5py
import numpy as np

PROGRAM, DATA, SNAPSHOTS = (Path(argument).absolute() for argument in (sys.argv + ["."] * 3)[1:4])
GADGET = DATA / "gadget4-dm64"
SWIFT = DATA / "swift-dm64"
GAS = DATA / "swift-gas64"
SECONDS = 120  # until a run counts as hanging


def environment_of(launcher, **changes):
    """Ours, changed; a variable that is None is not set."""
    variables = {name: value for name, value in {**os.environ, **changes}.items() if value is not None}
    if launcher and "ASAN_OPTIONS" in variables:  # MPI libraries keep memory until the process ends
        variables["ASAN_OPTIONS"] += ":detect_leaks=0"
    return variables


class FofCase(unittest.TestCase):
    """Each test has its own empty folder, in which the command runs."""

    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = Path(holder.name)

    def run_fof(self, *arguments, launcher=(), **environment):
        """Exit status, output and errors. A variable of the environment that is None is not set."""
        result = subprocess.run([*launcher, PROGRAM, *map(str, arguments)], cwd=self.folder, capture_output=True, text=True, check=False,
                                stdin=subprocess.DEVNULL, timeout=SECONDS, env=environment_of(launcher, **environment))
        return result.returncode, result.stdout, result.stderr

    def fof(self, *arguments, **environment):
        """Output of a run that must succeed without a word on standard error."""
        status, output, errors = self.run_fof(*arguments, **environment)
        self.assertEqual((status, errors), (0, ""))
        return output

    def assert_refused(self, arguments, *words, **environment):
        """One error that has all these words (after warnings, maybe), status 2, and nothing left behind."""
        before = self.files()
        status, _, errors = self.run_fof(*arguments, **environment)
        self.assertEqual(status, 2, errors)
        *warnings, error = errors.splitlines()
        self.assertTrue(error.startswith("fof: error: "), errors)
        self.assertTrue(all(line.startswith("fof: warning: ") for line in warnings), errors)
        for word in words:
            self.assertIn(str(word), error)
        self.assertEqual(self.files(), before)

    def files(self):
        """Everything in the folder of the test."""
        return sorted(str(path.relative_to(self.folder)) for path in self.folder.rglob("*"))

    def catalogue(self, number, out="fof_output"):
        """The table and the header of a catalogue of one file."""
        with h5py.File(self.folder / out / f"groups_{number:03d}" / f"fof_subhalo_tab_{number:03d}.0.hdf5", "r") as file:
            table = {name: values[:] for name, values in file["Group"].items()}
            table["ID"] = file["IDs/ID"][:]
            return table, {**file["Header"].attrs, **file["Parameters"].attrs}

    def membership(self, number, particle_type=1, out="fof_output"):
        """For each particle of the snapshot its group and id."""
        with h5py.File(self.folder / out / f"membership_{number:03d}.0.hdf5", "r") as file:
            group = file[f"PartType{particle_type}"]
            return group["GroupNr"][:], group["ParticleIDs"][:]

    def assert_same_sets(self, group, expected):
        """Two labellings of the same particles, -1 for none, are the same sets; returns our number of each expected group."""
        np.testing.assert_array_equal(group >= 0, expected >= 0)
        rows = np.flatnonzero(expected >= 0)
        ours = np.full(expected.max() + 1, -1)
        ours[expected[rows]] = group[rows]
        np.testing.assert_array_equal(ours[expected[rows]], group[rows])
        self.assertEqual(len(np.unique(ours)), len(ours))
        return ours


def main():
    unittest.main(argv=[sys.argv[0], *sys.argv[4:]])
