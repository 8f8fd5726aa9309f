"""pynbody opens what fof writes, and finds the members of groups.

  pynbody_test.py PROGRAM DATA SNAPSHOTS

A catalogue of pynbody does not keep its snapshot alive: whoever uses one keeps both.
"""

from pathlib import Path
from tempfile import TemporaryDirectory

import h5py
import numpy as np
import pynbody
from pynbody.halo.number_array import HaloNumberCatalogue
from pynbody.halo.subfindhdf import Gadget4SubfindHDFCatalogue, TNGSubfindHDFCatalogue
from reader_case import (
    GADGET_EARLY,
    GADGET_NOW,
    GAS_SNAPSHOT,
    SNAPSHOTS,
    SWIFT_SNAPSHOT,
    ReaderCase,
    main,
    written,
)

FAMILIES = {0: pynbody.family.gas, 1: pynbody.family.dm}


def by_number(particles, paths):
    """The recipe of docs/formats.md: the membership holds each particle's group, in the order of
    the snapshot. Types that are not in it have no group."""
    particles["grp"] = np.full(len(particles), -1)
    files = [h5py.File(path, "r") for path in paths]
    for kind, family in FAMILIES.items():
        name = f"PartType{kind}"
        if name in files[0]:
            particles[family]["grp"] = np.concatenate([file[name]["GroupNr"][:] for file in files])
    return HaloNumberCatalogue(particles, "grp", ignore=-1)


class Properties(ReaderCase):
    """What a catalogue says of its groups."""

    def check_columns(self, reader, one, filename):
        particles = pynbody.load(one.snapshot)
        groups = reader(particles, filename=filename)
        self.assertEqual(len(groups), one.num)
        read = groups.get_properties_all_halos(with_units=False)
        self.assert_columns(lambda name: read[name], one.columns)

    def check_arepo(self, one, layout):
        """It finds several files by what their names begin with, and counts them by the header."""
        filename = one.stem if layout == "three files" else one.path(layout)
        self.check_columns(TNGSubfindHDFCatalogue, one, filename)

    def check_gadget4(self, one, layout):
        self.check_columns(Gadget4SubfindHDFCatalogue, one, one.path(layout))

    def test_arepo_reader(self):
        self.on_each(self.check_arepo)

    def test_gadget4_reader(self):
        """It opens one file, or a master; of several files it looks elsewhere for the number."""
        self.on_each(self.check_gadget4, layouts=("one file", "a master"))

    def test_gadget4_reader_does_not_count_several_files(self):
        one = written(GADGET_NOW, "--files", "3")
        particles = pynbody.load(one.snapshot)
        with self.assertRaises(KeyError):
            Gadget4SubfindHDFCatalogue(particles, filename=one.stem)

    def test_one_of_several_files_is_not_all(self):
        """Named with its number a file stands for itself: a part of the groups, and a warning."""
        one = written(GADGET_NOW, "--files", "3")
        particles = pynbody.load(one.snapshot)
        for reader in (Gadget4SubfindHDFCatalogue, TNGSubfindHDFCatalogue):
            with self.assertWarnsRegex(UserWarning, "Incorrect number of groups"):
                groups = reader(particles, filename=one.catalogue.paths[0])
            read = groups.get_properties_all_halos(with_units=False)["GroupLen"]
            self.assertLess(len(read), one.num)
            np.testing.assert_array_equal(read, one.columns["GroupLen"][: len(read)])

    def check_units(self, one, hubble, power):
        particles = pynbody.load(one.snapshot)
        groups = TNGSubfindHDFCatalogue(particles, filename=one.path("one file"))
        read, context = groups.get_properties_all_halos(), particles.conversion_context()
        for name, unit in (("GroupMass", "1e10 Msol"), ("GroupPos", "Mpc a")):
            in_units = read[name].in_units(unit, **context)
            # The constants of pynbody and of the codes differ.
            np.testing.assert_allclose(in_units, one.columns[name] / hubble, rtol=1e-3)
        velocity = read["GroupVel"].in_units("km s^-1", **context)
        factor = one.catalogue.header["Time"] ** power
        np.testing.assert_allclose(velocity, one.columns["GroupVelPeculiar"] * factor, rtol=1e-9)

    def test_units(self):
        """Masses and positions are right, velocities in its units are off by a power of a."""
        for snapshot, hubble, power in ((GADGET_EARLY, 0.678, 1.5), (SWIFT_SNAPSHOT, 1, 1)):
            with self.subTest(snapshot=snapshot):
                self.check_units(written(snapshot, "--files", "1"), hubble, power)

    def test_no_groups(self):
        """pynbody divides by their number."""
        one = written(GADGET_NOW, "--files", "1", "--min-size", "1000000")
        particles = pynbody.load(one.snapshot)
        with self.assertRaises(ZeroDivisionError):
            TNGSubfindHDFCatalogue(particles, filename=one.path("one file"))


class MembersOfTheRecipe(ReaderCase):
    """HaloNumberCatalogue on the membership: right for every snapshot."""

    def assert_members(self, groups, one):
        """Of all particles their group, and of each group its particles."""
        numbers = np.concatenate([one.membership.group_of[kind] for kind in one.kinds])
        self.assertEqual(len(groups), one.num)
        np.testing.assert_array_equal(groups.get_group_array()[: len(numbers)], numbers)
        for group in range(one.num):
            members = groups[group]
            self.assertEqual(len(members), one.columns["GroupLen"][group])
            ids = np.sort(members["iord"].view(np.ndarray))
            np.testing.assert_array_equal(ids, one.ids_of(group))

    def check_recipe(self, one, layout):
        membership = one.membership
        paths = [membership.master] if layout == "a master" else membership.paths
        particles = pynbody.load(one.snapshot)
        self.assert_members(by_number(particles, paths), one)

    def test_recipe(self):
        """Members of linked and of attached types; from one file, several, or a master."""
        self.on_each(self.check_recipe)

    def test_types_that_were_not_linked_have_no_group(self):
        one = written(GAS_SNAPSHOT, "--files", "1")
        particles = pynbody.load(one.snapshot)
        groups = by_number(particles, one.membership.paths)
        gas, dark_matter = (groups.get_group_array(family=FAMILIES[kind]) for kind in (0, 1))
        self.assertGreater(len(gas), 0)
        self.assertTrue(np.all(gas == -1))
        np.testing.assert_array_equal(dark_matter, one.membership.group_of[1])
        self.assertEqual(len(groups), one.num)

    def test_snapshot_of_several_files(self):
        """pynbody finds them by what their names begin with, too."""
        stem = SNAPSHOTS / "good/split/snapshot_001"
        one = written(stem, "--files", "2")
        particles = pynbody.load(str(stem))
        self.assert_members(by_number(particles, one.membership.paths), one)


class MembersOfTheCatalogue(ReaderCase):
    """These readers take groups for slices of the snapshot, one after the other: what GADGET-4 and
    AREPO write."""

    def members(self, reader, one):
        particles = pynbody.load(one.snapshot)
        groups = reader(particles, filename=one.path("one file"))
        return groups.get_group_array(), groups[0]["iord"].view(np.ndarray)

    def test_snapshots_in_group_order(self):
        for snapshot in (GADGET_NOW, GADGET_EARLY):
            one = written(snapshot, "--files", "1")
            for reader in (Gadget4SubfindHDFCatalogue, TNGSubfindHDFCatalogue):
                with self.subTest(snapshot=snapshot.name, reader=reader.__name__):
                    numbers, ids = self.members(reader, one)
                    np.testing.assert_array_equal(numbers, one.membership.group_of[1])
                    np.testing.assert_array_equal(np.sort(ids), one.ids_of(0))

    def test_halos_beside_a_snapshot(self):
        """The layout of IllustrisTNG: snapdir_NNN and groups_NNN in one folder; the snapshot is
        loaded by what the names of its files begin with."""
        one = written(GADGET_NOW, "--files", "3")
        with TemporaryDirectory() as folder:
            (Path(folder) / "snapdir_001").mkdir()
            (Path(folder) / "snapdir_001/snapshot_001.0.hdf5").symlink_to(one.snapshot)
            (Path(folder) / "groups_001").symlink_to(f"{one.out}/groups_001")
            particles = pynbody.load(f"{folder}/snapdir_001/snapshot_001")
            groups = particles.halos()
            self.assertIsInstance(groups, TNGSubfindHDFCatalogue)
            np.testing.assert_array_equal(groups.get_group_array(), one.membership.group_of[1])

    def test_other_snapshots_are_what_they_get_wrong(self):
        """Silently: the number of members is right and they are not. If this fails,
        docs/formats.md can say less."""
        one = written(SWIFT_SNAPSHOT, "--files", "1")
        for reader in (Gadget4SubfindHDFCatalogue, TNGSubfindHDFCatalogue):
            with self.subTest(reader=reader.__name__):
                numbers, ids = self.members(reader, one)
                self.assertEqual(len(ids), one.columns["GroupLen"][0])
                self.assertLess(np.isin(ids, one.ids_of(0)).mean(), 0.5)
                self.assertFalse(np.array_equal(numbers, one.membership.group_of[1]))


if __name__ == "__main__":
    main()
