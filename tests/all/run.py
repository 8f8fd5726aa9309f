"""Runs ctest and shows its output as it comes; before ctest's summary it says what each part of the
whole took and which tests were the slowest.

  run.py [--part NAME=SECONDS]... -- CTEST ARGUMENT...

The exit status is ctest's.
"""

import contextlib
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

SLOWEST = 10
# "  3/120 Test  #7: fof.ranks3 ....   Passed    1.25 sec", or ***Failed, ***Timeout, ***Skipped
RESULT = re.compile(r"^ *\d+/\d+ Test +#\d+: (\S+) \.*.* ([\d.]+) sec\s*$")
SUMMARY = re.compile(r"^\d+% tests passed")


def report(parts, tests):
    lines = ["What each part took:"]
    lines += [f"{seconds:9.0f} s  {name}" for name, seconds in parts]
    lines += [f"{sum(seconds for _, seconds in parts):9.0f} s  in all", "", "The slowest tests:"]
    lines += [
        f"{seconds:9.1f} s  {name}" for seconds, name in sorted(tests, reverse=True)[:SLOWEST]
    ]
    return "\n".join(lines) + "\n\n"


@contextlib.contextmanager
def held_folder_of_open_mpi():
    """mpirun removes the folder that all mpiruns of a user share, if it is empty. Another one that
    starts at this moment fails (1 in 1200 where four start all the time)."""
    uname = os.uname().nodename.partition(".")[0]
    held = Path(tempfile.gettempdir(), f"ompi.{uname}.{os.getuid()}", "held")
    with contextlib.suppress(OSError):
        held.mkdir(parents=True)
    try:
        yield
    finally:
        with contextlib.suppress(OSError):
            held.rmdir()
            held.parent.rmdir()


def main(arguments):
    split = arguments.index("--")
    parts = []
    for argument in arguments[:split]:
        if argument != "--part":
            name, _, seconds = argument.rpartition("=")
            parts.append((name, float(seconds)))
    tests = []
    started = time.monotonic()
    with held_folder_of_open_mpi(), subprocess.Popen(
        arguments[split + 1 :],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        restore_signals=False,
    ) as ctest:
        for line in ctest.stdout:
            if SUMMARY.match(line):
                sys.stdout.write(report([*parts, ("testing", time.monotonic() - started)], tests))
            elif found := RESULT.match(line):
                tests.append((float(found[2]), found[1]))
            sys.stdout.write(line)
            sys.stdout.flush()
    return ctest.returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
