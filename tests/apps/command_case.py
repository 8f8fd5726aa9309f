"""What the tests of the commands share: running one in an empty folder.

Every test script is called with  PROGRAM DATA SNAPSHOTS [unittest arguments]:  the command, the
folder of the real snapshots, and the folder that make_snapshots.py filled.
"""

import os
import shutil
import sys
import tempfile
import unittest
from pathlib import Path

import program

PROGRAM, DATA, SNAPSHOTS = (Path(argument).absolute() for argument in (sys.argv + ["."] * 3)[1:4])
GADGET = DATA / "gadget4-dm64"
SWIFT = DATA / "swift-dm64"
GAS = DATA / "swift-gas64"
MPIEXEC = os.environ.get("ZHALO_MPIEXEC") or shutil.which("mpiexec")  # ctest says which
SECONDS = 120  # until a run counts as hanging
# Under a sanitizer a run takes ten times as long, and looks for what one run of a kind shows as
# well as ten.
SANITIZED = "ASAN_OPTIONS" in os.environ


# Root may read and write everywhere, unless it gives these rights away.
AS_ANYBODY = (
    ("setpriv", "--bounding-set=-dac_override,-dac_read_search") if os.geteuid() == 0 else ()
)
obeys_modes = unittest.skipUnless(
    not AS_ANYBODY or shutil.which("setpriv"), "root may read and write everywhere"
)
NEEDS_MPI = unittest.skipUnless(MPIEXEC, "there is no mpiexec")
# For a test that shows what the results are, by code that others run under the sanitizers, too.
shows_results = unittest.skipIf(SANITIZED, "shows results, not how the code runs")


def each(*cases):
    """All cases; under a sanitizer the last one."""
    return cases[-1:] if SANITIZED else cases


def each_rank(*numbers):
    """Those of these numbers of ranks that are tested in this tree (ZHALO_TEST_RANKS), or the last
    if none is."""
    tested = os.environ.get("ZHALO_TEST_RANKS", "1,2,3,8,16").split(",")
    return [number for number in numbers if str(number) in tested] or numbers[-1:]


def launcher(ranks):
    """What starts the command on so many ranks."""
    return () if ranks == 1 else (MPIEXEC, "-n", str(ranks))


def without_warnings(errors):
    """The other lines of standard error."""
    return "".join(
        line
        for line in errors.splitlines(keepends=True)
        if not line.startswith(f"{PROGRAM.name}: warning: ")
    )


def environment_of(launcher, **changes):
    """Ours, changed; a variable that is None is not set."""
    variables = {
        name: value for name, value in {**os.environ, **changes}.items() if value is not None
    }
    if launcher and "ASAN_OPTIONS" in variables:  # MPI libraries keep memory until the process ends
        variables["ASAN_OPTIONS"] += ":detect_leaks=0"
    return variables


class CommandCase(unittest.TestCase):
    """Each test has its own empty folder, in which the command runs."""

    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = Path(holder.name).resolve()

    def run_command(self, *arguments, launcher=(), **environment):
        """Exit status, output and errors. A variable of the environment that is None is not set."""
        return program.run(
            [*launcher, PROGRAM, *arguments],
            self.folder,
            SECONDS,
            environment_of(launcher, **environment),
        )

    def succeed(self, *arguments, **environment):
        """Output of a run that must succeed without a word on standard error."""
        status, output, errors = self.run_command(*arguments, **environment)
        self.assertEqual((status, errors), (0, ""))
        return output

    def assert_refused(self, arguments, *words, launcher=(), **environment):
        """One error that has all these words (after warnings, maybe), status 2, and nothing left
        behind."""
        before = self.files()
        status, _, errors = self.run_command(*arguments, launcher=launcher, **environment)
        if launcher:
            errors = "\n".join(
                line for line in errors.splitlines() if line.startswith(PROGRAM.name)
            )  # the launcher has its own words
        self.assertEqual(status, 2, errors)
        *warnings, error = errors.splitlines()
        self.assertTrue(error.startswith(f"{PROGRAM.name}: error: "), errors)
        self.assertTrue(
            all(line.startswith(f"{PROGRAM.name}: warning: ") for line in warnings), errors
        )
        for word in words:
            self.assertIn(str(word), error)
        self.assertEqual(self.files(), before)

    def files(self):
        """Everything in the folder of the test."""
        return sorted(str(path.relative_to(self.folder)) for path in self.folder.rglob("*"))


def main():
    unittest.main(argv=[sys.argv[0], *sys.argv[4:]])
