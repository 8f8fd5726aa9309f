"""The commands on emulated devices write what they write on the host, bit for bit, on the real
snapshots.

device_test.py PROGRAM DATA SNAPSHOTS
"""

import json
import shutil

import h5py
from command_case import (
    GADGET,
    NEEDS_MPI,
    PROGRAM,
    SANITIZED,
    SWIFT,
    CommandCase,
    each,
    launcher,
    main,
)

# For each command: its arguments, and the ranks and devices it runs on. Painting counts in
# fixed-point units, so that its sums are equal, too.
RUNS = {
    "fof": [
        ((GADGET / "snapshot_001.hdf5", "--membership"), 1, 1),
        ((GADGET / "snapshot_001.hdf5", "--membership"), 2, 2),
        ((SWIFT / "snap_0000.hdf5", "--meansep", "rho"), 2, 1),
    ],
    "knn": [((GADGET / "snapshot_001.hdf5", "-k", 1 if SANITIZED else 4), 2, 2)],
    "density": [((GADGET / "snapshot_001.hdf5", "--grid", 32), 2, 2)],
}

# Arguments of runs on several devices of one process.
TOGETHER = {
    "fof": (GADGET / "snapshot_001.hdf5", "--membership"),
    "knn": (GADGET / "snapshot_001.hdf5", "-k", 1),
    "density": (GADGET / "snapshot_001.hdf5", "--grid", 32),
    "ics": ("--num", 16, "--box-size", 50, "--seed", 4),
}


def contents(path):
    """Every dataset and attribute of a file, as bytes, by name."""
    found = {}

    def visit(name, item):
        if isinstance(item, h5py.Dataset):
            found[name] = (item.dtype.str, item.shape, item[()].tobytes())
        for key, value in item.attrs.items():
            found[f"{name}@{key}"] = repr(value)

    with h5py.File(path, "r") as file:
        visit("/", file)
        file.visititems(visit)
    return found


@NEEDS_MPI
class Device(CommandCase):
    def results(self, processor, arguments, ranks, devices):
        """The contents of all files that a run on the host or on devices writes."""
        return self.results_of(
            processor, arguments, launcher(ranks), ZHALO_EMULATED_DEVICES=str(devices)
        )

    def results_of(self, where, arguments, launcher=(), **environment):
        """The contents of all files of a run with `--devices where`, by name."""
        name_of_run = "run_" + where.replace(",", "_").replace(":", "_")
        self.succeed(
            *arguments,
            *("--devices", where, "-q", "-o", name_of_run),
            launcher=launcher,
            **environment,
        )
        paths = [
            self.folder / name
            for name in self.files()
            if name.startswith(name_of_run) and (self.folder / name).is_file()
        ]
        self.assertTrue(paths)
        return {
            str(path.relative_to(self.folder)).removeprefix(name_of_run): contents(path)
            for path in paths
        }

    def assert_same(self, found, expected):
        self.assertEqual(found.keys(), expected.keys())
        for path, values in expected.items():
            different = [
                name
                for name in values.keys() | found[path].keys()
                if values.get(name) != found[path].get(name)
            ]
            self.assertEqual(different, [], path)

    def test_devices_of_one_process_write_what_one_writes(self):
        arguments = TOGETHER[PROGRAM.name]
        expected = self.results_of("cuda", arguments, ZHALO_EMULATED_DEVICES="1")
        for where, devices in each(("all", 1), ("cuda:0,2", 3), ("all", 4)):
            with self.subTest(where=where, devices=devices):
                found = self.results_of(where, arguments, ZHALO_EMULATED_DEVICES=str(devices))
                self.assert_same(found, expected)

    def test_transports_that_are_asked_for(self):
        arguments = (*TOGETHER[PROGRAM.name], "-q", "--device", "cuda", "--json", "report.json")
        how = {"launcher": launcher(2), "ZHALO_EMULATED_DEVICES": "2"}
        self.succeed(*arguments, "-o", "staged", "--transport", "staged", **how)
        report = json.loads((self.folder / "report.json").read_text())
        self.assertIn("staged", report["transport"])
        how["ZHALO_EMULATED_DEVICES"] = "1"
        status, _, errors = self.run_command(
            *arguments, "-o", "shared", "--transport", "nccl", **how
        )
        self.assertEqual((status, "NCCL" in errors), (2, True), errors)

    def test_some_ranks_have_a_device(self):
        """Rank 0 sees none, and rank 1 sees one: they compute together all the same."""
        arguments = TOGETHER[PROGRAM.name]
        script = 'ZHALO_EMULATED_DEVICES=$OMPI_COMM_WORLD_RANK exec "$@"'
        mixed = (*launcher(2), "sh", "-c", script, "sh")
        plan = self.succeed(*arguments, "--dry-run", launcher=mixed)
        self.assertRegex(plan, r"\nRuns on +2 ranks .*: 1 x \(host.*, 1 x \((?!host)")
        found = self.results_of("auto", arguments, mixed)
        if PROGRAM.name in RUNS:  # others agree to rounding
            self.assert_same(found, self.results("host", arguments, 2, 1))

    def assert_fails(self, arguments, where, call, devices, begin):
        """One error, which begins so, and no file, where this call of an emulated device fails;
        `where` is the option that chooses the device."""
        status, _, errors = self.run_command(
            *arguments,
            *where,
            "-q",
            ZHALO_EMULATED_DEVICES=str(devices),
            ZHALO_EMULATED_FAIL=call,
        )
        self.assertEqual(status, 2, errors)
        self.assertIn(f"{PROGRAM.name}: error: {begin}", errors)
        self.assertIn("the CUDA device failed", errors)
        self.assertEqual(self.files(), [])
        return errors

    def test_devices_of_one_process_that_fail(self):
        arguments = TOGETHER[PROGRAM.name]
        for call in each("launch:9", "copy:60"):
            with self.subTest(call=call):
                errors = self.assert_fails(arguments, ["--devices", "all"], call, 3, "rank ")
                self.assertEqual(len(errors.splitlines()), 1)

    def test_devices_that_make_no_sense(self):
        arguments = TOGETHER[PROGRAM.name]
        cases = [
            ("0,0", "names device 0 twice"),
            ("0,5", "CUDA device 5 does not exist"),
            ("cuda:0,x", "'cuda:0,x' (must be cuda:"),
            ("all,1", "'all,1' (must be"),
        ]
        for where, words in each(*cases):
            with self.subTest(where=where):
                self.assert_refused(
                    [*arguments, "--devices", where], words, ZHALO_EMULATED_DEVICES="2"
                )
        self.assert_refused(
            [*arguments, "--devices", "all"],
            "--devices is for one process, but mpirun or srun has started 2",
            launcher=launcher(2),
            ZHALO_EMULATED_DEVICES="2",
        )
        self.assert_refused(
            [*arguments, "--devices", "all"], "no CUDA device", ZHALO_EMULATED_DEVICES="0"
        )

    def test_results_are_those_of_the_host(self):
        for arguments, ranks, devices in RUNS.get(PROGRAM.name, []):
            with self.subTest(arguments=arguments, ranks=ranks, devices=devices):
                expected = self.results("host", arguments, ranks, devices)
                self.assert_same(self.results("cuda", arguments, ranks, devices), expected)
            for path in self.folder.iterdir():
                shutil.rmtree(path) if path.is_dir() else path.unlink()

    def test_a_device_that_fails_is_an_error(self):
        arguments = TOGETHER[PROGRAM.name]
        for call in each("launch:3", "copy:5", "synchronise:2"):
            with self.subTest(call=call):
                self.assert_fails(arguments, ["--device", "cuda"], call, 1, "the CUDA device")


if __name__ == "__main__":
    main()
