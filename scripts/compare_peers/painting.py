"""Unit masses painted on a mesh of the periodic unit cube, in single precision."""

import numpy as np

from compare_peers.peer import Absent, NumpyPeer, Peer, module, read_positions

ORDERS = {"ngp": 1, "cic": 2, "tsc": 3, "pcs": 4}
POINTS_AT_ONCE = 1_000_000


def share(order, distance):
    """What a cell whose centre is so far away gets of a unit mass; in units of cells, one axis."""
    if order <= 2:
        return np.ones_like(distance) if order == 1 else 1 - distance
    if order == 3:
        return np.where(distance < 0.5, 0.75 - distance**2, 0.5 * (1.5 - distance) ** 2)
    near = (4 - 6 * distance**2 + 3 * distance**3) / 6
    return np.where(distance < 1, near, (2 - distance) ** 3 / 6)


def paint(positions, cells, order):
    """By definition, in float64: cell i has its centre at (i + 1/2) / cells."""
    field = np.zeros(cells**3)
    for start in range(0, len(positions), POINTS_AT_ONCE):
        position = positions[start : start + POINTS_AT_ONCE].astype(np.float64) * cells - 0.5
        first = np.floor(position - order / 2).astype(np.int64) + 1
        for offset in np.ndindex(order, order, order):
            cell = first + offset
            weight = share(order, np.abs(position - cell)).prod(axis=1)
            x, y, z = (cell % cells).T
            field += np.bincount((x * cells + y) * cells + z, weight, cells**3)
    return field.reshape(cells, cells, cells)


def moved_by_half_a_cell(path, cells):
    """Positions for codes whose cell i has its centre at i / cells, as float32."""
    moved = np.mod(read_positions(path) - np.float32(0.5 / cells), np.float32(1))
    return np.where(moved < 1, moved, np.float32(0)).astype(np.float32)


class PaintPeer(Peer):
    """call() returns the field."""

    def prepare(self, problem):
        self.problem = problem
        self.positions = moved_by_half_a_cell(problem["points"], problem["cells"])

    def empty(self):
        return np.zeros((self.problem["cells"],) * 3, np.float32)

    def write(self, result, path):
        np.asarray(result, np.float32).tofile(path)


class Numpy(NumpyPeer, PaintPeer):
    def call(self):
        return paint(self.positions, self.problem["cells"], ORDERS[self.problem["window"]])


class Pylians(PaintPeer):
    """https://github.com/franciscovillaescusa/Pylians3, MIT licence."""

    title = "Pylians"
    serial = True

    def find(self):
        self.library, version = module("MAS_library", "Pylians")
        return version

    def call(self):
        field = self.empty()
        window = self.problem["window"].upper()
        self.library.MA(self.positions, field, 1.0, window, verbose=False)
        return field


class Abacusutils(PaintPeer):
    """https://github.com/abacusorg/abacusutils, GPL; CIC on one thread, and TSC."""

    title = "abacusutils"

    def find(self):
        self.tsc, version = module("abacusnbody.analysis.tsc", "abacusutils")
        self.cic, _ = module("abacusnbody.analysis.cic", "abacusutils")
        return version

    def prepare(self, problem):
        threads, window = problem["threads"], problem["window"]
        if window not in ("cic", "tsc") or (window == "cic" and threads > 1):
            raise Absent(f"it has no {window.upper()} on {threads} threads")
        super().prepare(problem)

    def call(self):
        field = self.empty()
        if self.problem["window"] == "cic":
            self.cic.cic_serial(self.positions, field, 1.0)
        else:
            self.tsc.tsc_parallel(self.positions, field, 1.0, nthread=self.problem["threads"])
        return field


PEERS = {"numpy": Numpy, "pylians": Pylians, "abacusutils": Abacusutils}


def problems(options, points, num):
    del num
    for window in options.windows:
        yield {
            "points": str(points),
            "what": f"{window.upper()}, {options.grid}^3 cells",
            "window": window,
            "cells": options.grid,
        }


def zhalo_case(bench, problem, work):
    """Counters of one run of a case of a mesh."""
    name = f"{work}/points/{problem['window']}/threads:{problem['threads']}"
    given = ["--threads", problem["threads"], "--grid", problem["cells"]]
    found = bench.case(problem["points"], name, *given)
    return {
        **found,
        "cpu": found["cpu_time"] * 1e-3,
        "wall": found["ns_per_particle"] * 1e-9 * problem["num"],
        "bytes": found["bytes_per_particle"] * problem["num"],
    }


def zhalo(bench, problem):
    return zhalo_case(bench, problem, "paint")


def write_zhalo(bench, problem, peer, path):
    del peer
    given = ["--window", problem["window"], "--grid", problem["cells"]]
    bench.write(problem["points"], 1, *given, "--write-field", path)


def why_differ(problem, ours, theirs, periodic):
    """None if each cell is the same up to rounding. A position in float is known to 2^-24 of the
    box, and a particle's share of a cell to as many cells. Four times that is allowed, of the cell
    and of one particle."""
    del periodic
    size = problem["cells"] ** 3
    wanted, found = (np.fromfile(path, np.float32).astype(np.float64) for path in (ours, theirs))
    if len(wanted) != size or len(found) != size:
        return f"it has {len(found)} cells of {size}"
    excess = np.abs(found - wanted) / (wanted + 1)
    worst = int(np.argmax(np.where(np.isnan(excess), np.inf, excess)))
    if excess[worst] <= problem["cells"] * 2.0**-22:
        return None
    return f"cell {worst} is {found[worst]:.7g} in place of {wanted[worst]:.7g}"
