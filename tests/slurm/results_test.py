"""The commands under a real Slurm, on six ranks of three nodes: the bytes of one rank.

results_test.py PROGRAM ROOT
"""

import json

import h5py
import numpy as np
from slurm_case import NODES, RANKS, SlurmCase, contents, main, start_cluster

CATALOGUE = "groups_001/fof_subhalo_tab_001.{}.hdf5"


def setUpModule():
    start_cluster(crowded=True)


def joined(paths):
    """The datasets of several files, one after the other, by name."""
    parts = {}
    for path in paths:
        with h5py.File(path, "r") as file:
            file.visititems(
                lambda name, item: (
                    parts.setdefault(name, []).append(item[()])
                    if isinstance(item, h5py.Dataset)
                    else None
                )
            )
    return {name: np.concatenate(values) for name, values in parts.items()}


class Results(SlurmCase):
    def run_both(self, name, *options, out):
        """On six ranks and on one: what each wrote, by name; and that the six were on all nodes."""
        common = (name, self.snapshot, *options, "--files", 1, "--threads", 1)
        for folder in ("one", "ranks"):
            (self.folder / folder).mkdir()
        self.succeed(*common, "-o", f"one/{out}")
        self.succeed_on_ranks(*common, "-o", f"ranks/{out}", "--json", "report.json")
        report = json.loads((self.folder / "report.json").read_text())
        self.assertEqual((report["num_ranks"], report["num_machines"]), (RANKS, NODES))
        machines = [rank.split(",")[0] for rank in report["ranks"]]
        self.assertEqual(machines, ["n1", "n1", "n2", "n2", "n3", "n3"])
        ours, expected = contents(self.folder / "ranks"), contents(self.folder / "one")
        self.assertEqual(list(ours), list(expected))
        return ours, expected

    def assert_same_bytes(self, ours, expected):
        self.assertGreater(len(expected), 1000)
        self.assertTrue(ours == expected, "the bytes differ")

    def assert_same_catalogue(self, ours, expected):
        """Datasets by name: sums of floating numbers to 1e-12 of the column's size, all else bit
        for bit, as the page says."""
        self.assertEqual(sorted(ours), sorted(expected))
        self.assertEqual(len(expected["Group/GroupLen"]), 468)
        for name, values in expected.items():
            self.assertEqual((ours[name].dtype, ours[name].shape), (values.dtype, values.shape))
            scale = np.abs(values).max() if values.dtype.kind == "f" else 0
            difference = np.abs(ours[name] - values).max(initial=0)
            self.assertLessEqual(difference, 1e-12 * scale, name)

    def test_knn(self):
        ours, expected = self.run_both(
            "knn", "-k", 8, "--lists", "--reduce", "density", out="k.hdf5"
        )
        self.assert_same_bytes(ours["k.hdf5"], expected["k.hdf5"])

    def test_density(self):
        ours, expected = self.run_both("density", "--grid", 64, "--window", "tsc", out="d.hdf5")
        self.assert_same_bytes(ours["d.hdf5"], expected["d.hdf5"])

    def test_fof(self):
        ours, expected = self.run_both("fof", "--rlink", 0.2, "--membership", out="h")
        self.assertEqual(list(expected), [f"h/{CATALOGUE.format(0)}", "h/membership_001.0.hdf5"])
        self.assert_same_bytes(ours["h/membership_001.0.hdf5"], expected["h/membership_001.0.hdf5"])
        self.assert_same_catalogue(
            *(
                joined([self.folder / where / "h" / CATALOGUE.format(0)])
                for where in ("ranks", "one")
            )
        )

    def test_a_file_per_rank(self):
        """With no more than the options of the page."""
        self.succeed("fof", self.snapshot, "--rlink", 0.2, "-q", "-o", "one")
        output = self.succeed_on_ranks("fof", self.snapshot, "--rlink", 0.2, "-o", "ranks")
        self.assertRegex(output, r"\nRuns on +6 ranks on 3 machines: ")
        self.assertRegex(output, r"\nGroups +468\n")
        paths = [self.folder / "ranks" / CATALOGUE.format(number) for number in range(RANKS)]
        self.assertEqual(len(contents(self.folder / "ranks")), RANKS)
        self.assert_same_catalogue(
            joined(paths), joined([self.folder / "one" / CATALOGUE.format(0)])
        )

    def test_slurm_and_mpi_that_do_not_match(self):
        """Open MPI ends then, before zhalo is asked; nothing is written, and nobody computes
        alone."""
        status, output, errors = self.run_command(*self.on_ranks("fof", self.snapshot, mpi="none"))
        self.assertNotEqual(status, 0)
        self.assertIn("PMI", errors)
        self.assertNotIn("Groups", output)
        self.assertEqual(contents(self.folder), {})


if __name__ == "__main__":
    main()
