"""The k nearest neighbours of all points, each itself included: distances and indices."""

import os
import tempfile
from pathlib import Path

import numpy as np

from compare_peers.agreement import read_rows, why_neighbours_differ
from compare_peers.peer import Absent, ArborXPeer, Peer, module, read_positions
from compare_peers.running import ROOT, output_of

DRIVER = ROOT / "scripts/compare_peers/nanoflann_driver.cpp"


class NeighbourPeer(Peer):
    """call() returns distances and indices, (N, k) each. Slow ones run for --slow-k only."""

    def write(self, result, path):
        distance, index = result
        with open(path, "wb") as file:
            np.asarray(distance, np.float32).tofile(file)
            np.asarray(index, np.int64).tofile(file)


class Scipy(NeighbourPeer):
    """cKDTree, in float64."""

    title = "scipy"
    slow = True

    def find(self):
        self.spatial, version = module("scipy.spatial", "scipy")
        return version

    def call(self):
        tree = self.spatial.cKDTree(self.positions, boxsize=1.0)
        k, threads = self.problem["k"], self.problem["threads"]
        distance, index = tree.query(self.positions, k=np.arange(1, k + 1), workers=threads)
        return distance, index


class ScikitLearn(NeighbourPeer):
    """Its KDTree, in float64."""

    title = "scikit-learn"
    periodic = False
    serial = True
    slow = True

    def find(self):
        self.neighbors, version = module("sklearn.neighbors", "scikit-learn")
        return version

    def call(self):
        return self.neighbors.KDTree(self.positions).query(self.positions, k=self.problem["k"])


class Pykdtree(NeighbourPeer):
    """https://github.com/storpipfugl/pykdtree, LGPL; in float32, on OpenMP's threads."""

    title = "pykdtree"
    periodic = False

    def find(self):
        self.kdtree, version = module("pykdtree.kdtree", "pykdtree")
        return version

    def prepare(self, problem):
        self.problem = problem
        self.positions = read_positions(problem["points"])

    def call(self):
        return self.kdtree.KDTree(self.positions).query(self.positions, k=self.problem["k"])


class Nanoflann(NeighbourPeer):
    """https://github.com/jlblancoc/nanoflann, BSD licence; in float32, with queries in the points'
    own order, which is random, and in the order of its tree."""

    title = "nanoflann"
    periodic = False
    serial = True

    def find(self):
        header = Path(self.options["nanoflann"], "nanoflann.hpp")
        if not header.exists():
            raise Absent(f"there is no {header} (Debian: libnanoflann-dev)")
        self.program = Path(self.options["folder"], "nanoflann_driver")
        if not self.program.exists():
            compiler = [self.options["compiler"], "-std=c++17", "-O3", "-march=native"]
            output_of([*compiler, "-I", header.parent, "-o", self.program, DRIVER])
        for line in header.read_text().splitlines():
            if line.startswith("#define NANOFLANN_VERSION_STRING"):
                return line.split('"')[1]
            if line.startswith("#define NANOFLANN_VERSION "):
                return ".".join(line.split()[-1].removeprefix("0x"))  # 0x142 is 1.4.2
        return ""

    def prepare(self, problem):
        self.problem = problem

    def run(self, *out):
        return output_of([self.program, self.problem["points"], self.problem["k"], *out])

    def call(self):
        self.clocks = [float(word) for word in self.run().split()]

    def seconds(self):
        build, in_own_order, in_tree_order = self.clocks
        return {
            "nanoflann, random order": build + in_own_order,
            "nanoflann, tree order": build + in_tree_order,
        }

    def write(self, result, path):
        self.run(path)
        size = os.path.getsize(path) // 3  # squared distances, then indices of twice the size
        distance = np.sqrt(np.fromfile(path, np.float32, size // 4))
        with open(path, "r+b") as file:
            distance.tofile(file)


class ArborX(ArborXPeer, NeighbourPeer):
    """Tree and `query` of the nearest."""

    def call(self):
        k = self.problem["k"]
        with tempfile.TemporaryDirectory() as folder:
            self.run(folder, 1e-9, k)
            return Path(folder, f"neighbours-{k}").read_bytes()

    def seconds(self):
        return {self.title: self.report["knn"][str(self.problem["k"])]["seconds"][0]}

    def write(self, result, path):
        Path(path).write_bytes(result)


PEERS = {
    "scipy": Scipy,
    "scikit-learn": ScikitLearn,
    "pykdtree": Pykdtree,
    "nanoflann": Nanoflann,
    "arborx": ArborX,
}


def problems(options, points, num):
    del num
    for k in options.k:
        yield {"points": str(points), "what": f"k = {k}", "k": k, "slow": k in options.slow_k}


def zhalo(bench, problem):
    """Counters of one run."""
    k, threads = problem["k"], problem["threads"]
    given = ["--threads", threads]
    found = bench.case(problem["points"], f"knn/points/k{k}/threads:{threads}", *given)
    return {
        **found,
        "cpu": found["cpu_time"] * 1e-3,
        "wall": found["ns_per_query"] * 1e-9 * problem["num"],
        "bytes": found["bytes_per_query"] * problem["num"],
    }


def write_zhalo(bench, problem, peer, path):
    """The rows that a peer should have."""
    box = 1 if peer.periodic else 2
    bench.write(problem["points"], box, "--k", problem["k"], "--write-neighbours", path)


def why_differ(problem, ours, theirs, periodic):
    num, k = problem["num"], problem["k"]
    positions = read_positions(problem["points"])
    rows = [read_rows(path, num, k) for path in (ours, theirs)]
    return why_neighbours_differ(positions, *rows, periodic)
