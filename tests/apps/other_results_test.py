"""Any of the commands where files of another kind have the names of its results: what zhalo wrote,
but not as such a result, is nobody's earlier run, and stays.

  other_results_test.py PROGRAM
"""

import shutil
import unittest

import program
from command_case import MPIEXEC, PROGRAM, SECONDS, environment_of, launcher, main
from knn_case import KnnCase

# What writes each kind, under which name, and what the message calls it.
KINDS = {
    "catalogue": (
        "fof",
        ["snapshot_007", "--meansep", 0.7, "--files", 3, "--master", "--membership", "-o", "made"],
        "made/groups_007/fof_subhalo_tab_007",
        "a catalogue, as fof writes",
    ),
    "membership": ("fof", [], "made/membership_007", "a membership of groups, as fof writes"),
    "numbers": (
        "knn",
        ["snapshot_007", "-k", 2, "--files", 3, "--master", "-o", "made/knn"],
        "made/knn",
        "numbers for particles, as knn writes",
    ),
    "field": (
        "density",
        ["snapshot_007", "--grid", 4, "--files", 3, "--master", "-o", "made/field"],
        "made/field",
        "a field, as density writes",
    ),
    "snapshot": (
        "ics",
        ["--num", 4, "--box-size", 10, "--files", 3, "--master", "-o", "made/ics"],
        "made/ics",
        "a snapshot, as ics writes",
    ),
}
# Arguments, by name of the results: its kind, and whether other runs choose it.
READS = {
    "fof": ["snapshot_007", "--meansep", 0.7, "-q"],
    "knn": ["snapshot_007", "-k", 2, "-q"],
    "density": ["snapshot_007", "--grid", 4, "-q"],
    "ics": ["--num", 4, "--box-size", 10, "-q"],
}[PROGRAM.name]
OUTPUTS = {
    "fof": {
        "fof_output/groups_007/fof_subhalo_tab_007": ("catalogue", ["--membership"]),
        "fof_output/membership_007": ("membership", []),
        "chosen/membership_007": ("membership", ["-o", "chosen"]),
    },
    "knn": {"knn_007": ("numbers", []), "chosen": ("numbers", ["-o", "chosen"])},
    "density": {
        "density_007": ("field", ["-o", "density_007.hdf5"]),
        "chosen": ("field", ["-o", "chosen"]),
    },
    "ics": {"ics": ("snapshot", []), "chosen": ("snapshot", ["-o", "chosen"])},
}[PROGRAM.name]


class OtherResults(KnnCase):
    def setUp(self):
        super().setUp()
        self.snapshot({1: 500})
        for command, arguments, _, _ in KINDS.values():
            path = PROGRAM.parent / command
            if arguments and path.exists():  # density and ics need FFTW
                status, _, errors = program.run(
                    [path, *arguments], self.folder, SECONDS, environment_of(())
                )
                self.assertEqual(status, 0, errors)

    def copies(self, kind, name):
        """Copies its files to names of results: the numbered ones and the master, or one of them.
        Returns all of them in turn."""
        source = self.folder / KINDS[kind][2]
        for endings in ([".0", ".1", ".2", ""], [".2"], [""]):
            for path in self.folder.glob(f"{name}*.hdf5"):
                path.unlink()
            target = self.folder / name
            target.parent.mkdir(parents=True, exist_ok=True)
            for ending in endings:
                shutil.copy(f"{source}{ending}.hdf5", f"{target}{ending}.hdf5")
            yield {path: path.read_bytes() for path in self.folder.glob(f"{name}*.hdf5")}

    def test_other_kinds_stay(self):
        for name, (own, options) in OUTPUTS.items():
            for kind, (command, _, _, words) in KINDS.items():
                if kind == own or not (PROGRAM.parent / command).exists():
                    continue
                for before in self.copies(kind, name):
                    with self.subTest(name=name, kind=kind, files=len(before)):
                        for more in ([], ["--dry-run"]):
                            self.assert_refused(
                                [*READS, *options, *more],
                                "would replace",
                                f"{name}.",
                                words,
                                "choose another name",
                            )
                        for path, content in before.items():
                            self.assertEqual(path.read_bytes(), content)
                for path in before:
                    path.unlink()

    def test_its_own_kind_is_replaced(self):
        for name, (own, options) in OUTPUTS.items():
            for before in self.copies(own, name):
                with self.subTest(name=name, files=len(before)):
                    status, _, errors = self.run_command(*READS, *options)
                    self.assertEqual(status, 0, errors)
                    for path, content in before.items():
                        self.assertFalse(path.exists() and path.read_bytes() == content, path)

    @unittest.skipUnless(MPIEXEC, "there is no mpiexec")
    def test_on_ranks(self):
        """The last of three looks into the file."""
        name, (own, options) = next(iter(OUTPUTS.items()))
        kind = "catalogue" if own != "catalogue" else "numbers"
        for before in self.copies(kind, name):
            self.assert_refused(
                [*READS, *options], "would replace", KINDS[kind][3], launcher=launcher(3)
            )
            for path, content in before.items():
                self.assertEqual(path.read_bytes(), content)


if __name__ == "__main__":
    main()
