"""When two programs have found the same groups, and the same neighbours."""

import numpy as np

ROWS_AT_ONCE = 1_000_000
ROWS_LOOKED_UP_AT_ONCE = 100_000


def split_groups(ours, theirs):
    """How many groups each has, and how many the parts of one are that the other joins."""
    num = len(ours)
    if len(theirs) != num or (num and not 0 <= theirs.min() <= theirs.max() < num):
        return None
    joint = len(np.unique(ours * num + theirs))
    groups = (len(np.unique(ours)), len(np.unique(theirs)))
    return *groups, 2 * joint - sum(groups)


def why_groups_differ(ours, theirs):
    """None if they agree: a pair in a million particles may be linked by one program only, because
    its distance is the linking length up to rounding."""
    found = split_groups(ours, theirs)
    if found is None:
        return "its labels are not one index of a particle for each particle"
    our_number, their_number, split = found
    if split <= 2 * (len(ours) // 1_000_000):
        return None
    return f"{our_number} and {their_number} groups, of which {split} are split by the other"


def allowed(distance, box):
    """Rounding of distances in float, of positions in a box."""
    return 1e-6 * distance + 2e-7 * box


def read_rows(path, num, k):
    """Distances and indices of neighbours, not all read at once."""
    if path.stat().st_size != num * k * 12:
        return None
    return (
        np.memmap(path, np.float32, "r", 0, (num, k)),
        np.memmap(path, np.int64, "r", 4 * num * k, (num, k)),
    )


def in_order(distance):
    """Rows of it, sorted if a program left that to its caller."""
    return np.sort(distance, axis=1) if (np.diff(distance, axis=1) < 0).any() else distance


def why_distances_differ(ours, theirs):
    """Of all rows; ours and theirs are (N, k)."""
    for start in range(0, len(ours), ROWS_AT_ONCE):
        wanted, found = (
            in_order(rows[start : start + ROWS_AT_ONCE].astype(np.float64))
            for rows in (ours, theirs)
        )
        wrong = ~(np.abs(found - wanted) <= allowed(wanted, 1)).all(axis=1)
        if wrong.any():
            row = int(np.argmax(wrong))
            return f"distances of particle {start + row}, and {int(wrong.sum())} of its million"
    return None


def why_indices_differ(positions, theirs, periodic, rows):
    """Of these rows: each neighbour is as far away as it is said to be, and none comes twice."""
    for start in range(0, len(rows), ROWS_LOOKED_UP_AT_ONCE):
        some = rows[start : start + ROWS_LOOKED_UP_AT_ONCE]
        distance, index = theirs[0][some].astype(np.float64), theirs[1][some]
        if index.min() < 0 or index.max() >= len(positions):
            return "an index is none of a particle"
        apart = np.abs(positions[index].astype(np.float64) - positions[some, None])
        if periodic:
            apart = np.minimum(apart, 1 - apart)
        true = np.sqrt((apart**2).sum(axis=2))
        wrong = (np.abs(true - distance) > allowed(distance, 1)).any(axis=1)
        wrong |= (np.diff(np.sort(index, axis=1), axis=1) == 0).any(axis=1)
        if wrong.any():
            return f"neighbours of particle {some[np.argmax(wrong)]}"
    return None


def why_neighbours_differ(positions, ours, theirs, periodic, looked_up=None):
    """None if all distances agree, and belong to the neighbours that are named: those that are
    equally far away may stand for each other. `looked_up`: in how many rows that is looked up
    [all]."""
    num = len(positions)
    if theirs is None:
        return "its file has not k neighbours for each particle"
    step = 1 if looked_up is None else max(1, num // looked_up)
    return why_distances_differ(ours[0], theirs[0]) or why_indices_differ(
        positions, theirs, periodic, np.arange(0, num, step)
    )
