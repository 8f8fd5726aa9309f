"""check_successes.py is shown readings with one wrong number each and must name them.

check_successes_test.py FOLDER     as check_successes.py
"""

import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import h5py
import numpy as np

import check_successes

SCRIPT = Path(__file__).with_name("check_successes.py")
SAVED = Path(sys.argv[1] if len(sys.argv) > 1 else ".").absolute()


def check(folder):
    result = subprocess.run(
        [sys.executable, "-B", str(SCRIPT), str(folder)],
        capture_output=True,
        text=True,
        check=False,
    )
    return result.returncode, result.stdout


class CheckSuccesses(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = Path(holder.name)
        for path in sorted(SAVED.iterdir()):
            shutil.copytree(path, self.folder / "one", symlinks=True)
            if check(self.folder)[0] == 0 and all(
                file.stat().st_size > 0 for file in self.folder.glob("one/read.1.*")
            ):
                return
            shutil.rmtree(self.folder / "one")
        self.fail(f"{SAVED} has no mutant with all columns")

    def test_each_column(self):
        for name in ("pos", "velocity", "mass", "id"):
            with self.subTest(name):
                path = self.folder / "one" / f"read.1.{name}"
                good = path.read_bytes()
                numbers = np.frombuffer(good, np.uint64).copy()
                numbers[0] = np.array(12345.678).view(np.uint64)  # no mutant has it
                path.write_bytes(numbers.tobytes())
                status, output = check(self.folder)
                path.write_bytes(good)
                self.assertEqual(status, 1, output)
                self.assertIn(f"type 1: {name} is not what h5py reads", output)

    def test_factor(self):
        path = self.folder / "one" / "reading"
        path.write_text(
            "\n".join(
                "velocity_factor 0.123" if line.startswith("velocity_factor") else line
                for line in path.read_text().splitlines()
            )
        )
        status, output = check(self.folder)
        self.assertEqual(status, 1, output)
        self.assertIn("velocities times 0.123", output)

    def test_nothing(self):
        with tempfile.TemporaryDirectory() as empty:
            self.assertEqual(check(empty)[0], 2)


class HeaderNumbers(unittest.TestCase):
    def test_attribute_without_values(self):
        with h5py.File("no.hdf5", "w", driver="core", backing_store=False) as file:
            file.create_group("Header").attrs["MassTable"] = h5py.Empty(np.float64)
            self.assertEqual(len(check_successes.header_numbers(file, "MassTable")), 0)
            self.assertEqual(len(check_successes.header_numbers(file, "Time")), 0)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[2:])
