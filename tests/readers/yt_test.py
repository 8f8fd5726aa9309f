"""yt opens what fof writes.

yt_test.py PROGRAM DATA SNAPSHOTS
"""

import functools

import numpy as np
import yt
from reader_case import (
    GADGET_EARLY,
    GADGET_NOW,
    GAS_SNAPSHOT,
    SWIFT_SNAPSHOT,
    ReaderCase,
    changed,
    main,
    written,
)
from yt.utilities.exceptions import YTFieldNotFound

yt.set_log_level("error")
yt.config.ytcfg["yt", "suppress_stream_logging"] = True  # no progress bars


# Most of the time of these tests is yt's, which prepares its fields for every data set.
load = functools.lru_cache(maxsize=None)(yt.load)


def column(data, name, ours):
    """A column as the file has it; yt has one field for each component."""
    if ours[name].ndim == 1:
        return data["Group", name].v
    width = ours[name].shape[1]
    return np.stack([data["Group", f"{name}_{axis}"].v for axis in range(width)], axis=1)


def unit_base(one):
    """The recipe of docs/formats.md: yt takes units from no file, and GroupVel has a factor a."""
    a = one.catalogue.header["Time"]
    per_h = "" if one.snapshot == str(SWIFT_SNAPSHOT) else "/h"
    return {
        "length": (1, "Mpccm" + per_h),
        "mass": (1e10, "Msun" + per_h),
        "velocity": (1 / a, "km/s"),
    }


class Catalogues(ReaderCase):
    def check_columns(self, one, layout):
        data_set = load(one.path(layout))
        self.assertEqual(type(data_set).__name__, "GadgetFOFDataset")
        data = data_set.all_data()
        self.assert_columns(lambda name: column(data, name, one.columns), one.columns)

    def check_members(self, one, layout):
        data_set = load(one.path(layout))
        for group in sorted({*range(5), *range(0, one.num, 25), one.num - 1}):
            halo = data_set.halo("Group", group)
            ids = np.sort(halo["Group", "member_ids"].v.astype(np.uint64))
            np.testing.assert_array_equal(ids, one.ids_of(group))
            position = halo.position.to("code_length").v
            np.testing.assert_array_equal(position, one.columns["GroupPos"][group])
            self.assertEqual(halo.mass.to("code_mass").v, one.columns["GroupMass"][group])

    def test_all_rows_and_columns(self):
        """Above all of a master: yt opens as many numbered files beside it as its header says."""
        self.on_each(self.check_columns)

    def test_members(self):
        """The largest groups, which go from one file into the next, and some of all sizes."""
        self.on_each(self.check_members)

    def test_any_numbered_file_stands_for_all(self):
        one = written(GADGET_NOW, "--files", "3")
        for path in one.catalogue.paths:
            data = load(path).all_data()
            np.testing.assert_array_equal(data["Group", "GroupLabel"].v, one.columns["GroupLabel"])


class Units(ReaderCase):
    def check_recipe(self, one, hubble):
        """In Msun, in Mpc, and peculiar."""
        data = yt.load(one.path("one file"), unit_base=unit_base(one)).all_data()
        a, ours = one.catalogue.header["Time"], one.columns
        for name, unit, expected in (
            ("mass", "Msun", ours["GroupMass"] * 1e10 / hubble),
            ("position", "Mpc", ours["GroupPos"] * a / hubble),
            ("velocity", "km/s", ours["GroupVelPeculiar"]),
        ):
            read = data["Group", f"particle_{name}"].to(unit).v
            np.testing.assert_allclose(read, expected, rtol=1e-12, err_msg=name)

    def test_recipe(self):
        for snapshot, hubble in ((GADGET_NOW, 0.678), (GADGET_EARLY, 0.678), (SWIFT_SNAPSHOT, 1)):
            with self.subTest(snapshot=snapshot):
                self.check_recipe(written(snapshot, "--files", "1"), hubble)

    def test_without_the_recipe(self):
        """yt assumes Mpc/h, 1e10 Msun/h and comoving km/s: here h and powers of a are amiss."""
        one = written(SWIFT_SNAPSHOT, "--files", "1")
        data = load(one.path("one file")).all_data()
        a, hubble = one.catalogue.header["Time"], one.catalogue.header["HubbleParam"]
        mass = data["Group", "particle_mass"].to("Msun").v
        np.testing.assert_allclose(mass, one.columns["GroupMass"] * 1e10 / hubble, rtol=1e-12)
        velocity = data["Group", "particle_velocity"].to("km/s").v
        ours = one.columns["GroupVelPeculiar"]
        np.testing.assert_allclose(velocity, ours * a**1.5, rtol=1e-12)


def enlarge_ids(file):
    ids = file["PartType1/ParticleIDs"][:].astype(np.uint64) + np.uint64(2**60)
    del file["PartType1/ParticleIDs"]
    file["PartType1/ParticleIDs"] = ids


class Limits(ReaderCase):
    """What yt cannot do, as docs/formats.md says. If one fails, that page can say less."""

    def test_single_groups_want_velocities(self):
        """Without any in the snapshot groups have none: columns are read, halo() is refused."""
        one = written(GAS_SNAPSHOT, "--files", "1")
        self.assertNotIn("GroupVel", one.columns)
        data_set = yt.load(one.path("one file"))
        data = data_set.all_data()
        self.assert_columns(lambda name: column(data, name, one.columns), one.columns)
        with self.assertRaises(YTFieldNotFound):
            data_set.halo("Group", 0)

    def test_large_ids(self):
        """Ids pass through float64: above 2^53 they are rounded, silently."""
        one = written(changed(GADGET_NOW, enlarge_ids), "--files", "1")
        halo = yt.load(one.path("one file")).halo("Group", 0)
        read = np.sort(halo["Group", "member_ids"].v)
        self.assertFalse(np.array_equal(read.astype(np.uint64), one.ids_of(0)))
        np.testing.assert_array_equal(read, one.ids_of(0).astype(np.float64))

    def test_no_groups(self):
        one = written(GADGET_NOW, "--files", "1", "--min-size", "1000000")
        data = yt.load(one.path("one file")).all_data()
        with self.assertRaises(YTFieldNotFound):
            data["Group", "GroupLen"].sum()


if __name__ == "__main__":
    main()
