"""The Python package on several ranks, by mpi4py: what one rank finds, and one error on all."""

import shutil
import subprocess
import sys
import unittest

from package_case import SITE, main

PROGRAM = """
import sys, zlib
import numpy as np
from mpi4py import MPI
sys.path.insert(0, sys.argv[1])
import zhalo

comm = MPI.COMM_WORLD
context = zhalo.Context(comm, threads=1, timeout=60)
everything = np.random.default_rng(3).random((3000, 3))
# Uneven shares: rank 0 has none where there are others.
first, end = (len(everything) * max(0, r - (comm.size > 1)) // max(1, comm.size - 1)
              for r in (comm.rank, comm.rank + 1))
mine = everything[first:min(end, len(everything))]
# In float on ranks with particles, and where there are none as numpy makes them.
single = zhalo.Domain(mine.astype(np.float32) if len(mine) else mine, 1.0, context)
assert single.knn(3)[0].dtype == np.float32
domain = zhalo.Domain(mine, 1.0, context)
groups = domain.friends_of_friends(0.05)
haloes = groups.catalogue(min_members=2)
found = {
    "num": np.array([domain.num()]),
    "labels": groups.labels(),
    "rows": haloes.group_of(),
    "mass": haloes["GroupMass"],
    "members": haloes.members,
    "ids": haloes.in_group_order(np.arange(first, first + len(mine))),
    "neighbours": domain.knn(4)[1],
    "field": domain.paint(8, window="tsc").values,
    "density": domain.neighbour_quantity("density"),
}
spectrum = domain.power_spectrum(8)
for name, values in found.items():
    parts = comm.gather(values)
    if comm.rank == 0:
        whole = np.concatenate(parts)
        print(name, whole.sum() if name == "num" else (whole.shape, zlib.crc32(whole.tobytes())))
if comm.rank == 0:
    print(haloes.checksum, haloes.num_groups_total, spectrum.power.round(9).tolist())
# What differs is one error on all ranks.
is_last = comm.rank == comm.size - 1
class Unreadable:
    def __array__(self, *_, **__):
        raise OSError("\\udcff.npy")

errors = []
for call in (
    lambda: domain.knn(4 + comm.rank),
    lambda: groups.catalogue(2 + comm.rank),
    lambda: zhalo.Domain(mine if comm.rank < comm.size - 1 else mine * np.nan, 1.0, context),
    # What the package refuses by itself.
    lambda: zhalo.Domain(mine.astype(int) if is_last else mine, 1.0, context),
    lambda: zhalo.Domain(mine, "wide" if is_last else 1.0, context),
    lambda: domain.knn(0 if is_last else 4),
    lambda: domain.knn("4" if is_last else 4),
    lambda: domain.friends_of_friends([0.1, 0.2] if is_last else 0.1),
    lambda: zhalo.Domain(mine, 1.0, context, min_length="short" if is_last else 0.05),
    lambda: domain.count_within(0 if is_last else 0.1),
    lambda: domain.neighbour_quantity("mass" if is_last else "density"),
    lambda: domain.paint(8, window="cloud" if is_last else "cic"),
    lambda: domain.power_spectrum((8, 8) if is_last else 8),
    lambda: groups.catalogue(0 if is_last else 2),
    lambda: haloes.in_group_order(mine[1:] if is_last else mine),
    # What zhalo refuses where it is asked for sizes.
    lambda: domain.count_within(0.1, queries=1 if is_last else 0),
    lambda: domain.neighbour_quantity("density", queries=1 if is_last else 0),
    lambda: domain.knn(3, queries=1 if is_last else 0),
    lambda: domain.paint(0 if is_last else 8),
    lambda: domain.power_spectrum(0 if is_last else 8),
    lambda: zhalo.Domain(Unreadable() if is_last else mine, 1.0, context),
    # What a rank says of its own context, before it has one.
    lambda: zhalo.Context(comm, threads=0 if is_last else 1),
    lambda: zhalo.Context(comm, threads=1, device=-1 if is_last else None),
    lambda: zhalo.Context(comm, threads=1, timeout="long" if is_last else 60),
    lambda: zhalo.Context(comm, processor="phone" if is_last else "host"),
):
    try:
        call()
    except zhalo.InputError as error:
        errors.append(str(error))
assert all(other == errors for other in comm.allgather(errors))
assert len(errors) == (23 if comm.size == 1 else 25)

# Other things of mpi4py have numbers, too.
for other in (comm.Get_group(), MPI.SUM):
    try:
        zhalo.Context(other)
        raise AssertionError(other)
    except zhalo.InputError as error:
        assert "must be a communicator of mpi4py" in str(error), error

# So is a lack of memory for the rows of one.
class TooLarge:
    def __array__(self, *_, **__):
        raise MemoryError("no room")

message = ""
try:
    zhalo.Domain(TooLarge() if is_last else mine, 1.0, context)
except zhalo.OutOfMemory as error:
    message = str(error)
culprit = "" if comm.size == 1 else f"rank {comm.size - 1}: "
assert message == culprit + "MemoryError: no room", message

# What some ranks give and others with particles do not is one error on all, which names the rank
# and what it lacks. Rank 0 has no particles where there are others, and gives nothing.
def domain_of(**columns):
    is_given = len(mine) > 0 and not (is_last and comm.size > 2)
    return zhalo.Domain(zhalo.Particles(mine, **(columns if is_given else {})), 1.0, context)

for lacking, columns in (
    ("velocities", {"velocities": mine}),
    ("masses", {"masses": 2.0}),
    ("masses", {"masses": np.full(len(mine), 2.0)}),
    ("types", {"types": 0}),
    ("types", {"types": np.zeros(len(mine), np.uint8)}),
):
    try:
        found = domain_of(**columns).friends_of_friends(0.05).catalogue(2)
        message = ""
        if lacking == "velocities":
            assert found.has_velocities and np.isfinite(found["GroupVelPeculiar"]).all()
        if lacking == "masses":
            np.testing.assert_array_equal(found["GroupMass"], 2 * found.length)
    except zhalo.InputError as error:
        message = str(error)
        assert message.startswith(f"rank {comm.size - 1}: ") and lacking in message, message
        assert message.endswith("give them on all ranks, or on none"), message
    assert (message != "") == (comm.size > 2), (lacking, message)
for call in (
    lambda: domain.knn(3, points=None if is_last else mine),
    lambda: domain.count_within(0.1, points=None if is_last else mine),
    lambda: domain.neighbour_quantity("density", points=None if is_last else mine),
):
    try:
        call()
        assert comm.size == 1
    except zhalo.InputError as error:
        assert str(error).startswith(f"rank {comm.size - 1}: there are no points"), error
# Elements have the type of the ranks that have particles.
ids = np.arange(first, first + len(mine), dtype=np.uint32)
for nothing in ([], None, np.empty(0, np.int8), np.empty((0, 7))):
    ordered = haloes.in_group_order(ids if len(mine) else nothing)
    assert ordered.dtype == np.uint32
    np.testing.assert_array_equal(ordered, haloes.in_group_order(ids))
for other in (ids.astype(np.float32), np.zeros((len(mine), 2), np.uint32)):
    try:
        haloes.in_group_order(other if is_last else ids)
        assert comm.size < 3
    except zhalo.InputError as error:
        assert str(error).startswith(f"rank {comm.size - 1}: the array's type and shape"), error
# A rank without particles may give empty lists for everything, in three dimensions and in two.
def or_nothing(values):
    return values if len(mine) else []

for axes in (2, 3):
    rows, ones = mine[:, :axes], np.ones(len(mine))
    columns = (rows, rows, ones, ones.astype(int))
    for box in (1.0, (1.0,) * axes, None):
        shaped = zhalo.Domain(zhalo.Particles(*columns), box, context)
        lists = zhalo.Domain(zhalo.Particles(*map(or_nothing, columns)), box, context)
        found, wanted = (
            of.friends_of_friends(0.05).catalogue(2, num_types=2) for of in (lists, shaped)
        )
        assert found.checksum == wanted.checksum and found.has_velocities
        np.testing.assert_array_equal(
            lists.knn(3, points=or_nothing(rows))[1], shaped.knn(3, points=rows)[1]
        )
    for nothing in (zhalo.Domain([], (1.0,) * axes, context), zhalo.Domain([], 1.0, context)):
        assert nothing.num_total() == 0 and nothing.knn(2)[1].shape == (0, 2)
assert domain.knn(4)[1].shape == (domain.num(), 4)  # and the context goes on
"""


@unittest.skipUnless(shutil.which("mpirun"), "there is no mpirun")
class Ranks(unittest.TestCase):
    def run_on(self, ranks):
        command = ["mpirun", "-n", str(ranks), "--oversubscribe", sys.executable, "-B", "-c"]
        result = subprocess.run(
            [*command, PROGRAM, str(SITE)],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=200,
            check=False,
        )
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        return result.stdout

    def test_results_do_not_depend_on_ranks(self):
        alone = self.run_on(1)
        self.assertIn("num 3000", alone)
        for ranks in (2, 3, 4):
            self.assertEqual(self.run_on(ranks), alone)


if __name__ == "__main__":
    main()
