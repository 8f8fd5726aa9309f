"""fof where it may not or cannot write: one clear message, exit status 2, nothing left behind,
nothing replaced.

fof_bad_outputs_test.py PROGRAM DATA SNAPSHOTS
"""

import json
import os
import resource
import shutil
import signal
import subprocess
import threading
import time

import h5py
from command_case import AS_ANYBODY, obeys_modes
from fof_case import GADGET, PROGRAM, SECONDS, SNAPSHOTS, FofCase, main

BAD = SNAPSHOTS / "bad"
SNAPSHOT = GADGET / "snapshot_001.hdf5"


def has_opened(process, path):
    for name in os.listdir(f"/proc/{process}/fd"):
        try:
            if os.readlink(f"/proc/{process}/fd/{name}") == os.path.realpath(path):
                return True
        except FileNotFoundError:  # closed meanwhile
            pass
    return False


class BadOutputs(FofCase):
    def test_below_a_regular_file(self):
        (self.folder / "file").write_text("kept")
        self.assert_refused([SNAPSHOT, "-o", "file"], "file")
        self.assert_refused([SNAPSHOT, "-o", "file/out"], "file/out")
        self.assert_refused([SNAPSHOT, "--json", "file/report.json"], "file")
        self.assertEqual((self.folder / "file").read_text(), "kept")

    def test_json_that_is_a_folder(self):
        (self.folder / "folder").mkdir()
        self.assert_refused([SNAPSHOT, "--json", "folder"], "folder")

    def test_a_folder_in_the_way(self):
        """Known before anything is computed, as what follows."""
        (self.folder / "out/groups_001/fof_subhalo_tab_001.0.hdf5").mkdir(parents=True)
        for options in ([], ["--dry-run"]):
            self.assert_refused(
                [SNAPSHOT, "-o", "out", *options], "fof_subhalo_tab_001.0.hdf5", "is a folder"
            )

    def test_json_named_as_a_folder_of_the_results(self):
        """A folder that is yet to be made."""
        (self.folder / "there").mkdir()
        for folder, name in (
            ("out", "out"),
            ("out/deep", "./out"),
            ("there", "there/groups_001"),
            ("there/deep", "there/deep"),
        ):
            for options in ([], ["--dry-run"]):
                self.assert_refused(
                    [SNAPSHOT, "-o", folder, "--json", name, *options],
                    f"--json '{name}'",
                    "folder of the results",
                )

    def test_a_report_with_a_name_that_is_too_long(self):
        for options in ([], ["--dry-run"]):
            self.assert_refused(
                [SNAPSHOT, "--json", "x" * 256, *options], "256 characters", "at most 255"
            )

    def test_a_file_in_place_of_the_folder_of_the_catalogue(self):
        """Known before anything is computed."""
        (self.folder / "out").mkdir()
        (self.folder / "out/groups_001").write_text("kept")
        for options in ([], ["--dry-run"]):
            self.assert_refused([SNAPSHOT, "-o", "out", *options], "out/groups_001", "is a file")

    def test_results_of_another_snapshot_are_not_replaced_in_silence(self):
        other = self.folder / "z1.5"
        other.mkdir()
        shutil.copy(SNAPSHOT, other / SNAPSHOT.name)
        self.fof(SNAPSHOT, "-o", "out")
        self.fof(os.path.relpath(SNAPSHOT, self.folder), "-o", "out")  # the same
        for options in (["--dry-run"], [], ["--files", 2, "--membership"]):
            status, _, errors = self.run_fof(other / SNAPSHOT.name, "-q", "-o", "out", *options)
            self.assertEqual(status, 0, errors)
            is_warned = "--files" not in options  # then the results are its own
            self.assertEqual(errors.count("is of another snapshot"), 1 if is_warned else 0, errors)
        shutil.rmtree(other)
        self.fof(SNAPSHOT, "-o", "out")  # its name may be of another folder

    def test_what_another_code_wrote_stays(self):
        for number in (0, 7):
            name = f"groups_001/fof_subhalo_tab_001.{number}.hdf5"
            with self.subTest(name):
                shutil.rmtree(self.folder / "out", ignore_errors=True)
                (self.folder / "out/groups_001").mkdir(parents=True)
                shutil.copy(SNAPSHOT, self.folder / "out" / name)
                for options in ([], ["--dry-run"]):
                    self.assert_refused([SNAPSHOT, "-o", "out", *options], name, "did not write")
                self.assertEqual((self.folder / "out" / name).read_bytes(), SNAPSHOT.read_bytes())

    def test_what_is_no_whole_file_of_hdf5_stays(self):
        """Notes, or a copy that is still under way. An empty file only reserves its name."""
        (self.folder / "out/groups_001").mkdir(parents=True)
        for number in (0, 4):
            path = self.folder / f"out/groups_001/fof_subhalo_tab_001.{number}.hdf5"
            for data in (b"my notes", SNAPSHOT.read_bytes()[:5000]):
                path.write_bytes(data)
                self.assert_refused([SNAPSHOT, "-o", "out"], path.name, "did not write")
                self.assertEqual(path.read_bytes(), data)
            path.write_bytes(b"")
        self.succeed(SNAPSHOT, "-o", "out", "-q")

    def test_an_earlier_result_that_is_open_for_writing(self):
        self.succeed(SNAPSHOT, "-o", "out", "-q")
        with h5py.File(self.folder / "out/groups_001/fof_subhalo_tab_001.0.hdf5", "r+"):
            self.assert_refused([SNAPSHOT, "-o", "out"], "cannot be locked", "open for writing")
        self.succeed(SNAPSHOT, "-o", "out", "-q")

    def test_only_files_of_the_run_before_go(self):
        self.succeed(SNAPSHOT, "-o", "out", "-q", "--files", "3", "--master")
        groups = self.folder / "out/groups_001"
        shutil.copy(groups / "fof_subhalo_tab_001.1.hdf5", groups / "fof_subhalo_tab_001.3.hdf5")
        self.succeed(SNAPSHOT, "-o", "out", "-q")
        self.assertEqual(
            sorted(path.name for path in groups.iterdir()),
            [f"fof_subhalo_tab_001.{number}.hdf5" for number in (0, 3)],
        )

    def run_in_shell(self, words):
        return subprocess.run(
            f"'{PROGRAM}' {words}",
            shell=True,
            cwd=self.folder,
            capture_output=True,
            text=True,
            check=False,
            timeout=SECONDS,
        )

    def test_errors_and_warnings_that_nobody_can_read(self):
        """The status tells, and a warning stops no run."""
        for where in (">&-", ">/dev/full"):
            for arguments, expected in (
                (f"{SNAPSHOT} --rlink 1.5 -q -o warned", 0),
                ("nothing.hdf5 -q", 2),
            ):
                with self.subTest(where, arguments=arguments):
                    result = self.run_in_shell(f"{arguments} 2{where}")
                    self.assertEqual(result.returncode, expected)
        self.assertIn("warned/groups_001/fof_subhalo_tab_001.0.hdf5", self.files())

    def test_a_report_to_a_closed_output(self):
        result = self.run_in_shell(f"{SNAPSHOT} -q --json - >&-")
        self.assertEqual(result.returncode, 2, result.stderr)
        self.assertIn("standard output", result.stderr)

    def test_results_replace_neither_input_nor_each_other(self):
        shutil.copy(SNAPSHOT, self.folder / "snapshot_001.hdf5")
        (self.folder / "link.hdf5").symlink_to("snapshot_001.hdf5")
        (self.folder / "out/groups_001").mkdir(parents=True)
        (self.folder / "again").symlink_to("out")
        before = (self.folder / "snapshot_001.hdf5").read_bytes()
        for options in ([], ["--dry-run"]):
            for report in (
                "snapshot_001.hdf5",
                "out/../snapshot_001.hdf5",
                self.folder / "snapshot_001.hdf5",
                "link.hdf5",
            ):
                self.assert_refused(
                    ["snapshot_001.hdf5", "--json", report, *options], "--json", report, "is read"
                )
            self.assert_refused(
                ["link.hdf5", "--json", "snapshot_001.hdf5", *options], "--json", "is read"
            )
            for report in (
                "out/groups_001/fof_subhalo_tab_001.0.hdf5",
                "again/groups_001/fof_subhalo_tab_001.hdf5",
                "again/membership_001.3.hdf5",
            ):
                self.assert_refused(
                    ["snapshot_001.hdf5", "-o", "out", "--json", report, *options],
                    "--json",
                    report,
                    "-o out/",
                )
        self.assertEqual((self.folder / "snapshot_001.hdf5").read_bytes(), before)

    @obeys_modes
    def test_folder_that_may_not_be_read(self):
        shutil.copytree(BAD / "two_snapshots", self.folder / "closed")
        (self.folder / "closed").chmod(0o000)
        self.addCleanup((self.folder / "closed").chmod, 0o700)
        for path in ("closed", "closed/snapshot_001.hdf5"):
            self.assert_refused([path], path, "Permission denied", launcher=AS_ANYBODY)

    @obeys_modes
    def test_no_permission(self):
        (self.folder / "closed").mkdir(mode=0o555)
        self.assert_refused(
            [SNAPSHOT, "-o", "closed/out"], "closed", "ermission", launcher=AS_ANYBODY
        )

    @obeys_modes
    def test_folder_whose_files_cannot_be_seen(self):
        """Files of an earlier run may be among them."""
        (self.folder / "unseen").mkdir()
        (self.folder / "unseen").chmod(0o333)
        self.addCleanup((self.folder / "unseen").chmod, 0o700)
        self.assert_refused(
            [GADGET / "snapshot_000.hdf5", "-o", "unseen"], "unseen", launcher=AS_ANYBODY
        )

    def test_json_on_a_full_disk(self):
        if not os.path.exists("/dev/full"):
            self.skipTest("there is no /dev/full")
        status, _, errors = self.run_fof(SNAPSHOT, "-q", "--json", "/dev/full")
        self.assertEqual((status, errors.count("\n")), (2, 1))
        self.assertIn("/dev/full", errors)
        self.assertEqual(self.files(), [])  # the catalogue did not take its place

    def test_a_report_to_a_pipe(self):
        """It may have no reader yet, or one that takes its time: more than a pipe has room for."""
        os.mkfifo(self.folder / "pipe")
        read = []

        def reader():
            time.sleep(1)
            with open(self.folder / "pipe", "rb") as pipe:
                time.sleep(1)
                read.append(pipe.read())

        thread = threading.Thread(target=reader)
        thread.start()
        status, _, errors = self.run_fof(SNAPSHOT, "-q", "--json", "pipe")
        thread.join()
        self.assertEqual((status, errors), (0, ""))
        self.assertGreater(json.loads(read[0])["result"]["num_groups"], 0)

    def test_progress_that_nobody_reads_any_more(self):
        with subprocess.Popen(
            [PROGRAM, SNAPSHOT], cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        ) as run:
            run.stdout.close()
            errors = run.stderr.read()
        self.assertEqual((run.returncode, errors), (0, b""))
        self.assertIn("fof_output/groups_001/fof_subhalo_tab_001.0.hdf5", self.files())

    def test_a_reader_that_leaves(self):
        """The report is an error then, before any result has its name."""
        pipe = self.folder / "pipe"
        os.mkfifo(pipe)
        before = self.files()
        reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
        writer = os.open(pipe, os.O_WRONLY | os.O_NONBLOCK)
        with self.assertRaises(BlockingIOError):  # full, so that the report has to wait
            while True:
                os.write(writer, bytes(4096))
        with subprocess.Popen(
            [PROGRAM, SNAPSHOT, "-q", "--json", "pipe"], cwd=self.folder, stderr=subprocess.PIPE
        ) as run:
            while not has_opened(run.pid, pipe):
                self.assertIsNone(run.poll())
                time.sleep(0.01)
            os.close(writer)
            os.close(reader)
            errors = run.communicate(timeout=SECONDS)[1].decode()
        self.assertEqual((run.returncode, errors.count("\n")), (2, 1))
        self.assertIn("'pipe' cannot be written", errors)
        self.assertEqual(self.files(), before)

    def test_a_signal_while_nobody_reads_the_pipe(self):
        """Meanwhile another run may replace files in the same folder."""
        os.mkfifo(self.folder / "pipe")
        with subprocess.Popen(
            [PROGRAM, SNAPSHOT, "-q", "--json", "pipe"], cwd=self.folder, stderr=subprocess.PIPE
        ) as run:
            with self.assertRaises(subprocess.TimeoutExpired):
                run.wait(timeout=5)  # it waits for a reader
            try:
                self.fof(GADGET / "snapshot_000.hdf5", "-q")
            finally:
                run.send_signal(signal.SIGTERM)
            errors = run.communicate(timeout=SECONDS)[1]
        self.assertEqual((run.returncode, errors), (130, b"fof: error: interrupted\n"))
        self.assertIn("fof_output/groups_000/fof_subhalo_tab_000.0.hdf5", self.files())
        self.assertFalse([path for path in self.files() if "001" in path])

    def test_largest_file_allowed(self):
        """The system refuses to let a file grow, as on a full disk: at every point of the
        writing."""

        def limit(size):
            return lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))

        for size in (0, 100, 4096, 40000, 300000, 1000000):
            with self.subTest(size):
                result = subprocess.run(
                    [PROGRAM, SNAPSHOT, "-q", "--membership"],
                    cwd=self.folder,
                    capture_output=True,
                    text=True,
                    check=False,
                    timeout=SECONDS,
                    preexec_fn=limit(size),
                )
                self.assertEqual((result.returncode, result.stdout), (2, ""), result.stderr)
                self.assertEqual(result.stderr.count("\n"), 1, result.stderr)
                self.assertIn("fof_output", result.stderr)
                self.assertEqual(self.files(), [])


if __name__ == "__main__":
    main()
