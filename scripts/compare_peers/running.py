"""Programs that are run, zhalo_bench among them, and what is said of the machine."""

import json
import os
import platform
import subprocess
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# For Open MPI: more ranks than cores are wanted, and the threads of one rank must not share a core.
# What the user has set stays.
LAUNCHER = {
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
    "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",
    "OMPI_MCA_hwloc_base_binding_policy": "none",
    "OMP_WAIT_POLICY": "passive",
}
CORES = os.sched_getaffinity(0)


class Failure(Exception):
    """Of a command, in one line: what zhalo needs is missing, or a peer failed."""


def output_of(words, environment=None, folder=None):
    """What a command prints. It runs in the folder."""
    words = [str(word) for word in words]
    given = {**os.environ, **(environment or {})}
    try:
        result = subprocess.run(words, capture_output=True, text=True, env=given, cwd=folder)
    except OSError as error:
        raise Failure(f"cannot run {words[0]}: {error.strerror}") from None
    if result.returncode != 0:
        told = result.stderr.strip() or result.stdout.strip()
        lines = [line for line in told.split("\n") if line.strip("- ")] or ["it says nothing"]
        raise Failure(f"{Path(words[0]).name} ended with {result.returncode}: {lines[-1]}")
    return result.stdout


def stay_on_cores(threads, cpu=None):
    """Keeps this process, and those that it starts, on one core if they have one thread."""
    one = max(CORES) if cpu is None else cpu
    os.sched_setaffinity(0, {one} if threads == 1 else CORES)


def mpi_words(mpiexec, ranks):
    """What starts a program on so many ranks, and its environment."""
    asked = {name: value for name, value in LAUNCHER.items() if name not in os.environ}
    return [mpiexec, "-n", ranks], asked


class Bench:
    """The program zhalo_bench, and the points that it writes."""

    def __init__(self, options, folder):
        self.program, self.folder = options.programs / "zhalo_bench", folder
        self.order = ["--z-order"] if options.order == "z-order" else []
        self.context = {}

    def points(self, kind, num):
        """The file of these points, made when they are first asked for."""
        path = self.folder / f"{kind}-{num}.f32"
        if not path.exists():
            which = ["--kind", kind, "--num", num, *self.order]
            output_of([self.program, "--write-points", path, *which])
        return path

    def case(self, points, name, *given):
        """The counters of one run of one case of these points, in the periodic unit cube."""
        out = self.folder / "zhalo.json"
        output_of(
            [self.program, "--points", points, "--box-size", "1", *given]
            + [f"--benchmark_filter=^{name}$", "--benchmark_min_time=0.05"]
            + [f"--benchmark_out={out}", "--benchmark_out_format=json"]
        )
        report = json.loads(out.read_text() or "{}")
        found = report.get("benchmarks", [])
        if len(found) != 1 or found[0].get("error_occurred"):
            why = found[0]["error_message"] if found else "there is none"
            raise Failure(f"zhalo_bench: case {name}: {why}")
        self.context = report["context"]
        return {key: one for key, one in found[0].items() if isinstance(one, (int, float))}

    def write(self, points, box, *given):
        """A result of zhalo's, into a file."""
        output_of([self.program, "--points", points, "--box-size", str(box), *given])


def processor():
    """ "model name" of Linux's /proc/cpuinfo."""
    path = Path("/proc/cpuinfo")
    lines = path.read_text().splitlines() if path.exists() else []
    return next((one.split(": ", 1)[1] for one in lines if one.startswith("model name")), "unknown")


def commit():
    words = ["git", "-C", ROOT, "describe", "--always", "--dirty", "--abbrev=12"]
    try:
        return output_of(words).strip()
    except Failure:
        return "unknown"


def machine():
    return {
        "date": time.strftime("%Y-%m-%d"),
        "commit": commit(),
        "system": platform.platform(),
        "processor": processor(),
        "cores": len(CORES),
        "load": os.getloadavg(),
    }
