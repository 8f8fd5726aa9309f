"""What a peer is: a code that does the same work as zhalo."""

import importlib
import importlib.metadata
import json
import sys

import numpy as np

from compare_peers.running import output_of


class Absent(Exception):
    """The peer is not here; the text says what was looked for."""


class Peer:
    """One code, for one case. It lives in a process of its own (worker.py).

    A subclass sets `title`, finds its code in find() and works in call(). `periodic`: whether it
    knows the periodic cube. If not, it is compared with zhalo in a box that is twice as large.
    `compensation`: by what it divides modes. `serial`: it has one thread. `slow`: it runs up to
    --slow-num only.
    """

    title = ""
    periodic = True
    compensation = "window"
    serial = False
    slow = False

    def __init__(self, options):
        """`options`: those of the command line that say where peers are, by name."""
        self.options = options
        self.problem = {}
        self.version = self.find() or "of unknown version"

    def find(self):
        """Its version. Absent if it is not here."""
        raise NotImplementedError

    def prepare(self, problem):
        """What is not timed: positions in the form that it takes."""
        self.problem = problem
        self.positions = read_positions(problem["points"]).astype(np.float64)

    def call(self):
        """The work. What it returns goes to write()."""
        raise NotImplementedError

    def seconds(self):
        """{name of a variant: processor seconds of the last call}, if the peer has clocks of its
        own; none: call() is timed."""
        return None

    def write(self, result, path):
        """The result, in the form in which zhalo_bench writes its own."""
        raise NotImplementedError


class NumpyPeer(Peer):
    """A few lines of numpy, in float64."""

    title = "numpy"
    serial = True

    def find(self):
        return np.__version__

    def prepare(self, problem):
        self.problem = problem
        self.positions = read_positions(problem["points"])


class ArborXPeer(Peer):
    """apps/bench/arborx, built for the host (docs/gpu-code.md). It reads the points itself."""

    title = "ArborX"
    periodic = False

    def find(self):
        self.program = self.options["arborx"]
        if not self.program:
            raise Absent("--arborx does not say where arborx_driver is")
        return ""

    def prepare(self, problem):
        self.problem = problem

    def run(self, folder, length, *words):
        """It writes its results into the folder."""
        command = [self.program, self.problem["points"], length, 1, folder, *words]
        self.report = json.loads(output_of(command))


def read_positions(path):
    return np.fromfile(path, np.float32).reshape(-1, 3)


def module(name, package=None, folder=None):
    """An importable module, and the version of its package. Absent if there is none."""
    if folder:
        sys.path.insert(0, str(folder))
    try:
        found = importlib.import_module(name)
    except Exception as error:  # some raise others than ImportError
        where = f"in {folder}" if folder else "by this Python"
        raise Absent(f"{name} cannot be imported {where}: {error}") from None
    try:
        version = importlib.metadata.version(package or name)
    except importlib.metadata.PackageNotFoundError:
        version = getattr(found, "__version__", "")
    return found, version
