"""The command density: fields against numpy, with any number of ranks and files.

density_fields_test.py PROGRAM DATA SNAPSHOTS
"""

import json

import h5py
import numpy as np
from command_case import NEEDS_MPI, launcher, shows_results
from density_case import DensityCase, main, paint, wave_numbers


class Fields(DensityCase):
    def test_real_snapshot(self):
        path, pos, box = self.real()
        self.succeed(path, "--grid", 32, "-q")
        self.assertEqual(self.files(), ["density_001.hdf5"])
        self.assert_field(self.density("density_001.hdf5"), paint(pos, box, 32))

    @shows_results
    def test_windows(self):
        """Also particles on edges, odd grids, several types and files, masses of their own."""
        snapshot = self.snapshot({0: 200, 1: 300}, num_files=3)
        pos = snapshot.joined([0, 1])
        mass = np.concatenate([snapshot.mass[0], snapshot.mass[1]])
        for window, n in (("ngp", 5), ("cic", 16), ("tsc", 17), ("pcs", 6)):
            with self.subTest(window):
                self.succeed(
                    "snapshot_007",
                    "--grid",
                    n,
                    "--window",
                    window,
                    "--types",
                    "1,0",
                    "-q",
                    "-o",
                    "out.hdf5",
                )
                self.assert_field(
                    self.density("out.hdf5"), paint(pos, snapshot.box, n, window, mass)
                )
        self.succeed(
            "snapshot_007",
            "--grid",
            8,
            "--types",
            "1,0",
            "--weights",
            "number",
            "-q",
            "-o",
            "out.hdf5",
        )
        self.assert_field(self.density("out.hdf5"), paint(pos, snapshot.box, 8))

    @NEEDS_MPI
    def test_ranks_and_files(self):
        """The same bits, in any number of files."""
        path, _, _ = self.real()
        self.succeed(path, "--grid", 18, "-q", "-o", "one.hdf5")
        one = (self.folder / "one.hdf5").read_bytes()
        for ranks in (2, 3, 4):
            self.succeed(
                path,
                "--grid",
                18,
                "-q",
                "-o",
                "many.hdf5",
                "--files",
                1,
                launcher=launcher(ranks),
            )
            self.assertTrue((self.folder / "many.hdf5").read_bytes() == one, f"{ranks} ranks")
        self.succeed(path, "--grid", 18, "-q", "-o", "many.hdf5", "--master", launcher=launcher(4))
        self.assertEqual(
            [name for name in self.files() if name.startswith("many")],
            [f"many.{i}.hdf5" for i in range(4)] + ["many.hdf5"],
        )
        np.testing.assert_array_equal(self.density("many.hdf5"), self.density("one.hdf5"))
        first = 0
        for i in range(4):
            with h5py.File(self.folder / f"many.{i}.hdf5", "r") as file:
                self.assertEqual(file["Density"].attrs["FirstPlane"], first)
                first += len(file["Density"])

    @NEEDS_MPI
    @shows_results
    def test_estimates_bound_what_ranks_use(self):
        """But for the program itself, 48 MiB, and small tables."""
        snapshot = self.snapshot({1: 10**6})
        snapshot.pos[1] = np.random.default_rng(2).random((10**6, 3), np.float32) * snapshot.box
        snapshot.write(self.folder / "snapshot_007", velocities=False)
        for weights in ("mass", "number"):
            for ranks in (1, 2, 3):
                arguments = ("--grid", 32, "--weights", weights, "-q", "--json", "report.json")
                self.succeed("snapshot_007", *arguments, launcher=launcher(ranks))
                report = json.loads((self.folder / "report.json").read_text())
                room = report["estimate"]["memory_bytes_per_rank"] - 47 * 2**20
                self.assertLessEqual(report["result"]["peak_pool_bytes"], room)

    def test_a_folder_in_the_way_of_the_field(self):
        """Only if there is a field."""
        self.snapshot({1: 100})
        (self.folder / "density_007.hdf5").mkdir()
        self.succeed("snapshot_007", "--grid", 4, "--power", "pk.txt", "-q")
        self.assert_refused(
            ["snapshot_007", "--grid", 4], "'density_007.hdf5' is a folder: name a file"
        )

    def test_attributes(self):
        snapshot = self.snapshot({1: 100})
        self.succeed(
            "snapshot_007", "--grid", 4, "--window", "tsc", "--interlace", "--compensate", "-q"
        )
        with h5py.File(self.folder / "density_007.hdf5", "r") as file:
            density = dict(file["Density"].attrs)
            self.assertEqual(
                (density["Window"], density["Weights"], density["Compensation"]),
                (b"tsc", b"mass", b"window"),
            )
            self.assertEqual(
                (density["Interlaced"], density["FirstPlane"], density["GridSize"].tolist()),
                (1, 0, [4, 4, 4]),
            )
            self.assertEqual(
                (density["BoxSize"].tolist(), density["BoxCorner"].tolist()),
                ([10, 10, 10], [0, 0, 0]),
            )
            np.testing.assert_allclose(
                density["Mean"], snapshot.mass[1].sum(dtype=np.float64) / 4**3, rtol=1e-6
            )
            self.assertEqual(density["Unit"], b"")
            self.assertIn(b"units of its mean", density["Description"])
            self.assertEqual(file["Parameters"].attrs["Types"].tolist(), [1])
            self.assertEqual(
                (file["Header"].attrs["Redshift"], file["Header"].attrs["NumFiles"]), (0, 1)
            )

    def test_compensated(self):
        """Mode by mode: divided by the window. The mean stays."""
        path, pos, box = self.real()
        n = 16
        self.succeed(path, "--grid", n, "--compensate", "-q", "-o", "out.hdf5")
        modes = np.fft.fftn(paint(pos, box, n))
        for k in wave_numbers(n):
            modes /= np.sinc(k / n) ** 2
        expected = np.fft.ifftn(modes / modes[0, 0, 0]).real * n**3
        density = self.density("out.hdf5")
        np.testing.assert_allclose(density, expected, rtol=1e-5, atol=1e-5 * expected.max())
        self.assertAlmostEqual(float(density.mean(dtype=np.float64)), 1, places=5)

    def test_interlaced(self):
        """Both meshes in one, without modes at the Nyquist frequencies of even grids."""
        path, pos, box = self.real()
        for n in (15, 16):
            how = ["--window", "tsc", "--interlace", "--compensate", "-q", "-o", "out.hdf5"]
            self.succeed(path, "--grid", n, *how)
            k = wave_numbers(n)
            shifted = np.fft.fftn(paint(pos, box, n, "tsc", shift=0.5))
            modes = np.fft.fftn(paint(pos, box, n, "tsc"))
            modes = (modes + shifted * np.exp(-1j * np.pi / n * sum(k))) / 2
            for c in k:
                modes *= (2 * np.abs(c) != n) / np.sinc(c / n) ** 3
            expected = np.fft.ifftn(modes / modes[0, 0, 0]) * n**3
            self.assertLess(np.abs(expected.imag).max(), 1e-9 * expected.real.max())
            np.testing.assert_allclose(
                self.density("out.hdf5"), expected.real, atol=1e-5 * expected.real.max()
            )

    def test_axes_have_no_names(self):
        """With two axes of the particles exchanged the field is the exchanged one."""
        snapshot = self.snapshot({1: 400})
        pos = snapshot.pos[1].copy()
        for compensation in ("none", "window"):
            how = ["--grid", 16, "--window", "tsc", "--interlace", "--compensate", compensation]
            self.succeed("snapshot_007", *how, "-q", "-o", "out.hdf5")
            expected = self.density("out.hdf5")
            for a, b in ((0, 2), (1, 2), (0, 1)):
                order = [0, 1, 2]
                order[a], order[b] = b, a
                snapshot.pos[1][:] = pos[:, order]
                snapshot.write(self.folder / "exchanged_007")
                self.succeed("exchanged_007", *how, "-q", "-o", "out.hdf5")
                np.testing.assert_allclose(
                    self.density("out.hdf5").swapaxes(a, b),
                    expected,
                    rtol=0,
                    atol=1e-5 * expected.max(),
                )


if __name__ == "__main__":
    main()
