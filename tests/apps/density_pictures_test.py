"""The command density: pictures, pixel by pixel.

density_pictures_test.py PROGRAM DATA SNAPSHOTS
"""

import json
import os
import shutil

import h5py
import numpy as np
from command_case import NEEDS_MPI, launcher, shows_results
from density_case import GADGET, DensityCase, lightness, main, paint, pixels_of


class Pictures(DensityCase):
    GRID, SIDE = 50, 250  # five pixels a cell
    LEFT, ABOVE = 26, 24  # of the map on the sheet

    def setUp(self):
        super().setUp()
        if "this build has no cairo" in self.succeed("--help"):
            self.skipTest("built without cairo")

    def draw(self, *options, name="map.png", side=SIDE):
        path, pos, box = self.real()
        self.succeed(path, "--grid", self.GRID, "--pixels", side, "--image", name, "-q", *options)
        return pixels_of(self.folder / name), pos, box

    def map_of(self, pixels):
        """[cell to the right][cell upwards] of the map: lightness at the centres of cells."""
        area = lightness(pixels)[
            self.ABOVE : self.ABOVE + self.SIDE, self.LEFT : self.LEFT + self.SIDE
        ]
        centres = np.arange(self.GRID) * 5 + 2
        return area[::-1][np.ix_(centres, centres)].T

    def assert_shows(self, pixels, projected):
        """Where there is more it is lighter, and as evenly as the logarithm."""
        shown, t = self.map_of(pixels), np.log(projected)
        inner = (shown > 0.2) & (shown < 0.9)
        self.assertGreater(inner.mean(), 0.5)
        self.assertGreater(np.corrcoef(shown[inner], t[inner])[0, 1], 0.98)
        self.assertGreater(shown.ravel()[projected.argmax()], 0.93)
        self.assertEqual([name for name in self.files() if name.endswith("hdf5")], [])

    def test_name_that_is_no_text(self):
        """Latin-1, a lone surrogate, and the beginning of a character: all are drawn."""
        names = (b"h\xe9_001", b"\xed\xa0\x80_001", b"\xf0\x9f_001", b"\xc3\xa9_001")
        for at, name in enumerate(os.fsdecode(name + b".hdf5") for name in names):
            self.snapshot({1: 20}, name="plain_001")
            os.rename(self.folder / "plain_001.hdf5", self.folder / name)
            self.succeed(name, "--grid", 4, "--image", f"{at}.png", "-q")
            self.assertGreater(pixels_of(self.folder / f"{at}.png").size, 0)

    @shows_results
    def test_projections(self):
        for axis, name in enumerate("xyz"):
            with self.subTest(name):
                pixels, pos, box = self.draw("--project", name)
                self.assertEqual(pixels.shape[:2], (297, 319))
                self.assert_shows(pixels, paint(pos, box, self.GRID).sum(axis=axis))

    def test_layer(self):
        """Through the periodic edge, with parts of cells: 47.3 to 50 and 0 to 5.2 of 50."""
        pixels, pos, box = self.draw("--from", 47.3, "--depth", 7.9)
        shares = np.zeros(self.GRID)
        shares[:5] = shares[48:] = 1
        shares[5], shares[47] = 0.2, 0.7
        projected = paint(pos, box, self.GRID) @ shares
        self.assert_shows(pixels, np.maximum(projected, 1e-3))

    @shows_results
    def test_colours(self):
        """The lightness of the colour bar rises evenly."""
        pixels, _, _ = self.draw()
        column = lightness(pixels[:, (104 + 1000 + 28 + 14) // 4])[32:264]
        self.assertGreater(np.corrcoef(column, np.arange(len(column)))[0, 1] ** 2, 0.999)
        self.assertLess(np.diff(column).max(), 0)

    def changed(self, plain, drawn, side, box):
        """Where pixels of two maps differ, in lengths of the box, to the right and upwards."""
        area = np.s_[2 * self.ABOVE : 2 * self.ABOVE + side, 2 * self.LEFT : 2 * self.LEFT + side]
        rows, columns = np.nonzero((plain[area] != drawn[area]).any(axis=2))
        return (columns + 0.5) / side * box, box - (rows + 0.5) / side * box

    def test_haloes(self):
        """Circles where haloes are, and nowhere else; around the largest one a ring of pixels of
        their colour."""
        side = 500
        plain, _, box = self.draw(side=side)
        drawn, _, _ = self.draw(
            "--haloes",
            GADGET / "fof_tab_001.hdf5",
            "--min-size",
            1000,
            name="haloes.png",
            side=side,
        )
        with h5py.File(GADGET / "fof_tab_001.hdf5", "r") as file:
            centres = file["Group/GroupPos"][:][file["Group/GroupLen"][:] >= 1000][:, :2]
        x, y = self.changed(plain, drawn, side, box)
        self.assertGreater(len(x), 20)
        apart = np.abs(np.stack([x, y], axis=1)[:, None] - centres)
        distance = np.hypot(*np.minimum(apart, box - apart).transpose(2, 0, 1))
        self.assertLess(
            distance.min(axis=1).max(), 0.6
        )  # this catalogue has no radii: circles of 4 units of the sheet
        self.assertEqual(len(set(distance.argmin(axis=1))), len(centres))

    @NEEDS_MPI
    def test_ranks_draw_the_same_picture(self):
        for axis in "xyz":
            layer = ("--project", axis, "--from", 3, "--depth", 20)
            self.draw(*layer, name="one.png")
            one = (self.folder / "one.png").read_bytes()
            for ranks in (2, 3):
                path = GADGET / "snapshot_001.hdf5"
                picture = ("--grid", self.GRID, "--pixels", self.SIDE, "--image", "many.png", "-q")
                self.succeed(path, *picture, *layer, launcher=launcher(ranks))
                self.assertTrue((self.folder / "many.png").read_bytes() == one, (axis, ranks))

    def test_radii_of_haloes(self):
        """The first of these that a catalogue has, around the first of two centres."""
        side, radius, centre = 500, 5.0, np.array([10.0, 20.0, 30.0])
        others = ["GroupExtentRadius", "Group_R_Crit200", "Group_R_Mean200"]
        for at, name in enumerate(others):
            for axis, of_map in (("x", [1, 2]), ("y", [0, 2]), ("z", [0, 1])):
                with h5py.File(self.folder / "one_halo.hdf5", "w") as file:
                    file.create_group("Header").attrs["Ngroups_ThisFile"] = 1
                    file["Group/GroupCM"] = [centre if at == 2 else centre + 9]
                    if at < 2:
                        file["Group/GroupPos"] = [centre]
                    file["Group/GroupMass"], file["Group/GroupLen"] = [1.0], [40]
                    for other in others[at:]:
                        file[f"Group/{other}"] = [radius if other == name else 2 * radius]
                plain, _, box = self.draw("--project", axis, side=side)
                options = ("--project", axis, "--haloes", "one_halo.hdf5")
                drawn, _, _ = self.draw(*options, name="haloes.png", side=side)
                x, y = self.changed(plain, drawn, side, box)
                right, up = centre[of_map]
                distance = np.hypot(x - right, y - up)
                self.assertGreater(len(x), 100)
                self.assertLess(np.abs(distance - radius).max(), 0.3, (name, axis))

    def write_haloes(self, name, centres, radii, **header):
        with h5py.File(self.folder / name, "w") as file:
            num = len(centres)
            file.create_group("Header").attrs.update({"Ngroups_ThisFile": num, **header})
            file["Group/GroupPos"] = centres
            file["Group/GroupMass"], file["Group/GroupLen"] = np.ones(num), np.full(num, 40)
            file["Group/GroupExtentRadius"] = radii

    def test_haloes_that_cannot_be_drawn(self):
        """They are left out with a warning, and take no time."""
        path, _, box = self.real()
        centres = np.full((7, 3), 20.0)
        centres[3:6, 2] = [np.nan, 1e300, 2.5 * box]
        radii = [np.inf, 1e30, np.nan, 1, 1, 1, 1]
        self.write_haloes("seven.hdf5", centres, radii)
        self.write_haloes("one.hdf5", centres[6:], radii[6:])
        one, _, _ = self.draw("--haloes", "one.hdf5")
        options = ("--grid", self.GRID, "--pixels", self.SIDE, "--image", "haloes.png")
        more = ("--haloes", "seven.hdf5", "--json", "report.json", "-q")
        status, _, errors = self.run_command(path, *options, *more)
        self.assertEqual((status, errors.count("\n")), (0, 1), errors)
        self.assertIn("6 of the 7 haloes of 'seven.hdf5' are not drawn", errors)
        report = json.loads((self.folder / "report.json").read_text())
        self.assertEqual(report["result"]["haloes"], {"in_catalogue": 7, "drawn": 1})
        drawn = pixels_of(self.folder / "haloes.png")
        area = np.s_[self.ABOVE : self.ABOVE + self.SIDE, self.LEFT : self.LEFT + self.SIDE]
        np.testing.assert_array_equal(one[area], drawn[area])

    def test_files_of_several_catalogues(self):
        """Files that are missing from a set, or are of another one, are errors."""
        path, _, box = self.real()
        options = [path, "--grid", 8, "--image", "map.png", "-q", "--haloes", "set.0.hdf5"]
        header = {"NumFiles": 2, "Ngroups_Total": 5, "BoxSize": box, "Redshift": 0.0}
        centres, radii = np.full((5, 3), 20.0), np.ones(5)
        self.write_haloes("set.0.hdf5", centres[:3], radii[:3], **header)
        self.write_haloes("set.1.hdf5", centres[3:], radii[3:], **header)
        self.succeed(*options)
        for other in ({"BoxSize": box / 2}, {"Redshift": 5.0}, {"NumFiles": 7}):
            with self.subTest(other):
                self.write_haloes("set.1.hdf5", centres[3:], radii[3:], **{**header, **other})
                self.assert_refused(options, "'set.1.hdf5' is of another catalogue", "set.0.hdf5")
        for first in (0, 5):  # all groups in one of the files
            self.write_haloes("set.0.hdf5", centres[:first], radii[:first], **header)
            self.write_haloes("set.1.hdf5", centres[first:], radii[first:], **header)
            for name in ("set.0.hdf5", "set.1.hdf5") if first == 0 else ("set.0.hdf5",):
                self.succeed(*options[:-1], name)
        self.write_haloes("set.0.hdf5", centres[:3], radii[:3], **header)
        self.write_haloes("set.1.hdf5", centres[4:], radii[4:], **header)
        self.assert_refused(options, "the Header says 5 groups in all", "have 4")
        for size in (-100.0, np.full(2, box), np.nan):
            self.write_haloes("set.0.hdf5", centres, radii, BoxSize=size)
            self.assert_refused(options, "set.0.hdf5", "is no size of a box")

    def test_haloes_in_the_layer(self):
        """Those from its lower end on to below its upper end, also across the box's edge."""
        path, _, box = self.real()
        centres = np.full((6, 3), box / 2)
        centres[:5, 1] = [box - 1, 0.5, 1, 1.5, box - 1.5]  # the layer is from -1 to 1.5
        with h5py.File(self.folder / "haloes.hdf5", "w") as file:
            file.create_group("Header").attrs.update(  # as of a file that shows two others
                {"NumFiles": 2, "Ngroups_ThisFile": 6, "Ngroups_Total": 6}
            )
            file["Group/GroupPos"] = centres
            file["Group/GroupMass"] = np.ones(6)
            file["Group/GroupLen"] = np.full(6, 40)
        layer = ("--project", "y", "--from", -1, "--depth", 2.5)
        self.draw("--haloes", "haloes.hdf5", *layer, "--json", "report.json")
        report = json.loads((self.folder / "report.json").read_text())
        self.assertEqual(report["result"]["haloes"], {"in_catalogue": 6, "drawn": 3})

    def test_haloes_in_a_box_that_is_no_cube(self):
        """The code's catalogue has the BoxSize of the header."""
        shutil.copy(GADGET / "snapshot_001.hdf5", self.folder / "long_001.hdf5")
        with h5py.File(self.folder / "long_001.hdf5", "r+") as file:
            file["Config"].attrs.update(LONG_X=2.0)
        options = ("--grid", 8, "--image", "map.png", "--haloes", "haloes.hdf5", "-q")
        shutil.copy(GADGET / "fof_tab_001.hdf5", self.folder / "haloes.hdf5")
        self.succeed("long_001.hdf5", *options)
        with h5py.File(self.folder / "haloes.hdf5", "r+") as file:
            file["Header"].attrs["BoxSize"] = 51.0
        self.assert_refused(["long_001.hdf5", *options], "are in a box with sides of 51")

    def test_haloes_of_another_time(self):
        """They are drawn, with a warning."""
        with h5py.File(GADGET / "fof_tab_001.hdf5", "r") as source:
            with h5py.File(self.folder / "fof_tab_007.hdf5", "w") as file:
                for name in ("Header", "Parameters", "Group"):
                    source.copy(name, file)
                file["Header"].attrs["Redshift"] = 0.5
        path, _, _ = self.real()
        status, _, errors = self.run_command(
            path, "--grid", 8, "--image", "map.png", "--haloes", "fof_tab_007.hdf5", "-q"
        )
        self.assertEqual(status, 0, errors)
        self.assertEqual(errors.count("density: warning: "), 1, errors)
        self.assertIn("'fof_tab_007.hdf5' are of redshift 0.500", errors)
        self.assertIn("the particles of redshift 0.000", errors)

    def test_haloes_are_not_in_redshift_space(self):
        path, _, _ = self.real()
        options = ["--grid", 8, "--image", "map.png", "--haloes", GADGET / "fof_tab_001.hdf5", "-q"]
        status, _, errors = self.run_command(path, *options, "--redshift-space", "x")
        self.assertEqual((status, errors.count("\n")), (0, 1), errors)
        self.assertIn("density: warning: --redshift-space moves particles, but not", errors)

    def test_in_both(self):
        """Field, table and picture of one run; the report for machines."""
        self.draw(
            "-o",
            "field.hdf5",
            "--power",
            "pk.txt",
            "--json",
            "report.json",
            "--haloes",
            GADGET / "fof_tab_001.hdf5",
        )
        self.assertEqual(self.files(), ["field.hdf5", "map.png", "pk.txt", "report.json"])
        report = json.loads((self.folder / "report.json").read_text())
        self.assertEqual(report["result"]["files"], ["./field.hdf5", "pk.txt", "map.png"])
        density = self.density("field.hdf5").astype(np.float64)
        np.testing.assert_allclose(report["result"]["field"]["max"], density.max())
        np.testing.assert_allclose(
            report["result"]["field"]["standard_deviation"], density.std(), rtol=1e-5
        )
        self.assertEqual(report["result"]["painted"]["num_particles"], 64**3)
        self.assertEqual(report["options"]["power_compensation"], "shot-noise")
        box, power = report["box_length"][0], report["result"]["power"]
        self.assertAlmostEqual(power["fundamental"], 2 * np.pi / box)
        self.assertAlmostEqual(power["nyquist"], self.GRID * np.pi / box)
        self.assertEqual(report["result"]["haloes"]["drawn"], 200)


# Options on a snapshot of types 0 and 1, and words of the message.


if __name__ == "__main__":
    main()
