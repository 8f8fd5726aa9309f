"""What bad arguments get from the Python package: one clear error."""

import ast
import unittest
from fractions import Fraction
from pathlib import Path

import numpy as np

from package_case import main

import zhalo

POSITIONS = np.random.default_rng(5).random((100, 3))
DOMAIN = zhalo.Domain(POSITIONS, 1.0)
GROUPS = DOMAIN.friends_of_friends(0.2)
HALOES = GROUPS.catalogue(2)
REFUSED = {
    "lo is False (must be one number": lambda: zhalo.Box(100.0, False),
    "length is an array of shape (3,)": lambda: zhalo.Box([True, True, True]),
    "box is True (must be one number": lambda: zhalo.Domain(POSITIONS, True),
    "periodic is 1 (must be True": lambda: zhalo.Box(1, periodic=1),
    "counted_types is empty": lambda: GROUPS.catalogue(counted_types=np.arange(0)),
    "include_self=False is for particles": lambda: DOMAIN.knn(points=POSITIONS, include_self=False),
    "the points are neither float32": lambda: DOMAIN.knn(points=[[0, 0, 0]]),
    "points must have the shape (number, 3)": lambda: DOMAIN.knn(points=np.ones(3)),
    "OSError, whose text cannot be shown": lambda: zhalo.Domain(Unreadable(), 1.0),
    "must be positive": lambda: DOMAIN.friends_of_friends(-1),
    "not finite": lambda: zhalo.Domain(POSITIONS * np.nan, 1.0),
    "shape": lambda: zhalo.Domain(POSITIONS[:, :1], 1.0),
    "(number, 3)": lambda: zhalo.Domain([1.0, 2.0, 3.0], 1.0),
    "neither float32 nor float64": lambda: zhalo.Domain(POSITIONS.astype(int), 1.0),
    "box is an array of shape (4,)": lambda: zhalo.Domain(POSITIONS, (1, 2, 3, 4)),
    "box is 'long' (must be one number": lambda: zhalo.Domain(POSITIONS, "long"),
    "has no length": lambda: zhalo.Domain(POSITIONS, 0.0),
    "the box has 2 axes": lambda: zhalo.Domain(POSITIONS, (1, 1)),
    "length is -1.0 along x": lambda: zhalo.Box(-1),
    "length is nan along y": lambda: zhalo.Box((1, np.nan, 1)),
    "length is inf along x": lambda: zhalo.Box(np.inf, periodic=False),
    "length is an array of shape (4,)": lambda: zhalo.Box(np.ones(4)),
    "length is an array of shape (3, 3)": lambda: zhalo.Box(np.eye(3)),
    "length is 0 along z, where": lambda: zhalo.Box((1, 1, 0)),
    "lo is not finite along x": lambda: zhalo.Box(1, lo=-np.inf),
    "lo has another number of axes": lambda: zhalo.Box((1, 1), lo=(0, 0, 0)),
    "periodic is 'yes' (must be True": lambda: zhalo.Box(1, periodic="yes"),
    "linking_length is an array of shape (2,)": lambda: DOMAIN.friends_of_friends([0.1, 0.2]),
    "linking_length is '0.1' (must be one number)": lambda: DOMAIN.friends_of_friends("0.1"),
    "min_length is -1 (must not": lambda: zhalo.Domain(POSITIONS, 1.0, min_length=-1),
    "100 positions and 99 velocities": lambda: zhalo.Particles(POSITIONS, POSITIONS[:-1]),
    "shape of the positions": lambda: zhalo.Particles(POSITIONS, POSITIONS[:, 0]),
    "100 positions and 3 masses": lambda: zhalo.Particles(POSITIONS, masses=np.ones(3)),
    "positive and finite": lambda: zhalo.Particles(POSITIONS, masses=0),
    "whole numbers": lambda: zhalo.Particles(POSITIONS, types=np.ones(100)),
    "0 to 255": lambda: zhalo.Particles(POSITIONS, types=np.full(100, 256)),
    "types is 1000": lambda: zhalo.Particles(POSITIONS, types=10**30),
    "types is 256": lambda: zhalo.Particles(POSITIONS, types=256),
    "0 positions and 3 masses": lambda: zhalo.Particles([], masses=np.ones(3)),
    "masses is 'heavy'": lambda: zhalo.Particles(POSITIONS, masses="heavy"),
    "types must be 0": lambda: zhalo.Particles(POSITIONS, types=np.full(100, 2**63, np.uint64)),
    "elements of object": lambda: zhalo.Domain(POSITIONS.astype(object), 1.0),
    "masked": lambda: zhalo.Domain(np.ma.masked_less(POSITIONS, 0.1), 1.0),
    "as zhalo.Particles": lambda: zhalo.Domain([zhalo.Particles(POSITIONS), POSITIONS], 1.0),
    "num is an array of shape (2,) (must be one number of cells, or three)": (
        lambda: DOMAIN.paint((8, 8))
    ),
    "species 1": lambda: GROUPS.labels(1),
    "species is 0.5 (must be one whole number)": lambda: DOMAIN.num(0.5),
    "min_members is 0": lambda: GROUPS.catalogue(0),
    "num_types is 0": lambda: GROUPS.catalogue(num_types=0),
    "num_types is 257": lambda: GROUPS.catalogue(num_types=257),
    "counted_types has type 5": lambda: GROUPS.catalogue(counted_types=[5]),
    "counted_types must be a list": lambda: GROUPS.catalogue(counted_types=[0.5]),
    "no column 'Mass' (there are GroupMass, GroupPos,": lambda: HALOES["Mass"],
    "no column 3": lambda: HALOES[3],
    "another length": lambda: HALOES.in_group_order(np.arange(99)),
    "one array for each": lambda: HALOES.in_group_order(),
    "Python objects": lambda: HALOES.in_group_order(np.array([None] * 100)),
    "k is 0 (must be at least 1)": lambda: DOMAIN.knn(0),
    "k is '3' (must be one whole number)": lambda: DOMAIN.knn("3"),
    "k is 2.0 (must be one whole number)": lambda: DOMAIN.knn(2.0),
    "k is 10000000000, which is too large": lambda: DOMAIN.knn(10**10),
    "include_self is 'no' (must be True or False)": lambda: DOMAIN.knn(include_self="no"),
    "k is 5000": lambda: DOMAIN.knn(5000),
    "max_radius is 0 (must be more than 0)": lambda: DOMAIN.knn(max_radius=0),
    "radius is inf (must be positive and finite)": lambda: DOMAIN.count_within(np.inf),
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
    "window is 'cloud' (must be one of ngp": lambda: DOMAIN.paint(8, window="cloud"),
    "0 cells": lambda: DOMAIN.paint(0),
    "particles of 2 dimensions on a mesh": lambda: (
        zhalo.Domain(POSITIONS[:, :2], 1.0).power_spectrum(8)
    ),
    "window is 3 (must be one of ngp": lambda: DOMAIN.paint(8, window=3),
    "dtype is 'int32'": lambda: DOMAIN.paint(8, dtype=np.int32),
    "positive number of seconds": lambda: zhalo.Context(timeout=0),
    "threads is 0 (must be at least 1)": lambda: zhalo.Context(threads=0),
    "must be one of automatic": lambda: zhalo.Context(processor="gpu"),
    "velocities": lambda: DOMAIN.neighbour_quantity("velocity_dispersion"),
}


class TooLarge:
    """Rows for which numpy finds no memory."""

    def __array__(self, *_, **__):
        raise MemoryError("no room for the rows")


class Unreadable:
    """Rows that cannot be read, from a file whose name is no UTF-8."""

    def __array__(self, *_, **__):
        raise OSError("\udcff.npy")


class WithoutWords:
    def __init__(self, kind):
        self.kind = kind

    def __array__(self, *_, **__):
        raise self.kind


class AnewEachTime(list):
    """A list that makes its elements when it is asked for them, and keeps none."""

    def __getitem__(self, _):
        return zhalo.Particles(POSITIONS.copy(), masses=[2.0])

    def __iter__(self):
        return (self[i] for i in range(len(self)))


class Arguments(unittest.TestCase):
    def test_refused(self):
        for text, call in REFUSED.items():
            with self.subTest(text), self.assertRaises(zhalo.InputError) as raised:
                call()
            self.assertIn(text, str(raised.exception))

    def test_unknown_columns(self):
        with self.assertRaises(KeyError) as raised:
            HALOES["Mass"]
        for name in HALOES.keys():
            self.assertIn(name, str(raised.exception))
        for other in ("Mass", 3, None):
            self.assertNotIn(other, HALOES)

    def test_a_catalogue_is_a_table_of_columns(self):
        names = HALOES.keys()
        self.assertEqual(list(HALOES), names)
        self.assertEqual(repr(HALOES), f"<zhalo.Catalogue of {len(HALOES)} groups>")
        columns = dict(HALOES)
        self.assertEqual(list(columns), names)
        self.assertEqual([name for name, _ in HALOES.items()], names)
        for name, column in HALOES.items():
            self.assertIn(name, HALOES)
            self.assertEqual(len(column), len(HALOES))
            np.testing.assert_array_equal(column, HALOES[name])
            np.testing.assert_array_equal(column, columns[name])
        for column, other in zip(HALOES.values(), columns.values()):
            np.testing.assert_array_equal(column, other)
        flat = HALOES.flat()
        self.assertTrue(all(column.shape == (len(HALOES),) for column in flat.values()))
        np.testing.assert_array_equal(flat["GroupMass"], HALOES["GroupMass"])
        np.testing.assert_array_equal(flat["GroupPos_y"], HALOES["GroupPos"][:, 1])
        self.assertEqual(
            len(flat), sum(1 if column.ndim == 1 else 3 for column in HALOES.values())
        )

    def test_what_things_are_shown_as(self):
        for thing in (POSITIONS, POSITIONS[:, :2]):
            particles = zhalo.Particles(thing)
            self.assertEqual(
                repr(particles), f"<zhalo.Particles: 100 in {thing.shape[1]} dimensions>"
            )
        self.assertEqual(
            repr(zhalo.Box((1, 2), periodic=(True, False))),
            "zhalo.Box([1.0, 2.0], lo=[0.0, 0.0], periodic=[True, False])",
        )
        for thing in (GROUPS, DOMAIN.paint(4), DOMAIN.power_spectrum(8), zhalo.Context()):
            self.assertRegex(repr(thing), f"^<zhalo.{type(thing).__name__}[ :].*>$")

    def test_the_stub_has_all_names(self):
        folder = Path(zhalo.__file__).parent
        self.assertTrue((folder / "py.typed").is_file())
        module = ast.parse((folder / "_zhalo.pyi").read_text(encoding="utf-8"))
        classes = {node.name: node for node in module.body if isinstance(node, ast.ClassDef)}
        self.assertEqual(sorted(classes), zhalo.__all__)
        for name, node in classes.items():
            thing = getattr(zhalo, name)
            bases = [base.id for base in node.bases] or ["object"]
            self.assertEqual(bases, [base.__name__ for base in thing.__bases__])
            if issubclass(thing, Exception):
                continue
            listed = {one.name for one in node.body if isinstance(one, ast.FunctionDef)}
            public = {member for member in vars(thing) if not member.startswith("_")}
            self.assertLessEqual(public, listed, name)

    def test_kinds_of_errors(self):
        self.assertTrue(issubclass(zhalo.InputError, (zhalo.Error, ValueError)))
        self.assertTrue(issubclass(zhalo.InputError, ValueError))
        self.assertTrue(issubclass(zhalo.OutOfMemory, MemoryError))
        for kind in (zhalo.OutOfMemory, zhalo.DeviceError, zhalo.CommunicationError):
            self.assertTrue(issubclass(kind, zhalo.Error))

    def test_memory_that_is_not_there(self):
        with self.assertRaisesRegex(zhalo.OutOfMemory, "does not fit into memory"):
            DOMAIN.paint(10**6)
        for call in (
            lambda: zhalo.Domain(TooLarge(), 1.0),
            lambda: DOMAIN.knn(2, points=TooLarge()),
            lambda: HALOES.in_group_order(TooLarge()),
        ):
            with self.assertRaisesRegex(zhalo.OutOfMemory, "MemoryError: no room for the rows"):
                call()

    def test_numbers_of_numpy(self):
        for one in (np.float32(2), np.float64(2), np.array(2.0), 2, Fraction(2)):
            particles = zhalo.Particles(POSITIONS, masses=one, types=np.uint8(1))
            haloes = zhalo.Domain(particles, np.float32(1)).friends_of_friends(0.2).catalogue(
                np.int64(2), num_types=2
            )
            np.testing.assert_array_equal(haloes["GroupMass"], 2 * haloes.length)
            np.testing.assert_array_equal(haloes.length_by_type[:, 1], haloes.length)
        for one in (0.2, np.array(0.2), np.array([0.2]), [[0.2]], Fraction(1, 5)):
            self.assertEqual(DOMAIN.friends_of_friends(one).catalogue(2).checksum, HALOES.checksum)
        for one in (np.array(3), np.array([3]), np.uint8(3)):
            self.assertEqual(DOMAIN.knn(one, include_self=np.True_)[1].shape, (100, 3))
        for length in (np.array([1.0]), np.array(1), [1.0, 1.0, 1.0]):
            np.testing.assert_array_equal(
                zhalo.Domain(POSITIONS, length).knn(2)[1], DOMAIN.knn(2)[1]
            )
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
        self.assertEqual(zhalo.Domain(zhalo.Particles([], [], [], []), (1, 1)).num(), 0)
        self.assertIn("GroupPos", HALOES)
        self.assertNotIn("GroupVel", HALOES)

    def test_arrays_may_change_and_go_once_the_domain_is_made(self):
        rows = POSITIONS.copy()
        domain = zhalo.Domain(rows, 1.0)
        rows[:] = np.nan
        del rows
        np.testing.assert_array_equal(domain.knn(3)[1], DOMAIN.knn(3)[1])

    def test_a_list_of_species_need_not_keep_them(self):
        domain = zhalo.Domain(AnewEachTime([0, 0]), 1.0)
        self.assertEqual((domain.num(0), domain.num(1)), (100, 100))
        np.testing.assert_array_equal(domain.knn(3)[1], DOMAIN.knn(3)[1])
        mass = domain.friends_of_friends(0.2).catalogue(2)["GroupMass"]
        np.testing.assert_array_equal(mass, 2 * HALOES.length)

    def test_errors_without_words(self):
        """They are errors all the same, on all ranks."""
        for kind, words in ((zhalo.InputError, "InputError"), (ValueError, "ValueError")):
            with self.assertRaisesRegex(zhalo.InputError, words):
                zhalo.Domain(WithoutWords(kind), 1.0)

    def test_a_long_name_is_cut_between_letters(self):
        for shift in ("", "x", "xx"):
            with self.assertRaisesRegex(zhalo.InputError, "weights is 'x*\u00e9*$"):
                DOMAIN.paint(8, weights=shift + "\u00e9" * 3000)

    def test_records_whose_fields_are_out_of_order(self):
        records = np.zeros(100, [("x", float), ("id", int), ("name", "S3")])
        records["id"] = np.arange(100)
        found = HALOES.in_group_order(records[["id", "x"]])
        self.assertEqual(found.dtype.names, ("id", "x"))
        np.testing.assert_array_equal(found["id"], HALOES.in_group_order(records)["id"])

    def test_an_error_names_its_kind_once(self):
        with self.assertRaises(zhalo.InputError) as raised:
            zhalo.Domain(POSITIONS.astype(int), 1.0)
        self.assertTrue(str(raised.exception).startswith("the positions are neither"))

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
