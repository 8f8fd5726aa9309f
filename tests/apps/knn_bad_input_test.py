"""The command knn on bad input: one clear message, status 2, and nothing left behind.

knn_bad_input_test.py PROGRAM DATA SNAPSHOTS
"""

import resource
import shutil
import subprocess

import h5py
import numpy as np
from command_case import (
    AS_ANYBODY,
    MPIEXEC,
    PROGRAM,
    SECONDS,
    SNAPSHOTS,
    each_rank,
    launcher,
    obeys_modes,
)
from knn_case import KnnCase, Snapshot, main

BAD = SNAPSHOTS / "bad"

# Options on a snapshot of types 0 and 1, and words of the message.
OPTIONS = {
    "-k 0": ["-k", "0", "1 to 4096"],
    "-k -3": ["-k", "-3", "1 to 4096"],
    "-k 5000": ["-k", "5000", "1 to 4096"],
    "-k 99999999999999": ["-k", "99999999999999"],
    "-k many": ["-k", "many"],
    "-k 2.5": ["-k", "2.5"],
    "-k 1 --reduce density": ["-k is 1", "--reduce density", "larger -k"],
    "-k 1 --reduce kth,density --exclude-self": ["-k is 1", "--reduce density", "larger -k"],
    "-k 1 --reduce density --query points.hdf5": ["-k is 1", "--reduce density", "larger -k"],
    "--max-radius -1": ["--max-radius", "-1", "negative"],
    "--max-radius nan": ["--max-radius", "nan"],
    "--max-radius far": ["--max-radius", "far"],
    "--types 5": ["type 5", "types 0, 1"],
    "--types 4,5": ["type 4", "types 0, 1"],
    "--types 1,9": ["type 9", "types 0, 1"],
    "--types 1,1": ["--types", "type 1", "twice"],
    "--types dark": ["--types", "dark"],
    "--reduce median": ["--reduce", "median", "kth, mean-radius, density, sigma-v"],
    "--reduce kth,": ["--reduce", "''"],
    "--reduce kth,kth": ["--reduce", "kth", "twice"],
    "--reduce kth --kernel c2": ["--kernel", "--reduce density"],
    "--reduce density --kernel c6": ["--kernel", "c6", "cubic, c2, c4"],
    "--query none.hdf5": ["none.hdf5", "no such file"],
    "--query-types 1": ["--query-types", "--query"],
    "--query points.hdf5 --query-types 1": ["--query-types", "points.hdf5"],
    "--query points.hdf5 --exclude-self": ["--exclude-self", "--query"],
    "--query text.txt": ["text.txt", "HDF5"],
    "--query flat.hdf5": ["flat.hdf5", "/Coordinates", "(30)", "(N, 3)"],
    "--query integers.hdf5": ["integers.hdf5", "/Coordinates", "real numbers"],
    "--query empty.hdf5": ["empty.hdf5", "/Coordinates of shape (N, 3)", "no snapshot", "/Header"],
    "--query other_001 --query-types 4": ["other_001", "type 4"],
    "--query kpc_001": ["kpc_001", "kpc/h", "Mpc/h"],
    "--query free_001": ["free_001", "Mpc/h and", "in Mpc:", "must be the same"],
    "--query nan.hdf5": ["10 of 10 queries", "not finite"],
    "--query unwritten.hdf5": ["unwritten.hdf5", "/Coordinates", "never written"],
    "--periodic no --box-size 5": ["outside"],
    "--periodic no --wrap": ["--wrap", "not periodic", "--periodic yes"],
    "--periodic perhaps": ["--periodic", "perhaps"],
    "--box-size -1": ["--box-size", "-1"],
    "--device abacus": ["--device", "abacus"],
    "--device host --devices all": ["--device or --devices is given 2 times", "once"],
    "-k 3 -k 4": ["-k is given 2 times"],
    "--threads -1": ["--threads", "-1"],
    "--files -1": ["--files", "1 to 1000000"],
    "--no-such-option": ["--no-such-option", "knn --help"],
    "-q -v": ["--quiet", "--verbose"],
    "-o folder": ["-o", "folder", "name a file"],
    "-o folder/": ["-o", "folder/", "name a file"],
    "-o text.txt/out.hdf5": ["text.txt"],
    "-o snapshot_007.hdf5": ["snapshot_007.hdf5", "is read"],
    "-o snapshot_007": ["snapshot_007.hdf5", "is read"],
    "-o ./folder/../snapshot_007.hdf5": ["snapshot_007.hdf5", "is read"],
    "--query other_001 -o other_001.hdf5": ["other_001.0.hdf5", "is read"],
    "--query points.hdf5 -o points.hdf5": ["points.hdf5", "is read"],
    "-o /dev/null": ["-o", "/dev/null", "a device"],
    "--json snapshot_007.hdf5": ["--json", "snapshot_007.hdf5", "is read"],
    "--query points.hdf5 --json folder/../points.hdf5": ["--json", "points.hdf5", "is read"],
    "-o out.hdf5 --json out.hdf5": ["--json", "out.hdf5", "-o"],
    "-o out --json folder/../out.17.hdf5": ["--json", "out.17.hdf5", "-o"],
    "another_snapshot.hdf5": ["another_snapshot.hdf5"],
}


class BadInput(KnnCase):
    def setUp(self):
        super().setUp()
        self.snapshot({0: 20, 1: 50})
        self.snapshot({1: 20}, name="other_001", num_files=2)
        self.snapshot({1: 20}, name="kpc_001")
        with h5py.File(self.folder / "kpc_001.hdf5", "r+") as file:
            file["Header"].attrs["UnitLength_in_cm"] = 3.085678e21
        self.snapshot({1: 20}, name="free_001")  # not cosmological: lengths without h
        with h5py.File(self.folder / "free_001.hdf5", "r+") as file:
            file["Header"].attrs["ComovingIntegrationOn"] = np.int32(0)
        for name, values in (
            ("points", np.ones((10, 3))),
            ("flat", np.ones(30)),
            ("integers", np.ones((10, 3), np.int64)),
            ("nan", np.full((10, 3), np.nan)),
        ):
            with h5py.File(self.folder / f"{name}.hdf5", "w") as file:
                file["Coordinates"] = values
        with h5py.File(self.folder / "unwritten.hdf5", "w") as file:
            file.create_dataset("Coordinates", (10, 3), np.float64)
        h5py.File(self.folder / "empty.hdf5", "w").close()
        (self.folder / "text.txt").write_text("1 2 3\n")
        (self.folder / "folder").mkdir()

    def test_options(self):
        for options, words in OPTIONS.items():
            with self.subTest(options):
                report = [] if "--json" in options else ["--json", "report.json"]
                self.assert_refused(["snapshot_007.hdf5", *report, *options.split()], *words)

    def test_no_snapshot(self):
        self.assert_refused([], "snapshot", "knn --help")

    def test_snapshots(self):
        for name, words in {
            "none_such.hdf5": ["no such file"],
            "text.hdf5": ["HDF5"],
            "truncated.hdf5": ["truncated"],
            "no_coordinates.hdf5": ["Coordinates"],
            "catalogue.hdf5": ["not a snapshot"],
            "nan.hdf5": ["1 of 1000 particles", "not finite"],
            "no_box.hdf5": ["--box-size", "--periodic no"],
        }.items():
            with self.subTest(name):
                self.assert_refused([BAD / name, "-k", 4, "-o", "deep/out.hdf5"], *words)

    def test_missing_columns(self):
        self.snapshot({1: 20}, name="bare_001").write(
            self.folder / "bare_001", masses=False, velocities=False
        )
        self.assert_refused(["bare_001", "--reduce", "density"], "bare_001", "masses", "type 1")
        self.assert_refused(["bare_001", "--reduce", "sigma-v"], "bare_001", "velocities", "type 1")

    def test_names_that_are_too_long(self):
        """Known before anything is computed; the last of several files has the longest name."""
        self.snapshot({1: 20})
        for options in (["-o", "x" * 252], ["-o", "x" * 249 + ".hdf5", "--files", 2]):
            for more in ([], ["--dry-run"]):
                self.assert_refused(["snapshot_007", "-k", 2, *options, *more], "at most 255")
        self.succeed("snapshot_007", "-k", 2, "-q", "-o", "x" * 249, "--files", 1)

    def test_files_of_different_simulations(self):
        for name, value in (("BoxSize", 11.0), ("HubbleParam", 0.6), ("Omega0", 0.31)):
            self.snapshot({1: 20}, name="mixed_001", num_files=2)
            with h5py.File(self.folder / "mixed_001.1.hdf5", "r+") as file:
                file["Header"].attrs[name] = value
            with self.subTest(name):
                self.assert_refused(
                    ["mixed_001", "-k", 4], "mixed_001.1.hdf5", "another snapshot", name
                )

    def test_queries_outside(self):
        """Of a periodic box: one in 200 is wrapped, more are a wrong file."""
        for name, num in (("few", 2), ("many", 3)):
            pos = np.full((400, 3), 5.0)
            pos[:num, 1] = 25
            with h5py.File(self.folder / f"{name}.hdf5", "w") as file:
                file["Coordinates"] = pos
        options = ["snapshot_007", "-k", 4, "-q", "-o", "out"]
        for ranks in each_rank(1, 3) if MPIEXEC else [1]:
            self.assert_refused(
                [*options, "--query", "many.hdf5"],
                "3 of 400 queries in 'many.hdf5' lie outside",
                "10, 10, 10",
                "--wrap",
                launcher=launcher(ranks),
            )
        for more in (["few.hdf5"], ["many.hdf5", "--wrap"], ["many.hdf5", "--periodic", "no"]):
            self.succeed(*options, "--query", *more)

    def test_masses(self):
        """Zero is allowed."""
        for ranks in each_rank(1, 3) if MPIEXEC else [1]:
            for bad in (np.nan, np.inf, -1):
                self.snapshot_with_masses({7: 0, 17: bad, 33: bad})
                for reduction in ("density", "sigma-v"):
                    with self.subTest(ranks=ranks, bad=bad, reduction=reduction):
                        self.assert_refused(
                            ["heavy_001", "-k", 4, "--reduce", reduction],
                            "2 of 50 particles have a mass",
                            "first is particle 17",
                            launcher=launcher(ranks),
                        )
        self.snapshot_with_masses({7: 0})
        self.succeed("heavy_001", "-k", 4, "--reduce", "density,sigma-v", "-q")

    def snapshot_with_masses(self, changes):
        snapshot = Snapshot({1: 50})
        for at, mass in changes.items():
            snapshot.mass[1][at] = mass
        snapshot.write(self.folder / "heavy_001")

    def test_folders_in_the_way(self):
        (self.folder / "out.hdf5").mkdir()
        self.assert_refused(["snapshot_007", "-k", 4, "-o", "out"], "out.hdf5")
        (self.folder / "many.1.hdf5").mkdir()
        self.assert_refused(["snapshot_007", "-k", 4, "-o", "many", "--files", 2], "many.1.hdf5")

    def test_inputs_stay(self):
        for name in ("snapshot_007.hdf5", "points.hdf5"):
            before = (self.folder / name).read_bytes()
            self.assert_refused(
                ["snapshot_007.hdf5", "--query", "points.hdf5", "-o", "out", "--json", name],
                "is read",
            )
            self.assertEqual((self.folder / name).read_bytes(), before)

    def test_files_behind_a_master_stay(self):
        """Also behind a link to the master."""
        self.succeed("snapshot_007", "-k", 2, "-q", "-o", "ics.0.hdf5")  # zhalo may replace it
        shutil.copy(self.folder / "snapshot_007.hdf5", self.folder / "ics.hdf5")
        path = "PartType1/Coordinates"
        with h5py.File(self.folder / "ics.hdf5", "a") as master:
            positions = master[path][:]
            with h5py.File(self.folder / "ics.0.hdf5", "a") as part:
                part[path] = positions
            layout = h5py.VirtualLayout(positions.shape, positions.dtype)
            layout[:] = h5py.VirtualSource("ics.0.hdf5", path, positions.shape)
            del master[path]
            master.create_virtual_dataset(path, layout)
        (self.folder / "links").mkdir()
        (self.folder / "links" / "ics.hdf5").symlink_to("../ics.hdf5")
        for snapshot in ("ics.hdf5", "links/ics.hdf5"):
            for options in (
                ["-o", "ics.0.hdf5"],
                ["-o", "ics"],
                ["-o", "out", "--json", "ics.0.hdf5"],
            ):
                with self.subTest(snapshot=snapshot, options=options):
                    self.assert_refused([snapshot, "-k", 2, *options], "is read")
            self.succeed(snapshot, "-k", 2, "-q", "-o", "ics.1.hdf5")
            self.succeed(snapshot, "-k", 2, "-q", "-o", "elsewhere/ics.0.hdf5")
            (self.folder / "ics.1.hdf5").unlink()

    def test_what_was_there_stays(self):
        """A run that fails leaves the results of the one before."""
        self.succeed("snapshot_007", "-k", 2, "-q", "-o", "out.hdf5")
        before = (self.folder / "out.hdf5").read_bytes()
        self.assert_refused(["snapshot_007", "--query", "nan.hdf5", "-o", "out.hdf5"], "not finite")
        self.assertEqual((self.folder / "out.hdf5").read_bytes(), before)

    @obeys_modes
    def test_no_permission(self):
        (self.folder / "closed").mkdir(mode=0o555)
        arguments = ["snapshot_007", "-k", 2, "-o", "closed/out.hdf5"]
        self.assert_refused(arguments, "closed", "ermission", launcher=AS_ANYBODY)

    def test_largest_file_allowed(self):
        """The system refuses to let a file grow, as on a full disk."""
        before = self.files()
        for size in (0, 100, 4096, 10000):
            with self.subTest(size):
                result = subprocess.run(
                    [PROGRAM, "snapshot_007.hdf5", "-k", "32", "-q", "-o", "out.hdf5"],
                    cwd=self.folder,
                    text=True,
                    capture_output=True,
                    check=False,
                    timeout=SECONDS,
                    preexec_fn=lambda limit=size: resource.setrlimit(
                        resource.RLIMIT_FSIZE, (limit, limit)
                    ),
                )
                self.assertEqual((result.returncode, result.stdout), (2, ""), result.stderr)
                self.assertEqual(result.stderr.count("\n"), 1, result.stderr)
                self.assertIn("out.hdf5", result.stderr)
                self.assertEqual(self.files(), before)

    def test_columns_that_are_not_used(self):
        """What is wrong with them is an error of the quantities that need them."""
        Snapshot({1: 200}).write(self.folder / "spoilt_001")
        with h5py.File(self.folder / "spoilt_001.hdf5", "r+") as file:
            particles = file["PartType1"]
            particles["ParticleIDs"] = np.arange(200.0)
            masses = particles["Masses"][:]
            del particles["Velocities"], particles["Masses"]
            particles["Velocities"] = np.ones((200, 2))
            particles.create_dataset("Masses", data=masses, compression="lzf")
        self.succeed("spoilt_001", "-k", 2, "-o", "k", "-q")
        self.succeed("spoilt_001", "-k", 8, "--reduce", "kth,mean-radius", "-q")
        (self.folder / "k.hdf5").unlink()
        for options in ([], ["--dry-run"]):
            self.assert_refused(
                ["spoilt_001", "-k", 8, "--reduce", "density", *options], "Masses", "lzf", "install"
            )
        with h5py.File(self.folder / "spoilt_001.hdf5", "r+") as file:
            file["Header"].attrs["MassTable"] = np.ones(6)
        self.succeed("spoilt_001", "-k", 8, "--reduce", "density", "-q")
        self.assert_refused(
            ["spoilt_001", "-k", 8, "--reduce", "sigma-v"],
            "/PartType1/Velocities has the shape (200, 2)",
            "write it so, or remove it",
        )


if __name__ == "__main__":
    main()
