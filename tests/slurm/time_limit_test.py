"""Under a real Slurm: a job whose time is over ends as docs/slurm.md says, and the catalogue of an
earlier run is whole.

  time_limit_test.py PROGRAM ROOT

Slurm looks at the limits every 30 seconds, so this test is long, but has next to nothing to do.
"""

from failures_case import FailuresCase
from slurm_case import main, start_cluster


def setUpModule():
    start_cluster()


class TimeLimit(FailuresCase):
    def test_time_limit(self):
        """Slurm sends SIGTERM twice within a moment then."""
        job = self.launch(sbatch=["--time=1"])
        self.succeed("scontrol", "update", f"JobId={job.number}", "EndTime=now+1")
        state, words = job.wait()
        self.assertEqual(state, "TIMEOUT", words)
        self.assertIn("DUE TO TIME LIMIT", words)
        self.assert_interrupted(words)
        self.assert_clean()


if __name__ == "__main__":
    main()
