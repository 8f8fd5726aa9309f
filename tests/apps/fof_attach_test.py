"""fof with attached types: against SWIFT's own groups with gas, and against scipy.

  fof_attach_test.py PROGRAM DATA SNAPSHOTS
"""
import json
import shutil
import unittest

import h5py
import numpy as np
from check_catalogue import Catalogue, Membership, check
from fof_case import GADGET, GAS, FofCase, each, each_rank, main, shows_results
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components
from scipy.spatial import cKDTree

MPIEXEC = shutil.which("mpiexec")
SNAPSHOT = GAS / "snap_0000.hdf5"
AS_SWIFT = ("--link-types", 1, "--attach-types", 0, "--attach-radius", 1, "--min-counts", "linkers", "--meansep", "rho")
LENGTH = 0.23044020054036027  # of SWIFT


def gas_snapshot():
    """Of types 0 and 1: positions, masses, and SWIFT's groups, -1 for none; the side of the box."""
    with h5py.File(SNAPSHOT, "r") as file:
        def column(name):
            return [file[f"PartType{kind}/{name}"][:] for kind in (0, 1)]
        theirs = [np.where(group == 2147483647, -1, group - 1) for group in column("FOFGroupIDs")]
        return column("Coordinates"), column("Masses"), theirs, file["Header"].attrs["BoxSize"][0]


def components_and_nearest(linked, others, box, length):
    """By scipy in float64: the component of each linked particle; for each of the others the nearest linked one and how far it is."""
    tree = cKDTree(linked, boxsize=box)
    pairs = tree.query_pairs(length, output_type="ndarray")
    graph = coo_array((np.ones(len(pairs), bool), (pairs[:, 0], pairs[:, 1])), shape=(len(linked), len(linked)))
    _, label = connected_components(graph, directed=False)
    distance, nearest = tree.query(others, 1)
    return label, nearest, distance


def attached_groups(label, nearest, distance, radius):
    """The definition: each of the others is in the component of its nearest linked particle if that is near enough, else -1."""
    return np.where(distance <= radius * (1 + 1e-9), label[nearest], -1)


def keep_large(label, attached, least, only_linked_count):
    """-1 for those in groups that are too small."""
    counts = np.bincount(label)
    if not only_linked_count:
        counts = counts + np.bincount(attached[attached >= 0], minlength=len(counts))
    large = np.append(counts >= least, False)  # the last for -1
    return np.where(large[label], label, -1), np.where(large[attached], attached, -1)


def numbered(groups):
    """The same sets with numbers 0, 1, ..."""
    return np.unique(np.append(groups, -1), return_inverse=True)[1][:-1] - 1


class AttachCase(FofCase):
    def results(self, out="fof_output"):
        """The catalogue and the membership of all files, sound in themselves."""
        check(str(self.folder / out))
        catalogue = Catalogue(str(self.folder / out))
        return catalogue, Membership(str(self.folder / out), catalogue.number).group_of

    def run_on(self, ranks, snapshot, *options):
        launcher = (MPIEXEC, "-n", str(ranks)) if ranks > 1 else ()
        status, _, errors = self.run_fof(snapshot, "-q", "--membership", *options, launcher=launcher)
        self.assertEqual((status, errors), (0, ""))
        return self.results()


class Swift(AttachCase):
    def check_against_swift(self, ranks):
        _, masses, theirs, box = gas_snapshot()
        catalogue, group_of = self.run_on(ranks, SNAPSHOT, *AS_SWIFT)
        row = self.assert_same_sets(np.concatenate([group_of[0], group_of[1]]), np.concatenate(theirs))
        self.assertEqual(len(row), 382)
        self.assertEqual([(group_of[kind] >= 0).sum() for kind in (0, 1)], [17692, 49147])
        ours = catalogue.columns
        with h5py.File(GAS / "fof_output_0000.hdf5", "r") as file:
            order = np.argsort(file["Groups/GroupIDs"][:])
            table = {name: values[:][order] for name, values in file["Groups"].items()}
        np.testing.assert_array_equal(ours["GroupLen"][row], table["Sizes"])
        np.testing.assert_allclose(ours["GroupMass"][row], table["Masses"], rtol=1e-5)
        distance = np.abs(ours["GroupPos"][row] - table["Centres"])
        self.assertLess(np.minimum(distance, box - distance).max(), 1e-5 * box)
        for kind in (0, 1):
            members = theirs[kind] >= 0
            np.testing.assert_array_equal(ours["GroupLenType"][row, kind], np.bincount(theirs[kind][members], minlength=382))
            np.testing.assert_allclose(ours["GroupMassType"][row, kind],
                                       np.bincount(theirs[kind][members], masses[kind][members], minlength=382), rtol=1e-6)
        self.assertEqual(ours["GroupLenType"][:, 2:].sum(), 0)

    @shows_results
    def test_one_rank(self):
        self.check_against_swift(1)

    @unittest.skipUnless(MPIEXEC, "there is no mpiexec")
    def test_two_and_three_ranks(self):
        for ranks in each_rank(2, 3):
            with self.subTest(ranks):
                self.check_against_swift(ranks)

    @shows_results
    def test_what_the_files_say(self):
        self.fof(SNAPSHOT, *AS_SWIFT)
        parameters = self.catalogue(0)[1]
        self.assertAlmostEqual(parameters["LinkingLength"], LENGTH, places=14)
        self.assertEqual((list(parameters["LinkedTypes"]), list(parameters["AttachedTypes"])), ([1], [0]))
        self.assertEqual((parameters["AttachRadius"], parameters["MinCounts"].decode(), parameters["MinMembers"]), (1, "linkers", 32))
        self.fof(SNAPSHOT, "--attach-types", 0, "--meansep", "rho")
        parameters = self.catalogue(0)[1]
        self.assertEqual((parameters["AttachRadius"], parameters["MinCounts"].decode()), (4, "all"))
        self.fof(SNAPSHOT, "--meansep", "rho")
        self.assertNotIn("AttachedTypes", self.catalogue(0)[1])

    @shows_results
    def test_linked_members_do_not_depend_on_what_is_attached(self):
        _, with_gas = self.run_on(1, SNAPSHOT, *AS_SWIFT)
        _, alone = self.run_on(1, SNAPSHOT, "--meansep", "rho")
        self.assertEqual(sorted(alone), [1])
        self.assert_same_sets(with_gas[1], alone[1])


class Scipy(AttachCase):
    def expect(self, linked, others, box):
        """`linked` and `others`: positions by type, in the order of the types."""
        self.types = (*linked, *others)
        self.expected = components_and_nearest(np.concatenate(list(linked.values())), np.concatenate(list(others.values())), box, LENGTH)

    def check(self, snapshot, radius, only_linked_count, options, ranks=1):
        label = self.expected[0]
        label, attached = keep_large(label, attached_groups(*self.expected, radius * LENGTH), 32, only_linked_count)
        counts = "linkers" if only_linked_count else "all"
        _, group_of = self.run_on(ranks, snapshot, "--rlink-abs", LENGTH, "--attach-radius", radius, "--min-counts", counts, *options)
        ours = np.concatenate([group_of[kind] for kind in self.types])
        self.assert_same_sets(ours, numbered(np.concatenate([label, attached])))
        return len(np.unique(ours)) - 1

    @shows_results
    def test_radius_and_counts(self):
        pos, _, _, box = gas_snapshot()
        pos = [x.astype(np.float64) for x in pos]
        self.expect({1: pos[1]}, {0: pos[0]}, box)
        found = {}
        for radius, only_linked_count in ((0, False), (0.5, True), (1, False), (4, False), (np.inf, False), (4, True)):
            with self.subTest(radius=radius, only_linked_count=only_linked_count):
                found[radius, only_linked_count] = self.check(SNAPSHOT, radius, only_linked_count, ("--attach-types", 0))
        self.assertEqual(found[4, True], 382)
        self.assertGreater(found[4, False], found[1, False])

    @shows_results
    def test_gas_may_be_linked_and_dark_matter_attached(self):
        pos, _, _, box = gas_snapshot()
        self.expect({0: pos[0]}, {1: pos[1]}, box)
        self.check(SNAPSHOT, 1, True, ("--link-types", 0, "--attach-types", 1))

    def test_many_types(self):
        """The gas dealt out to types 0, 2, 4 and 5, the dark matter to 1 and 3; float positions, no velocities of some."""
        pos, _, _, box = gas_snapshot()
        path = self.folder / "snapshot_007.hdf5"
        deal = {kind: pos[0][i::4].astype(np.float32) for i, kind in enumerate((0, 2, 4, 5))}
        deal.update({kind: pos[1][i::2].astype(np.float32) for i, kind in enumerate((1, 3))})
        deal[5] = deal[5][:7]
        with h5py.File(path, "w") as file:
            header = file.create_group("Header").attrs
            header["NumPart_ThisFile"] = header["NumPart_Total"] = np.array([len(deal[kind]) for kind in range(6)], np.uint32)
            header["NumPart_Total_HighWord"] = np.zeros(6, np.uint32)
            header["MassTable"] = np.array([1.0, 5, 1, 5, 1, 1])
            for name, value in (("Time", 1.0), ("Redshift", 0.0), ("BoxSize", box), ("NumFilesPerSnapshot", 1), ("Omega0", 0.3),
                                ("OmegaLambda", 0.7), ("HubbleParam", 0.7)):
                header[name] = value
            for kind, x in deal.items():
                file[f"PartType{kind}/Coordinates"] = np.where(x < box, x, 0).astype(np.float32)
                file[f"PartType{kind}/ParticleIDs"] = np.arange(len(x), dtype=np.uint64) + 1000000 * kind
        place = {kind: np.where(x < box, x, 0).astype(np.float64) for kind, x in sorted(deal.items())}
        self.expect({kind: place[kind] for kind in (1, 3)}, {kind: place[kind] for kind in (0, 4, 5)}, box)
        options = ("--link-types", "3,1", "--attach-types", "5,0,4", "--meansep", 1)
        for ranks in each(1, 4) if MPIEXEC else (1,):
            with self.subTest(ranks):
                self.check(path, 1, False, options, ranks)


class Reports(AttachCase):
    def report(self, *options, ranks=1):
        self.run_on(ranks, SNAPSHOT, "--json", "report.json", "--attach-types", 0, "--meansep", "rho", *options)
        return json.loads((self.folder / "report.json").read_text())

    def test_json(self):
        report = self.report("--attach-radius", 1, "--min-counts", "linkers")
        self.assertEqual((report["link_types"], report["num_particles"], report["num_linked"]), ([1], 524288, 262144))
        self.assertAlmostEqual(report["attach"].pop("radius"), LENGTH, places=14)
        self.assertEqual(report["attach"], {"types": [0], "num_particles": 262144, "radius_in_linking_lengths": 1.0})
        self.assertEqual(report["min_counts"], "linkers")
        result = report["result"]
        self.assertEqual(result["members_by_type"][:2], [17692, 49147])
        self.assertEqual((result["num_groups"], result["num_particles_in_groups"]), (382, 17692 + 49147))

    @shows_results
    def test_json_without_radius(self):
        self.assertIsNone(self.report("--attach-radius", "inf")["attach"]["radius"])

    def test_estimates_bound_what_is_used(self):
        for options, ranks in each((("--attach-radius", "inf"), 4 if MPIEXEC else 1), ((), 1)):
            report = self.report("--files", 1, *options, ranks=ranks)
            estimate, used = report["estimate"], report["result"]["peak_pool_bytes"]
            self.assertGreaterEqual(estimate["memory_bytes_per_rank"], used)
            self.assertLess(estimate["memory_bytes_per_rank"], 2 * used)
            for size, path in zip(("catalogue_limit_bytes", "membership_bytes"), report["result"]["files"]):
                self.assertGreaterEqual(estimate[size], (self.folder / path).stat().st_size)

    @shows_results
    def test_text(self):
        text = self.fof(SNAPSHOT, *AS_SWIFT)
        for pattern in (r"\nLinks +262144 particles of type 1\n", r"\nLink length +0\.2304402005 Mpc", r"\nGroups of +32 linked particles or more\n",
                        r"\nAttaches +262144 particles of type 0 to the nearest linked one within 0\.2304402005 Mpc, 1 linking lengths\n",
                        r"\nGroups +382\n", r"\nIn groups +66839 of 524288 particles", r"\n  type 0 +17692 of 262144 particles",
                        r"\n  type 1 +49147 of 262144 particles", r"\n +0 +5238 "):
            self.assertRegex(text, pattern)
        self.assertIn("at any distance", self.fof(SNAPSHOT, "--attach-types", 0, "--attach-radius", "inf", "--dry-run"))
        self.assertNotIn("Attaches", self.fof(GADGET / "snapshot_001.hdf5", "--dry-run"))


if __name__ == "__main__":
    main()
