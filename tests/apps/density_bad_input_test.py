"""The command density: bad input and its messages.

density_bad_input_test.py PROGRAM DATA SNAPSHOTS
"""

import json

import h5py
import numpy as np
from command_case import PROGRAM, SNAPSHOTS
from density_case import GADGET, DensityCase, main, read_table

OPTIONS = {
    "--grid 0": ["--grid", "1 to 1048576"],
    "--grid -4": ["--grid", "1 to 1048576"],
    "--grid many": ["--grid", "many"],
    "--grid 100000": ["--grid 100000", "100000^3 cells", "PiB", "available", "fewer cells"],
    "--grid 9999999999": ["--grid", "9999999999"],
    "--window top": ["--window", "top", "ngp, cic, tsc, pcs"],
    "--weights light": ["--weights", "light", "mass, number"],
    "--types 5": ["type 5", "types 0, 1"],
    "--image i.png --depth 1e-30": ["--depth is 1e-30", "of the box's side"],
    "--image i.png --from 1e300": ["--from is 1e+300", "sides of the box"],
    "--power p.txt --box-size 1e-320": ["--box-size", "positive and finite"],
    "--redshift-space q": ["--redshift-space", "q", "x, y, z"],
    "--types dark": ["--types", "dark"],
    "--compensate all": ["--compensate", "all", "none, window, shot-noise"],
    "--power p.txt --bin-width 1e-9": [
        "bins of width 1e-09",
        "fewer than 1048576",
        "--bin-width of at least",
    ],
    "--power p.txt --k-max 1e9": ["fewer than 1048576", "--bin-width of at least"],
    "--power p.txt --k-min 1e9": ["begin at k = 1e+09", "--k-min", "without"],
    "--power p.txt --k-min 2 --k-max 2": ["begin at k = 2 and end at 2"],
    "--power p.txt --k-min -1": ["--k-min is -1", "0 or more"],
    "--power p.txt --bins log --k-min 0": ["--k-min is 0", "more than 0"],
    "--power p.txt --k-max 0": ["--k-max", "positive"],
    "--k-max 1": ["--k-max", "--power"],
    "--bins log": ["--bins", "--power"],
    "--power p.txt --bins odd": ["--bins", "odd", "linear, log"],
    "--power p.txt --bin-width 0": ["--bin-width", "positive"],
    "--power p.txt --bins log --bin-width 1": ["--bin-width", "--per-decade"],
    "--power p.txt --per-decade 4": ["--per-decade", "--bins log"],
    "--power p.txt --multipoles r": ["--multipoles", "r", "x, y, z"],
    "--power folder": ["--power", "folder", "name a file"],
    "--power none/p.txt": ["--power", "none/p.txt", "'none' is not there"],
    "--power text.txt/p.txt": ["text.txt"],
    "--power snapshot_007.hdf5": ["--power", "snapshot_007.hdf5", "is read"],
    "--power report.json": ["--power", "--json", "report.json"],
    "--power folder/../folder/p.txt --json folder/p.txt": [
        "--power",
        "--json",
        "folder/p.txt",
        "same file",
    ],
    "--power link/p.txt --json folder/p.txt": ["--power", "--json", "folder/p.txt", "same file"],
    "--power - -q": ["--power", "--json", "standard output"],
    "--power out.0.hdf5 -o out.hdf5": ["--power", "out.0.hdf5", "-o out.hdf5"],
    "--power ./out.hdf5 -o link/../out": ["--power", "out.hdf5", "-o"],
    "--power folder/out.17.hdf5 -o link/out --files 2": ["--power", "folder/out.17.hdf5", "-o"],
    "-o folder": ["-o", "folder", "name a file"],
    "-o text.txt/out.hdf5": ["text.txt"],
    "-o snapshot_007": ["snapshot_007.hdf5", "is read"],
    "--periodic no": ["not in a periodic box", "--periodic yes", "--box-size"],
    "--box-size 0": ["--box-size", "0"],
    "--project z": ["--project", "--image"],
    "--depth 3": ["--depth", "--image"],
    "--haloes catalogue": ["--haloes", "--image"],
    "--no-such-option": ["--no-such-option", "density --help"],
}
PICTURE_OPTIONS = {
    "--project q": ["--project", "q", "x, y, z"],
    "--depth 11": ["--depth", "11", "10", "along z"],
    "--depth 0": ["--depth", "0", "positive"],
    "--from nan": ["--from", "finite"],
    "--image map.jpg": ["--image", "map.jpg", ".png"],
    "--pixels 5": ["--pixels", "100 to 10000"],
    "--min-size 5": ["--min-size", "--haloes"],
    "--min-halo 5": ["there is no option --min-halo", "--min-size"],
    "--power p.txt --files 2": ["--files", "no field", "-o"],
    "--image map.png --master": ["--master", "no field", "-o"],
    "--haloes bare_groups.hdf5 --min-size -5": ["--min-size is -5", "negative"],
    "--haloes bare_groups.hdf5": ["bare_groups.hdf5", "no /Group/GroupMass", "GroupLen"],
    "--power link/../map.png": ["--power", "--image", "map.png", "same file"],
    "--dry-run --power none/p.txt": ["--power", "'none' is not there"],
    "--haloes unwritten_groups.hdf5": ["unwritten_groups.hdf5", "GroupPos", "never written"],
    "--haloes groups_007 --json groups_007/fof_tab_007.0.hdf5": [
        "--json",
        "fof_tab_007.0.hdf5",
        "is read",
    ],
    "--haloes long_groups.hdf5": ["sides of 10 x 10 x 20", "one of 10:"],
    "--power bare_groups.hdf5": ["bare_groups.hdf5", "not written by --power"],
    "--power text.txt": ["text.txt", "not written by --power"],
    "--json bare_groups.hdf5": ["bare_groups.hdf5", "not written by --json"],
    "--json settings.json": ["settings.json", "not written by --json"],
    "--image photo.png": ["photo.png", "not written by --image"],
    "--power begun.txt": ["begun.txt", "not written by --power"],
    "--haloes nowhere": ["nowhere", "no such file"],
    "--haloes folder": ["folder", "no catalogue"],
    "--haloes snapshot_007.hdf5": ["snapshot_007.hdf5", "no catalogue of groups"],
    f"--haloes {GADGET / 'fof_tab_001.hdf5'}": ["sides of 50", "one of 10"],
}


class BadInput(DensityCase):
    def setUp(self):
        super().setUp()
        self.snapshot({0: 20, 1: 50})
        (self.folder / "text.txt").write_text("1 2 3\n")
        (self.folder / "begun.txt").write_text("#")
        (self.folder / "settings.json").write_text('{"colour": "blue"}')
        (self.folder / "photo.png").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(200))
        (self.folder / "folder").mkdir()
        (self.folder / "link").symlink_to("folder")
        with h5py.File(self.folder / "bare_groups.hdf5", "w") as file:
            file.create_group("Header").attrs["BoxSize"] = 10.0
            file["Group/GroupPos"] = np.ones((3, 3))
        with h5py.File(self.folder / "long_groups.hdf5", "w") as file:
            file.create_group("Header").attrs["BoxSize"] = [10.0, 10.0, 20.0]
            file["Group/GroupPos"] = np.ones((3, 3))
            file["Group/GroupMass"] = np.ones(3)
            file["Group/GroupLen"] = np.ones(3, np.int32)
        (self.folder / "groups_007").mkdir()
        with h5py.File(self.folder / "groups_007/fof_tab_007.0.hdf5", "w") as file:
            file.create_group("Header").attrs["BoxSize"] = 10.0
            file["Group/GroupPos"], file["Group/GroupMass"], file["Group/GroupLen"] = (
                np.ones((3, 3)),
                np.ones(3),
                np.ones(3, np.int32),
            )
        with h5py.File(self.folder / "unwritten_groups.hdf5", "w") as file:
            file.create_dataset("Group/GroupPos", (3, 3), np.float64)

    def test_columns_that_are_not_used(self):
        """What is wrong with them is an error of the fields that need them."""
        with h5py.File(self.folder / "snapshot_007.hdf5", "r+") as file:
            particles = file["PartType1"]
            masses = particles["Masses"][:]
            for name in ("Masses", "Velocities", "ParticleIDs"):
                if name in particles:
                    del particles[name]
            particles["ParticleIDs"] = np.arange(50.0)
            particles["Velocities"] = np.ones((50, 2))
            particles.create_dataset("Masses", data=masses, compression="lzf")
        arguments = ["snapshot_007.hdf5", "--grid", 4, "--types", 1]
        self.succeed(*arguments, "--weights", "number", "-o", "out", "-q")
        (self.folder / "out.hdf5").unlink()
        for options in ([], ["--dry-run"]):
            self.assert_refused([*arguments, *options], "Masses", "lzf", "install that filter")
            self.assert_refused(
                [*arguments, "--weights", "number", "--redshift-space", "x", *options],
                "/PartType1/Velocities has the shape (50, 2)",
                "write it so, or remove it",
            )

    def test_options(self):
        for options, words in OPTIONS.items():
            with self.subTest(options):
                grid = [] if "--grid" in options else ["--grid", 4]
                report = "-" if options == "--power - -q" else "report.json"
                json_file = [] if "--json" in options else ["--json", report]
                self.assert_refused(
                    ["snapshot_007.hdf5", *grid, *json_file, *options.split()], *words
                )

    def test_absolute_names(self):
        """One file, told by a relative and by an absolute path."""
        self.assert_refused(
            ["snapshot_007.hdf5", "--grid", 4, "--power", "x.txt", "--json", self.folder / "x.txt"],
            "--power",
            "--json",
            "same file",
        )

    def test_snapshot_behind_compensate(self):
        self.assert_refused(
            ["--grid", 4, "--compensate", "snapshot_007.hdf5"],
            "snapshot_007.hdf5",
            "none, window, shot-noise",
            "behind",
        )
        self.succeed("--grid", 4, "--compensate", "window", "snapshot_007.hdf5", "-q")

    def test_picture_options(self):
        if "this build has no cairo" in self.succeed("--help"):
            self.assert_refused(
                ["snapshot_007.hdf5", "--image", "map.png"], "cannot draw", "ZHALO_CAIRO"
            )
            return
        for options, words in PICTURE_OPTIONS.items():
            with self.subTest(options):
                self.assert_refused(
                    [
                        "snapshot_007.hdf5",
                        "--grid",
                        4,
                        *([] if "--image" in options else ["--image", "map.png"]),
                        *options.split(),
                    ],
                    *words,
                )

    def test_snapshots(self):
        for name, words in {
            "none_such.hdf5": ["no such file"],
            "text.hdf5": ["HDF5"],
            "no_box.hdf5": ["--box-size"],
            "nan.hdf5": ["not finite"],
        }.items():
            with self.subTest(name):
                self.assert_refused(
                    [
                        SNAPSHOTS / "bad" / name,
                        "--grid",
                        8,
                        "-o",
                        "deep/out.hdf5",
                        "--power",
                        "p.txt",
                    ],
                    *words,
                )
        self.snapshot({0: 30, 1: 20}, name="two_001")
        self.assert_refused(["two_001", "--grid", 4, "--types", "4,5"], "type 4", "types 0, 1")
        status, _, errors = self.run_command("two_001", "--grid", 4, "--types", "0,4,1", "-q")
        words = "'two_001' has no particles of type 4 (--types): it is left out"
        self.assertEqual((status, errors), (0, f"density: warning: {words}\n"))
        self.succeed("two_001", "--grid", 4, "--types", "0,1", "-q", "-o", "there")
        np.testing.assert_array_equal(self.density("density_001.hdf5"), self.density("there.hdf5"))
        self.snapshot({1: 20}, name="bare_001").write(self.folder / "bare_001", masses=False)
        self.assert_refused(["bare_001", "--grid", 4], "no masses", "--weights number")
        self.succeed("bare_001", "--grid", 4, "--weights", "number", "-q", "-o", "bare.hdf5")

    def refuse_masses(self, name, masses, *words):
        """Whatever is made of them; numbers of particles are."""
        snapshot = self.snapshot({1: 20}, name=name)
        snapshot.mass[1][:] = masses
        snapshot.write(self.folder / name)
        for how in ([], ["--power", "p.txt"], ["--interlace"]):
            self.assert_refused([name, "--grid", 4, *how], *words)
        self.succeed(name, "--grid", 4, "--weights", "number", "-q", "-o", f"out_{name}")

    def test_masses(self):
        self.refuse_masses(
            "massless_001", 0, "masses of the 20 particles", "sum to 0", "--weights number"
        )
        self.refuse_masses(
            "negative_001",
            np.where((np.arange(20) // 2) == 3, -1, 1),
            "2 of 20 particles have a mass that is negative",
            "the first is particle 6",
        )

    def test_name_of_two_lines(self):
        """Comments of a table stay comments."""
        self.snapshot({1: 20}, name="two\nlines_001")
        self.succeed("two\nlines_001.hdf5", "--grid", 8, "--power", "p.txt", "-q")
        header, table = read_table(self.folder / "p.txt")
        self.assertIn("two\\x0alines_001.hdf5", header[0])
        self.assertIn("k_mean", table)

    def test_grids_without_waves(self):
        for cells in (1, 2):
            status, _, errors = self.run_command(
                "snapshot_007", "--grid", cells, "--power", "p.txt", "-q"
            )
            self.assertEqual((status, errors.count("\n")), (0, 1))
            self.assertIn(f"density: warning: --grid {cells}", errors)
            self.assertIn("spectrum is empty", errors)

    def test_what_spectra_do_not_have(self):
        """Bins beyond the Nyquist frequency, and multipoles about another axis than the redshift's:
        a warning, and the spectrum all the same."""
        snapshot, nyquist = GADGET / "snapshot_001.hdf5", 4 * np.pi / 50
        for options, words in (
            (["--k-max", 1.1 * nyquist], "is beyond the Nyquist frequency"),
            (["--k-max", nyquist], ""),
            (["--multipoles", "z", "--redshift-space", "y"], "--multipoles are about another axis"),
            (["--multipoles", "z", "--redshift-space", "z"], ""),
        ):
            with self.subTest(options):
                status, _, errors = self.run_command(
                    snapshot, "--grid", 4, "--power", "p.txt", "-q", *options
                )
                self.assertEqual((status, errors.count("\n")), (0, 1 if words else 0), errors)
                self.assertIn(words, errors)

    def test_box_that_is_wrong(self):
        self.assert_refused(["snapshot_007", "--grid", 4, "--box-size", 4], "outside", "--wrap")
        self.succeed("snapshot_007", "--grid", 4, "--box-size", 4, "--wrap", "-q")
        self.assert_refused(
            ["snapshot_007", "--grid", 4, "--box-size", "1e300"], "1e+300", "32 bits"
        )

    def test_dry_run(self):
        """Tells what an absurd grid needs, and writes nothing."""
        before = self.files()
        status, output, errors = self.run_command("snapshot_007", "--grid", 100000, "--dry-run")
        self.assertEqual(status, 0)
        self.assertRegex(errors, r"need [0-9.]+ PiB on")
        # 4 bytes of field and 8 of sums in each cell: 12e15 bytes.
        memory = float(output.split("Memory       at most ")[1].split(" PiB")[0])
        self.assertAlmostEqual(memory * 2**50 / 12e15, 1, delta=0.01)
        self.assertEqual(self.files(), before)

    def test_dry_run_knows_the_masses_of_the_file(self):
        """Those of the header take no memory, and of the particles as much as in the file."""
        snapshot = self.snapshot({1: 5000})
        memory = {}
        for kind in (None, "f4", "f8"):
            if kind:
                snapshot.mass[1] = snapshot.mass[1].astype(kind)
            snapshot.write(self.folder / "snapshot_007", masses=bool(kind))
            if not kind:
                with h5py.File(self.folder / "snapshot_007.hdf5", "r+") as file:
                    file["Header"].attrs["MassTable"] = [0.0, 1, 0, 0, 0, 0]
            for weights in ("mass", "number"):
                arguments = ("--grid", 8, "--weights", weights, "--dry-run", "-q", "--json", "-")
                report = json.loads(self.succeed("snapshot_007", *arguments))
                memory[kind, weights] = report["estimate"]["memory_bytes"]
        least = memory[None, "number"]
        for kind, extra in ((None, 0), ("f4", 4), ("f8", 8)):
            self.assertAlmostEqual(memory[kind, "mass"] - least, 5000 * extra, delta=1)
            self.assertAlmostEqual(memory[kind, "number"], least, delta=1)

    def test_more_bytes_than_integers(self):
        """2^60 cells, of 4 bytes in the file, and of at least 12 in memory."""
        before = self.files()
        status, output, errors = self.run_command(
            "snapshot_007",
            "--grid",
            2**20,
            "--power",
            "pk.txt",
            "--interlace",
            "-o",
            "f.hdf5",
            "--dry-run",
        )
        self.assertEqual(status, 0)
        self.assertIn("Output       4.0 EiB", output)
        memory = float(output.split("Memory       at most ")[1].split(" EiB")[0])
        self.assertGreaterEqual(memory, 12)
        self.assertIn(f"need {memory:.1f} EiB on a machine", errors)
        self.assertEqual(self.files(), before)
        self.assertEqual(PROGRAM.name, "density")


if __name__ == "__main__":
    main()
