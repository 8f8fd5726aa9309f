"""fof on several ranks when something goes wrong: one message, one exit status, nothing
half-written, no hang.

fof_ranks_failure_test.py PROGRAM DATA SNAPSHOTS
"""

import os
import shutil
import signal
import tempfile
import unittest
from pathlib import Path

import program
from command_case import MPIEXEC, NEEDS_MPI, launcher, without_warnings
from fof_case import GADGET, PROGRAM, SANITIZED, SECONDS, SNAPSHOTS, FofCase, environment_of, main

SNAPSHOT = GADGET / "snapshot_001.hdf5"
CATALOGUE = "fof_output/groups_001/fof_subhalo_tab_001.{}.hdf5"
BAD = SNAPSHOTS / "bad"
RANKS = 3
FAULTY_RANK_LIBRARY = SNAPSHOTS.parent / "apps" / "libfaulty_rank.so"

# Arguments, and words of the message.
REFUSED = {
    (BAD / "none_such.hdf5",): ["none_such.hdf5", "no such file"],
    (BAD / "truncated.hdf5",): ["truncated.hdf5", "truncated"],
    (BAD / "missing_chunk",): ["snapshot_001.1.hdf5", "missing"],
    (BAD / "damaged_velocities.hdf5",): ["damaged_velocities.hdf5", "Velocities"],
    (BAD / "no_masses.hdf5",): ["no_masses.hdf5", "type 1"],
    (BAD / "nan.hdf5",): ["1 of 1000 particles", "particle 17"],
    (SNAPSHOT, "--rlink", "-1"): ["--rlink", "positive"],
    (SNAPSHOT, "--rlink-abs", "26"): ["half"],
    (SNAPSHOT, "--files", "-1"): ["--files", "-1"],
    (SNAPSHOT, "--device", "cuda:x"): ["--device", "cuda:x"],
    (SNAPSHOT, "--device", "cuda:4000"): ["CUDA"],
    (SNAPSHOT, "--no-such-option"): ["--no-such-option"],
    (SNAPSHOT, "-o", "/proc/nowhere"): ["/proc/nowhere"],
    (SNAPSHOT, "--periodic", "no", "--box-size", "25"): ["outside", "particle 190"],
}


def ranks_of(process):
    """Process numbers of the ranks that a running mpiexec has started, by rank."""
    found = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if (folder / "exe").resolve() != PROGRAM.resolve():
                continue
            variables = dict(
                line.split("=", 1)
                for line in (folder / "environ").read_text().split("\0")
                if "=" in line
            )
            if variables.get("FOF_TEST") == str(process.args[-1]):
                found[int(variables["OMPI_COMM_WORLD_RANK"])] = int(folder.name)
        except (OSError, PermissionError):
            continue
    return found


@NEEDS_MPI
class Failures(FofCase):
    def setUp(self):
        super().setUp()
        self.before = self.files()
        self.earlier = False

        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.statuses = Path(holder.name)
        # mpiexec gives one status for all ranks, and may end the others at the first that is not 0:
        # each rank's own goes to a file.
        script = f'"$@"; echo $? >"{holder.name}/$OMPI_COMM_WORLD_RANK"'
        self.launcher = [MPIEXEC, "-n", str(RANKS), "sh", "-c", script, "sh"]

    def assert_all_end_with(self, status):
        statuses = {path.name: path.read_text() for path in self.statuses.iterdir()}
        self.assertEqual(statuses, {str(rank): f"{status}\n" for rank in range(RANKS)})

    def launch(self, *arguments, launcher=launcher(RANKS), **environment):
        """A run under mpiexec whose ranks ranks_of() finds."""
        command = [*launcher, PROGRAM, *map(str, arguments), "-o", self.folder / "fof_output"]
        process = program.start(
            command,
            self.folder,
            environment_of(command, **environment, FOF_TEST=str(command[-1])),
        )
        self.addCleanup(self.clean_up, process)
        return process

    def clean_up(self, process):
        if process.poll() is None:
            process.terminate()
            process.wait(SECONDS)
        process.stdout.close()
        process.stderr.close()

    def send(self, number, rank, phase, **how):
        """Status and errors of a run one of whose ranks gets a signal in that phase. On a busy
        machine this test may be too slow, and the run end before: then again."""
        for _ in range(5):
            process = self.launch(SNAPSHOT, "--membership", **how)
            self.assertTrue(
                any(line.split()[-1:] == [phase] for line in process.stdout),
                f"there is no '{phase}'",
            )
            try:
                os.kill(ranks_of(process)[rank], number)
            except (KeyError, ProcessLookupError):
                pass
            errors = process.communicate(timeout=SECONDS)[1]
            if not errors and process.returncode == 0 and len(self.whole_looking()) == 2 * RANKS:
                self.forget_results()
                continue
            return process.returncode, errors
        self.fail("every run was too fast")

    def forget_results(self):
        shutil.rmtree(self.folder / "fof_output")
        for path in self.statuses.iterdir():
            path.unlink()
        self.make_earlier()

    def make_earlier(self):
        """Results of an earlier run, where the test wants them."""
        if self.earlier:
            self.fof(SNAPSHOT, "--min-size", 1000)
            self.contents = (self.folder / CATALOGUE.format(0)).read_bytes()

    def whole_looking(self):
        """Files that a reader would take for results."""
        return [
            path
            for path in self.files()
            if path.endswith(".hdf5") and not Path(path).name.startswith(".")
        ]

    def test_bad_input_is_told_once(self):
        for arguments, words in list(REFUSED.items())[:: 4 if SANITIZED else 1]:
            with self.subTest(arguments):
                errors = without_warnings(
                    self.run_fof(*arguments, "--membership", "-q", launcher=self.launcher)[2]
                )
                self.assertEqual((errors.count("fof: error: "), errors.count("\n")), (1, 1), errors)
                for word in words:
                    self.assertIn(str(word), errors)
                self.assert_all_end_with(2)
                self.assertEqual(self.files(), self.before)

    def test_full_disk_of_one_rank(self):
        """Rank 1 may write 8 KiB a file; its error is everybody's, and names it."""
        script = (
            'if [ "$OMPI_COMM_WORLD_RANK" = 1 ]; then trap "" XFSZ; ulimit -f 16; fi; exec "$@"'
        )
        status, _, errors = self.run_fof(
            SNAPSHOT,
            "--membership",
            OMPI_MCA_btl="tcp,self",  # shared memory would be files, too
            launcher=(MPIEXEC, "-n", str(RANKS), "sh", "-c", script, "sh"),
        )
        self.assertEqual((status, errors.count("fof: error: rank 1: ")), (2, 1), errors)
        self.assertIn("fof_output", errors)
        self.assertEqual(self.files(), self.before)

    def test_a_signal_to_one_rank_ends_all(self):
        for phase, rank, number in (
            ("open", 1, signal.SIGTERM),
            ("read", 0, signal.SIGINT),
            ("sort", 2, signal.SIGTERM),
            ("link", 1, signal.SIGTERM),
        ):
            with self.subTest(phase=phase, rank=rank):
                _, errors = self.send(number, rank, phase, launcher=self.launcher)
                self.assertEqual((errors.count("fof: error: "), errors.count("\n")), (1, 1), errors)
                self.assertIn(f"rank {rank}: interrupted", errors)
                self.assert_all_end_with(130)
                self.assertEqual(self.files(), self.before)

    def test_a_killed_rank_ends_the_job_and_leaves_earlier_results(self):
        for phase, rank, self.earlier in (
            ("read", 2, False),
            ("link", 0, False),
            ("link", 1, True),
        ):
            with self.subTest(phase=phase, rank=rank, earlier=self.earlier):
                self.make_earlier()
                status, errors = self.send(signal.SIGKILL, rank, phase)
                self.assertNotEqual(status, 0, errors)
                self.assertEqual(
                    self.whole_looking(), [CATALOGUE.format(0)] if self.earlier else []
                )
                if self.earlier:
                    self.assertEqual(
                        (self.folder / CATALOGUE.format(0)).read_bytes(), self.contents
                    )

    def test_a_rank_that_hangs_is_given_up(self):
        status, errors = self.send(signal.SIGSTOP, 1, "sort", ZHALO_TIMEOUT="4")
        self.assertEqual(status, 3, errors)
        self.assertEqual(errors.count("fof: error: "), 1, errors)
        self.assertIn("waited for other ranks for 4 s", errors)
        self.assertEqual(self.whole_looking(), [])

    @unittest.skipUnless(FAULTY_RANK_LIBRARY.exists() and not SANITIZED, "nothing can be preloaded")
    def test_a_rank_whose_wait_fails_says_so_and_ends_all(self):
        """It can agree with nobody any more, and the others would wait for it."""
        for rank in range(RANKS):
            with self.subTest(rank=rank):
                status, _, errors = self.run_fof(
                    SNAPSHOT,
                    "-q",
                    launcher=(MPIEXEC, "-n", str(RANKS), "-x", f"LD_PRELOAD={FAULTY_RANK_LIBRARY}"),
                    FAULT="wait",
                    FAULTY_RANK=str(rank),
                    ZHALO_TIMEOUT="600",
                )
                self.assertNotEqual(status, 0)
                self.assertEqual(errors.count("fof: error: "), 1, errors)
                self.assertIn("fof: error: internal error: thrown in a wait", errors)
                self.assertEqual(self.whole_looking(), [])


if __name__ == "__main__":
    main()
