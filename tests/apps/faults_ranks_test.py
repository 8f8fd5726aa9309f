"""Any of the commands on several ranks, one of which is killed, or stops: the others end, and results are whole or the earlier ones.

  faults_ranks_test.py PROGRAM DATA SNAPSHOTS
"""
import os
import signal
import subprocess
import tempfile
import time
import unittest
from pathlib import Path

from faults_case import MPIEXEC, NAME, PROGRAM, SANITIZED, SECONDS, FaultsCase, environment_of, main

# Each rank leaves its process number.
NOTE = 'echo $$ >"$PIDS/$OMPI_COMM_WORLD_RANK.new"; mv "$PIDS/$OMPI_COMM_WORLD_RANK.new" "$PIDS/$OMPI_COMM_WORLD_RANK"; exec "$@"'
STOPPING = PROGRAM.parent.parent / "tests" / "apps" / "libfailing_wait.so"


@unittest.skipUnless(MPIEXEC, "there is no mpiexec")
class Ranks(FaultsCase):
    def launch(self, ranks, *arguments):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.pids = Path(holder.name)
        command = [MPIEXEC, "-n", str(ranks), "sh", "-c", NOTE, "sh", PROGRAM, *arguments]
        return subprocess.Popen(command, cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
                                env=environment_of(command, PIDS=str(self.pids)))

    def send(self, process, rank, number):
        """To one rank, when it is there."""
        end = time.monotonic() + SECONDS
        while not (self.pids / str(rank)).exists() and process.poll() is None and time.monotonic() < end:
            time.sleep(0.002)
        try:
            os.kill(int((self.pids / str(rank)).read_text()), number)
        except (ProcessLookupError, FileNotFoundError):
            pass  # it was faster

    def finish(self, process):
        try:
            return process.communicate(timeout=SECONDS)[1]
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)

    def clean(self):
        for path in self.hidden():
            (self.folder / path).unlink()

    def test_a_killed_rank(self):
        for ranks, steps in ((3, (1,)),) if SANITIZED else ((2, (0, 5)), (3, (2, 7)), (4, (6,))):
            known = self.known_results(ranks)
            for step in steps:
                process = self.launch(ranks, *self.arguments(0))
                time.sleep(0.05 * step)
                self.send(process, step % ranks, signal.SIGKILL)
                self.finish(process)
                found = self.assert_of_one_run(known)
                self.assertTrue(process.returncode != 0 or found == known[0])
                self.clean()
                self.succeed(*self.arguments(1))

    def run_with_stop(self, rank, call):
        """Exit status and errors of two ranks, one of which stops at its first call of a function. Each writes a file of its own: in
        MPI_Init, and while ranks write one file with parallel HDF5, MPI itself would wait."""
        launcher = (MPIEXEC, "-n", "2", "-x", f"LD_PRELOAD={STOPPING}")
        status, _, errors = self.run_command(*self.arguments(0), launcher=launcher, STOPPING_RANK=str(rank), STOPPING_CALL=call,
                                             ZHALO_TIMEOUT="1")
        self.assertEqual(status, 3, errors)
        return errors

    @unittest.skipUnless(STOPPING.exists() and not SANITIZED, "nothing can be preloaded")
    def test_a_rank_that_stops(self):
        """When its results are written, and when they take their names."""
        known = self.known_results(2)
        for rank, call in ((0, "fsync"), (1, "rename")):
            with self.subTest(call, rank=rank):
                errors = self.run_with_stop(rank, call)
                self.assertIn("has waited for other ranks for 1 s", errors)
                if call == "fsync":
                    self.assertEqual(self.results(), known[1])
                self.assert_of_one_run(known)
                self.clean()
                self.succeed(*self.arguments(1))

    @unittest.skipUnless(STOPPING.exists() and not SANITIZED, "nothing can be preloaded")
    def test_a_rank_that_stops_at_the_very_end(self):
        """In MPI_Finalize, when the results have their names: these are whole, and the others do not wait for ever."""
        known = self.known_results(2)
        errors = self.run_with_stop(1, "MPI_Finalize")
        self.assertIn(f"{NAME}: error: other ranks did not end within 1 s", errors)
        self.assertEqual(self.results(), known[0])


if __name__ == "__main__":
    main()
