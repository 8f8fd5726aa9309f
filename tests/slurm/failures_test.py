"""Under a real Slurm: scancel and a lost rank end as docs/slurm.md says, and the catalogue of an
earlier run is whole.

  failures_test.py PROGRAM ROOT
"""

import re

from failures_case import FailuresCase
from slurm_case import PAGE, main, start_cluster

# The page's command that ends a job's ranks cleanly.
CANCEL = re.search(r"`(scancel --signal[^`]*) JOB`", PAGE)[1].split()


def setUpModule():
    start_cluster()


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
        without it. A rank that is sending to it may die of SIGPIPE before Slurm ends it."""
        for options in (["--kill-on-bad-exit=1"], []):
            with self.subTest(options):
                job = self.launch(*options)
                job.kill_rank(4)
                job.resume()
                _, words = job.wait()
                self.assertIn("srun: error: n3: task 4: Killed", words)
                others = "n[123]: tasks? [0-5](-[0-5])?: Broken pipe"
                status = 141 if re.search(others, words) else 137
                self.assertEqual(words.splitlines()[-1], f"status {status}", words)
                self.assert_earlier_is_whole()


if __name__ == "__main__":
    main()
