"""Under a real Slurm: scancel, a lost rank, ranks that hang and a lost node end as docs/slurm.md says,
and the catalogue of an earlier run is whole.

  failures_test.py PROGRAM ROOT
"""
import re

from failures_case import FailuresCase
from slurm_case import PAGE, main, start_cluster

# The page's command that ends a job's ranks cleanly.
CANCEL = re.search(r"`(scancel --signal[^`]*) JOB`", PAGE)[1].split()
LOST = "n3"  # a node


def setUpModule():
    start_cluster(slurmd_timeout=10)


class Failures(FailuresCase):
    def test_scancel_with_a_signal(self):
        """Only the ranks get it: the batch script goes on, and sees the status."""
        job = self.launch()
        self.succeed(*CANCEL, job.number)
        job.resume()
        state, words = job.wait()
        self.assert_interrupted(words)
        self.assertEqual((state, words.splitlines()[-1]), ("COMPLETED", "status 130"))
        self.assert_clean()

    def test_scancel(self):
        job = self.launch()
        self.succeed("scancel", job.number)
        state, words = job.wait()
        self.assertEqual(state, "CANCELLED", words)
        self.assert_interrupted(words)
        self.assert_clean()
        self.assert_next_run_succeeds()

    def test_a_killed_rank_ends_the_job(self):
        """As the system kills one when memory is gone; with the option of the page's scripts, and
        without it."""
        for options in (["--kill-on-bad-exit=1"], []):
            with self.subTest(options):
                job = self.launch(*options)
                job.kill_rank(4)
                job.resume()
                _, words = job.wait()
                self.assertIn(f"srun: error: {LOST}: task 4: Killed", words)
                self.assertEqual(words.splitlines()[-1], "status 137", words)
                self.assert_earlier_is_whole()

    def test_ranks_that_hang_are_given_up(self):
        job = self.launch("--kill-on-bad-exit=1", sbatch=["--export=ALL,ZHALO_TIMEOUT=3"])
        job.resume("n1", "n2")
        _, words = job.wait()
        self.assertEqual(words.count("fof: error: "), 1, words)
        self.assertIn("has waited for other ranks for 3 s", words)
        self.assertEqual(words.splitlines()[-1], "status 3", words)
        self.assert_earlier_is_whole()

    def test_a_killed_node(self):
        """Slurm ends the job when the node has not answered for some time."""
        job = self.launch("--kill-on-bad-exit=1", sbatch=["--no-requeue"])
        self.addCleanup(self.bring_back)
        self.cluster.kill_node(LOST)
        job.resume("n1", "n2")
        state, words = job.wait()
        self.assertEqual(state, "NODE_FAIL", words)
        self.assert_earlier_is_whole()
        self.bring_back()
        self.assert_next_run_succeeds()

    def bring_back(self):
        if self.cluster.daemons[LOST].poll() is not None:
            self.cluster.start_node(LOST)
        self.cluster.wait_for_nodes()


if __name__ == "__main__":
    main()
