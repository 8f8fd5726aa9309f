"""What bad arguments get from the Python package: one clear error."""

import unittest

import numpy as np

from package_case import main

import zhalo

POSITIONS = np.random.default_rng(5).random((100, 3))
DOMAIN = zhalo.Domain(POSITIONS, 1.0)
GROUPS = DOMAIN.friends_of_friends(0.2)
HALOES = GROUPS.catalogue(2)
REFUSED = {
    "must be positive": lambda: DOMAIN.friends_of_friends(-1),
    "not finite": lambda: zhalo.Domain(POSITIONS * np.nan, 1.0),
    "shape": lambda: zhalo.Domain(POSITIONS[:, :1], 1.0),
    "(number, 3)": lambda: zhalo.Domain([1.0, 2.0, 3.0], 1.0),
    "neither float32 nor float64": lambda: zhalo.Domain(POSITIONS.astype(int), 1.0),
    "lengths of a box": lambda: zhalo.Domain(POSITIONS, (1, 2, 3, 4)),
    "must be one value": lambda: zhalo.Domain(POSITIONS, "long"),
    "has no length": lambda: zhalo.Domain(POSITIONS, 0.0),
    "smallest length": lambda: zhalo.Domain(POSITIONS, 1.0, min_length=-1),
    "100 positions and 99 velocities": lambda: zhalo.Particles(POSITIONS, POSITIONS[:-1]),
    "shape of the positions": lambda: zhalo.Particles(POSITIONS, POSITIONS[:, 0]),
    "100 positions and 3 masses": lambda: zhalo.Particles(POSITIONS, masses=np.ones(3)),
    "positive and finite": lambda: zhalo.Particles(POSITIONS, masses=0),
    "whole numbers": lambda: zhalo.Particles(POSITIONS, types=np.ones(100)),
    "0 to 255": lambda: zhalo.Particles(POSITIONS, types=np.full(100, 256)),
    "type of all particles is no such": lambda: zhalo.Particles(POSITIONS, types=10**30),
    "mass of all particles is no such": lambda: zhalo.Particles(POSITIONS, masses="heavy"),
    "types must be 0": lambda: zhalo.Particles(POSITIONS, types=np.full(100, 2**63, np.uint64)),
    "elements of object": lambda: zhalo.Domain(POSITIONS.astype(object), 1.0),
    "masked": lambda: zhalo.Domain(np.ma.masked_less(POSITIONS, 0.1), 1.0),
    "as zhalo.Particles": lambda: zhalo.Domain([zhalo.Particles(POSITIONS), POSITIONS], 1.0),
    "must be one, or three": lambda: DOMAIN.paint((8, 8)),
    "species 1": lambda: GROUPS.labels(1),
    "min_members": lambda: GROUPS.catalogue(0),
    "num_types": lambda: GROUPS.catalogue(num_types=0),
    "no property Mass": lambda: HALOES["Mass"],
    "another length": lambda: HALOES.in_group_order(np.arange(99)),
    "one array for each": lambda: HALOES.in_group_order(),
    "Python objects": lambda: HALOES.in_group_order(np.array([None] * 100)),
    "k must be": lambda: DOMAIN.knn(0),
    "k is 5000": lambda: DOMAIN.knn(5000),
    "radius must be": lambda: DOMAIN.knn(max_radius=0),
    "comm must be": lambda: zhalo.Context(1),
    "points must be float32": lambda: zhalo.Domain(POSITIONS.astype(np.float32), 1.0).knn(
        points=POSITIONS
    ),
    "different shapes": lambda: zhalo.Domain(
        [zhalo.Particles(POSITIONS), zhalo.Particles(POSITIONS)], 1.0
    )
    .friends_of_friends(0.1)
    .catalogue(1)
    .in_group_order(np.zeros((100, 2)), np.zeros((100, 3))),
    "elements of str": lambda: zhalo.Domain(POSITIONS.astype(str), 1.0),
    "(must be one of kth_radius": lambda: DOMAIN.neighbour_quantity("mass"),
    "must be one of ngp": lambda: DOMAIN.paint(8, window="cloud"),
    "0 cells": lambda: DOMAIN.paint(0),
    "int32": lambda: DOMAIN.paint(8, dtype=np.int32),
    "positive number of seconds": lambda: zhalo.Context(timeout=0),
    "at least 1 thread": lambda: zhalo.Context(threads=0),
    "must be one of automatic": lambda: zhalo.Context(processor="gpu"),
    "velocities": lambda: DOMAIN.neighbour_quantity("velocity_dispersion"),
}


class Arguments(unittest.TestCase):
    def test_refused(self):
        for text, call in REFUSED.items():
            with self.subTest(text), self.assertRaises(zhalo.InputError) as raised:
                call()
            self.assertIn(text, str(raised.exception))

    def test_kinds_of_errors(self):
        self.assertTrue(issubclass(zhalo.InputError, (zhalo.Error, ValueError)))
        self.assertTrue(issubclass(zhalo.InputError, ValueError))
        self.assertTrue(issubclass(zhalo.OutOfMemory, MemoryError))
        for kind in (zhalo.OutOfMemory, zhalo.DeviceError, zhalo.CommunicationError):
            self.assertTrue(issubclass(kind, zhalo.Error))

    def test_memory_that_is_not_there(self):
        with self.assertRaisesRegex(zhalo.OutOfMemory, "does not fit into memory"):
            DOMAIN.paint(10**6)

    def test_numbers_of_numpy(self):
        for one in (np.float32(2), np.float64(2), np.array(2.0), 2):
            particles = zhalo.Particles(POSITIONS, masses=one, types=np.uint8(1))
            haloes = zhalo.Domain(particles, np.float32(1)).friends_of_friends(0.2).catalogue(
                np.int64(2), num_types=2
            )
            np.testing.assert_array_equal(haloes["GroupMass"], 2 * haloes.length)
            np.testing.assert_array_equal(haloes.length_by_type[:, 1], haloes.length)
        self.assertEqual(DOMAIN.paint(np.int64(4)).values.shape, (4, 4, 4))
        self.assertEqual(DOMAIN.paint(np.array([4, 3, 2])).values.shape, (4, 3, 2))
        self.assertEqual(repr(DOMAIN), "<zhalo.Domain of 100 particles>")
        single = POSITIONS[:5].astype(np.float32)  # exact in float64
        np.testing.assert_array_equal(
            DOMAIN.knn(3, points=single)[1], DOMAIN.knn(3, points=single.astype(np.float64))[1]
        )
        axes = np.array([True, True, False])
        mixed = zhalo.Domain(POSITIONS, zhalo.Box([1, 1, 0], periodic=axes))
        self.assertEqual(mixed.knn(2)[1].shape, (100, 2))
        self.assertEqual(zhalo.Domain([], 1.0).num(), 0)
        self.assertIn("GroupPos", HALOES)
        self.assertNotIn("GroupVel", HALOES)

    def test_arrays_may_change_and_go_once_the_domain_is_made(self):
        rows = POSITIONS.copy()
        domain = zhalo.Domain(rows, 1.0)
        rows[:] = np.nan
        del rows
        np.testing.assert_array_equal(domain.knn(3)[1], DOMAIN.knn(3)[1])

    def test_results_outlive_what_they_were_made_of(self):
        haloes = zhalo.Domain(POSITIONS, 1.0).friends_of_friends(0.2).catalogue(2)
        self.assertEqual(haloes.checksum, HALOES.checksum)
        mass = haloes["GroupMass"]
        del haloes
        np.testing.assert_array_equal(mass, HALOES["GroupMass"])

    def test_every_class_and_method_has_a_docstring(self):
        for name in zhalo.__all__:
            thing = getattr(zhalo, name)
            self.assertTrue(thing.__doc__, name)
            for member, value in vars(thing).items():
                if callable(value) and not member.startswith("_"):
                    self.assertTrue(value.__doc__, f"{name}.{member}")


if __name__ == "__main__":
    main()
