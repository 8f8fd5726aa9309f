"""Times jz-tree's friends-of-friends and k nearest neighbours of the points of a file, for
scripts/gpu-compare. It needs a Python with jax for CUDA, jztree and its CUDA part.

jztree_driver.py POINTS BOX LENGTH MIN_MEMBERS REPETITIONS OUT K...

POINTS: raw float32 (N, 3) in a periodic cube of side BOX. Writes OUT/labels (raw int64: an index
that all of a group share) and, for each K, OUT/neighbours-K (raw float32 distances (N, k), then
int64 indices (N, k)), both in the points' order. Prints JSON. With --check in place of the
arguments it only looks for a GPU and asks jax for the shapes of all results; with --check-calls for
the shapes, which needs no GPU.
"""

import json
import sys
import time
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
from jztree.config import FofCatalogueConfig, FofConfig, KNNConfig
from jztree.data import ParticleData
from jztree.fof import fof_and_catalogue, fof_labels
from jztree.knn import knn


def with_room(config):
    """jz-tree sizes its arrays beforehand. The sizes that it takes without being told are too small
    for a million clustered points."""
    tree = replace(config.tree, alloc_fac_nodes=2 * config.tree.alloc_fac_nodes)
    return replace(config, tree=tree, alloc_fac_ilist=2 * config.alloc_fac_ilist)


def catalogue_of(pos, box, length, min_members):
    """Particles in the order of groups, and the groups' numbers of members, centres and radii."""
    config = with_room(FofConfig(catalogue=FofCatalogueConfig(npart_min=min_members)))
    return fof_and_catalogue.jit(ParticleData(pos=pos), rlink=length, boxsize=box, cfg=config)


def labels_of(pos, box, length):
    config = with_room(FofConfig())
    return fof_labels.jit(pos, rlink=length, boxsize=box, cfg=config, output_order="input")[1]


def neighbours_of(pos, box, k):
    """Distances and indices."""
    return knn.jit(pos, k=k, boxsize=box, cfg=with_room(KNNConfig()))


def timed(repetitions, work):
    """The last result, and the seconds of all calls; the first also compiles."""
    seconds = []
    for _ in range(repetitions + 1):
        result = None  # gives the memory back before it is taken again
        start = time.perf_counter()
        result = jax.block_until_ready(work())
        seconds.append(time.perf_counter() - start)
    return result, {"first_seconds": seconds[0], "seconds": seconds[1:]}


def run(points, box, length, min_members, repetitions, out, numbers):
    pos = jnp.asarray(np.fromfile(points, np.float32).reshape(-1, 3))
    (_, catalogue), fof = timed(repetitions, lambda: catalogue_of(pos, box, length, min_members))
    fof["haloes"] = int(catalogue.ngroups)
    del catalogue
    label, fof["labels"] = timed(repetitions, lambda: labels_of(pos, box, length))
    np.asarray(label).astype(np.int64).tofile(out / "labels")
    del label
    found = {}
    for k in numbers:
        rows, found[str(k)] = timed(repetitions, lambda k=k: neighbours_of(pos, box, k))
        with open(out / f"neighbours-{k}", "wb") as file:
            np.asarray(rows[0]).astype(np.float32).tofile(file)
            np.asarray(rows[1]).astype(np.int64).tofile(file)
        del rows
    return {
        "peer": f"jz-tree {version('jztree')} with jax {jax.__version__}",
        "device": jax.devices()[0].device_kind,
        "fof": fof,
        "knn": found,
    }


def check_calls(num=100_000, k=8):
    """Shapes only: what the calls above take and give."""
    pos = jax.ShapeDtypeStruct((num, 3), jnp.float32)
    _, catalogue = jax.eval_shape(lambda pos: catalogue_of(pos, 1.0, 0.01, 32), pos)
    label = jax.eval_shape(lambda pos: labels_of(pos, 1.0, 0.01), pos)
    distance, index = jax.eval_shape(lambda pos: neighbours_of(pos, 1.0, k), pos)
    return {
        "ngroups": catalogue.ngroups.shape == (),
        "com_pos": catalogue.com_pos is not None,
        "labels": label.shape == (num,),
        "distances": distance.shape == (num, k) and distance.dtype == jnp.float32,
        "indices": index.shape == (num, k) and jnp.issubdtype(index.dtype, jnp.integer),
    }


def main(words):
    if len(words) < 6 and words not in (["--check"], ["--check-calls"]):
        print(__doc__, file=sys.stderr)
        return 2
    if words != ["--check-calls"] and jax.default_backend() != "gpu":
        print("jax finds no GPU, and jz-tree runs on GPUs only", file=sys.stderr)
        return 3
    if len(words) == 1:
        wrong = [name for name, right in check_calls().items() if not right]
        print(f"not as expected of jz-tree: {wrong}" if wrong else "all calls are as expected")
        return 1 if wrong else 0
    points, box, length, min_members, repetitions, out, *numbers = words
    report = run(
        points,
        float(box),
        float(length),
        int(min_members),
        int(repetitions),
        Path(out),
        [int(word) for word in numbers],
    )
    print(json.dumps(report))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
