"""fof with attached types, against scipy.

fof_attach_scipy_test.py PROGRAM DATA SNAPSHOTS
"""

import h5py
import numpy as np
from attach_case import (
    LENGTH,
    MPIEXEC,
    SNAPSHOT,
    AttachCase,
    each,
    gas_snapshot,
    main,
    shows_results,
)
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components
from scipy.spatial import cKDTree


def components_and_nearest(linked, others, box, length):
    """By scipy in float64: the component of each linked particle; for each of the others the
    nearest linked one and how far it is."""
    tree = cKDTree(linked, boxsize=box)
    pairs = tree.query_pairs(length, output_type="ndarray")
    graph = coo_array(
        (np.ones(len(pairs), bool), (pairs[:, 0], pairs[:, 1])), shape=(len(linked), len(linked))
    )
    _, label = connected_components(graph, directed=False)
    distance, nearest = tree.query(others, 1)
    return label, nearest, distance


def attached_groups(label, nearest, distance, radius):
    """The definition: each of the others is in the component of its nearest linked particle if that
    is near enough, else -1."""
    return np.where(distance <= radius * (1 + 1e-9), label[nearest], -1)


def keep_large(label, attached, min_length, only_linked_count):
    """-1 for those in groups that are too small."""
    counts = np.bincount(label)
    if not only_linked_count:
        counts = counts + np.bincount(attached[attached >= 0], minlength=len(counts))
    large = np.append(counts >= min_length, False)  # the last for -1
    return np.where(large[label], label, -1), np.where(large[attached], attached, -1)


def numbered(groups):
    """The same sets with numbers 0, 1, ..."""
    return np.unique(np.append(groups, -1), return_inverse=True)[1][:-1] - 1


class Scipy(AttachCase):
    def expect(self, linked, others, box):
        """`linked` and `others`: positions by type, in the order of the types."""
        self.types = (*linked, *others)
        self.expected = components_and_nearest(
            np.concatenate(list(linked.values())),
            np.concatenate(list(others.values())),
            box,
            LENGTH,
        )

    def check(self, snapshot, radius, only_linked_count, options, ranks=1):
        label = self.expected[0]
        label, attached = keep_large(
            label, attached_groups(*self.expected, radius * LENGTH), 32, only_linked_count
        )
        counts = "linked" if only_linked_count else "all"
        _, group_of = self.run_on(
            ranks,
            snapshot,
            "--rlink-abs",
            LENGTH,
            "--attach-radius",
            radius,
            "--min-counts",
            counts,
            *options,
        )
        ours = np.concatenate([group_of[kind] for kind in self.types])
        self.assert_same_sets(ours, numbered(np.concatenate([label, attached])))
        return len(np.unique(ours)) - 1

    @shows_results
    def test_radius_and_counts(self):
        pos, _, _, box = gas_snapshot()
        pos = [x.astype(np.float64) for x in pos]
        self.expect({1: pos[1]}, {0: pos[0]}, box)
        found = {}
        for radius, only_linked_count in (
            (0, False),
            (0.5, True),
            (1, False),
            (4, False),
            (np.inf, False),
            (4, True),
        ):
            with self.subTest(radius=radius, only_linked_count=only_linked_count):
                found[radius, only_linked_count] = self.check(
                    SNAPSHOT, radius, only_linked_count, ("--attach-types", 0)
                )
        self.assertEqual(found[4, True], 382)
        self.assertGreater(found[4, False], found[1, False])

    @shows_results
    def test_gas_may_be_linked_and_dark_matter_attached(self):
        pos, _, _, box = gas_snapshot()
        self.expect({0: pos[0]}, {1: pos[1]}, box)
        self.check(SNAPSHOT, 1, True, ("--link-types", 0, "--attach-types", 1))

    def test_many_types(self):
        """The gas dealt out to types 0, 2, 4 and 5, the dark matter to 1 and 3; float positions, no
        velocities of some."""
        pos, _, _, box = gas_snapshot()
        path = self.folder / "snapshot_007.hdf5"
        deal = {kind: pos[0][i::4].astype(np.float32) for i, kind in enumerate((0, 2, 4, 5))}
        deal.update({kind: pos[1][i::2].astype(np.float32) for i, kind in enumerate((1, 3))})
        deal[5] = deal[5][:7]
        with h5py.File(path, "w") as file:
            header = file.create_group("Header").attrs
            header["NumPart_ThisFile"] = header["NumPart_Total"] = np.array(
                [len(deal[kind]) for kind in range(6)], np.uint32
            )
            header["NumPart_Total_HighWord"] = np.zeros(6, np.uint32)
            header["MassTable"] = np.array([1.0, 5, 1, 5, 1, 1])
            for name, value in (
                ("Time", 1.0),
                ("Redshift", 0.0),
                ("BoxSize", box),
                ("NumFilesPerSnapshot", 1),
                ("Omega0", 0.3),
                ("OmegaLambda", 0.7),
                ("HubbleParam", 0.7),
            ):
                header[name] = value
            for kind, x in deal.items():
                file[f"PartType{kind}/Coordinates"] = np.where(x < box, x, 0).astype(np.float32)
                file[f"PartType{kind}/ParticleIDs"] = (
                    np.arange(len(x), dtype=np.uint64) + 1000000 * kind
                )
        inside = {
            kind: np.where(x < box, x, 0).astype(np.float64) for kind, x in sorted(deal.items())
        }
        self.expect(
            {kind: inside[kind] for kind in (1, 3)}, {kind: inside[kind] for kind in (0, 4, 5)}, box
        )
        options = ("--link-types", "3,1", "--attach-types", "5,0,4", "--meansep", 1)
        for ranks in each(1, 4) if MPIEXEC else (1,):
            with self.subTest(ranks):
                self.check(path, 1, False, options, ranks)


if __name__ == "__main__":
    main()
