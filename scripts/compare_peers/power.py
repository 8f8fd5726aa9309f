"""From positions to their power spectrum: painting, transform, compensation for the window, bins of
the fundamental wave number up to the Nyquist frequency."""

import numpy as np

from compare_peers.painting import ORDERS, moved_by_half_a_cell, paint, zhalo_case
from compare_peers.peer import Absent, NumpyPeer, Peer, module

TOLERANCE = 2e-5  # of a bin's power


class PowerPeer(Peer):
    """call() returns mean k, power and number of modes of each bin, (bins, 3)."""

    def prepare(self, problem):
        self.problem = problem
        self.positions = moved_by_half_a_cell(problem["points"], problem["cells"])

    def write(self, result, path):
        np.asarray(result, np.float64).tofile(path)


def binned_power(modes, order):
    """Of the half spectrum of an overdensity. Bin i has the modes with i <= |k| < i + 1, in units
    of the fundamental."""
    cells = modes.shape[0]
    k = np.fft.fftfreq(cells, 1 / cells).astype(np.int64)
    half = np.arange(cells // 2 + 1)
    square = (k**2)[:, None, None] + (k**2)[None, :, None] + half**2
    number = np.broadcast_to(np.where((half == 0) | (half == cells // 2), 1, 2), square.shape)
    window = np.sinc(k / cells)[:, None, None] * np.sinc(k / cells)[None, :, None]
    power = np.abs(modes / (window * np.sinc(half / cells)) ** order) ** 2 / float(cells) ** 6
    index = np.floor(np.sqrt(square)).astype(np.int64).ravel()
    sums = [
        np.bincount(index, (number * values).ravel(), 2 * cells)[1 : cells // 2]
        for values in (np.sqrt(square), power, np.ones(square.shape))
    ]
    return np.stack([2 * np.pi * sums[0] / sums[2], sums[1] / sums[2], sums[2]], axis=1)


class Numpy(NumpyPeer, PowerPeer):
    def call(self):
        order = ORDERS[self.problem["window"]]
        field = paint(self.positions, self.problem["cells"], order)
        return binned_power(np.fft.rfftn(field / field.mean() - 1), order)


class Pylians(PowerPeer):
    """https://github.com/franciscovillaescusa/Pylians3, MIT licence."""

    title = "Pylians"

    def find(self):
        self.painting, version = module("MAS_library", "Pylians")
        self.spectra, _ = module("Pk_library", "Pylians")
        return version

    def call(self):
        window, cells = self.problem["window"].upper(), self.problem["cells"]
        field = np.zeros((cells,) * 3, np.float32)
        self.painting.MA(self.positions, field, 1.0, window, verbose=False)
        field /= field.mean(dtype=np.float64)
        field -= 1
        threads = self.problem["threads"]
        found = self.spectra.Pk(field, 1.0, 0, window, threads, verbose=False)
        bins = slice(0, cells // 2 - 1)
        number = 2 * found.Nmodes3D[bins]  # it counts one of k and -k
        return np.stack([found.k3D[bins], found.Pk[bins, 0], number], axis=1)


class Abacusutils(PowerPeer):
    """https://github.com/abacusorg/abacusutils, GPL. It compensates for the window together with
    the shot noise that the window aliases."""

    title = "abacusutils"
    compensation = "shot-noise"

    def find(self):
        self.spectra, version = module("abacusnbody.analysis.power_spectrum", "abacusutils")
        return version

    def prepare(self, problem):
        if problem["window"] not in ("cic", "tsc"):
            raise Absent(f"it has no {problem['window'].upper()}")
        super().prepare(problem)

    def call(self):
        cells = self.problem["cells"]
        # Its bins have their upper edges. No mode is as near below a whole number as this.
        edges = 2 * np.pi * (np.arange(1, cells // 2 + 1) - 0.1 / cells)
        found = self.spectra.calc_power(
            self.positions,
            1.0,
            kbins=edges,
            paste=self.problem["window"].upper(),
            nmesh=cells,
            compensated=True,
            interlaced=False,
            nthread=self.problem["threads"],
        )
        columns = [np.asarray(found[name]).ravel() for name in ("k_avg", "power", "N_mode")]
        return np.stack(columns, axis=1)


PEERS = {"numpy": Numpy, "pylians": Pylians, "abacusutils": Abacusutils}


def problems(options, points, num):
    del num
    for window in options.windows:
        if window != "ngp":
            yield {
                "points": str(points),
                "what": f"P(k), {window.upper()}, {options.grid}^3 cells",
                "window": window,
                "cells": options.grid,
            }


def zhalo(bench, problem):
    return zhalo_case(bench, problem, "power")


def write_zhalo(bench, problem, peer, path):
    given = ["--window", problem["window"], "--grid", problem["cells"]]
    given += ["--compensation", peer.compensation]
    bench.write(problem["points"], 1, *given, "--write-power", path)


def why_differ(problem, ours, theirs, periodic):
    """None if all bins have as many modes, and the same power within TOLERANCE."""
    del problem, periodic
    wanted, found = (np.fromfile(path, np.float64).reshape(-1, 3) for path in (ours, theirs))
    if len(wanted) != len(found):
        return f"it has {len(found)} bins of {len(wanted)}"
    wrong = wanted[:, 2] != found[:, 2]
    if wrong.any():
        return f"bin {np.argmax(wrong)} has {found[wrong][0, 2]:.0f} modes"
    excess = np.abs(found[:, 1] / wanted[:, 1] - 1)
    wrong = ~(excess <= TOLERANCE)
    if not wrong.any():
        return None
    return f"the power of {int(wrong.sum())} bins, by up to {np.nanmax(excess):.1e}"
