"""fof on any number of ranks writes what one rank writes: groups, order, counts and ids bit for
bit, sums to 1e-12.

fof_ranks_test.py PROGRAM DATA SNAPSHOTS
"""

import json
import re
import shutil

import h5py
import numpy as np
from catalogue_files import Catalogue
from check_catalogue import Membership, check
from command_case import MPIEXEC, NEEDS_MPI, without_warnings
from fof_case import (
    GADGET,
    GAS,
    SANITIZED,
    SNAPSHOTS,
    SWIFT,
    FofCase,
    each,
    each_rank,
    main,
    shows_results,
)

RANKS = each_rank(1, 2, 3, 8, 16)
GOOD = SNAPSHOTS / "good"


def on(ranks):
    return (MPIEXEC, "-n", str(ranks))


@NEEDS_MPI
class Ranks(FofCase):
    def results(self, out):
        """The catalogue and the membership, put together from all files; sound in themselves."""
        check(str(self.folder / out))
        catalogue = Catalogue(str(self.folder / out))
        return catalogue, Membership(str(self.folder / out), catalogue.number)

    def fof(self, *arguments, **environment):
        """Warnings are as they may be."""
        status, output, errors = self.run_fof(*arguments, **environment)
        self.assertEqual((status, without_warnings(errors)), (0, ""))
        return output

    def on_ranks(self, ranks, snapshot, *options, out="ranks"):
        status, _, errors = self.run_fof(
            snapshot, "-q", "--membership", "-o", out, *options, launcher=on(ranks)
        )
        self.assertEqual((status, without_warnings(errors)), (0, ""))

    def assert_equal(self, ours, expected):
        """Two results, bit for bit."""
        (catalogue, membership), (table, members) = ours, expected
        self.assertEqual(catalogue.header["Checksum"], table.header["Checksum"])
        np.testing.assert_array_equal(catalogue.ids, table.ids)
        for name, column in table.columns.items():
            np.testing.assert_array_equal(catalogue.columns[name], column, err_msg=name)
        self.assertEqual(set(membership.group_of), set(members.group_of))
        for kind, group_of in members.group_of.items():
            np.testing.assert_array_equal(membership.group_of[kind], group_of)
            np.testing.assert_array_equal(membership.ids[kind], members.ids[kind])

    def check(self, snapshot, *options, ranks=RANKS, num_files=None):
        expected = None
        if not SANITIZED:
            self.fof(snapshot, "-q", "--membership", "-o", "one", *options)
            expected = self.results("one")
        for number in ranks:
            with self.subTest(snapshot=snapshot.name, ranks=number):
                self.on_ranks(number, snapshot, *options)
                ours = self.results("ranks")
                self.assertEqual(
                    (len(ours[0].paths), len(ours[1].paths)), (num_files or number,) * 2
                )
                if expected is not None:
                    self.assert_equal(ours, expected)
        return ours

    def test_gadget(self):
        catalogue, _ = self.check(GADGET / "snapshot_001.hdf5")
        self.assertEqual(catalogue.num, 468)

    @shows_results
    def test_swift(self):
        catalogue, _ = self.check(
            SWIFT / "snap_0000.hdf5", "--meansep", "rho", ranks=each_rank(8, 3)
        )
        self.assertEqual(catalogue.num, 452)

    def test_attached_gas(self):
        catalogue, _ = self.check(
            GAS / "snap_0000.hdf5",
            "--meansep",
            "rho",
            "--attach-types",
            0,
            "--attach-radius",
            1,
            "--min-counts",
            "linked",
            ranks=each_rank(8, 3),
        )
        self.assertEqual(catalogue.num, 382)

    @shows_results
    def test_attached_gas_counts(self):
        self.check(GAS / "snap_0000.hdf5", "--meansep", "rho", "--attach-types", 0, ranks=(3,))

    @shows_results
    def test_one_group_of_nearly_all(self):
        catalogue, _ = self.check(
            GADGET / "snapshot_000.hdf5", "--rlink-abs", 1.0, "--min-size", 1, ranks=(3,)
        )
        self.assertGreater(catalogue.columns["GroupLen"][0], 200000)

    def test_every_particle_its_own_group(self):
        catalogue, _ = self.check(
            GOOD / "eagle" / "snapshot_001_z000p000",
            "--link-types",
            4,
            "--rlink-abs",
            1e-4,
            "--min-size",
            1,
            "--meansep",
            1,
            ranks=each_rank(2, 8, 3),
        )
        self.assertEqual(catalogue.columns["GroupLen"].tolist(), [1] * 5)

    def test_many_files_and_types(self):
        for snapshot, *options in each(
            (GOOD / "split",),
            (GOOD / "swift_distributed" / "snap_0001.hdf5", "--meansep", "volume"),
            (GOOD / "double" / "snapshot_001.hdf5",),
            (
                GOOD / "eagle" / "snapshot_001_z000p000",
                "--link-types",
                "4,1",
                "--rlink-abs",
                0.15625,
            ),
        ):
            self.check(snapshot, *options, ranks=(3,))

    def test_masses_of_six_decades(self):
        snapshot = self.folder / "unequal_002.hdf5"
        shutil.copy(SNAPSHOTS / "unequal" / "snapshot_002.hdf5", snapshot)
        with h5py.File(snapshot, "r+") as file:  # the one without mass is refused
            masses = file["PartType1/Masses"][:]
            file["PartType1/Masses"][:] = np.where(masses > 0, masses, 1)
        self.check(snapshot, "--rlink-abs", 0.15625, ranks=each_rank(2, 3))

    def test_more_ranks_than_particles(self):
        """Eight ranks and the five particles of type 4, and none in any group: files of ranks
        without rows are whole."""
        eagle = GOOD / "eagle" / "snapshot_001_z000p000"
        self.check(
            eagle, "--link-types", 4, "--rlink-abs", 20, "--min-size", 2, "--meansep", 1, ranks=(8,)
        )
        catalogue, _ = self.check(
            eagle, "--link-types", 4, "--rlink-abs", 1e-4, "--meansep", 1, ranks=(8,)
        )
        self.assertEqual(catalogue.num, 0)

    def test_no_ids_on_more_ranks_than_particles(self):
        """A rank without particles knows, too, that there are no ids."""
        snapshot = self.folder / "snapshot_001.hdf5"
        with h5py.File(snapshot, "w") as file, h5py.File(
            GADGET / "snapshot_001.hdf5", "r"
        ) as source:
            for group in ("Header", "Parameters"):
                if group in source:
                    source.copy(group, file)
            file["Header"].attrs["NumPart_ThisFile"] = file["Header"].attrs["NumPart_Total"] = (
                np.array([0, 3], np.uint64)
            )
            file["Header"].attrs["MassTable"] = np.array([0.0, 1.0])
            file["PartType1/Coordinates"] = np.array(
                [[1, 1, 1], [1.1, 1, 1], [9, 9, 9]], np.float32
            )
            file["PartType1/Velocities"] = np.zeros((3, 3), np.float32)
        for ranks in each(1, 5):
            self.on_ranks(ranks, snapshot, "--rlink-abs", 0.2, "--min-size", 2)
            numbers = []
            for rank in range(ranks):
                with h5py.File(self.folder / f"ranks/membership_001.{rank}.hdf5", "r") as file:
                    self.assertEqual(list(file["PartType1"]), ["GroupNr"])
                    numbers += file["PartType1/GroupNr"][:].tolist()
            self.assertEqual(numbers, [0, 0, -1])

    def test_any_number_of_files_and_a_master(self):
        snapshot = GADGET / "snapshot_001.hdf5"
        for ranks, files in each((1, 3), (4, 1), (2, 5), (3, 2)):
            with self.subTest(ranks=ranks, files=files):
                expected = self.check(
                    snapshot, "--files", files, "--master", ranks=(ranks,), num_files=files
                )
                self.check_masters(*expected)
        self.on_ranks(2, snapshot)
        names = [
            path for path in self.files() if path.startswith("ranks/") and path.endswith("hdf5")
        ]
        self.assertEqual(
            len(names), 4, names
        )  # neither masters nor files with higher numbers are left

    def check_masters(self, catalogue, membership):
        with h5py.File(self.folder / "ranks/groups_001/fof_subhalo_tab_001.hdf5", "r") as file:
            np.testing.assert_array_equal(file["IDs/ID"][:], catalogue.ids)
            for name, column in catalogue.columns.items():
                np.testing.assert_array_equal(file["Group"][name][:], column)
            self.assertEqual(file["Header"].attrs["NumFiles"], len(catalogue.paths))
        with h5py.File(self.folder / "ranks/membership_001.hdf5", "r") as file:
            np.testing.assert_array_equal(file["PartType1/GroupNr"][:], membership.group_of[1])


@NEEDS_MPI
class Reports(FofCase):
    SNAPSHOT = GADGET / "snapshot_001.hdf5"

    def test_text_comes_once_and_says_what_the_ranks_did(self):
        status, text, errors = self.run_fof(self.SNAPSHOT, "-v", "--threads", 1, launcher=on(3))
        self.assertEqual((status, without_warnings(errors)), (0, ""))
        for pattern in (
            r"\nRuns on +3 ranks on 1 machine: "
            r"3 x \(host, 1 thread, \w+(?: \(no CUDA device: .*\))?\)\n",
            r"\nMessages +host memory",
            r"\n  rank 2 +\S+, host",
            r"\nMemory +at most .* on each of 3 ranks",
            r"\nGroups +468\n",
            r"\nPer rank +87381 to 87382 particles read\n",
            r"\nlink +\d+\.\d+ +[\d.e+]+ +\d+\.\d\d\n",
            r"\nPeak memory +of the rank with most, [\d.]+ MiB \(mean [\d.]+ MiB\)",
            r"\nSearched +8738[12] particles",
            r"\nGhosts +\d+ particles",
            r"\nMerged +\d+ links between ranks, in \d+ rounds",
            r"\n +0 +5870 +23921\.2",
            r"(\nWritten .*){3}\n$",
        ):
            self.assertEqual(len(re.findall(pattern, text)), 1, pattern)
        self.assertNotIn("\033", text)

    def test_json(self):
        status, _, errors = self.run_fof(
            self.SNAPSHOT, "-q", "--json", "report.json", "--threads", 1, launcher=on(4)
        )
        self.assertEqual((status, without_warnings(errors)), (0, ""))
        report = json.loads((self.folder / "report.json").read_text())
        self.assertEqual(
            (
                report["num_ranks"],
                report["num_machines"],
                report["transport"],
                len(report["ranks"]),
            ),
            (4, 1, "host memory", 4),
        )
        estimate, result = report["estimate"], report["result"]
        self.assertEqual(estimate["memory_bytes_per_rank"], -(-estimate["memory_bytes"] // 4))
        self.assertGreaterEqual(estimate["memory_bytes_per_rank"], result["peak_pool_bytes"])
        self.assertLess(estimate["memory_bytes_per_rank"], 2 * result["peak_pool_bytes"])
        self.assertEqual(result["particles_per_rank"], {"min": 65536, "max": 65536})
        self.assertGreaterEqual(result["peak_pool_bytes"], result["mean_peak_pool_bytes"])
        self.assertGreater(result["peak_resident_bytes"], result["peak_pool_bytes"])
        for phase in result["phases"]:
            self.assertGreaterEqual(phase["seconds"], phase["mean_seconds"])
            self.assertTrue(1 <= phase["imbalance"] <= 4.0001, phase)
        exchanged = result["exchanged"]
        self.assertEqual(exchanged["searched"]["mean"], 65536)
        self.assertTrue(0 < exchanged["ghosts_sent"]["mean"] < 65536)
        self.assertTrue(0 < exchanged["edges"] and 0 < exchanged["rounds"])
        self.check_bytes_sent(exchanged, 4)
        self.assertEqual(result["num_files"], 4)

    def test_largest_groups_are_the_first_of_all_ranks(self):
        """Also where no rank has ten rows of the catalogue, or some have none."""
        for min_size in (1000, 2500):
            for ranks in (1, 4):
                options = ("-q", "--min-size", min_size, "--json", "report.json")
                self.fof(self.SNAPSHOT, *options, launcher=on(ranks))
                result = json.loads((self.folder / "report.json").read_text())["result"]
                columns = Catalogue(str(self.folder / "fof_output")).columns
                self.assertEqual(
                    [(group["length"], group["centre"]) for group in result["largest_groups"]],
                    list(zip(columns["GroupLen"].tolist(), columns["GroupPos"].tolist()))[:10],
                )

    def check_bytes_sent(self, exchanged, ranks):
        """Each particle is sent at most once, and then only ghosts and edges. The figure ends with
        the linking. So many particles move that a second time would exceed the bound."""
        sent = ranks * exchanged["bytes_sent"]["mean"]
        particles = ranks * exchanged["searched"]["mean"] * (3 * 4 + 4)  # position, index
        ghosts = ranks * exchanged["ghosts_sent"]["mean"] * (3 * 4 + 4)  # position, set
        # An edge is told once. Each round, both ends send a label, and at most two sets per edge
        # are hooked, ask and are answered. In the end these tell a label, ask and are answered.
        edges = exchanged["edges"] * 8 * (1 + (2 + 2 * 4) * exchanged["rounds"] + 2 * 4)
        self.assertLessEqual(sent, particles + ghosts + edges)
        moved = sent - ghosts - edges
        self.assertGreater(sent + moved, particles + ghosts + edges)

    def test_json_is_where_rank_0_sees_it(self):
        """Each rank has a folder of its own; in that of rank 1 the report's name is taken, or the
        report's folder is missing."""
        (self.folder / "0" / "reports").mkdir(parents=True)
        (self.folder / "1" / "report.json").mkdir(parents=True)
        launch = (*on(2), "sh", "-c", 'cd $OMPI_COMM_WORLD_RANK; exec "$@"', "sh")
        results = self.folder / "results"
        for name in ("report.json", "reports/report.json"):
            for options in (["--dry-run"], ["-o", results]):
                arguments = (self.SNAPSHOT, "-q", "--json", name, *options)
                status, _, errors = self.run_fof(*arguments, launcher=launch)
                self.assertEqual((status, without_warnings(errors)), (0, ""))
                (self.folder / "0" / name).unlink()
        shutil.rmtree(results)
        self.assertEqual(self.files(), ["0", "0/reports", "1", "1/report.json"])


if __name__ == "__main__":
    main()
