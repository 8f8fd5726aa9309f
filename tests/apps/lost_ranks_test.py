"""Any of the commands on several ranks, one of which is killed, or stops: the others end, and
results are whole or the earlier ones.

lost_ranks_test.py PROGRAM DATA SNAPSHOTS
"""

import signal
import time
import unittest

from faults_case import CAN_PRELOAD, NAME, NEEDS_MPI, SANITIZED, FaultsCase, main


@NEEDS_MPI
class LostRanks(FaultsCase):
    def test_a_killed_rank(self):
        for ranks, steps in ((3, (1,)),) if SANITIZED else ((2, (0, 5)), (3, (2, 7)), (4, (6,))):
            known = self.known_results(ranks)
            for step in steps:
                process = self.launch(ranks, 0)
                time.sleep(0.05 * step)
                self.send(process, step % ranks, signal.SIGKILL)
                self.finish(process)
                found = self.assert_of_one_run(known)
                self.assertTrue(process.returncode != 0 or found == known[0])
                self.restore(known[1])

    def run_with_stop(self, rank, call):
        """Exit status and errors of two ranks, one of which stops at its first call of a function.
        Each writes a file of its own: in MPI_Init, and while ranks write one file with parallel
        HDF5, MPI itself would wait."""
        status, errors = self.run_faulty(2, rank, call, ZHALO_TIMEOUT="1")
        self.assertEqual(status, 3, errors)
        return errors

    @unittest.skipUnless(CAN_PRELOAD, "nothing can be preloaded")
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
                self.restore(known[1])

    @unittest.skipUnless(CAN_PRELOAD, "nothing can be preloaded")
    def test_a_rank_that_stops_at_the_very_end(self):
        """In MPI_Finalize, when the results have their names: these are whole, and the others do
        not wait for ever."""
        known = self.known_results(2)
        errors = self.run_with_stop(1, "MPI_Finalize")
        self.assertIn(f"{NAME}: error: other ranks did not end within 1 s", errors)
        self.assertEqual(self.results(), known[0])


if __name__ == "__main__":
    main()
