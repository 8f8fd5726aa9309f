"""What the commands take of the memory of devices: predicted by a dry run, reported by a run, and
one error where there is too little.

device_memory_test.py PROGRAM DATA SNAPSHOTS
"""

import json
import re

from command_case import GADGET, NEEDS_MPI, PROGRAM, SWIFT, CommandCase, launcher, main

CLUSTERED = GADGET / "snapshot_001.hdf5"  # 64^3 particles
IN_DOUBLE = SWIFT / "snap_0000.hdf5"

# For each command: arguments and ranks. A number stands for a snapshot of so many particles along
# each axis, hardly displaced.
RUNS = {
    "fof": [
        ((22,), 1),
        ((46,), 1),
        ((46,), 3),
        ((CLUSTERED,), 1),
        ((CLUSTERED,), 2),
        ((CLUSTERED, "--membership"), 3),
        ((IN_DOUBLE, "--meansep", "rho"), 1),
        ((IN_DOUBLE, "--meansep", "rho"), 2),
    ],
    "knn": [
        ((22, "-k", 8), 1),
        ((46, "-k", 8), 2),
        ((46, "-k", 16, "--reduce", "kth"), 1),
        ((CLUSTERED, "-k", 4), 1),
        ((CLUSTERED, "-k", 4), 3),
        ((CLUSTERED, "-k", 4, "--reduce", "density"), 2),
    ],
    "density": [
        ((22, "--grid", 22), 1),
        ((46, "--grid", 64, "--power", "power.txt"), 1),
        ((CLUSTERED, "--grid", 64), 1),
        ((CLUSTERED, "--grid", 64), 2),
        ((CLUSTERED, "--grid", 96, "--power", "power.txt"), 3),
        ((CLUSTERED, "--grid", 64, "--interlace"), 1),
        ((CLUSTERED, "--grid", 66, "--interlace"), 2),
    ],
    "ics": [
        (("--num", 22, "--box-size", 50), 1),
        (("--num", 46, "--box-size", 50), 1),
        (("--num", 46, "--box-size", 50, "--lpt", 1), 1),
        (("--num", 64, "--box-size", 50), 2),
        (("--num", 46, "--box-size", 50), 2),
        (("--num", 48, "--box-size", 50, "--double"), 3),
    ],
}
# What needs more than 8 MiB of one device.
TOO_MUCH = {
    "fof": (CLUSTERED,),
    "knn": (46, "-k", 8),
    "density": (CLUSTERED, "--grid", 96),
    "ics": ("--num", 64, "--box-size", 50),
}
# What does not depend on ranks of what was found, bit for bit but for transforms.
FOUND = {
    "fof": lambda result: result["checksum"],
    "knn": lambda result: [(each["min"], each["max"]) for each in result["columns"]],
    "density": lambda result: (result["field"]["min"], result["field"]["max"]),
    "ics": lambda result: f"{result['rms_displacement']:.6g}",
}


@NEEDS_MPI
class DeviceMemory(CommandCase):
    def arguments(self, given):
        """With a snapshot in place of a number."""
        if not isinstance(given[0], int):
            return given
        path = self.folder / f"particles_{given[0]}.hdf5"
        if not path.exists():
            side = str(given[0])
            arguments = ["--num", side, "--box-size", side, "-q", "-o", path, "--device", "host"]
            self.run_other("ics", *arguments)
        return (path, *given[1:])

    def run_other(self, name, *arguments):
        """Another of the commands, which must succeed."""
        import program

        status, _, errors = program.run(
            [PROGRAM.parent / name, *arguments], self.folder, 120, None
        )
        self.assertEqual(status, 0, errors)

    def report(self, arguments, ranks, *options, **environment):
        """The report for machines, of a run on devices."""
        status, _, errors = self.run_command(
            *arguments,
            *("--device", "cuda", "-q", "--json", "report.json", "-o", "results.hdf5"),
            *options,
            launcher=launcher(ranks),
            ZHALO_EMULATED_DEVICES="1",
            **environment,
        )
        self.assertEqual(status, 0, errors)
        return json.loads((self.folder / "report.json").read_text())

    def test_a_dry_run_predicts_what_a_run_takes(self):
        for given, ranks in RUNS[PROGRAM.name]:
            with self.subTest(arguments=given, ranks=ranks):
                arguments = self.arguments(given)
                predicted = self.report(arguments, ranks, "--dry-run")["estimate"]
                measured = self.report(arguments, ranks)
                taken = measured["result"]["peak_device_bytes"]
                expected = predicted["device_memory_bytes_per_rank"]
                self.assertEqual(measured["estimate"], predicted)
                self.assertAlmostEqual(expected / taken, 1, delta=0.1)
                held = measured["result"]["peak_device_bytes_held"]
                self.assertLessEqual(taken, held)
                self.assertLess(held / taken, 1.65)

    def test_text_has_both(self):
        arguments = self.arguments(RUNS[PROGRAM.name][0][0])
        on_device = ("--device", "cuda", "-o", "results.hdf5")
        text = self.succeed(*arguments, *on_device, "--dry-run", ZHALO_EMULATED_DEVICES="1")
        self.assertRegex(text, r"\nDevice +about [0-9.]+ [KM]iB of the device\n")
        text = self.succeed(*arguments, *on_device, ZHALO_EMULATED_DEVICES="1")
        self.assertRegex(text, r"\nDevice +[0-9.]+ [KM]iB in use at most, [0-9.]+ [KM]iB held\n")
        text = self.succeed(*arguments, "--device", "host", "-o", "others.hdf5")
        self.assertNotIn("\nDevice ", text)

    def test_too_little_memory_is_an_error_that_says_how_many_devices_would_do(self):
        arguments = self.arguments(TOO_MUCH[PROGRAM.name])
        small = {"ZHALO_EMULATED_DEVICES": "1", "ZHALO_EMULATED_MEMORY": "8"}
        for ranks in (1, 2) if PROGRAM.name in ("fof", "ics") else (1,):
            with self.subTest(ranks=ranks):
                refused = [*arguments, "--device", "cuda", "-q", "-o", "none.hdf5"]
                words = ("out of CUDA device memory", "devices of this memory would do")
                self.assert_refused(refused, *words, launcher=launcher(ranks), **small)
                _, _, errors = self.run_command(*refused, launcher=launcher(ranks), **small)
                self.assertEqual(errors.count("error: "), 1)
                needed = int(re.search(r"(\d+) devices of this memory would do", errors)[1])
                self.assertGreater(needed, ranks)
                found = self.report(arguments, needed, ZHALO_EMULATED_MEMORY="8")["result"]
                expected = self.report(arguments, 1)["result"]
                chosen = FOUND[PROGRAM.name]
                self.assertEqual(chosen(found), chosen(expected))

    def test_a_dry_run_warns_of_too_little_memory(self):
        arguments = self.arguments(TOO_MUCH[PROGRAM.name])
        report = self.report(arguments, 1, "--dry-run", ZHALO_EMULATED_MEMORY="8")
        self.assertIn("devices of this memory would do", report["warnings"][-1])


if __name__ == "__main__":
    main()
