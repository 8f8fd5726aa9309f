"""The command fof itself: reports, options, repeatability, launchers, interrupts.

  fof_command_test.py PROGRAM DATA SNAPSHOTS
"""
import json
import os
import pty
import re
import shlex
import shutil
import signal
import subprocess
import time
import unittest

import h5py
import numpy as np
from fof_case import GADGET, PROGRAM, SANITIZED, SECONDS, SNAPSHOTS, SWIFT, FofCase, main

SNAPSHOT = GADGET / "snapshot_001.hdf5"
CATALOGUE = "fof_output/groups_001/fof_subhalo_tab_001.0.hdf5"
MEMBERSHIP = "fof_output/membership_001.0.hdf5"
MPIEXEC = shutil.which("mpiexec")
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGXCPU, signal.SIGUSR1, signal.SIGUSR2)


class Reports(FofCase):
    def report(self, *arguments, **environment):
        self.fof(*arguments, "-q", "--json", "report.json", **environment)
        return json.loads((self.folder / "report.json").read_text())

    def test_json_says_what_the_files_say(self):
        report = self.report(SNAPSHOT, "--membership")
        table, _ = self.catalogue(1)
        group, _ = self.membership(1)
        result = report["result"]
        self.assertEqual(result["num_groups"], len(table["GroupLen"]))
        self.assertEqual(result["num_particles_in_groups"], int((group >= 0).sum()))
        self.assertEqual(result["num_wrapped"], 0)
        self.assertEqual([row["length"] for row in result["largest_groups"]], table["GroupLen"][:10].tolist())
        for key, name in (("mass", "GroupMass"), ("centre", "GroupPos"), ("velocity", "GroupVelPeculiar")):
            np.testing.assert_array_equal([row[key] for row in result["largest_groups"]], table[name][:10])
        self.assertEqual(sorted(result["files"]), [CATALOGUE, MEMBERSHIP])
        self.assertEqual((report["num_particles"], report["min_size"], report["link_types"], report["periodic"]), (262144, 32, [1], True))
        self.assertAlmostEqual(report["linking"]["length"], 0.15625, places=12)
        self.assertEqual(report["linking"]["ratio"], 0.2)
        separation = report["linking"]["mean_separation"]
        self.assertAlmostEqual(separation["from_volume"], 0.78125, places=12)
        self.assertAlmostEqual(separation["from_density"] / 0.78125, 1, places=6)
        self.assertEqual(report["snapshot"]["code"], "GADGET-4")
        self.assertEqual(report["snapshot"]["types"][0]["mass_source"], "MassTable")
        self.assertEqual(report["snapshot"]["units"]["length"], "Mpc/h")

    def test_phases_and_memory(self):
        report = self.report(SNAPSHOT)
        result = report["result"]
        names = [phase["name"] for phase in result["phases"]]
        for name in ("read", "sort", "tree", "link", "catalogue", "write"):
            self.assertIn(name, names)
        self.assertLessEqual(sum(phase["seconds"] for phase in result["phases"]), result["seconds"])
        for phase in result["phases"]:
            if phase["seconds"] > 0:
                self.assertAlmostEqual(phase["particles_per_second"] * phase["seconds"], 262144, delta=1)
        columns = 262144 * (12 + 12 + 8)
        self.assertGreater(result["peak_pool_bytes"], columns)
        self.assertGreater(result["peak_resident_bytes"], result["peak_pool_bytes"])

    def test_estimates_bound_what_is_used(self):
        for snapshot, path in ((SNAPSHOT, CATALOGUE), (SWIFT / "snap_0000.hdf5", CATALOGUE.replace("001", "000"))):
            report = self.report(snapshot, "--membership")
            estimate, used = report["estimate"], report["result"]["peak_pool_bytes"]
            self.assertGreaterEqual(estimate["memory_bytes"], used)
            self.assertLess(estimate["memory_bytes"], 2 * used)
            self.assertGreaterEqual(estimate["catalogue_limit_bytes"], (self.folder / path).stat().st_size)
            self.assertGreaterEqual(estimate["membership_bytes"], (self.folder / report["result"]["files"][1]).stat().st_size)

    def test_text_has_it_all(self):
        text = self.fof(SNAPSHOT)
        for pattern in (r"Code +GADGET-4", r"Type 1 +262144.*MassTable", r"Box +50 Mpc/h", r"Separation +0.78125 Mpc/h \(automatic",
                        r"by volume +0.78125 Mpc/h", r"by density +0.78125 Mpc/h", r"Link length +0.15625 Mpc/h, b = 0.2 mean",
                        r"Groups +468\n", r"In groups +90625 of 262144 particles", r"\n +0 +5870 +23921\.2 +49\.267 +6\.10\d* +13\.61",
                        r"\n +9 +1479 ", r"link +\d+\.\d+ +[\d.e+]+\n", r"Peak memory +[\d.]+ MiB", re.escape(CATALOGUE)):
            self.assertRegex(text, pattern)
        self.assertNotIn("\r", text)
        self.assertNotIn("\033", text)

    def test_quiet_and_verbose(self):
        self.assertEqual(self.fof(SNAPSHOT, "-q"), "")
        self.assertEqual(self.fof(SNAPSHOT, "-q", "--rlink", "0.6"), "")
        plain, verbose = self.fof(SNAPSHOT), self.fof(SNAPSHOT, "-v")
        self.assertIn("peculiar velocity", verbose)
        self.assertNotIn("peculiar velocity", plain)

    def test_one_changing_line_on_a_terminal(self):
        ours, theirs = pty.openpty()
        with subprocess.Popen([PROGRAM, SNAPSHOT], cwd=self.folder, stdout=theirs, stdin=subprocess.DEVNULL) as process:
            os.close(theirs)
            text = b""
            try:
                while part := os.read(ours, 65536):
                    text += part
            except OSError:  # Linux says so when the other side is closed
                pass
            os.close(ours)
            self.assertEqual(process.wait(SECONDS), 0)
        lines = text.decode().split("\n")
        progress = [line for line in lines if "link ..." in line]
        self.assertEqual(len(progress), 1)
        self.assertIn("\r\033[K", progress[0])
        self.assertGreater(progress[0].count("..."), 5)
        self.assertTrue(progress[0].rstrip("\r").endswith("\r\033[K"))

    def test_warnings(self):
        cases = {("--rlink", "0.6"): "0.6 mean separations", ("--rlink", "1e-4"): "0.0001 mean separations",
                 ("--rlink-abs", "13"): "0.26 of the box", ("--meansep", "rho", "--box-size", "60"): "differ by 20.0%"}
        for options, words in cases.items():
            with self.subTest(options):
                status, _, errors = self.run_fof(SNAPSHOT, "--dry-run", *options)
                self.assertEqual(status, 0)
                self.assertTrue(any(line.startswith("fof: warning: ") and words in line for line in errors.splitlines()), errors)
                self.assertEqual(self.run_fof(SNAPSHOT, "--dry-run", "-q", *options), (0, "", ""))

    def test_velocities_that_are_not_finite(self):
        shutil.copy(SNAPSHOT, self.folder / "snapshot_001.hdf5")
        self.fof(SNAPSHOT, "--membership", "-q")
        group, _ = self.membership(1)
        with h5py.File(self.folder / "snapshot_001.hdf5", "r+") as file:
            velocities = file["PartType1/Velocities"][:]
            velocities[np.flatnonzero(group == 3)[0], 1] = np.nan
            velocities[np.flatnonzero(group == 5)[0], 2] = np.inf
            velocities[np.flatnonzero(group < 0)[0]] = np.nan  # of no consequence
            file["PartType1/Velocities"][:] = velocities
        status, _, errors = self.run_fof("snapshot_001.hdf5", "--json", "report.json")
        words = "the velocities of 2 of 468 groups are not finite"
        self.assertEqual((status, errors.count("fof: warning: "), words in errors), (0, 1, True), errors)
        self.assertIn(words, json.loads((self.folder / "report.json").read_text())["warnings"][0])

    def test_wrapped_particles_are_counted(self):
        report = self.report(SNAPSHOTS / "edge" / "snapshot_003.hdf5", "--meansep", "0.78")
        self.assertGreater(report["result"]["num_wrapped"], 0)


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
            contents.add(((self.folder / CATALOGUE).read_bytes(), (self.folder / MEMBERSHIP).read_bytes()))
        self.assertEqual(len(contents), 1)

    def test_results_are_replaced_whole(self):
        """Also a membership that would contradict the new catalogue; other numbers stay."""
        self.fof(SNAPSHOT, "--membership")
        self.fof(GADGET / "snapshot_000.hdf5", "--membership")
        others = [path for path in self.files() if "000" in path]
        self.assertEqual(len(others), 3)
        self.fof(SNAPSHOT, "--min-size", 1000)
        table, _ = self.catalogue(1)
        self.assertEqual(len(table["GroupLen"]), 16)
        self.assertEqual(self.files(), sorted(["fof_output", "fof_output/groups_001", CATALOGUE, *others]))

    def test_failure_keeps_earlier_results(self):
        self.fof(SNAPSHOT)
        before = (self.folder / CATALOGUE).read_bytes()
        self.assert_refused([SNAPSHOT, "--rlink-abs", 26])
        self.assert_refused([SNAPSHOTS / "bad" / "nan.hdf5"])
        self.assertEqual((self.folder / CATALOGUE).read_bytes(), before)

    def test_no_groups(self):
        self.assertRegex(self.fof(SNAPSHOT, "--min-size", 10**9, "--membership"), r"\nGroups +0\n")
        table, header = self.catalogue(1)
        self.assertEqual((table["GroupLen"].shape, table["GroupPos"].shape, header["Ngroups_Total"]), ((0,), (0, 3), 0))
        self.assertTrue((self.membership(1)[0] == -1).all())

    def test_json_to_standard_output(self):
        self.assertEqual(json.loads(self.fof(SNAPSHOT, "-q", "--json", "-"))["result"]["num_groups"], 468)

    def test_json_to_standard_output_that_is_a_file(self):
        """By its own name, and by one such as /dev/stdout, which must not be replaced by a file."""
        (self.folder / "stdout").symlink_to("/proc/self/fd/1")
        for name in ("-", "stdout"):
            with self.subTest(name):
                with open(self.folder / "log", "w", encoding="utf-8") as log:
                    subprocess.run([PROGRAM, SNAPSHOT, "-v", "--dry-run", "--json", name], cwd=self.folder, stdout=log, check=True, timeout=SECONDS)
                text = (self.folder / "log").read_text()
                self.assertIn("\nLink length ", text)
                begin = text.index("\n{\n") + 1
                self.assertEqual(json.JSONDecoder().raw_decode(text[begin:])[0]["num_particles"], 262144)
                self.assertTrue((self.folder / "stdout").is_symlink())
                self.assertEqual(self.files(), ["log", "stdout"])


class Options(FofCase):
    def test_help_fits_a_screen_and_its_examples_parse(self):
        text = self.fof("--help")
        lines = text.splitlines()
        self.assertTrue(24 <= len(lines) <= 50, len(lines))
        self.assertLessEqual(max(map(len, lines)), 100)
        examples = [re.split(r"  +", line.strip())[0] for line in lines if line.startswith("  fof ")]
        self.assertGreaterEqual(len(examples), 3)
        for example in examples:
            with self.subTest(example):
                self.assert_refused(shlex.split(example)[1:], "no such file")
        for option in ("--rlink", "--rlink-abs", "--meansep", "--min-size", "--link-types", "--attach-types",
                       "--attach-radius", "--min-counts", "--periodic", "--box-size", "--output", "--membership", "--device",
                       "--threads", "--dry-run", "--json", "--quiet", "--verbose"):
            self.assertIn(option, text)

    def test_version(self):
        self.assertRegex(self.fof("--version"), r"^zhalo \d+\.\d+\.\d+\nvectors  \w+\nCUDA     (not )?built in\n$")

    def test_threads(self):
        def threads(*arguments, **environment):
            return int(re.search(r"host, (\d+) thread", self.fof(SNAPSHOT, "--dry-run", "--device", "host", *arguments, **environment))[1])

        available = len(os.sched_getaffinity(0))
        self.assertEqual(threads(OMP_NUM_THREADS=None), available)
        self.assertEqual(threads(OMP_NUM_THREADS="3"), 3)
        self.assertEqual(threads(OMP_NUM_THREADS="5,2"), 5)
        self.assertEqual(threads("--threads", 4, OMP_NUM_THREADS="3"), 4)
        self.assertEqual(threads("--threads", 0, OMP_NUM_THREADS="3"), available)

    def test_device_is_named_once(self):
        text = self.fof(SNAPSHOT, CUDA_VISIBLE_DEVICES="")
        self.assertEqual(len(re.findall(r"Runs on +host", text)), 1)
        built = "not built" not in self.fof("--version")
        self.assertEqual(len(re.findall("no CUDA device", text)), 1 if built else 0)


class Processes(FofCase):
    @unittest.skipUnless(MPIEXEC, "there is no mpiexec")
    def test_mpiexec_with_one_rank(self):
        launcher = (MPIEXEC, "-n", "1")
        status, output, errors = self.run_fof(SNAPSHOT, launcher=launcher)
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
            with subprocess.Popen([PROGRAM, SNAPSHOT, "--membership", "-q"], cwd=self.folder, stderr=subprocess.PIPE, text=True) as process:
                time.sleep(whole * step / 8)
                process.send_signal(SIGNALS[step % len(SIGNALS)])
                errors = process.communicate(timeout=SECONDS)[1]
            statuses.add(process.returncode)
            if process.returncode == 0:
                self.assertTrue((self.folder / CATALOGUE).exists())
                shutil.rmtree(self.folder / "fof_output")
            else:
                early = [(-number, "") for number in SIGNALS]  # before the program's first line
                self.assertIn((process.returncode, errors), [(130, "fof: error: interrupted\n"), *early])
                self.assertEqual(self.files(), before)
        self.assertGreater(len(statuses), 1)

    def test_a_run_under_nohup_outlives_its_terminal(self):
        with subprocess.Popen([PROGRAM, SNAPSHOT, "-q"], cwd=self.folder, preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN)) as process:
            while process.poll() is None:
                process.send_signal(signal.SIGHUP)
                time.sleep(0.01)
        self.assertEqual(process.returncode, 0)


if __name__ == "__main__":
    main()
