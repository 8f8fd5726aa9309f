"""Under a real Slurm: ranks that hang and a lost node end as docs/slurm.md says, and the catalogue
of an earlier run is whole.

  lost_test.py PROGRAM ROOT
"""

from failures_case import FailuresCase
from slurm_case import main, start_cluster

LOST = "n3"  # a node


def setUpModule():
    start_cluster(slurmd_timeout=10)


class Lost(FailuresCase):
    def test_ranks_that_hang_are_given_up(self):
        job = self.launch("--kill-on-bad-exit=1", sbatch=["--export=ALL,ZHALO_TIMEOUT=3"])
        job.resume("n1", "n2")
        _, words = job.wait()
        self.assertEqual(words.count("fof: error: "), 1, words)
        self.assertIn("has waited for other ranks for 3 s", words)
        self.assertEqual(words.splitlines()[-1], "status 3", words)
        self.assert_earlier_is_whole()

    def test_a_killed_node(self):
        """Slurm ends the job when the node has not answered for some time. A rank may see earlier
        that it cannot reach the node: it ends the run, and then the script ends by itself."""
        job = self.launch("--kill-on-bad-exit=1", sbatch=["--no-requeue"])
        self.addCleanup(self.bring_back)
        self.cluster.kill_node(LOST)
        job.resume("n1", "n2")
        state, words = job.wait()
        if state != "NODE_FAIL":
            self.assertEqual(state, "COMPLETED", words)
            self.assertRegex(words.splitlines()[-1], r"^status [1-9]\d*$")
        self.assert_earlier_is_whole()
        self.bring_back()
        self.assert_next_run_succeeds()

    def bring_back(self):
        if self.cluster.daemons[LOST].poll() is not None:
            self.cluster.start_node(LOST)
        self.cluster.wait_for_nodes()


if __name__ == "__main__":
    main()
