"""What the tests of faults share: one of the four commands in two variants, whose results are known
byte for byte."""

import os
import re
import signal
import subprocess
import tempfile
import time
from pathlib import Path

import program
from command_case import (
    NEEDS_MPI,
    PROGRAM,
    SANITIZED,
    SECONDS,
    CommandCase,
    environment_of,
    launcher,
    main,
)
from knn_case import Snapshot

__all__ = [
    "CAN_PRELOAD",
    "LARGE",
    "NAME",
    "NEEDS_MPI",
    "PROGRAM",
    "SANITIZED",
    "SECONDS",
    "FaultsCase",
    "environment_of",
    "launcher",
    "main",
]

NAME = PROGRAM.name
FAULTY_RANK = PROGRAM.parent.parent / "tests" / "apps" / "libfaulty_rank.so"
CAN_PRELOAD = FAULTY_RANK.exists() and not SANITIZED
# Each rank leaves its process number.
NOTE = 'to="$PIDS/$OMPI_COMM_WORLD_RANK"; echo $$ >"$to.new"; mv "$to.new" "$to"; exec "$@"'
# Of each command: what it works on; two ways to call it that write to the same names; and one that
# needs some 100 MB (with a large snapshot).
COMMON = {
    "fof": ["snapshot_007", "--membership", "--meansep", "0.69", "-o", "out"],
    "knn": ["snapshot_007", "-k", "4", "-o", "out/k.hdf5"],
    "density": ["snapshot_007", "-o", "out/d.hdf5"],
    "ics": ["--box-size", "50", "-o", "out/i.hdf5"],
}
VARIANTS = {
    "fof": (["--files", "2"], ["--files", "3", "--min-size", "40"], []),
    "knn": (["--files", "2"], ["--files", "3", "--exclude-self"], []),
    "density": (
        ["--grid", "32", "--files", "2"],
        ["--grid", "24", "--files", "3"],
        ["--grid", "200"],
    ),
    "ics": (["--num", "16", "--files", "2"], ["--num", "12", "--files", "3"], ["--num", "80"]),
}
LARGE = 2


def has_ended(note):
    """Whether the process that left this note has, though nobody may have noticed."""
    if not note.exists():
        return False
    try:
        return (
            Path(f"/proc/{note.read_text().strip()}/stat").read_text().rsplit(")", 1)[1].split()[0]
            == "Z"
        )
    except (FileNotFoundError, ProcessLookupError):
        return True


class FaultsCase(CommandCase):
    def setUp(self):
        super().setUp()
        if NAME != "ics":
            Snapshot({1: 3000}).write(self.folder / "snapshot_007")
        self.input = self.contents()

    def enlarge_input(self):
        """For the variant LARGE."""
        if NAME != "ics":
            Snapshot({1: 1000000}).write(self.folder / "snapshot_007")
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
        """Of both variants (which file holds a row depends on the number of ranks). Those of the
        second stay."""
        known = []
        for variant in (0, 1):
            self.assertEqual(
                self.run_command(*self.arguments(variant), launcher=launcher(ranks)), (0, "", "")
            )
            known.append(self.results())
        self.assertNotEqual(known[0], known[1])
        self.assertNotEqual(len(known[0]), len(known[1]))
        return known

    def restore(self, results):
        """The folder as it is after a run with these results."""
        for path in (*self.hidden(), *self.results()):
            (self.folder / path).unlink()
        for path, data in results.items():
            (self.folder / path).write_bytes(data)

    def run_faulty(self, ranks, rank, fault, variant=0, **environment):
        """Exit status and errors of so many ranks, one of which, or "all", has a fault
        (faulty_rank.cpp)."""
        preloading = (*launcher(ranks), "-x", f"LD_PRELOAD={FAULTY_RANK}")
        status, _, errors = self.run_command(
            *self.arguments(variant),
            launcher=preloading,
            FAULTY_RANK=str(rank),
            FAULT=fault,
            **environment,
        )
        return status, errors

    def launch(self, ranks, variant):
        """Starts the command. So many ranks can be told apart by `send`."""
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        command = [*launcher(ranks), "sh", "-c", NOTE, "sh", PROGRAM, *self.arguments(variant)]
        alone = {"OMPI_COMM_WORLD_RANK": "0"} if ranks == 1 else {}
        environment = environment_of(launcher(ranks), PIDS=holder.name, **alone)
        process = program.start(command, self.folder, environment, start_new_session=True)
        process.notes = [Path(holder.name) / str(rank) for rank in range(ranks)]
        return process

    def send(self, process, rank, number):
        """To one rank, when it is there."""
        end = time.monotonic() + SECONDS
        while (
            not process.notes[rank].exists() and process.poll() is None and time.monotonic() < end
        ):
            time.sleep(0.002)
        try:
            os.kill(int(process.notes[rank].read_text()), number)
        except (ProcessLookupError, FileNotFoundError):
            pass  # it was faster

    def finish(self, process):
        """What it said on standard error. Open MPI's mpiexec sometimes hangs when its ranks have
        ended, if one did so in MPI_Init."""
        end = time.monotonic() + SECONDS
        while time.monotonic() < end:
            try:
                return process.communicate(timeout=4)[1]
            except subprocess.TimeoutExpired:
                if all(has_ended(note) for note in process.notes):
                    break
        in_time = time.monotonic() < end
        for note in process.notes:
            if note.exists() and not has_ended(note):
                os.kill(int(note.read_text()), signal.SIGKILL)
        process.kill()
        errors = process.communicate()[1]
        self.assertTrue(in_time, errors)
        return errors

    def assert_of_one_run(self, known):
        """Some files or all, but never of both runs. Earlier ones may be hidden, not lost."""
        found = self.results()
        self.assertTrue(found or any(path.endswith(".old") for path in self.hidden()))
        self.assertTrue(any(found.items() <= one.items() for one in known), sorted(found))
        return found

    def own_errors(self, errors):
        """Without the launcher's words, and without the rank that they come from."""
        found = (
            re.match(rf"{NAME}: error: (?:rank \d+: )?(.*)", line) for line in errors.splitlines()
        )
        return [error[1] for error in found if error]

    def without_expected_warnings(self, errors):
        """Where memory is limited, the command says before that it may not be enough. The input's
        particles are everywhere in the box, and may be one group."""
        expected = "particles may need|span half of the periodic box"
        return re.sub(rf"{NAME}: warning: .* ({expected}) .*\n", "", errors)

    def assert_one_error(self, status, errors, ranks=1):
        self.assertEqual((status, len(self.own_errors(errors))), (2, 1), errors)
        if ranks == 1:
            self.assertEqual(self.without_expected_warnings(errors).count("\n"), 1, errors)
