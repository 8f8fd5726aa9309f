"""In place of hfof, pykdtree, Pylians, ArborX's driver and GADGET-4: the same calls, answered by
numpy and scipy. For tests/house/compare_peers_test.py, which makes modules of the peers' names of
it. STAND_IN_FAULT spoils what they find: labels, distances, indices, cells, power, modes; or one
dies: dies."""

import json
import os
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
from compare_peers.painting import ORDERS, paint
from compare_peers.power import binned_power
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components
from scipy.spatial import cKDTree

FAULT = os.environ.get("STAND_IN_FAULT", "")


def labels_of(positions, length, boxsize):
    pairs = cKDTree(positions, boxsize=boxsize).query_pairs(length, output_type="ndarray")
    links = coo_matrix((np.ones(len(pairs)), pairs.T), (len(positions),) * 2)
    labels = connected_components(links)[1]
    if FAULT == "labels":  # the largest group loses a member
        labels[np.argmax(labels == np.argmax(np.bincount(labels)))] = labels.max() + 1
    return labels


def fof(positions, length, boxsize):
    """hfof's."""
    if FAULT == "dies" and len(positions) != 1000:  # which is how it is tried
        raise OSError("a planted fault")
    return labels_of(positions, length, boxsize)


class KDTree:
    """pykdtree's."""

    def __init__(self, positions):
        self.tree = cKDTree(positions)

    def query(self, positions, k):
        distance, index = self.tree.query(positions, k)
        if FAULT == "distances":
            distance[7, k - 1] *= 1.001
        if FAULT == "indices":
            index[9, 1] = index[9, 2]
        return distance, index


def arborx_driver(points, length, repetitions, folder, *numbers):
    """apps/bench/arborx/arborx_driver.cpp, in the open box."""
    positions = np.fromfile(points, np.float32).reshape(-1, 3).astype(np.float64)
    labels = labels_of(positions, float(length), None)
    _, first = np.unique(labels, return_index=True)
    first[labels].astype(np.int64).tofile(Path(folder, "labels"))
    for k in map(int, numbers):
        distance, index = KDTree(positions).query(positions, k)
        with open(Path(folder, f"neighbours-{k}"), "wb") as file:
            distance.astype(np.float32).tofile(file)
            index.astype(np.int64).tofile(file)
    seconds = {"first_seconds": 1.0, "seconds": [0.5] * int(repetitions)}
    found = {"peer": "a stand-in", "fof": seconds, "knn": {k: seconds for k in numbers}}
    print(json.dumps(found))


def gadget4(parameters):
    """Groups of 32 and more in a catalogue, and the snapshot in their order. The linking length is
    0.2 of what one particle's mass has, at the mean density, for its side."""
    import h5py

    words = dict(line.split() for line in Path(parameters).read_text().splitlines())
    gravity = float(words["GravityConstantInternal"])
    critical = 3 * float(words["Hubble"]) ** 2 / (8 * np.pi * gravity)
    with h5py.File("snapshot_000.hdf5", "r+") as file:
        mass = file["Header"].attrs["MassTable"][1]
        positions = file["PartType1/Coordinates"][:].astype(np.float64)
        labels = labels_of(positions, 0.2 * (mass / critical) ** (1 / 3), 1.0)
        sizes = np.bincount(labels)
        order = np.lexsort((labels, -sizes[labels]))
        file["PartType1/ParticleIDs"][:] = file["PartType1/ParticleIDs"][:][order]
    with h5py.File("fof_tab_000.hdf5", "w") as file:
        file["Group/GroupLen"] = np.sort(sizes[sizes >= 32])[::-1]
    print("FOFTREE: Ngb-tree construction done. took 0.25 sec  <numnodes>=1")
    print("FOF: primary group finding took = 0.5 sec")


def MA(positions, field, box, window, verbose):  # noqa: N802  (Pylians' name)
    """Pylians' painting: cell i has its centre at i / cells."""
    assert box == 1.0 and not verbose
    cells = len(field)
    field += paint(np.mod(positions + 0.5 / cells, 1), cells, ORDERS[window.lower()])
    if FAULT == "cells":
        field[3, 4, 5] += 0.01


def Pk(field, box, axis, window, threads, verbose):  # noqa: N802  (Pylians' name)
    """Pylians' power spectrum, which counts one of k and -k."""
    assert box == 1.0 and axis == 0 and threads > 0 and not verbose
    k, power, number = binned_power(np.fft.rfftn(field), ORDERS[window.lower()]).T
    if FAULT == "power":
        power[2] *= 1.0001
    if FAULT == "modes":
        number[1] += 2
    return SimpleNamespace(k3D=k, Pk=power[:, None], Nmodes3D=number / 2)


if __name__ == "__main__":
    if sys.argv[2:] == ["3", "0"]:
        gadget4(sys.argv[1])
    else:
        arborx_driver(*sys.argv[1:])
