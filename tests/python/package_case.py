"""What the tests of the Python package share. They are called with

  TEST PROGRAM ROOT SITE [unittest arguments]

PROGRAM is a command of zhalo, ROOT has the sources, and SITE the installed package.
"""

import sys
import unittest
from pathlib import Path

import numpy as np

PROGRAM, ROOT, SITE = (Path(argument).absolute() for argument in sys.argv[1:4])
sys.path.insert(0, str(SITE))


def main():
    unittest.main(argv=sys.argv[:1] + sys.argv[4:])


def squared_distances(a, b, length):
    """(len(a), len(b)) squared distances to the nearest images; no images where length is 0."""
    apart = np.abs(a[:, None, :].astype(np.float64) - b[None, :, :].astype(np.float64))
    if length > 0:
        apart = np.minimum(apart, length - apart)
    return (apart**2).sum(axis=2)


def labels_of(positions, linking_length, length):
    """The smallest index in each particle's group, by its definition."""
    friends = squared_distances(positions, positions, length) <= linking_length**2
    labels = np.arange(len(positions))
    while True:
        smaller = np.array([labels[row].min() for row in friends])
        if (smaller == labels).all():
            return labels
        labels = smaller
