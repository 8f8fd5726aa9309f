"""Any of the commands under faults: limits of the system, a full disk, signals, a second run at the
same time, an input that changes.

  faults_test.py PROGRAM DATA SNAPSHOTS

On one rank, or on those numbers of ranks that FAULTS_RANKS lists (such as 2,3,4), which take turns.
"""

import os
import random
import shutil
import signal
import subprocess
import tempfile
import time
import unittest
from itertools import cycle

from faults_case import (
    CAN_PRELOAD,
    LARGE,
    NAME,
    PROGRAM,
    SANITIZED,
    SECONDS,
    FaultsCase,
    environment_of,
    launcher,
    main,
)

RANKS = [int(number) for number in os.environ.get("FAULTS_RANKS", "1").split(",")]
ALONE = RANKS == [1]
# Run as `sh -c SMALL_DISK sh FOLDER SIZE COMMAND...` in a mount namespace of its own: nothing stays
# mounted.
SMALL_DISK = """
mount -t tmpfs -o size=$2 tmpfs "$1/out" && cd "$1" && shift 2 && "$@"
status=$?; find out -type f; exit $status
"""
UNSHARE = ["unshare", "--mount"] if os.geteuid() == 0 else ["unshare", "--map-root-user", "--mount"]


def some(alone, launched):
    """Of one rank, or of several, each run of which takes ten times as long."""
    return alone if ALONE else launched


def can_mount():
    if not shutil.which("unshare"):
        return False
    with tempfile.TemporaryDirectory() as folder:
        os.mkdir(f"{folder}/out")
        return (
            subprocess.run(
                [*UNSHARE, "sh", "-c", SMALL_DISK, "sh", folder, "16k", "true"],
                check=False,
                capture_output=True,
            ).returncode
            == 0
        )


@unittest.skipUnless(ALONE, "ranks have LimitsOfRanks")
class Limits(FaultsCase):
    def run_under(self, limit, variant=0):
        """In a shell with a limit, as a user sets it: signals have their usual effect there."""
        command = ["sh", "-c", f'{limit}; exec "$@"', "sh", PROGRAM, *self.arguments(variant)]
        result = subprocess.run(
            command, cwd=self.folder, capture_output=True, text=True, check=False, timeout=SECONDS
        )
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
        self.enlarge_input()
        named = False
        for kibibytes in range(60000, 2000000, 40000):
            status, errors = self.run_under(
                f"export OMP_NUM_THREADS=1; ulimit -v {kibibytes}", LARGE
            )
            if self.own_errors(errors):  # else its libraries could not be loaded
                self.assert_one_error(status, errors)
                named = named or "(ulimit -v)" in errors
            if status == 0:
                break
            self.assertEqual(self.contents(), self.input)
            self.assertGreater(status, 0, errors)  # no signal
        self.assertEqual((status, self.without_expected_warnings(errors)), (0, ""))
        self.assertTrue(named)

    @unittest.skipIf(SANITIZED, "UndefinedBehaviorSanitizer needs to open files itself")
    def test_open_files(self):
        own_words = 0
        for number in (4, 5, 6, 8, 12, 20):
            with self.subTest(number):
                status, errors = self.run_under(f"ulimit -n {number}")
                if self.own_errors(errors):  # else its libraries could not be loaded
                    self.assert_one_error(status, errors)
                    own_words += 1
                if status != 0:
                    self.assertEqual(self.contents(), self.input)
                self.assertEqual(self.hidden(), [])
        self.assertGreater(own_words, 0)


@unittest.skipIf(ALONE or not CAN_PRELOAD, "they need ranks")
class LimitsOfRanks(FaultsCase):
    """Of all ranks, or of one alone."""

    def assert_refused_by_limit(self, fault, reason, variant=0):
        for ranks, rank in zip(RANKS, (1, "all", 0)):
            with self.subTest(fault, ranks=ranks, rank=rank):
                self.restore({})
                status, errors = self.run_faulty(ranks, rank, fault, variant, OMP_NUM_THREADS="1")
                self.assert_one_error(status, errors, ranks)
                self.assertIn(reason, errors)
                self.assertEqual(self.contents(), self.input)
                self.assertEqual(self.hidden(), [])

    def test_size_of_files(self):
        self.assert_refused_by_limit("bytes=4000", "File too large")

    def test_open_files(self):
        self.assert_refused_by_limit("files=0", "Too many open files")
        for num, ranks in ((1, 3), (3, 2)):  # which may be enough
            with self.subTest(num, ranks=ranks):
                self.restore({})
                status, errors = self.run_faulty(ranks, ranks - 1, f"files={num}")
                if status != 0:
                    self.assert_one_error(status, errors, ranks)
                    self.assertEqual(self.contents(), self.input)
                self.assertEqual(self.hidden(), [])

    def test_addresses(self):
        self.enlarge_input()
        self.assert_refused_by_limit("addresses=24000000", "(ulimit -v)", LARGE)


class FullDisk(FaultsCase):
    @unittest.skipUnless(can_mount(), "a tmpfs cannot be mounted here")
    def test_at_any_moment(self):
        (self.folder / "out").mkdir()
        for size, ranks in zip(
            some(("4k", "8k", "16k", "28k", "40k", "60k"), ("8k", "28k", "60k")), cycle(RANKS)
        ):
            with self.subTest(size, ranks=ranks):
                command = [
                    *UNSHARE,
                    "sh",
                    "-c",
                    SMALL_DISK,
                    "sh",
                    self.folder,
                    size,
                    *launcher(ranks),
                    PROGRAM,
                    *self.arguments(0),
                ]
                result = subprocess.run(
                    command,
                    capture_output=True,
                    text=True,
                    check=False,
                    timeout=SECONDS,
                    env=environment_of(launcher(ranks)),
                )
                self.assert_one_error(result.returncode, result.stderr, ranks)
                self.assertIn("No space left on device", result.stderr)
                self.assertEqual(
                    [line for line in result.stdout.splitlines() if line.startswith("out/")], []
                )


class Signals(FaultsCase):
    def test_at_any_moment(self):
        """The earlier results or the new ones, whole; of what can be caught nothing else stays. One
        rank gets the signal."""
        for ranks in RANKS:
            known = self.known_results(ranks)
            begin = time.monotonic()
            self.finish(self.launch(ranks, 1))
            whole = time.monotonic() - begin
            numbers = (
                (signal.SIGHUP, signal.SIGINT, signal.SIGTERM, signal.SIGXCPU, signal.SIGKILL)
                if ALONE
                else (signal.SIGHUP, signal.SIGTERM)
            )
            steps = 4 if SANITIZED else some(24, 2)
            for step in range(steps):
                with self.subTest(ranks=ranks, step=step):
                    self.interrupt(
                        ranks, whole * 1.2 * step / steps, numbers[step % len(numbers)], known
                    )
                self.restore(known[1])

    def interrupt(self, ranks, seconds, number, known):
        process = self.launch(ranks, 0)
        time.sleep(seconds)
        self.send(process, ranks - 1, number)
        errors = self.finish(process)
        found = self.assert_of_one_run(known)
        if number == signal.SIGKILL:
            return
        self.assertIn(found, known)
        self.assertEqual(self.hidden(), [])
        said = (process.returncode, self.own_errors(errors))
        before_main = (
            [(-number, [])] if ranks == 1 else [(128 + number, []), (-signal.SIGKILL, [])]
        )  # by us: see finish()
        self.assertIn(said, [(0, []), (130, ["interrupted"]), *before_main], errors)


class TwoRuns(FaultsCase):
    def test_results_are_of_one_run(self):
        """Both succeed, and the files are those of one of them, whoever comes first."""
        for ranks in RANKS:
            known = self.known_results(ranks)
            for pair in range(5 if SANITIZED else some(50, 2)):
                runs = [self.launch(ranks, (pair + second) % 2) for second in (0, 1)]
                for run in runs:
                    errors = self.finish(run)
                    self.assertEqual((run.returncode, errors), (0, ""), errors)
                self.assertIn(self.results(), known)
                self.assertEqual(self.hidden(), [])


@unittest.skipIf(NAME == "ics", "it reads no snapshot")
class ChangedInput(FaultsCase):
    def test_it_becomes_shorter(self):
        """At any moment: an error of the file, or results of the whole one."""
        path = self.folder / "snapshot_007.hdf5"
        whole = path.read_bytes()
        generator = random.Random(7)
        for ranks in RANKS:
            expected = self.known_results(ranks)[0]
            for _ in range(3 if SANITIZED else some(15, 2)):
                self.restore({})
                process = self.launch(ranks, 0)
                time.sleep(generator.uniform(*some((0, 0.05), (0.1, 0.4))))
                os.truncate(path, generator.randrange(len(whole)))
                errors = self.finish(process)
                if process.returncode == 0:
                    self.assertEqual(self.results(), expected)
                else:
                    self.assert_one_error(process.returncode, errors, ranks)
                    self.assertEqual(self.results(), {})
                path.write_bytes(whole)


if __name__ == "__main__":
    main()
