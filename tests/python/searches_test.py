"""Groups, catalogues and neighbours of the Python package, against their definitions."""

import concurrent.futures
import threading
import unittest
import warnings

import numpy as np

from package_case import labels_of, main, squared_distances

import zhalo

random = np.random.default_rng(5)
LINKING_LENGTH = 0.04
# Three clumps, one across the edge of the box, and particles anywhere.
CLUMPS = [random.normal(centre, 0.02, (60, 3)) for centre in (0.3, 0.7, 0.995)]
POSITIONS = np.concatenate([*CLUMPS, random.random((220, 3))]) % 1


def padded(rows):
    """The same rows with gaps between them."""
    wide = np.full((len(rows), 5), np.nan, rows.dtype)
    wide[:, 1:4] = rows
    return wide[:, 1:4]


def in_records(rows):
    """The same rows in records whose size is no multiple of a number's."""
    records = np.zeros(len(rows), [("type", "i1"), ("position", rows.dtype, 3)])
    records["position"] = rows
    return records["position"]


def unaligned(rows):
    """The same rows, one byte behind where numbers are aligned."""
    shifted = np.zeros(rows.nbytes + 1, np.uint8)[1:].view(rows.dtype).reshape(rows.shape)
    shifted[:] = rows
    assert not shifted.flags.aligned
    return shifted


class Groups(unittest.TestCase):
    def test_labels_in_any_array(self):
        shapes = {
            "as it is": lambda rows: rows,
            "backward": lambda rows: rows[::-1],
            "by columns": np.asfortranarray,
            "with gaps": padded,
            "every second": lambda rows: np.repeat(rows, 2, axis=0)[::2],
            "other byte order": lambda rows: rows.astype(rows.dtype.newbyteorder()),
            "list": lambda rows: rows.tolist(),
            "packed records": in_records,
            "unaligned": unaligned,
            "mapped to one row": lambda rows: np.broadcast_to(rows[0], rows.shape),
        }
        for dtype in (np.float32, np.float64):
            for name, shape in shapes.items():
                if name == "list" and dtype == np.float32:
                    continue
                positions = shape(POSITIONS.astype(dtype))
                for box, length in ((1.0, 1), (None, 0)):
                    with self.subTest(name, dtype=dtype, box=box):
                        domain = zhalo.Domain(positions, box)
                        own = domain.friends_of_friends(LINKING_LENGTH).labels()
                        wanted = labels_of(np.array(positions, dtype), LINKING_LENGTH, length)
                        np.testing.assert_array_equal(own, wanted)

    def test_boxes(self):
        boxes = {
            "cube": (1.0, 1),
            "lengths": ((1.0, 1.0, 1.0), 1),
            "array": (np.ones(3), 1),
            "box": (zhalo.Box(1), 1),
            "bounded": (zhalo.Box(1, periodic=False), 0),
            "open": (zhalo.Box(0, lo=(-1, -1, -1), periodic=(False, False, False)), 0),
        }
        for name, (box, length) in boxes.items():
            with self.subTest(name):
                own = zhalo.Domain(POSITIONS, box).friends_of_friends(LINKING_LENGTH).labels()
                wanted = labels_of(POSITIONS, LINKING_LENGTH, length)
                np.testing.assert_array_equal(own, wanted)
        moved = zhalo.Domain(POSITIONS + 7, zhalo.Box(1, lo=7)).friends_of_friends(LINKING_LENGTH)
        np.testing.assert_array_equal(moved.labels(), labels_of(POSITIONS, LINKING_LENGTH, 1))

    def test_many_particles_outside_the_box(self):
        box = 1.0
        with self.assertWarnsRegex(UserWarning, "102 of 400 particles lie outside the periodic"):
            outside = POSITIONS.copy()
            outside[:102] += box
            domain = zhalo.Domain(outside, box)
        self.assertEqual(domain.num_wrapped, 102)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            outside = POSITIONS.copy()
            outside[:2] += box  # 1 in 200
            self.assertEqual(zhalo.Domain(outside, box).num_wrapped, 2)

    def test_two_dimensions(self):
        flat = POSITIONS[:, :2]
        own = zhalo.Domain(flat, 1.0).friends_of_friends(0.02).labels()
        np.testing.assert_array_equal(own, labels_of(flat, 0.02, 1))

    def test_catalogue(self):
        masses = random.uniform(1, 2, len(POSITIONS))
        velocities = random.normal(0, 100, POSITIONS.shape).astype(np.float32)
        particles = zhalo.Particles(POSITIONS, velocities, masses)
        groups = zhalo.Domain(particles, 1.0).friends_of_friends(LINKING_LENGTH)
        haloes = groups.catalogue(min_members=3)
        labels, lengths = np.unique(groups.labels(), return_counts=True)
        order = np.lexsort((labels, -lengths))
        order = order[lengths[order] >= 3]
        self.assertGreaterEqual(len(order), 3)
        np.testing.assert_array_equal(haloes.length, lengths[order])
        np.testing.assert_array_equal(haloes.label, labels[order])
        self.assertEqual(len(haloes), haloes.num_groups_total)
        self.assertEqual(haloes.num_members_total, haloes.length.sum())
        self.assertEqual((haloes.first_group, haloes.first_member), (0, 0))
        self.assertTrue(haloes.has_velocities)
        for row, label in enumerate(haloes.label):
            member = groups.labels() == label
            first = haloes.offset[row]
            own = haloes.members[first : first + haloes.length[row]]
            np.testing.assert_array_equal(np.sort(own), np.flatnonzero(member))
            self.assertTrue((haloes.group_of()[member] == row).all())
            np.testing.assert_allclose(haloes["GroupMass"][row], masses[member].sum())
            mean = np.average(velocities[member], axis=0, weights=masses[member])
            np.testing.assert_allclose(haloes["GroupVelPeculiar"][row], mean, rtol=1e-5)
        in_none = ~np.isin(groups.labels(), haloes.label)
        self.assertTrue((haloes.group_of()[in_none] == -1).all())
        for column in (np.arange(len(POSITIONS)), POSITIONS, velocities[:, 0]):
            np.testing.assert_array_equal(haloes.in_group_order(column), column[haloes.members])
        self.assertIn("GroupPos", haloes.keys())
        self.assertNotIn("GroupVel", haloes.keys())

    def test_species(self):
        gas = random.random((150, 3))
        types = random.integers(0, 2, len(POSITIONS))
        domain = zhalo.Domain(
            [zhalo.Particles(POSITIONS, types=types), zhalo.Particles(gas, masses=0.5, types=2)],
            1.0,
        )
        self.assertEqual((domain.num_species, domain.num(1), domain.num_total(0)), (2, 150, 400))
        groups = domain.friends_of_friends(LINKING_LENGTH)
        groups.attach(1, radius=0.05)
        squared = squared_distances(gas, POSITIONS, 1)
        nearest = groups.labels()[squared.argmin(axis=1)]
        wanted = np.where(squared.min(axis=1) <= 0.05**2, nearest, -1)
        np.testing.assert_array_equal(groups.labels(1), wanted)
        haloes = groups.catalogue(min_members=2, num_types=3, counted_types=[0, 1])
        for row, label in enumerate(haloes.label):
            by_type = np.bincount(types[groups.labels() == label], minlength=3)
            by_type[2] = (wanted == label).sum()
            np.testing.assert_array_equal(haloes.length_by_type[row], by_type)
            np.testing.assert_allclose(haloes.mass_by_type[row], by_type * [1, 1, 0.5])
        self.assertTrue((haloes.group_of(1) >= 0).any())
        ids = np.arange(400), np.arange(1000, 1150)
        np.testing.assert_array_equal(
            haloes.in_group_order(*ids), np.concatenate(ids)[haloes.members]
        )

    def test_no_particles(self):
        haloes = zhalo.Domain(np.empty((0, 3)), 1.0).friends_of_friends(0.1).catalogue()
        self.assertEqual((len(haloes), haloes["GroupPos"].shape), (0, (0, 3)))
        self.assertEqual(haloes.in_group_order(np.empty((0, 4))).shape, (0, 4))


class Neighbours(unittest.TestCase):
    def setUp(self):
        self.domain = zhalo.Domain(POSITIONS, 1.0)
        self.squared = squared_distances(POSITIONS, POSITIONS, 1)

    def test_lists(self):
        order = np.argsort(self.squared, axis=1, kind="stable")[:, :5]
        distances, indices = self.domain.knn(k=5)
        np.testing.assert_array_equal(indices, order)
        np.testing.assert_allclose(
            distances, np.sqrt(np.take_along_axis(self.squared, order, axis=1)), rtol=1e-12
        )
        np.testing.assert_array_equal(self.domain.knn(k=4, include_self=False)[1], order[:, 1:])
        single = zhalo.Domain(POSITIONS.astype(np.float32), 1.0).knn(k=1)[0]
        self.assertEqual((single.dtype, distances.dtype), (np.float32, np.float64))

    def test_threads_share_a_domain(self):
        """Whichever comes first makes what all need; a context takes one call at a time."""
        positions = random.random((20000, 3))
        serial = zhalo.Domain(positions, 1.0)
        calls = [lambda domain, k=k: domain.knn(k)[1] for k in range(1, 5)]
        calls += [lambda domain, k=k: domain.neighbour_quantity("density", k) for k in (5, 6)]
        calls += [
            lambda domain: domain.friends_of_friends(0.02).catalogue(2).members,
            lambda domain: domain.count_within(0.03),
        ]
        expected = [call(serial) for call in calls]
        for _ in range(4):
            domain = zhalo.Domain(positions, 1.0)
            start = threading.Barrier(len(calls))

            def found_by(call, domain=domain, start=start):
                start.wait()
                return call(domain)

            with concurrent.futures.ThreadPoolExecutor(len(calls)) as threads:
                for found, wanted in zip(threads.map(found_by, calls), expected):
                    np.testing.assert_array_equal(found, wanted)

    def test_points_and_radius(self):
        points = random.random((30, 3))
        squared = squared_distances(points, POSITIONS, 1)
        distances, indices = self.domain.knn(k=6, points=points, max_radius=0.1)
        order = np.argsort(squared, axis=1, kind="stable")[:, :6]
        near = np.take_along_axis(squared, order, axis=1) <= 0.1**2
        np.testing.assert_array_equal(indices, np.where(near, order, -1))
        self.assertTrue(np.isinf(distances[~near]).all() and (~near).any() and near.any())
        counts = self.domain.count_within(0.1, points=points)
        np.testing.assert_array_equal(counts, (squared <= 0.1**2).sum(axis=1))
        alone = self.domain.count_within(0.1, include_self=False)
        np.testing.assert_array_equal(alone, (self.squared <= 0.1**2).sum(axis=1) - 1)

    def test_other_species(self):
        gas = random.random((80, 3))
        domain = zhalo.Domain([zhalo.Particles(POSITIONS), zhalo.Particles(gas)], 1.0)
        wanted = squared_distances(gas, POSITIONS, 1).argmin(axis=1)
        np.testing.assert_array_equal(domain.knn(k=1, queries=1, targets=0)[1][:, 0], wanted)

    def test_quantities(self):
        nearest = np.sqrt(np.sort(self.squared, axis=1)[:, :9])
        kth = self.domain.neighbour_quantity("kth_radius", k=9)
        np.testing.assert_allclose(kth, nearest[:, -1], rtol=1e-12)
        mean = self.domain.neighbour_quantity("mean_radius", k=9)
        np.testing.assert_allclose(mean, nearest[:, 1:].mean(axis=1), rtol=1e-12)
        q = nearest / nearest[:, -1:]
        shape = (1 - q) ** 4 * (1 + 4 * q)
        density = 21 / (2 * np.pi) * shape.sum(axis=1) / nearest[:, -1] ** 3
        own = self.domain.neighbour_quantity("density", k=9, kernel="wendland_c2")
        np.testing.assert_allclose(own, density, rtol=1e-10)


if __name__ == "__main__":
    main()
