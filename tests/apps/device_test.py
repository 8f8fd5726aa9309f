"""The commands on emulated devices write what they write on the host, bit for bit, on the real
snapshots.

device_test.py PROGRAM DATA SNAPSHOTS
"""

import shutil
import unittest

import h5py
from command_case import GADGET, MPIEXEC, PROGRAM, SANITIZED, SWIFT, CommandCase, each, main

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


@unittest.skipUnless(MPIEXEC, "there is no mpiexec")
class Device(CommandCase):
    def results(self, processor, arguments, ranks, devices):
        """The contents of all files that a run on the host or on devices writes."""
        launcher = (MPIEXEC, "-n", str(ranks)) if ranks > 1 else ()
        self.succeed(
            *arguments,
            "--device",
            processor,
            "-q",
            "-o",
            processor,
            launcher=launcher,
            ZHALO_EMULATED_DEVICES=str(devices),
        )
        paths = [
            self.folder / name
            for name in self.files()
            if name.startswith(processor) and (self.folder / name).is_file()
        ]
        self.assertTrue(paths)
        return {
            str(path.relative_to(self.folder)).removeprefix(processor): contents(path)
            for path in paths
        }

    def test_results_are_those_of_the_host(self):
        for arguments, ranks, devices in RUNS[PROGRAM.name]:
            with self.subTest(arguments=arguments, ranks=ranks, devices=devices):
                expected = self.results("host", arguments, ranks, devices)
                found = self.results("cuda", arguments, ranks, devices)
                self.assertEqual(found.keys(), expected.keys())
                for path, values in expected.items():
                    different = [
                        name
                        for name in values.keys() | found[path].keys()
                        if values.get(name) != found[path].get(name)
                    ]
                    self.assertEqual(different, [], path)
            for path in self.folder.iterdir():
                shutil.rmtree(path) if path.is_dir() else path.unlink()

    def test_a_device_that_fails_is_an_error(self):
        arguments, _, _ = RUNS[PROGRAM.name][0]
        for call in each("launch:3", "copy:5", "synchronise:2"):
            with self.subTest(call=call):
                status, _, errors = self.run_command(
                    *arguments,
                    "--device",
                    "cuda",
                    "-q",
                    ZHALO_EMULATED_DEVICES="1",
                    ZHALO_EMULATED_FAIL=call,
                )
                self.assertEqual(status, 2, errors)
                self.assertIn(f"{PROGRAM.name}: error: the CUDA device failed", errors)
                self.assertEqual(self.files(), [])


if __name__ == "__main__":
    main()
