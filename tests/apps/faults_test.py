"""Any of the commands under faults: limits of the system, a full disk, a second run at the same time, an input that changes.

  faults_test.py PROGRAM DATA SNAPSHOTS
"""
import os
import random
import shutil
import signal
import subprocess
import tempfile
import time
import unittest

from faults_case import NAME, PROGRAM, SANITIZED, SECONDS, FaultsCase, main
from knn_case import Snapshot

PAIRS = 5 if SANITIZED else 50
# Run as `sh -c SMALL_DISK sh FOLDER SIZE COMMAND...` in a mount namespace of its own: nothing stays mounted.
SMALL_DISK = 'mount -t tmpfs -o size=$2 tmpfs "$1/out" && cd "$1" && shift 2 && "$@"; s=$?; ls -A out; exit $s'
UNSHARE = ["unshare", "--mount"] if os.geteuid() == 0 else ["unshare", "--map-root-user", "--mount"]


def can_mount():
    if not shutil.which("unshare"):
        return False
    with tempfile.TemporaryDirectory() as folder:
        os.mkdir(f"{folder}/out")
        return subprocess.run([*UNSHARE, "sh", "-c", SMALL_DISK, "sh", folder, "16k", "true"], check=False, capture_output=True).returncode == 0


class Limits(FaultsCase):
    def run_under(self, limit, variant=0):
        """In a shell with a limit, as a user sets it: signals have their usual effect there."""
        command = ["sh", "-c", f'{limit}; exec "$@"', "sh", PROGRAM, *self.arguments(variant)]
        result = subprocess.run(command, cwd=self.folder, capture_output=True, text=True, check=False, timeout=SECONDS)
        return result.returncode, result.stderr

    def test_size_of_files(self):
        """At every point of the writing; in units of 512 bytes."""
        for blocks in (0, 1, 8, 40, 100):
            with self.subTest(blocks):
                status, errors = self.run_under(f"ulimit -f {blocks}")
                if status != 0:
                    self.assert_one_error(status, errors)
                    self.assertEqual(self.contents(), self.input)
                self.assertEqual(self.hidden(), [])
        self.assertNotEqual(self.run_under("ulimit -f 1")[0], 0)

    @unittest.skipIf(SANITIZED, "AddressSanitizer takes terabytes of addresses")
    def test_addresses(self):
        """From too few to load the libraries to enough: the message names the limit."""
        if NAME in ("fof", "knn"):  # they need next to nothing for the small one
            Snapshot({1: 1000000}).write(self.folder / "snapshot_007")
            self.input = self.contents()
        named = False
        for kibibytes in range(60000, 1000000, 30000):
            status, errors = self.run_under(f"export OMP_NUM_THREADS=1; ulimit -v {kibibytes}")
            if errors.startswith(f"{NAME}: error: "):
                self.assert_one_error(status, errors)
                named = named or "(ulimit -v)" in errors
            if status == 0:
                break
            self.assertEqual(self.contents(), self.input)
            self.assertGreater(status, 0, errors)  # no signal
        self.assertEqual((status, errors), (0, ""))
        self.assertTrue(named)

    @unittest.skipIf(SANITIZED, "UndefinedBehaviorSanitizer needs to open files itself")
    def test_open_files(self):
        own_words = 0
        for number in (4, 5, 6, 8, 12, 20):
            with self.subTest(number):
                status, errors = self.run_under(f"ulimit -n {number}")
                if errors.startswith(f"{NAME}: error: "):  # else its libraries could not be loaded
                    self.assert_one_error(status, errors)
                    own_words += 1
                if status != 0:
                    self.assertEqual(self.contents(), self.input)
                self.assertEqual(self.hidden(), [])
        self.assertGreater(own_words, 0)

    @unittest.skipUnless(can_mount(), "a tmpfs cannot be mounted here")
    def test_full_disk(self):
        (self.folder / "out").mkdir()
        for size in ("4k", "8k", "16k", "28k", "40k", "60k"):
            with self.subTest(size):
                command = [*UNSHARE, "sh", "-c", SMALL_DISK, "sh", self.folder, size, PROGRAM, *self.arguments(0)]
                result = subprocess.run(command, capture_output=True, text=True, check=False, timeout=SECONDS)
                self.assert_one_error(result.returncode, result.stderr)
                self.assertIn("No space left on device", result.stderr)
                self.assertEqual(result.stdout, "")


class Signals(FaultsCase):
    def test_at_any_moment(self):
        """The earlier results or the new ones, whole; of what can be caught nothing else stays."""
        known = self.known_results()
        begin = time.monotonic()
        self.succeed(*self.arguments(1))
        whole = time.monotonic() - begin
        caught = (signal.SIGHUP, signal.SIGINT, signal.SIGTERM, signal.SIGXCPU)
        for step in range(4 if SANITIZED else 24):
            number = (*caught, signal.SIGKILL)[step % 5]
            with subprocess.Popen([PROGRAM, *self.arguments(0)], cwd=self.folder, stderr=subprocess.PIPE, text=True) as process:
                time.sleep(whole * 1.2 * step / 24)
                process.send_signal(number)
                errors = process.communicate(timeout=SECONDS)[1]
            found = self.assert_of_one_run(known)
            if number != signal.SIGKILL:
                self.assertIn(found, known)
                self.assertEqual(self.hidden(), [])
                self.assertIn((process.returncode, errors), [(0, ""), (130, f"{NAME}: error: interrupted\n"), (-number, "")])
            for path in self.hidden():
                (self.folder / path).unlink()
            self.succeed(*self.arguments(1))


class TwoRuns(FaultsCase):
    def test_results_are_of_one_run(self):
        """Both succeed, and the files are those of one of them, whoever comes first."""
        known = self.known_results()
        for pair in range(PAIRS):
            order = (0, 1) if pair % 2 == 0 else (1, 0)
            runs = [subprocess.Popen([PROGRAM, *self.arguments(variant)], cwd=self.folder, stderr=subprocess.PIPE, text=True) for variant in order]
            for run in runs:
                errors = run.communicate(timeout=SECONDS)[1]
                self.assertEqual((run.returncode, errors), (0, ""))
            self.assertIn(self.results(), known)
            self.assertEqual(self.hidden(), [])


@unittest.skipIf(NAME == "ics", "it reads no snapshot")
class ChangedInput(FaultsCase):
    def test_it_becomes_shorter(self):
        """At any moment: an error of the file, or results of the whole one."""
        path = self.folder / "snapshot_007.hdf5"
        whole = path.read_bytes()
        self.succeed(*self.arguments(0))
        expected = self.results()
        shutil.rmtree(self.folder / "out")
        generator = random.Random(7)
        for _ in range(3 if SANITIZED else 15):
            with subprocess.Popen([PROGRAM, *self.arguments(0)], cwd=self.folder, stderr=subprocess.PIPE, text=True) as process:
                time.sleep(generator.uniform(0, 0.05))
                os.truncate(path, generator.randrange(len(whole)))
                errors = process.communicate(timeout=SECONDS)[1]
            if process.returncode == 0:
                self.assertEqual(self.results(), expected)
                shutil.rmtree(self.folder / "out")
            else:
                self.assert_one_error(process.returncode, errors)
                self.assertEqual(self.results(), {})
            path.write_bytes(whole)


if __name__ == "__main__":
    main()
