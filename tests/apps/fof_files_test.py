"""The command fof: what it writes, when it replaces what, launchers, interrupts.

fof_files_test.py PROGRAM DATA SNAPSHOTS
"""

import json
import shutil
import signal
import subprocess
import time

from command_case import MPIEXEC, NEEDS_MPI
from fof_case import GADGET, PROGRAM, SANITIZED, SECONDS, SNAPSHOTS, FofCase, main

SNAPSHOT = GADGET / "snapshot_001.hdf5"
CATALOGUE = "fof_output/groups_001/fof_subhalo_tab_001.0.hdf5"
MEMBERSHIP = "fof_output/membership_001.0.hdf5"
SIGNALS = (
    signal.SIGINT,
    signal.SIGTERM,
    signal.SIGHUP,
    signal.SIGXCPU,
    signal.SIGUSR1,
    signal.SIGUSR2,
)


class Files(FofCase):
    def test_dry_run_writes_nothing(self):
        text = self.fof(SNAPSHOT, "--dry-run", "--membership")
        self.assertEqual(self.files(), [])
        for word in ("0.15625", "GADGET-4", "Memory", "Catalogue", "Membership"):
            self.assertIn(word, text)
        self.fof(SNAPSHOT, "--dry-run", "--json", "report.json")
        self.assertEqual(self.files(), ["report.json"])
        self.assertIsNone(json.loads((self.folder / "report.json").read_text())["result"])

    def test_same_bytes_again_and_with_any_threads(self):
        contents = set()
        for options in (["--threads", 1], ["--threads", 1], ["--threads", 2], ["--threads", 3], []):
            self.fof(SNAPSHOT, "--membership", *options)
            contents.add(
                ((self.folder / CATALOGUE).read_bytes(), (self.folder / MEMBERSHIP).read_bytes())
            )
        self.assertEqual(len(contents), 1)

    def test_dry_run_looks_where_it_would_write(self):
        (self.folder / "file").write_text("kept")
        for path in ("file", "file/below", "/dev/null"):
            with self.subTest(path):
                self.assert_refused([SNAPSHOT, "--dry-run", "-o", path], "-o", path)
        self.fof(SNAPSHOT, "--dry-run", "-o", "new/folder")

    def test_a_link_that_leads_nowhere(self):
        (self.folder / "link").symlink_to("none")
        for more in ([], ["--dry-run"]):
            self.assert_refused(
                [SNAPSHOT, "-o", "link", *more],
                "directory 'link' cannot be made",
                "link' is a link that leads nowhere",
                "remove the link",
            )

    def test_no_folder_is_made_on_the_way(self):
        self.fof(SNAPSHOT, "-o", "none/../results", "-q")
        self.assertEqual([path for path in self.files() if "/" not in path], ["results"])

    def test_folders_are_not_made_for_reports(self):
        self.assert_refused(
            [SNAPSHOT, "--json", "none/report.json"], "--json", "'none' is not there"
        )

    def test_reports_beside_the_results(self):
        """In the folder of -o, which a run makes, and which nothing is left of where it fails."""
        self.fof(SNAPSHOT, "-o", "new/run", "--json", "./new//run/report.json", "-q")
        report = json.loads((self.folder / "new/run/report.json").read_text())
        self.assertEqual(report["command"], "fof")
        self.assertTrue((self.folder / "new/run/groups_001").is_dir())
        self.fof(SNAPSHOT, "-o", "dry", "--json", "dry/report.json", "--dry-run", "-q")
        self.assertEqual(list((self.folder / "dry").iterdir()), [self.folder / "dry/report.json"])
        self.assert_refused(
            [SNAPSHOT, "-o", "other", "--json", "other/report.json", "--link-types", "5"], "type 5"
        )
        self.assert_refused(
            [SNAPSHOT, "-o", "other", "--json", "other/deep/report.json"],
            "'other/deep' is not there",
        )

    def test_results_are_replaced_whole(self):
        """Also a membership that would contradict the new catalogue; other numbers stay."""
        self.fof(SNAPSHOT, "--membership")
        self.fof(GADGET / "snapshot_000.hdf5", "--membership")
        others = [path for path in self.files() if "000" in path]
        self.assertEqual(len(others), 3)
        self.fof(SNAPSHOT, "--min-size", 1000)
        table, _ = self.catalogue(1)
        self.assertEqual(len(table["GroupLen"]), 16)
        self.assertEqual(
            self.files(), sorted(["fof_output", "fof_output/groups_001", CATALOGUE, *others])
        )

    def test_failure_keeps_earlier_results(self):
        self.fof(SNAPSHOT)
        before = (self.folder / CATALOGUE).read_bytes()
        self.assert_refused([SNAPSHOT, "--rlink-abs", 26])
        self.assert_refused([SNAPSHOTS / "bad" / "nan.hdf5"])
        self.assertEqual((self.folder / CATALOGUE).read_bytes(), before)

    def test_no_groups(self):
        self.assertRegex(self.fof(SNAPSHOT, "--min-size", 10**9, "--membership"), r"\nGroups +0\n")
        table, header = self.catalogue(1)
        self.assertEqual(
            (table["GroupLen"].shape, table["GroupPos"].shape, header["Ngroups_Total"]),
            ((0,), (0, 3), 0),
        )
        self.assertTrue((self.membership(1)[0] == -1).all())

    def test_json_to_standard_output(self):
        """Alone there: the report for people, and the warnings, go to standard error."""
        status, output, errors = self.run_fof(SNAPSHOT, "--json", "-", "--rlink", 0.6)
        self.assertEqual(status, 0)
        self.assertEqual(json.loads(output)["num_linked"], 262144)
        for words in ("\nLink length ", "\nGroups ", "fof: warning: "):
            self.assertIn(words, errors)

    def test_json_to_standard_output_that_is_a_file(self):
        """By its own name, and by one such as /dev/stdout, which must not be replaced by a file."""
        (self.folder / "stdout").symlink_to("/proc/self/fd/1")
        for name in ("-", "stdout"):
            with self.subTest(name):
                with open(self.folder / "log", "w", encoding="utf-8") as log:
                    result = subprocess.run(
                        [PROGRAM, SNAPSHOT, "-v", "--dry-run", "--json", name],
                        cwd=self.folder,
                        stdout=log,
                        stderr=subprocess.PIPE,
                        text=True,
                        check=True,
                        timeout=SECONDS,
                    )
                self.assertIn("\nLink length ", result.stderr)
                text = (self.folder / "log").read_text()
                self.assertEqual(json.loads(text)["num_particles"], 262144)
                self.assertTrue((self.folder / "stdout").is_symlink())
                self.assertEqual(self.files(), ["log", "stdout"])


class Processes(FofCase):
    @NEEDS_MPI
    def test_mpiexec_with_one_rank(self):
        status, output, errors = self.run_fof(SNAPSHOT, launcher=(MPIEXEC, "-n", "1"))
        self.assertEqual((status, errors), (0, ""))
        self.assertRegex(output, r"\nGroups +468\n")

    def test_srun_without_mpi_is_refused(self):
        self.assert_refused([SNAPSHOT], "4 tasks", "--mpi", SLURM_STEP_NUM_TASKS="4")

    def test_interrupts_leave_nothing(self):
        """At many moments of a run; the last ones come too late and the run ends well."""
        begin = time.monotonic()
        self.fof(SNAPSHOT, "--membership", "-o", "whole")
        whole = time.monotonic() - begin
        before = self.files()
        statuses = set()
        for step in range(0, 12, 3 if SANITIZED else 1):
            with subprocess.Popen(
                [PROGRAM, SNAPSHOT, "--membership", "-q"],
                cwd=self.folder,
                stderr=subprocess.PIPE,
                text=True,
            ) as process:
                time.sleep(whole * step / 8)
                process.send_signal(SIGNALS[step % len(SIGNALS)])
                errors = process.communicate(timeout=SECONDS)[1]
            statuses.add(process.returncode)
            if process.returncode == 0:
                self.assertTrue((self.folder / CATALOGUE).exists())
                shutil.rmtree(self.folder / "fof_output")
            else:
                early = [(-number, "") for number in SIGNALS]  # before the program's first line
                self.assertIn(
                    (process.returncode, errors), [(130, "fof: error: interrupted\n"), *early]
                )
                self.assertEqual(self.files(), before)
        self.assertIn(130, statuses)

    def test_a_signal_that_comes_twice_within_a_moment(self):
        """As Slurm sends it when a job's time is over."""
        for _ in range(5):  # the run may be faster
            with subprocess.Popen(
                [PROGRAM, SNAPSHOT, "--membership"],
                cwd=self.folder,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            ) as process:
                process.stdout.readline()
                for _ in range(3):
                    process.send_signal(signal.SIGTERM)
                    time.sleep(0.002)
                errors = process.communicate(timeout=SECONDS)[1]
            if process.returncode != 0:
                break
            shutil.rmtree(self.folder / "fof_output")
        self.assertEqual((process.returncode, errors), (130, "fof: error: interrupted\n"))
        self.assertEqual(self.files(), [])

    def test_a_run_under_nohup_outlives_its_terminal(self):
        with subprocess.Popen(
            [PROGRAM, SNAPSHOT, "-q"],
            cwd=self.folder,
            preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN),
        ) as process:
            while process.poll() is None:
                process.send_signal(signal.SIGHUP)
                time.sleep(0.01)
        self.assertEqual(process.returncode, 0)


if __name__ == "__main__":
    main()
