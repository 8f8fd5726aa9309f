"""What the tests of the command density share: painting, spectra and the decoding of pictures, by
numpy and the standard library."""

import struct
import zlib

import h5py
import numpy as np
from command_case import GADGET, CommandCase, main
from knn_case import Snapshot

__all__ = [
    "GADGET",
    "DensityCase",
    "cells_and_weights",
    "lightness",
    "main",
    "paint",
    "pixels_of",
    "power",
    "read_table",
    "wave_numbers",
]

ORDER = {"ngp": 1, "cic": 2, "tsc": 3, "pcs": 4}


def spline(order, s):
    """The B-spline of this order at a distance of s cells."""
    if order == 2:
        return np.maximum(1 - s, 0)
    if order == 3:
        return np.where(s < 0.5, 0.75 - s**2, 0.5 * np.maximum(1.5 - s, 0) ** 2)
    return np.where(s < 1, (4 - 6 * s**2 + 3 * s**3) / 6, np.maximum(2 - s, 0) ** 3 / 6)


def cells_and_weights(u, order):
    """Of positions in units of cells (centres at whole numbers): the cells that each reaches, and
    what falls to them."""
    if order == 1:
        return [(np.floor(u + 0.5).astype(int), np.ones_like(u))]
    first = np.floor(u - order / 2).astype(int) + 1
    return [(first + i, spline(order, np.abs(first + i - u))) for i in range(order)]


def paint(pos, box, n, window="cic", mass=None, shift=0.0):
    """Mass per cell; the points at which the field stands are moved up by `shift` cells."""
    mass = np.ones(len(pos)) if mass is None else mass.astype(np.float64)
    axes = [
        cells_and_weights(u, ORDER[window])
        for u in (pos.astype(np.float64) / box * n - 0.5 - shift).T
    ]
    grid = np.zeros(n**3)
    for x, by_x in axes[0]:
        for y, by_y in axes[1]:
            for z, by_z in axes[2]:
                grid += np.bincount(
                    (x % n * n + y % n) * n + z % n, mass * by_x * by_y * by_z, n**3
                )
    return grid.reshape(n, n, n)


def wave_numbers(n):
    """In units of the fundamental; broadcast over three axes."""
    k = np.rint(np.fft.fftfreq(n) * n)
    return k[:, None, None], k[None, :, None], k[None, None, :]


def power(modes, n, box, axis=None):
    """In shells of one fundamental from the first to the Nyquist frequency: mean k, P, number of
    modes, and P_0, P_2, P_4."""
    k = wave_numbers(n)
    square = sum(c**2 for c in k)
    shell = np.floor(np.sqrt(square) + 1e-9).astype(int)
    used = (shell >= 1) & (shell < n // 2)
    shells, length = shell[used] - 1, np.sqrt(square[used])
    p = box**3 * np.abs(modes[used]) ** 2
    count = np.bincount(shells)
    mu2 = (
        np.zeros(len(p))
        if axis is None
        else np.broadcast_to(k[axis] ** 2, square.shape)[used] / square[used]
    )
    legendre = (np.ones(len(p)), (3 * mu2 - 1) / 2, (35 * mu2**2 - 30 * mu2 + 3) / 8)
    poles = [(4 * i + 1) * np.bincount(shells, p * leg) / count for i, leg in enumerate(legendre)]
    return (
        2 * np.pi / box * np.bincount(shells, length) / count,
        np.bincount(shells, p) / count,
        count,
        np.array(poles),
    )


def read_table(path):
    """Header lines, and the columns by name."""
    lines = path.read_text().splitlines()
    header = [line[2:] for line in lines if line.startswith("#")]
    names = header[-1].split()
    columns = np.loadtxt(path, ndmin=2).T
    assert len(names) == len(columns), (names, len(columns))
    return header, dict(zip(names, columns))


def paeth(left, upper, corner):
    guess = left + upper - corner
    by_left, by_upper, by_corner = abs(guess - left), abs(guess - upper), abs(guess - corner)
    nearer = np.where(by_upper <= by_corner, upper, corner)
    return np.where((by_left <= by_upper) & (by_left <= by_corner), left, nearer)


def unfiltered(kinds, filtered):
    """Pixels of a PNG, [row][column][byte], from its filtered ones and each row's filter. Pixels of
    a diagonal do not depend on each other."""
    height, width, _ = filtered.shape
    # With a row above the first and a column left of it.
    image = np.zeros((height + 1, width + 1, 3), np.int64)
    for diagonal in range(height + width - 1):
        row = np.arange(max(0, diagonal - width + 1), min(height, diagonal + 1))
        column = diagonal - row
        left, upper, corner = image[row + 1, column], image[row, column + 1], image[row, column]
        guesses = (0 * left, left, upper, (left + upper) // 2, paeth(left, upper, corner))
        guess = np.choose(kinds[row, None], guesses)
        image[row + 1, column + 1] = (filtered[row, column] + guess) % 256
    return image[1:, 1:]


def pixels_of(path):
    """A PNG's pixels, [row][column][red, green, blue], by its definition alone."""
    data = path.read_bytes()
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    position, compressed = 8, b""
    while position < len(data):
        length, kind = struct.unpack(">I4s", data[position : position + 8])
        chunk = data[position + 8 : position + 8 + length]
        assert (
            zlib.crc32(kind + chunk)
            == struct.unpack(">I", data[position + 8 + length : position + 12 + length])[0]
        )
        if kind == b"IHDR":
            width, height, depth, colour, *_ = struct.unpack(">IIBBBBB", chunk)
            assert (depth, colour) == (8, 2)
        compressed += chunk if kind == b"IDAT" else b""
        position += 12 + length
    lines = np.frombuffer(zlib.decompress(compressed), np.uint8).reshape(height, 1 + 3 * width)
    return unfiltered(lines[:, 0], lines[:, 1:].reshape(height, width, 3))


def lightness(pixels):
    """L of Oklab."""
    c = pixels / 255
    linear = np.where(c <= 0.04045, c / 12.92, ((c + 0.055) / 1.055) ** 2.4)
    cone = np.cbrt(
        linear
        @ np.array(
            [
                [0.4122214708, 0.2119034982, 0.0883024619],
                [0.5363325363, 0.6806995451, 0.2817188376],
                [0.0514459929, 0.1073969566, 0.6299787005],
            ]
        )
    )
    return cone @ np.array([0.2104542553, 0.7936177850, -0.0040720468])


class DensityCase(CommandCase):
    def real(self, number=1):
        path = GADGET / f"snapshot_{number:03d}.hdf5"
        with h5py.File(path, "r") as file:
            return path, file["PartType1/Coordinates"][:], float(file["Header"].attrs["BoxSize"])

    def snapshot(self, counts, name="snapshot_007", num_files=1, **how):
        snapshot = Snapshot(counts, **how)
        snapshot.write(self.folder / name, num_files)
        return snapshot

    def density(self, name):
        with h5py.File(self.folder / name, "r") as file:
            return file["Density"][:]

    def assert_field(self, density, painted):
        """float32, in units of the mean."""
        self.assertEqual((density.dtype, density.shape), (np.float32, painted.shape))
        expected = painted / painted.mean()
        np.testing.assert_allclose(density, expected, rtol=1e-6, atol=1e-6)
        self.assertAlmostEqual(float(density.mean(dtype=np.float64)), 1, places=6)
