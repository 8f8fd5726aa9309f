"""fof with attached types: against SWIFT's own groups with gas, and what it reports.

fof_attach_test.py PROGRAM DATA SNAPSHOTS
"""

import json

import h5py
import numpy as np
from attach_case import (
    AS_SWIFT,
    GADGET,
    GAS,
    LENGTH,
    MPIEXEC,
    NEEDS_MPI,
    SNAPSHOT,
    AttachCase,
    each,
    each_rank,
    gas_snapshot,
    main,
    shows_results,
)


class Swift(AttachCase):
    def check_against_swift(self, ranks):
        _, masses, theirs, box = gas_snapshot()
        catalogue, group_of = self.run_on(ranks, SNAPSHOT, *AS_SWIFT)
        row = self.assert_same_sets(
            np.concatenate([group_of[0], group_of[1]]), np.concatenate(theirs)
        )
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
            np.testing.assert_array_equal(
                ours["GroupLenType"][row, kind], np.bincount(theirs[kind][members], minlength=382)
            )
            np.testing.assert_allclose(
                ours["GroupMassType"][row, kind],
                np.bincount(theirs[kind][members], masses[kind][members], minlength=382),
                rtol=1e-6,
            )
        self.assertEqual(ours["GroupLenType"][:, 2:].sum(), 0)

    @shows_results
    def test_one_rank(self):
        self.check_against_swift(1)

    @NEEDS_MPI
    def test_two_and_three_ranks(self):
        for ranks in each_rank(2, 3):
            with self.subTest(ranks):
                self.check_against_swift(ranks)

    @shows_results
    def test_what_the_files_say(self):
        self.fof(SNAPSHOT, *AS_SWIFT)
        parameters = self.catalogue(0)[1]
        self.assertAlmostEqual(parameters["LinkingLength"], LENGTH, places=14)
        self.assertEqual(
            (list(parameters["LinkedTypes"]), list(parameters["AttachedTypes"])), ([1], [0])
        )
        self.assertEqual(
            (
                parameters["AttachRadius"],
                parameters["MinCounts"].decode(),
                parameters["MinMembers"],
            ),
            (1, "linked", 32),
        )
        self.fof(SNAPSHOT, "--attach-types", 0, "--meansep", "rho")
        parameters = self.catalogue(0)[1]
        self.assertEqual((parameters["AttachRadius"], parameters["MinCounts"].decode()), (4, "all"))
        self.fof(SNAPSHOT, "--meansep", "rho")
        self.assertNotIn("AttachedTypes", self.catalogue(0)[1])

    @shows_results
    def test_types_that_are_not_there_are_left_out(self):
        _, expected = self.run_on(1, SNAPSHOT, *AS_SWIFT)
        options = [*AS_SWIFT]
        options[options.index("--attach-types") + 1] = "5,0,4"
        status, _, errors = self.run_fof(
            SNAPSHOT, "-q", "--membership", "--json", "report.json", *options
        )
        self.assertEqual(status, 0, errors)
        catalogue, found = self.results()
        for kind in (0, 1):
            np.testing.assert_array_equal(found[kind], expected[kind])
        self.assertEqual(list(catalogue.attached_types), [0])
        report = json.loads((self.folder / "report.json").read_text())
        for kind in (5, 4):
            text = f"has no particles of type {kind} (--attach-types): it is left out"
            self.assertIn(text, errors)
            self.assertEqual(sum(text in warning for warning in report["warnings"]), 1)

    def test_no_type_of_those_to_attach_is_there(self):
        """Early snapshots have no stars: one command does for all."""
        status, _, errors = self.run_fof(SNAPSHOT, "-q", "--meansep", "rho", "--attach-types", "4")
        self.assertEqual(status, 0, errors)
        self.assertIn("has no particles of type 4 (--attach-types): it is left out", errors)
        found, header = self.catalogue(0)
        self.assertNotIn("AttachedTypes", header)
        self.fof(SNAPSHOT, "--meansep", "rho", "-o", "alone")
        expected = self.catalogue(0, out="alone")[1]
        self.assertEqual(header["Checksum"], expected["Checksum"])
        self.assertGreater(len(found["GroupLen"]), 0)

    @shows_results
    def test_linked_members_do_not_depend_on_what_is_attached(self):
        _, with_gas = self.run_on(1, SNAPSHOT, *AS_SWIFT)
        _, alone = self.run_on(1, SNAPSHOT, "--meansep", "rho")
        self.assertEqual(sorted(alone), [1])
        self.assert_same_sets(with_gas[1], alone[1])


class Reports(AttachCase):
    def report(self, *options, ranks=1):
        self.run_on(
            ranks,
            SNAPSHOT,
            "--json",
            "report.json",
            "--attach-types",
            0,
            "--meansep",
            "rho",
            *options
        )
        return json.loads((self.folder / "report.json").read_text())

    def test_json(self):
        report = self.report("--attach-radius", 1, "--min-counts", "linked")
        self.assertEqual(
            (report["num_particles"], report["num_linked"]),
            (524288, 262144),
        )
        self.assertAlmostEqual(report["attach"].pop("radius"), LENGTH, places=14)
        self.assertEqual(
            report["attach"],
            {"num_particles": 262144, "radius_in_linking_lengths": 1.0},
        )
        options = report["options"]
        self.assertEqual((options["link_types"], options["attach_types"]), ([1], [0]))
        self.assertEqual(options["min_counts"], "linked")
        result = report["result"]
        self.assertEqual(result["members_by_type"][:2], [17692, 49147])
        self.assertEqual(
            (result["num_groups"], result["num_particles_in_groups"]), (382, 17692 + 49147)
        )

    @shows_results
    def test_json_without_radius(self):
        self.assertIsNone(self.report("--attach-radius", "inf")["attach"]["radius"])

    def test_estimates_bound_what_is_used(self):
        for options, ranks in each((("--attach-radius", "inf"), 4 if MPIEXEC else 1), ((), 1)):
            report = self.report("--files", 1, *options, ranks=ranks)
            estimate, used = report["estimate"], report["result"]["peak_pool_bytes"]
            self.assertGreaterEqual(estimate["memory_bytes_per_rank"], used)
            self.assertLess(estimate["memory_bytes_per_rank"], 2 * used)
            for size, path in zip(
                ("catalogue_limit_bytes", "membership_bytes"), report["result"]["files"]
            ):
                self.assertGreaterEqual(estimate[size], (self.folder / path).stat().st_size)

    @shows_results
    def test_estimate_has_room_for_groups_of_one_linked_particle(self):
        """What is attached counts for --min-size, or only what is linked."""
        limit = {}
        for which in ("all", "linked"):
            options = ("--min-size", 1024, "--min-counts", which, "--json", "report.json")
            self.fof(SNAPSHOT, "--attach-types", 0, "--dry-run", *options)
            report = json.loads((self.folder / "report.json").read_text())
            limit[which] = report["estimate"]["catalogue_limit_bytes"]
        # 512 or 256 groups at most, which have a label, lengths and offsets of 8 bytes at least.
        self.assertGreater(limit["all"] - limit["linked"], 256 * 3 * 8)

    @shows_results
    def test_text(self):
        text = self.fof(SNAPSHOT, *AS_SWIFT)
        for pattern in (
            r"\nLinks +262144 particles of type 1\n",
            r"\nLink length +0\.2304402005 Mpc",
            r"\nGroups of +32 linked particles or more\n",
            r"\nAttaches +262144 particles of type 0 to the nearest linked one "
            r"within 0\.2304402005 Mpc, 1 x the linking length\n",
            r"\nGroups +382\n",
            r"\nIn groups +66839 of 524288 particles",
            r"\n  type 0 +17692 of 262144 particles",
            r"\n  type 1 +49147 of 262144 particles",
            r"\n +0 +5238 ",
        ):
            self.assertRegex(text, pattern)
        self.assertIn(
            "at any distance",
            self.fof(SNAPSHOT, "--attach-types", 0, "--attach-radius", "inf", "--dry-run"),
        )
        self.assertIn(
            "within 0 Mpc, 0 x the linking length",
            self.fof(SNAPSHOT, "--attach-types", 0, "--attach-radius", 0, "--dry-run"),
        )
        self.assertNotIn("Attaches", self.fof(GADGET / "snapshot_001.hdf5", "--dry-run"))


if __name__ == "__main__":
    main()
