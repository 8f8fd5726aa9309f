"""The batch scripts of docs/slurm.md as they stand there, handed over to a real Slurm as the page
says.

  page_test.py PROGRAM ROOT

The scripts want four nodes with 128 cores and four GPUs each: in Slurm's books the cluster has
them.
"""

import re

from cluster import wait_until
from slurm_case import (
    BLOCK,
    MAX_TRIALS,
    PAGE,
    SECONDS,
    SlurmCase,
    contents,
    crashed_in_mpi,
    main,
    start_cluster,
)

SCRIPTS = [text for kind, text in BLOCK.findall(PAGE) if kind == "slurm"]
# The page's command, with a name instead of its path.
SUBMIT = re.search(r"`(sbatch --export=ALL,SNAPSHOT=)\S+ (\S+)`", PAGE)


def setUpModule():
    start_cluster(num_nodes=4, cpus=128, gpus=4, crowded=True)


class Page(SlurmCase):
    def run_job(self, script):
        """State and output of a job, once it has ended."""
        (self.folder / SUBMIT[2]).write_text(script)
        words = self.succeed(*f"{SUBMIT[1]}{self.snapshot}".split(), SUBMIT[2])
        job = re.fullmatch(r"Submitted batch job (\d+)\n", words)[1]

        def has_ended():
            state = self.cluster.state_of_job(job)
            return None if state in ("PENDING", "RUNNING", "COMPLETING") else state

        state = wait_until(has_ended, SECONDS, f"the job of {SUBMIT[2]}")
        return state, (self.folder / f"slurm-{job}.out").read_text()

    def submit(self, script):
        """All that the job wrote to its output."""
        for _ in range(MAX_TRIALS):
            state, output = self.run_job(script)
            if not crashed_in_mpi(output, output):
                break
        self.assertEqual(state, "COMPLETED", output)
        return output

    def check(self, script, num_ranks):
        output = self.submit(script)
        self.assertRegex(output, rf"\nRuns on +{num_ranks} ranks on 4 machines: ")
        self.assertRegex(output, r"\nGroups +468\n")
        names = [
            f"haloes/{stem}.{number}.hdf5"
            for number in range(num_ranks)
            for stem in ("groups_001/fof_subhalo_tab_001", "membership_001")
        ]
        self.assertEqual(
            sorted(name for name in contents(self.folder) if name.endswith(".hdf5")), sorted(names)
        )

    def test_scripts(self):
        self.assertEqual(len(SCRIPTS), 2)

    def test_nodes_without_gpus(self):
        self.check(SCRIPTS[0], 32)
        self.assertTrue((self.folder / "haloes.json").is_file())

    def test_nodes_with_gpus(self):
        self.assertIn("--gpus-per-node=4", SCRIPTS[1])
        self.check(SCRIPTS[1], 16)


if __name__ == "__main__":
    main()
