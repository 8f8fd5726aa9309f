"""fof on the real snapshots in data/, against the catalogues that GADGET-4 and SWIFT wrote, and
against scipy.

fof_real_test.py PROGRAM DATA SNAPSHOTS
"""

import h5py
import numpy as np
from check_catalogue import check
from fof_case import GADGET, SWIFT, FofCase, main
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components
from scipy.spatial import cKDTree


def gadget_groups(number):
    """The group of each particle by GADGET-4, -1 for none, and its table. The snapshots are stored
    in group order."""
    with h5py.File(GADGET / f"fof_tab_{number:03d}.hdf5", "r") as file:
        table = {name: values[:] for name, values in file["Group"].items()}
        num = file["Header"].attrs["Nids_Total"]
    with h5py.File(GADGET / f"snapshot_{number:03d}.hdf5", "r") as file:
        expected = np.full(len(file["PartType1/ParticleIDs"]), -1)
    starts = table["GroupOffsetType"][:, 1]
    for row, (start, length) in enumerate(zip(starts, table["GroupLen"])):
        expected[start : start + length] = row
    assert (expected >= 0).sum() == num == table["GroupLen"].sum()
    return expected, table


def scipy_groups(pos, box, length, min_length):
    """Connected components of all pairs with r <= length in float64; -1 in those of fewer than
    `min_length`."""
    pairs = cKDTree(pos.astype(np.float64), boxsize=box).query_pairs(length, output_type="ndarray")
    graph = coo_array(
        (np.ones(len(pairs), bool), (pairs[:, 0], pairs[:, 1])), shape=(len(pos), len(pos))
    )
    _, label = connected_components(graph, directed=False)
    large = np.bincount(label) >= min_length
    number = np.where(large, np.cumsum(large) - 1, -1)
    return number[label]


def periodic_distance(a, b, box):
    d = np.abs(a - b)
    return np.sqrt((np.minimum(d, box - d) ** 2).sum(axis=1))


class Gadget4(FofCase):
    def check(self, number, num_groups):
        expected, theirs = gadget_groups(number)
        self.assertEqual(len(theirs["GroupLen"]), num_groups)
        self.fof(GADGET / f"snapshot_{number:03d}.hdf5", "--membership")
        ours, header = self.catalogue(number)
        group, ids = self.membership(number)
        row = self.assert_same_sets(group, expected)
        np.testing.assert_array_equal(ours["GroupLen"], theirs["GroupLen"])
        self.check_properties(
            {name: values[row] for name, values in ours.items() if name != "ID"}, theirs
        )
        self.check_order(ours, group, ids)
        self.assertEqual(header["Ngroups_Total"], num_groups)
        check(str(self.folder / "fof_output"), str(GADGET / f"snapshot_{number:03d}.hdf5"))
        self.assertAlmostEqual(header["LinkingLength"], 0.2 * 50 / 64, places=12)

    def check_properties(self, ours, theirs):
        np.testing.assert_allclose(ours["GroupMass"], theirs["GroupMass"], rtol=1e-5)
        np.testing.assert_array_equal(ours["GroupLenType"][:, :2], theirs["GroupLenType"])
        np.testing.assert_allclose(ours["GroupMassType"][:, :2], theirs["GroupMassType"], rtol=1e-5)
        self.assertLess(
            periodic_distance(ours["GroupPos"], theirs["GroupPos"], 50).max(), 1e-5 * 50
        )
        speed = np.linalg.norm(theirs["GroupVel"], axis=1, keepdims=True)
        self.assertLess((np.abs(ours["GroupVel"] - theirs["GroupVel"]) / speed).max(), 1e-5)

    def check_order(self, ours, group, ids):
        """Ties by the smaller label, which is a row of the snapshot; members as the offsets say."""
        rows = np.flatnonzero(group >= 0)
        first = np.full(len(ours["GroupLen"]), len(group))
        np.minimum.at(first, group[rows], rows)
        np.testing.assert_array_equal(ours["GroupLabel"], first)
        np.testing.assert_array_equal(np.lexsort((first, -ours["GroupLen"])), np.arange(len(first)))
        np.testing.assert_array_equal(
            ours["GroupOffset"], np.cumsum(ours["GroupLen"]) - ours["GroupLen"]
        )
        np.testing.assert_array_equal(
            self.ids_by_group(ours), ids[rows][np.lexsort((ids[rows], group[rows]))]
        )

    def test_z0(self):
        self.check(1, 468)

    def test_z1(self):
        self.check(0, 357)

    def test_scipy_agrees_at_another_length(self):
        """Not a length for which anybody tuned the files."""
        self.fof(
            GADGET / "snapshot_001.hdf5", "--membership", "--rlink-abs", 0.1234, "--min-size", 5
        )
        with h5py.File(GADGET / "snapshot_001.hdf5", "r") as file:
            expected = scipy_groups(file["PartType1/Coordinates"][:], 50, 0.1234, 5)
        self.assertGreater(expected.max(), 1000)
        self.assert_same_sets(self.membership(1)[0], expected)

    def test_scipy_agrees_without_periodicity(self):
        self.fof(GADGET / "snapshot_000.hdf5", "--membership", "--periodic", "no")
        with h5py.File(GADGET / "snapshot_000.hdf5", "r") as file:
            expected = scipy_groups(file["PartType1/Coordinates"][:], None, 0.2 * 50 / 64, 32)
        self.assert_same_sets(self.membership(0)[0], expected)


class Swift(FofCase):
    def test_groups_and_properties(self):
        self.fof(SWIFT / "snap_0000.hdf5", "--meansep", "rho", "--membership")
        with h5py.File(SWIFT / "snap_0000.hdf5", "r") as file:
            theirs = file["PartType1/FOFGroupIDs"][:]
            box = file["Header"].attrs["BoxSize"][0]
        ours, header = self.catalogue(0)
        row = self.assert_same_sets(
            self.membership(0)[0], np.where(theirs == 2147483647, -1, theirs - 1)
        )
        self.assertEqual(len(row), 452)
        self.assertAlmostEqual(header["LinkingLength"], 0.23044019763406123, places=12)
        with h5py.File(SWIFT / "fof_output_0000.hdf5", "r") as file:
            order = np.argsort(file["Groups/GroupIDs"][:])
            table = {name: values[:][order] for name, values in file["Groups"].items()}
        np.testing.assert_array_equal(ours["GroupLen"][row], table["Sizes"])
        np.testing.assert_allclose(ours["GroupMass"][row], table["Masses"], rtol=1e-5)
        np.testing.assert_allclose(ours["GroupExtentRadius"][row], table["Radii"], rtol=1e-5)
        check(str(self.folder / "fof_output"))
        self.assertLess(
            periodic_distance(ours["GroupPos"][row], table["Centres"], box).max(), 1e-5 * box
        )


if __name__ == "__main__":
    main()
