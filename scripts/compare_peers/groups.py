"""Friends-of-friends: labels of the points, in their own order."""

import tempfile
from pathlib import Path

import numpy as np

from compare_peers.agreement import why_groups_differ
from compare_peers.gadget4 import Gadget4
from compare_peers.peer import Absent, ArborXPeer, Peer, module

SMALLEST_LISTED = 32  # GADGET-4's default


def smallest_members(labels):
    """For each point the smallest index in its group; labels are any whole numbers from 0."""
    smallest = np.full(int(labels.max()) + 1, len(labels), np.int64)
    np.minimum.at(smallest, labels, np.arange(len(labels)))
    return smallest[labels]


class GroupPeer(Peer):
    """call() returns labels that are any whole numbers."""

    def write(self, result, path):
        smallest_members(np.asarray(result, np.int64)).tofile(path)


class Hfof(GroupPeer):
    """https://github.com/pec27/hfof, MIT licence; Creasey 2018, Astronomy and Computing 25, 159."""

    title = "hfof"
    serial = True

    def find(self):
        package, version = module("hfof", folder=self.options["hfof"])
        self.fof = package.fof
        try:  # loads its C library
            self.fof(np.random.default_rng(1).random((1000, 3)), 0.01, boxsize=1.0)
        except Exception as error:  # it raises plain Exceptions
            raise Absent(f"hfof does not work: {error}") from None
        return version

    def call(self):
        return self.fof(self.positions, self.problem["length"], boxsize=1.0)


class Kdcount(GroupPeer):
    """https://github.com/rainwoodman/kdcount, GPL."""

    title = "kdcount"
    serial = True

    def find(self):
        _, version = module("kdcount")
        self.cluster, _ = module("kdcount.cluster")
        self.models, _ = module("kdcount.models")
        return version

    def call(self):
        points = self.models.points(self.positions, boxsize=1.0)
        return self.cluster.fof(points, self.problem["length"], np=0).labels


class Scipy(GroupPeer):
    """Pairs within the length by a k-d tree, then the components of their graph."""

    title = "scipy"
    serial = True
    slow = True

    def find(self):
        self.spatial, version = module("scipy.spatial", "scipy")
        self.sparse, _ = module("scipy.sparse")
        self.graph, _ = module("scipy.sparse.csgraph")
        return version

    def call(self):
        num = len(self.positions)
        tree = self.spatial.cKDTree(self.positions, boxsize=1.0)
        pairs = tree.query_pairs(self.problem["length"], output_type="ndarray")
        links = self.sparse.coo_matrix((np.ones(len(pairs), np.int8), pairs.T), (num, num))
        return self.graph.connected_components(links, directed=False)[1]


class ScikitLearn(GroupPeer):
    """DBSCAN of one point is friends-of-friends."""

    title = "scikit-learn"
    periodic = False
    slow = True

    def find(self):
        self.cluster, version = module("sklearn.cluster", "scikit-learn")
        return version

    def call(self):
        search = self.cluster.DBSCAN(
            eps=self.problem["length"],
            min_samples=1,
            algorithm="kd_tree",
            n_jobs=self.problem["threads"],
        )
        return search.fit(self.positions).labels_


class ArborX(ArborXPeer, GroupPeer):
    """`dbscan` of two points."""

    def call(self):
        with tempfile.TemporaryDirectory() as folder:
            self.run(folder, repr(self.problem["length"]))
            return np.fromfile(Path(folder, "labels"), np.int64)

    def seconds(self):
        return {self.title: self.report["fof"]["seconds"][0]}


PEERS = {
    "hfof": Hfof,
    "kdcount": Kdcount,
    "scipy": Scipy,
    "scikit-learn": ScikitLearn,
    "arborx": ArborX,
    "gadget4": Gadget4,
}


def problems(options, points, num):
    for b in options.b:
        yield {"points": str(points), "what": f"b = {b:g}", "length": b / num ** (1 / 3)}


def zhalo(bench, problem):
    """Counters of one run."""
    length, threads = problem["length"], problem["threads"]
    given = ["--rlink-abs", repr(length), "--threads", threads]
    found = bench.case(problem["points"], f"fof/points/rlink:.*/threads:{threads}", *given)
    return {
        **found,
        "cpu": found["cpu_time"] * 1e-3,
        "wall": found["ns_per_particle"] * 1e-9 * problem["num"],
        "bytes": found["bytes_per_particle"] * problem["num"],
    }


def write_zhalo(bench, problem, peer, path):
    """The labels that a peer should have."""
    length, box = repr(problem["length"]), 1 if peer.periodic else 2
    bench.write(problem["points"], box, "--rlink-abs", length, "--write-labels", path)


def without_small(labels, num=SMALLEST_LISTED):
    """-1 for the members of smaller groups."""
    return np.where(np.bincount(labels)[labels] < num, -1, labels)


def alone(labels):
    """Smallest members; those that are in no group are alone."""
    found = np.arange(len(labels))
    members = np.flatnonzero(labels >= 0)
    if len(members):
        found[members] = members[smallest_members(labels[members])]
    return found


def why_differ(problem, ours, theirs, periodic):
    """Labels of -1: the peer lists groups from SMALLEST_LISTED members on."""
    del problem, periodic
    ours, theirs = (np.fromfile(path, np.int64) for path in (ours, theirs))
    if len(theirs) and theirs.min() == -1:
        ours, theirs = alone(without_small(ours)), alone(theirs)
    return why_groups_differ(ours, theirs)
