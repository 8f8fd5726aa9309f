"""The command knn: the files that it writes, and its reports.

knn_files_test.py PROGRAM DATA SNAPSHOTS
"""

import json
import os

import h5py
import numpy as np
from knn_case import BOX, KnnCase, Truth, main


class Files(KnnCase):
    def test_attributes(self):
        self.snapshot({1: 100})
        self.succeed(
            "snapshot_007",
            "-k",
            3,
            "--reduce",
            "density,kth",
            "--lists",
            "--kernel",
            "c2",
            "-q",
            "-o",
            "out.hdf5",
        )
        with h5py.File(self.folder / "out.hdf5", "r") as file:
            group, parameters, header = (
                file["PartType1"],
                file["Parameters"].attrs,
                file["Header"].attrs,
            )
            self.assertEqual(sorted(group), ["Density", "Distances", "Indices", "KthRadius"])
            self.assertEqual(
                (group["Distances"].attrs["Unit"], group["Distances"].attrs["to_cgs"]),
                (b"Mpc/h", 3.085678e24),
            )
            self.assertEqual(
                [
                    group["Distances"].attrs[name]
                    for name in ("a_scaling", "h_scaling", "mass_scaling", "length_scaling")
                ],
                [1, -1, 0, 1],
            )
            self.assertEqual(group["Density"].attrs["Unit"], b"(1e10 Msun/h) (Mpc/h)^-3")
            self.assertAlmostEqual(
                group["Density"].attrs["to_cgs"] / (1.989e43 / 3.085678e24**3), 1, places=12
            )
            self.assertEqual(
                [
                    group["Density"].attrs[name]
                    for name in ("a_scaling", "h_scaling", "mass_scaling", "length_scaling")
                ],
                [-3, 2, 1, -3],
            )
            self.assertEqual(
                (group["Density"].attrs["Kernel"], group["Density"].dtype),
                (b"Wendland C2", np.float64),
            )
            for dataset in group.values():
                self.assertEqual(
                    [dataset.attrs[name] for name in ("K", "SelfIncluded", "Periodic")], [3, 1, 1]
                )
            self.assertEqual(
                (group["Indices"].attrs["Missing"], group["Distances"].attrs["Missing"]),
                (-1, np.inf),
            )
            self.assertIn("row in PartType1", group["Indices"].attrs["Description"].decode())
            self.assertEqual(
                (parameters["Code"], parameters["Snapshot"], parameters["K"]),
                (b"zhalo", bytes((self.folder / "snapshot_007.hdf5").absolute()), 3),
            )
            self.assertEqual((header["NumFiles"], header["BoxSize"]), (1, BOX))
            np.testing.assert_array_equal(
                group["KthRadius"][:], group["Distances"][:, -1].astype(np.float64)
            )

    def test_run_without_cosmology(self):
        """Nothing scales with a: Time is a time."""
        self.snapshot({1: 100})
        with h5py.File(self.folder / "snapshot_007.hdf5", "r+") as file:
            file["Header"].attrs["ComovingIntegrationOn"] = np.int32(0)
            file["Header"].attrs["Time"] = 3.25
        self.succeed("snapshot_007", "-k", 3, "--reduce", "density,kth", "--lists", "-q")
        with h5py.File(self.folder / "knn_007.hdf5", "r") as file:
            self.assertEqual(file["Header"].attrs["Time"], 3.25)
            for name in ("Density", "KthRadius", "Distances", "Indices"):
                attributes = file["PartType1"][name].attrs
                self.assertEqual((attributes["a_scaling"], attributes["h_scaling"]), (0, 0), name)
            self.assertEqual(file["PartType1/Density"].attrs["Unit"], b"(1e10 Msun) (Mpc)^-3")

    def test_what_is_written(self):
        """Lists, unless a reduction is asked for without them."""
        self.snapshot({1: 60})
        for options, names in (
            ((), ["Distances", "Indices"]),
            (("--lists",), ["Distances", "Indices"]),
            (("--reduce", "kth"), ["KthRadius"]),
            (("--reduce", "kth", "--reduce", "sigma-v"), ["KthRadius", "VelocityDispersion"]),
            (
                ("--reduce", "mean-radius,kth", "--lists"),
                ["Distances", "Indices", "KthRadius", "MeanRadius"],
            ),
        ):
            with self.subTest(options):
                self.succeed(*options, "snapshot_007", "-k", 4, "-q", "-o", "out")
                self.assertEqual(sorted(self.results("out")), names)

    def test_several_files_and_a_master(self):
        """Each run over the files of the one before: nothing of another number stays."""
        self.snapshot({1: 200})
        self.succeed("snapshot_007", "-k", 3, "-q", "-o", "deep/out.hdf5")
        expected = self.results("deep/out")
        for number, master in ((3, True), (2, False), (1, True), (4, False), (1, False)):
            with self.subTest(number=number, master=master):
                self.succeed(
                    "snapshot_007",
                    "-k",
                    3,
                    "-q",
                    "-o",
                    "deep/out.hdf5",
                    "--json",
                    "report.json",
                    "--files",
                    number,
                    *(["--master"] if master else []),
                )
                names = [f"out.{k}.hdf5" for k in range(number)] if number > 1 else []
                whole = master or number == 1
                self.assertEqual(
                    sorted(os.listdir(self.folder / "deep")),
                    sorted(names + (["out.hdf5"] if whole else [])),
                )
                report = json.loads((self.folder / "report.json").read_text())
                self.assertEqual(
                    report["result"]["files"],
                    [f"deep/{name}" for name in names + (["out.hdf5"] if whole else [])],
                )
                seen = [self.results("deep/out")]
                if whole:
                    with h5py.File(self.folder / "deep/out.hdf5", "r") as file:
                        seen.append({name: values[:] for name, values in file["PartType1"].items()})
                for results in seen:
                    for name, values in expected.items():
                        np.testing.assert_array_equal(results[name], values)

    def test_a_folder_with_results_beside_one_snapshot(self):
        self.snapshot({1: 200})
        self.succeed("snapshot_007", "-k", 3, "-q")
        expected = self.results("knn_007")
        self.succeed(".", "-k", 3, "-q", "-o", "again")
        again = self.results("again")
        for name, values in expected.items():
            np.testing.assert_array_equal(again[name], values)

    def test_the_longest_name(self):
        """Names under which files wait for their commit are no longer."""
        self.snapshot({1: 200})
        longest = os.pathconf(self.folder, "PC_NAME_MAX")
        name, report = (longest - len(".hdf5")) * "n", longest * "j"
        self.succeed("snapshot_007", "-k", 3, "-q", "-o", name, "--json", report)
        self.assertIn(f"{name}.hdf5", os.listdir(self.folder))
        self.assertIn(report, os.listdir(self.folder))

    def test_names_with_percent_signs(self):
        """HDF5 has a meaning for them in the names of a master's parts."""
        self.snapshot({1: 200})
        for name in ("k%%.hdf5", "k%.hdf5", "%b.hdf5", "100%d%"):
            with self.subTest(name):
                self.succeed("snapshot_007", "-k", 3, "-q", "-o", name, "--files", 2, "--master")
                stem = name.removesuffix(".hdf5")
                parts = []
                for number in range(2):
                    with h5py.File(self.folder / f"{stem}.{number}.hdf5", "r") as file:
                        parts.append(file["PartType1/Indices"][:])
                with h5py.File(self.folder / f"{stem}.hdf5", "r") as file:
                    np.testing.assert_array_equal(
                        file["PartType1/Indices"][:], np.concatenate(parts)
                    )

    def test_reads_do_not_need_masses_or_velocities(self):
        snapshot = self.snapshot({1: 60})
        snapshot.write(self.folder / "snapshot_007", masses=False, velocities=False)
        self.succeed("snapshot_007", "-k", 4, "-q", "--reduce", "kth,mean-radius", "--lists")
        self.assert_neighbours(self.results("knn_007"), Truth(snapshot.pos[1]), snapshot.pos[1], 4)


class Reports(KnnCase):
    def test_estimates_know_the_columns_of_the_file(self):
        """Velocities and masses in float64 take 4 bytes a number more than in float32."""
        snapshot = self.snapshot({1: 200})
        memory = {}
        for kind in (np.float32, np.float64):
            for columns in (snapshot.vel, snapshot.mass):
                columns[1] = columns[1].astype(kind)
            snapshot.write(self.folder / "snapshot_007")
            for words in ("kth", "density,sigma-v"):
                arguments = ("-k", 3, "--reduce", words, "--dry-run", "-q", "--json", "-")
                report = json.loads(self.succeed("snapshot_007", *arguments))
                memory[kind, words] = report["estimate"]["memory_bytes"]
        found = [memory[np.float64, w] - memory[np.float32, w] for w in ("kth", "density,sigma-v")]
        self.assertEqual(found, [0, 200 * (3 + 1) * 4])

    def test_json(self):
        self.snapshot({1: 200})
        self.succeed(
            "snapshot_007", "-k", 3, "-q", "--json", "report.json", "--reduce", "kth", "--lists"
        )
        report = json.loads((self.folder / "report.json").read_text())
        results = self.results("knn_007")
        self.assertEqual(
            (report["num_particles"], report["num_queries"], report["query"], report["dry_run"]),
            (200, 200, None, False),
        )
        self.assertEqual(
            (
                report["options"]["k"],
                report["options"]["max_radius"],
                report["options"]["reductions"],
            ),
            (3, None, ["kth"]),
        )
        self.assertEqual(report["result"]["files"], ["./knn_007.hdf5"])
        columns = {column["name"]: column for column in report["result"]["columns"]}
        self.assertEqual(sorted(columns), ["Distances", "KthRadius"])
        self.assertAlmostEqual(columns["KthRadius"]["mean"], results["KthRadius"].mean(), places=9)
        self.assertEqual(columns["KthRadius"]["max"], results["KthRadius"].max())
        self.assertEqual(
            (columns["Distances"]["finite"], columns["Distances"]["total"]), (200, 200)
        )
        self.assertIn("write", [phase["name"] for phase in report["result"]["phases"]])

    def test_one_search_serves_all_reductions(self):
        """With lists or without: as many pairs are tested as for one of them."""
        self.snapshot({1: 200})
        searches = []
        for options in (("kth",), ("kth,density,sigma-v",), ("kth,density", "--lists")):
            self.succeed("snapshot_007", "-k", 3, "-q", "--json", "r.json", "--reduce", *options)
            searches.append(json.loads((self.folder / "r.json").read_text())["result"]["search"])
        self.assertGreater(searches[0]["pairs_tested"], 200)
        for search in searches[1:]:
            for count in ("pairs_tested", "leaves_visited", "chunks"):
                self.assertEqual(search[count], searches[0][count], count)

    def test_json_on_standard_output(self):
        self.snapshot({1: 40})
        report = json.loads(self.succeed("snapshot_007", "-k", 3, "-q", "--json", "-"))
        self.assertEqual(report["num_queries"], 40)

    def test_dry_run(self):
        """Writes nothing; says how large the file becomes."""
        self.snapshot({1: 20000})
        before = self.files()
        output = self.succeed("snapshot_007", "--dry-run", "--json", "-", "-q")
        report = json.loads(output)
        self.assertEqual(
            (report["dry_run"], report["result"], report["output"]), (True, None, "knn_007.hdf5")
        )
        self.assertIn("20000 of type 1", self.succeed("snapshot_007", "--dry-run"))
        self.assertEqual(self.files(), before)
        self.succeed("snapshot_007", "-q")
        size = (self.folder / "knn_007.hdf5").stat().st_size
        self.assertTrue(size <= report["estimate"]["output_bytes"] <= size + 100000)

    def test_help_and_version(self):
        self.assertIn("Usage: knn SNAPSHOT", self.succeed("--help"))
        self.assertIn("zhalo", self.succeed("--version"))

    def test_text(self):
        snapshot = self.snapshot({1: 300})
        output = self.succeed("snapshot_007", "-k", 5, "-v")
        for words in (
            "300 of type 1",
            "5 of each",
            "Distances, Indices",
            "Search box   periodic, 10 x 10 x 10",
            "Written      ./knn_007.hdf5",
        ):
            self.assertIn(words, output)
        kth = Truth(snapshot.pos[1]).nearest(snapshot.pos[1], 5)[0][:, -1]
        self.assertRegex(output, rf"Distances +{kth.min():.4g}\d* ")


if __name__ == "__main__":
    main()
