"""fof on input that cannot be used: one clear message, exit status 2, nothing left behind, no hang.

fof_bad_input_test.py PROGRAM DATA SNAPSHOTS
"""

import shutil

import h5py
import numpy as np
from fof_case import DATA, GADGET, SNAPSHOTS, FofCase, main

BAD = SNAPSHOTS / "bad"
SNAPSHOT = GADGET / "snapshot_001.hdf5"

# File, and words of the message that say what is wrong and where.
FILES = {
    "none_such.hdf5": ["none_such.hdf5", "no such file"],
    "text.hdf5": ["text.hdf5", "not", "HDF5"],
    "empty.hdf5": ["empty.hdf5", "empty"],
    "gadget_binary.hdf5": ["gadget_binary.hdf5", "HDF5", "binary"],
    "truncated.hdf5": ["truncated.hdf5", "truncated"],
    "missing_chunk": ["snapshot_001.1.hdf5", "missing"],
    "missing_chunk/snapshot_001.0.hdf5": ["snapshot_001.1.hdf5", "missing"],
    "no_number.hdf5": ["no_number", "3 files"],
    "other_snapshot": ["snapshot_001.2.hdf5", "snapshot"],
    "other_box": ["snapshot_001.2.hdf5", "another snapshot", "BoxSize"],
    "fewer_columns": ["snapshot_001.2.hdf5", "lacks", "Velocities"],
    "more_columns": ["snapshot_001.2.hdf5", "has", "Masses"],
    "two_snapshots": ["two_snapshots", "2 snapshots"],
    "no_snapshot": ["no_snapshot", "no snapshot"],
    "missing_source/snap_0001.hdf5": ["snap_0001.1.hdf5"],
    "total_differs": ["1005", "1000"],
    "count_differs.hdf5": ["count_differs.hdf5", "1010", "1000"],
    "high_word_differs.hdf5": ["high_word_differs.hdf5", "4294968296", "1000"],
    "short_velocities.hdf5": ["short_velocities.hdf5", "Velocities", "999", "1000"],
    "damaged_velocities.hdf5": ["damaged_velocities.hdf5", "Velocities", "cannot be read"],
    "no_coordinates.hdf5": ["no_coordinates.hdf5", "Coordinates"],
    "two_columns.hdf5": ["two_columns.hdf5", "Coordinates", "(1000, 2)"],
    "virtual_gap.hdf5": ["virtual_gap.hdf5", "Coordinates", "incomplete", "1500 of 3000"],
    "virtual_twice.hdf5": ["virtual_twice.hdf5", "Coordinates", "some of its parts overlap"],
    "virtual_text.hdf5": ["virtual_text.hdf5", "Coordinates", "parts/text", "not an HDF5 file"],
    "virtual_short.hdf5": [
        "virtual_short.hdf5",
        "Coordinates",
        "parts/short",
        "'pos' does not have its size",
    ],
    "virtual_none.hdf5": ["virtual_none.hdf5", "Coordinates", "parts/none", "missing"],
    "virtual_folder.hdf5": ["virtual_folder.hdf5", "Coordinates", "parts/.", "is not a file"],
    "virtual_no_dataset.hdf5": [
        "virtual_no_dataset.hdf5",
        "Coordinates",
        "parts/second",
        "no dataset 'none'",
    ],
    "virtual_unwritten.hdf5": [
        "virtual_unwritten.hdf5",
        "Coordinates",
        "parts/second",
        "'unwritten'",
        "never written",
    ],
    "unwritten.hdf5": ["unwritten.hdf5", "Coordinates", "never written"],
    "unwritten_chunks.hdf5": [
        "unwritten_chunks.hdf5",
        "Coordinates",
        "5 of its 10 chunks were never written",
    ],
    "external_short.hdf5": [
        "external_short.hdf5",
        "Coordinates",
        "short.raw",
        "11988 bytes, but 12000 are needed",
    ],
    "external_none.hdf5": ["external_none.hdf5", "Coordinates", "none.raw", "No such file"],
    "signed_coordinates.hdf5": [
        "signed_coordinates.hdf5",
        "Coordinates",
        "signed integers of 32 bits",
    ],
    "short_coordinates.hdf5": [
        "short_coordinates.hdf5",
        "Coordinates",
        "unsigned integers of 16 bits",
    ],
    "mixed_positions": ["snapshot_001.2.hdf5", "Coordinates", "another type of number"],
    "link_loop": ["snapshot_001.1.hdf5", "cannot be opened", "symbolic links"],
    "text_coordinates.hdf5": ["text_coordinates.hdf5", "Coordinates", "number"],
    "no_group.hdf5": ["no_group.hdf5", "PartType1"],
    "no_header.hdf5": ["no_header.hdf5", "Header"],
    "no_counts.hdf5": ["no_counts.hdf5", "NumPart"],
    "no_masses.hdf5": ["no_masses.hdf5", "mass", "type 1"],
    "catalogue.hdf5": ["catalogue.hdf5", "catalogue", "not a snapshot"],
    "nan.hdf5": ["1 of 1000 particles", "not finite", "particle 17"],
    "far_away.hdf5": ["1 of 1000 particles", "10000 box sides outside", "particle 11"],
    "infinite.hdf5": ["1 of 1000 particles", "not finite", "particle 3"],
}

# Options on the real snapshot, and words of the message.
OPTIONS = {
    "--rlink -0.2": ["--rlink", "-0.2", "positive"],
    "--rlink 0": ["--rlink", "positive"],
    "--rlink nan": ["--rlink", "nan"],
    "--rlink inf": ["--rlink", "inf"],
    "--rlink 1e400": ["--rlink"],
    "--rlink 1e-9": ["linking length", "1e-09", "mean separations"],
    "--rlink 1e9 --periodic no": ["linking length", "1e+09", "mean separations"],
    "--rlink-abs -1": ["--rlink-abs", "-1", "positive"],
    "--rlink-abs 0": ["--rlink-abs", "positive"],
    "--rlink-abs 26": ["linking length", "26 Mpc/h", "half", "periodic"],
    "--rlink 0.2 --rlink-abs 0.1": ["--rlink", "--rlink-abs", "both"],
    "--transport parcel": ["the transport is 'parcel'", "auto, nccl, gpu-aware or staged"],
    "--link-types 5": ["type 5", "type 1"],
    "--link-types 1,1": ["type 1", "twice"],
    "--link-types dark": ["--link-types", "dark"],
    "--link-types 0": ["type 0"],
    "--attach-types 9": ["type 9", "type 1"],
    "--attach-types gas": ["--attach-types", "gas"],
    "--attach-types 1": ["type 1", "--link-types", "--attach-types"],
    "--link-types 0,1 --attach-types 4,0": ["type 0", "--link-types", "--attach-types"],
    "--attach-types 0,0": ["type 0", "twice"],
    "--attach-radius 1": ["--attach-radius", "--attach-types"],
    "--attach-types 0 --attach-radius -1": ["--attach-radius", "-1", "0 or more, or inf"],
    "--attach-types 0 --attach-radius nan": ["--attach-radius", "nan"],
    "--attach-types 0 --attach-radius near": ["--attach-radius", "near"],
    "--attach-types 0 --min-counts most": ["--min-counts", "most", "linked, all"],
    "--meansep big": ["big", "auto, rho, volume"],
    "--meansep -1": ["mean separation", "-1"],
    "--files -1": ["--files", "1 to 1000000"],
    "--files 1000001": ["--files", "1 to 1000000"],
    "--min-size 0": ["--min-size", "at least 1"],
    "--min-size few": ["--min-size is 'few' (must be a number)"],
    "--min-size 1e3": ["--min-size is '1e3' (must be a whole number)"],
    "--rlink 0.2,": ["--rlink is '0.2,' (must be a number)"],
    "--rlink 1_0": ["--rlink is '1_0' (must be a number)"],
    "--min-size 0x20": ["--min-size is '0x20' (must be a whole number)"],
    "--wrap=maybe": ["--wrap: takes no value, such as maybe"],
    "-o --wrap": ["--output: has no value, --wrap follows", "./--wrap"],
    "--link-types -q": ["--link-types: has no value, -q follows"],
    "--attach-types 0 --attach-radius -inf": ["--attach-radius", "-inf", "0 or more, or inf"],
    "--min-size 9223372036854775808": ["--min-size", "9223372036854775808", "out of range"],
    "--threads 4294967297": ["--threads", "4294967297", "out of range"],
    "--box-size -50": ["--box-size", "-50"],
    "--periodic no --wrap": ["--wrap", "not periodic", "--periodic yes"],
    "--periodic perhaps": ["--periodic", "perhaps", "yes"],
    "--box-size 25": ["237266 of", "outside", "--wrap", "--periodic no"],
    "--periodic no --box-size 25": ["237266", "outside", "particle 190"],
    "--device abacus": ["--device", "abacus", "host"],
    "--devices 0,0": ["names device 0 twice"],
    "--devices 1,": ["--device is '1,'"],
    "--devices all,1": ["--device is 'all,1'"],
    "--threads -1": ["--threads", "-1"],
    "--threads 100000": ["--threads", "100000"],
    "-q -v": ["--quiet", "--verbose"],
    "--no-such-option": ["--no-such-option", "--help"],
    "another_snapshot.hdf5": ["another_snapshot.hdf5"],
    "-o": ["-o"],
}


class BadInput(FofCase):
    def test_files(self):
        for name, words in FILES.items():
            with self.subTest(name):
                self.assert_refused([BAD / name, "-o", "out/deep"], *words)

    def test_tables_of_masses_that_differ(self):
        for number, mass in ((0, 1.0), (1, 2.0)):
            with h5py.File(self.folder / f"two_001.{number}.hdf5", "w") as file:
                file.create_group("Header").attrs.update(
                    {
                        "NumPart_ThisFile": [0, 10],
                        "NumPart_Total": [0, 20],
                        "NumFilesPerSnapshot": 2,
                        "MassTable": [0, mass],
                        "BoxSize": 10.0,
                    }
                )
                file["PartType1/Coordinates"] = np.full((10, 3), 1 + number, np.float32)
        self.assert_refused(
            ["two_001.0.hdf5", "--rlink-abs", "0.1"],
            "two_001.1.hdf5",
            "belongs to another snapshot",
            "MassTable has 2 for type 1, theirs 1",
        )

    def test_attached_type_without_masses(self):
        """A catalogue sums them up: known before anything is read."""
        shutil.copy(SNAPSHOT, self.folder / "snapshot_001.hdf5")
        with h5py.File(self.folder / "snapshot_001.hdf5", "r+") as file:
            header = file["Header"].attrs
            for name in ("NumPart_ThisFile", "NumPart_Total"):
                counts = header[name]
                counts[0] = 5
                header[name] = counts
            file["PartType0/Coordinates"] = np.ones((5, 3), np.float32)
            file["PartType0/ParticleIDs"] = np.arange(5, dtype=np.uint32)
        for options in ([], ["--dry-run"]):
            self.assert_refused(
                ["snapshot_001.hdf5", "--attach-types", "0", *options],
                "no masses of particle type 0",
                "attach other types",
            )

    def test_options(self):
        for options, words in OPTIONS.items():
            with self.subTest(options):
                self.assert_refused(
                    [SNAPSHOT, "--membership", "--json", "report.json", *options.split()], *words
                )

    def test_a_variable_of_the_shell_that_is_not_set(self):
        options = ("--rlink-abs", "--link-types", "--attach-types", "--json", "-o", "--threads")
        for option in options:
            with self.subTest(option):
                self.assert_refused([SNAPSHOT, option, ""], "--", "has no value")

    def test_no_snapshot(self):
        self.assert_refused([], "snapshot", "--help")

    def test_box(self):
        """A box of unknown size stops a periodic run only."""
        for options in ([], ["--periodic", "yes"]):
            self.assert_refused(
                [BAD / "no_box.hdf5", *options],
                "no_box.hdf5",
                "box size",
                "--box-size",
                "--periodic no",
            )
        self.fof(BAD / "no_box.hdf5", "--box-size", 50, "--meansep", 0.78)
        self.fof(BAD / "no_box.hdf5", "--periodic", "no", "-o", "open")
        self.assert_refused(
            [BAD / "no_box.hdf5", "--periodic", "no", "--meansep", "volume"],
            "volume",
            "box size is unknown",
            "--box-size",
        )

    def test_a_file_that_is_being_written(self):
        shutil.copy(SNAPSHOT, self.folder / "open_001.hdf5")
        with h5py.File(self.folder / "open_001.hdf5", "r+"):
            words = "open_001.hdf5", "open for writing", "HDF5_USE_FILE_LOCKING=FALSE"
            self.assert_refused(["open_001.hdf5"], *words)
            self.fof("open_001.hdf5", HDF5_USE_FILE_LOCKING="FALSE")

    def test_header(self):
        """Text in place of numbers, and no particles."""
        for name, value, words in (
            ("BoxSize", b"50.0", ["BoxSize", "text: write the attribute as numbers"]),
            ("Omega0", "0.3", ["Omega0", "text: write the attribute as numbers"]),
            ("NumPart_Total", np.zeros(2, np.uint64), ["no particles at all"]),
        ):
            with self.subTest(name):
                with h5py.File(self.folder / "header_001.hdf5", "w") as file:
                    counts = np.zeros(2, np.uint64)
                    file.create_group("Header").attrs.update(
                        {"NumPart_ThisFile": counts, "NumPart_Total": counts, name: value}
                    )
                self.assert_refused(["header_001.hdf5", "--rlink-abs", "0.1"], *words)

    def test_outside(self):
        """Particle 5 lies at x = -1: wrapped into a periodic box, in place without edges, wrong in
        a box with edges."""
        self.assert_refused(
            [BAD / "outside.hdf5", "--periodic", "no", "--box-size", 50],
            "1 of 1000 particles",
            "outside",
            "particle 5",
        )
        self.assertRegex(
            self.fof(BAD / "outside.hdf5", "--meansep", 0.78), r"\nWrapped +1 particle "
        )
        self.fof(BAD / "outside.hdf5", "--periodic", "no", "--meansep", 0.78, "-o", "open")

    def test_many_bad_positions_are_counted(self):
        path = self.folder / "some_001.hdf5"
        with h5py.File(BAD / "nan.hdf5", "r") as source, h5py.File(path, "w") as file:
            for name in source:
                source.copy(name, file)
            pos = file["PartType1/Coordinates"][:]
            pos[[17, 400, 401], [1, 0, 2]] = np.nan, np.inf, -np.inf
            file["PartType1/Coordinates"][:] = pos
        self.assert_refused([path], "3 of 1000 particles", "not finite", "particle 17")

    def test_a_mass_that_is_none(self):
        path = self.folder / "some_001.hdf5"
        for value in (-1.0, np.nan):
            with h5py.File(BAD / "outside.hdf5", "r") as source, h5py.File(path, "w") as file:
                for name in source:
                    source.copy(name, file)
                file["Header"].attrs["MassTable"] = np.zeros_like(file["Header"].attrs["MassTable"])
                masses = np.ones(1000)
                masses[[17, 400]] = value
                file["PartType1/Masses"] = masses
            self.assert_refused([path], path, f"particle 17 of type 1 has the mass {value:g}")

    def test_real_catalogues(self):
        self.assert_refused([GADGET / "fof_tab_001.hdf5"], "catalogue", "not a snapshot")
        self.assert_refused([DATA / "swift-dm64" / "fof_output_0000.hdf5"], "not a snapshot")

    def test_device_that_is_not_there(self):
        self.assert_refused([SNAPSHOT, "--device", "cuda"], "CUDA", CUDA_VISIBLE_DEVICES="")


if __name__ == "__main__":
    main()
