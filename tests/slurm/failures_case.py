"""What the tests share that make jobs fail: jobs in the middle of their work, and what they
leave."""

from cluster import wait_until
from job import Job
from slurm_case import RANKS, SECONDS, SlurmCase, contents

OUT = ("--membership", "--threads", "1", "-o", "haloes")


class FailuresCase(SlurmCase):
    """Each test has an earlier catalogue, which a run that fails must leave as it is."""

    def make_earlier(self):
        self.succeed("fof", self.snapshot, "-q", "--min-size", 1000, *OUT)
        self.earlier = contents(self.folder / "haloes")
        self.assertEqual(len(self.earlier), 2)

    def launch(self, *srun, phase="write", sbatch=()):
        """A job whose ranks stand still in a phase. Where that is over too soon: the next."""
        for _ in range(10):
            self.make_earlier()
            job = Job(self, self.snapshot, *OUT, srun=srun, sbatch=sbatch)
            self.addCleanup(self.finish, job)
            if job.is_led_to(phase):
                return job
        self.fail("every run was too fast")

    def finish(self, job):
        """Whatever the test made of it."""
        if not job.is_over():
            self.cluster.ask("scancel", "--signal=KILL", "--full", job.number)
            wait_until(job.is_over, SECONDS, "the job ends")

    def assert_earlier_is_whole(self):
        """And nothing else is there that a reader would take for results."""
        now = contents(self.folder / "haloes")
        self.assertEqual(list(now), list(self.earlier))
        self.assertTrue(now == self.earlier, "the bytes of the earlier catalogue differ")

    def assert_clean(self):
        """Not even hidden files of the run that failed."""
        self.assert_earlier_is_whole()
        paths = [path for path in (self.folder / "haloes").rglob("*") if path.is_file()]
        self.assertEqual(len(paths), len(self.earlier), paths)

    def assert_interrupted(self, words):
        """All ranks ended with 130, and one message says why."""
        self.assertEqual(words.count("fof: error: "), 1, words)
        self.assertRegex(words, r"fof: error: (rank \d: )?interrupted\n")
        for number in range(3):
            tasks = f"n{number + 1}: tasks {2 * number}-{2 * number + 1}"
            self.assertIn(f"srun: error: {tasks}: Exited with exit code 130", words)

    def assert_next_run_succeeds(self):
        """On all nodes; whatever was left does not matter to it."""
        self.succeed_on_ranks("fof", self.snapshot, *OUT)
        self.assertEqual(len(contents(self.folder / "haloes")), 2 * RANKS)
