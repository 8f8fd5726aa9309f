"""The command fof itself: reports and options.

fof_command_test.py PROGRAM DATA SNAPSHOTS
"""

import json
import os
import pty
import re
import shlex
import shutil
import subprocess

import h5py
import numpy as np
from fof_case import GADGET, GAS, PROGRAM, SANITIZED, SECONDS, SNAPSHOTS, SWIFT, FofCase, main

SNAPSHOT = GADGET / "snapshot_001.hdf5"
CATALOGUE = "fof_output/groups_001/fof_subhalo_tab_001.0.hdf5"
MEMBERSHIP = "fof_output/membership_001.0.hdf5"


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
        self.assertEqual(
            [row["length"] for row in result["largest_groups"]], table["GroupLen"][:10].tolist()
        )
        for key, name in (
            ("mass", "GroupMass"),
            ("centre", "GroupPos"),
            ("velocity", "GroupVelPeculiar"),
        ):
            np.testing.assert_array_equal(
                [row[key] for row in result["largest_groups"]], table[name][:10]
            )
        self.assertEqual(sorted(result["files"]), [CATALOGUE, MEMBERSHIP])
        self.assertEqual(
            (report["num_particles"], report["periodic"], report["box_length"]),
            (262144, True, [50.0] * 3),
        )
        self.assertEqual(
            report["options"],
            {
                "link_types": [1],
                "attach_types": [],
                "min_size": 32,
                "min_counts": "all",
                "membership": True,
            },
        )
        arguments = [str(SNAPSHOT), "--membership", "-q", "--json", "report.json"]
        self.assertEqual(report["command"], "fof")
        self.assertEqual(report["command_line"][1:], arguments)
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
        for phase in result["phases"]:
            if phase["seconds"] > 0:
                self.assertAlmostEqual(
                    phase["particles_per_second"] * phase["seconds"], 262144, delta=1
                )
        columns = 262144 * (12 + 12 + 8)
        self.assertGreater(result["peak_pool_bytes"], columns)
        self.assertGreater(result["peak_resident_bytes"], result["peak_pool_bytes"])

    def test_estimates_bound_what_is_used(self):
        first = CATALOGUE.replace("001", "000")
        groups_of_one = ("--rlink", "0.01", "--min-size", "1")
        attached = ("--attach-types", "0", "--attach-radius", "inf")
        for snapshot, path, options in (
            (SNAPSHOT, CATALOGUE, ()),
            (SNAPSHOT, CATALOGUE, groups_of_one),
            (SWIFT / "snap_0000.hdf5", first, ()),
            (GAS / "snap_0000.hdf5", first, ("--link-types", "0,1", *groups_of_one)),
            (GAS / "snap_0000.hdf5", first, (*attached, *groups_of_one)),
        ):
            if SANITIZED and "--min-size" in options:
                continue  # a sanitizer's own memory counts as the process's
            shutil.rmtree(self.folder / "fof_output", ignore_errors=True)  # of another snapshot
            report = self.report(snapshot, "--membership", "--device", "host", *options)
            estimate, result = report["estimate"], report["result"]
            used = result["peak_pool_bytes"]
            if "--min-size" in options:  # rows are not in the pool; a process is 32 to 40 MB larger
                used = result["peak_resident_bytes"] - (40 << 20)
            self.assertGreaterEqual(estimate["memory_bytes"], used)
            self.assertLess(estimate["memory_bytes"], 2 * used)
            self.assertGreaterEqual(
                estimate["catalogue_limit_bytes"], (self.folder / path).stat().st_size
            )
            self.assertGreaterEqual(
                estimate["membership_bytes"],
                (self.folder / report["result"]["files"][1]).stat().st_size,
            )

    def test_estimates_know_the_columns_of_the_file(self):
        """Velocities and masses in float64 beside positions in float32, and without masses."""
        with h5py.File(SNAPSHOT) as file:
            header, group = dict(file["Header"].attrs), file["PartType1"]
            columns = {name: group[name][:] for name in ("Coordinates", "Velocities")}
            mass, num = header["MassTable"][1], len(group["Coordinates"])
        memory = {}
        for kind in (None, "f4", "f8"):
            with h5py.File(self.folder / f"mixed_{kind}.hdf5", "w") as file:
                table = np.zeros(6) if kind else header["MassTable"]
                file.create_group("Header").attrs.update({**header, "MassTable": table})
                file["PartType1/Coordinates"] = columns["Coordinates"].astype("f4")
                file["PartType1/Velocities"] = columns["Velocities"].astype(kind or "f4")
                if kind:
                    file["PartType1/Masses"] = np.full(num, mass, kind)
            options = ["--meansep", "volume", "-o", f"out_{kind}"]
            report = self.report(f"mixed_{kind}.hdf5", *options)
            memory[kind] = report["estimate"]["memory_bytes"]
            self.assertGreaterEqual(memory[kind], report["result"]["peak_pool_bytes"])
        self.assertEqual(memory["f4"] - memory[None], num * 4)
        self.assertEqual(memory["f8"] - memory["f4"], num * (3 + 1) * 4)

    def test_text_has_it_all(self):
        text = self.fof(SNAPSHOT)
        for pattern in (
            r"Code +GADGET-4",
            r"Type 1 +262144.*MassTable",
            r"Box +50 Mpc/h",
            r"Separation +0.78125 Mpc/h \(automatic",
            r"by volume +0.78125 Mpc/h",
            r"by density +0.78125 Mpc/h",
            r"Link length +0.15625 Mpc/h, b = 0.2 mean",
            r"Groups +468\n",
            r"In groups +90625 of 262144 particles",
            r"\n +0 +5870 +23921\.2 +49\.267 +6\.10\d* +13\.61",
            r"\n +9 +1479 ",
            r"link +\d+\.\d+ +[\d.e+]+\n",
            r"Peak memory +[\d.]+ MiB",
            re.escape(CATALOGUE),
        ):
            self.assertRegex(text, pattern)
        self.assertNotIn("\r", text)
        self.assertNotIn("\033", text)

    def test_quiet_and_verbose(self):
        self.assertEqual(self.fof(SNAPSHOT, "-q"), "")
        plain, verbose = self.fof(SNAPSHOT), self.fof(SNAPSHOT, "-v")
        self.assertIn("peculiar velocity", verbose)
        self.assertNotIn("peculiar velocity", plain)

    def test_one_changing_line_on_a_terminal(self):
        ours, theirs = pty.openpty()
        with subprocess.Popen(
            [PROGRAM, SNAPSHOT], cwd=self.folder, stdout=theirs, stdin=subprocess.DEVNULL
        ) as process:
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

    def test_wrapped_particles_are_counted(self):
        report = self.report(
            SNAPSHOTS / "edge" / "snapshot_003.hdf5", "--meansep", "0.78", "--wrap"
        )
        self.assertGreater(report["result"]["num_wrapped"], 0)


class Options(FofCase):
    def test_help_fits_a_screen_and_its_examples_parse(self):
        text = self.fof("--help")
        lines = text.splitlines()
        self.assertTrue(24 <= len(lines) <= 50, len(lines))
        self.assertLessEqual(max(map(len, lines)), 100)
        examples = [
            re.split(r"  +", line.strip())[0] for line in lines if line.startswith("  fof ")
        ]
        self.assertGreaterEqual(len(examples), 3)
        for example in examples:
            with self.subTest(example):
                self.assert_refused(shlex.split(example)[1:], "no such file")
        for option in (
            "--rlink",
            "--rlink-abs",
            "--meansep",
            "--min-size",
            "--link-types",
            "--attach-types",
            "--attach-radius",
            "--min-counts",
            "--periodic",
            "--box-size",
            "--output",
            "--membership",
            "--device",
            "--threads",
            "--dry-run",
            "--json",
            "--quiet",
            "--verbose",
        ):
            self.assertIn(option, text)

    def test_words_that_are_not_understood(self):
        cases = {
            ("-b", "0.2"): ["no option -b", "--rlink"],
            ("--linking-length", "0.2"): ["--rlink", "--rlink-abs"],
            ("--min-members=20",): ["--min-members", "--min-size"],
            ("--rlnk", "0.2"): ["--rlnk", "is --rlink meant"],
            ("--member",): ["--membership"],
            ("--box_size", "50"): ["--box-size"],
            ("--no-such",): ["no option --no-such ("],
            ("chunk.1.hdf5", "chunk.2.hdf5"): [
                "'chunk.1.hdf5' is one word too many",
                "one snapshot",
                "folder",
            ],
        }
        for arguments, words in cases.items():
            with self.subTest(arguments):
                self.assert_refused([SNAPSHOT, *arguments], *words)
        self.assert_refused(["-b", "0.2", SNAPSHOT], "no option -b", "--rlink")

    def test_version(self):
        self.assertRegex(
            self.fof("--version"),
            r"^zhalo \d+\.\d+\.\d+\nvectors  \w+\nCUDA     (not )?built in\n$",
        )

    def test_threads(self):
        def threads(*arguments, **environment):
            return int(
                re.search(
                    r"host, (\d+) thread",
                    self.fof(SNAPSHOT, "--dry-run", "--device", "host", *arguments, **environment),
                )[1]
            )

        available = len(os.sched_getaffinity(0))
        self.assertEqual(threads(OMP_NUM_THREADS=None), available)
        # OpenMP binds the first thread to one core then.
        for bound in ({"OMP_PROC_BIND": "close"}, {"OMP_PROC_BIND": "true", "OMP_PLACES": "cores"}):
            self.assertEqual(threads(OMP_NUM_THREADS=None, **bound), available)
        first = min(os.sched_getaffinity(0))
        if not SANITIZED:  # there, threads are not those of OpenMP
            self.assertEqual(threads(OMP_NUM_THREADS=None, OMP_PLACES=f"{{{first}}}"), 1)
        self.assertEqual(threads(OMP_NUM_THREADS="3"), 3)
        self.assertEqual(threads(OMP_NUM_THREADS="5,2"), 5)
        self.assertEqual(threads("--threads", 4, OMP_NUM_THREADS="3"), 4)
        self.assertEqual(threads("--threads", 0, OMP_NUM_THREADS="3"), available)

    def test_device_is_named_once(self):
        text = self.fof(SNAPSHOT, CUDA_VISIBLE_DEVICES="")
        self.assertEqual(len(re.findall(r"Runs on +host", text)), 1)
        built = "not built" not in self.fof("--version")
        self.assertEqual(len(re.findall(r"\(no CUDA device: ", text)), 1 if built else 0)


if __name__ == "__main__":
    main()
