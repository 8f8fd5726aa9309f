"""What the tests of faults share: one of the four commands in two variants, whose results are known byte for byte."""
import os

from command_case import MPIEXEC, PROGRAM, SANITIZED, SECONDS, CommandCase, environment_of, main
from knn_case import Snapshot

__all__ = ["MPIEXEC", "NAME", "PROGRAM", "SANITIZED", "SECONDS", "FaultsCase", "environment_of", "main"]

NAME = PROGRAM.name
# Of each command: what it works on, and two ways to call it that write to the same names.
COMMON = {"fof": ["snapshot_007", "--membership", "--meansep", "0.69", "-o", "out"], "knn": ["snapshot_007", "-k", "4", "-o", "out/k.hdf5"],
          "density": ["snapshot_007", "-o", "out/d.hdf5"], "ics": ["--box", "50", "-o", "out/i.hdf5"]}
VARIANTS = {"fof": (["--files", "2"], ["--files", "3", "--min-size", "40"]), "knn": (["--files", "2"], ["--files", "3", "--exclude-self"]),
            "density": (["--grid", "32", "--files", "2"], ["--grid", "24", "--files", "3"]),
            "ics": (["--num", "16", "--files", "2"], ["--num", "12", "--files", "3"])}


class FaultsCase(CommandCase):
    def setUp(self):
        super().setUp()
        if NAME != "ics":
            Snapshot({1: 3000}).write(self.folder / "snapshot_007")
        self.input = self.contents()

    def arguments(self, variant):
        return [*COMMON[NAME], *VARIANTS[NAME][variant], "-q"]

    def contents(self):
        """Every file that a reader would look at: path -> bytes. Hidden ones are the run's own."""
        found = {}
        for folder, _, names in os.walk(self.folder):
            for name in names:
                if not name.startswith("."):
                    path = os.path.join(folder, name)
                    with open(path, "rb") as file:
                        found[os.path.relpath(path, self.folder)] = file.read()
        return found

    def hidden(self):
        return [path for path in self.files() if path.rsplit("/", 1)[-1].startswith(".")]

    def results(self):
        return {path: data for path, data in self.contents().items() if path not in self.input}

    def known_results(self, ranks=1):
        """Of both variants, the first on so many ranks (which file holds a row depends on it), then the second, which stays."""
        known = []
        for variant, launcher in ((0, (MPIEXEC, "-n", str(ranks)) if ranks > 1 else ()), (1, ())):
            self.assertEqual(self.run_command(*self.arguments(variant), launcher=launcher), (0, "", ""))
            known.append(self.results())
        self.assertNotEqual(known[0], known[1])
        self.assertNotEqual(len(known[0]), len(known[1]))
        return known

    def assert_of_one_run(self, known):
        """Some files or all, but never of both runs."""
        found = self.results()
        self.assertTrue(any(found.items() <= one.items() for one in known), sorted(found))
        return found

    def assert_one_error(self, status, errors):
        self.assertEqual((status, errors.count("\n")), (2, 1), errors)
        self.assertTrue(errors.startswith(f"{NAME}: error: "), errors)
