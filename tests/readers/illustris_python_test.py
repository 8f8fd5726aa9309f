"""illustris_python opens what fof writes.

illustris_python_test.py PROGRAM DATA SNAPSHOTS
"""

import h5py
import illustris_python
import numpy as np
from reader_case import GADGET_NOW, GAS_SNAPSHOT, ReaderCase, main, written


class Catalogues(ReaderCase):
    def check_columns(self, one, _):
        """It opens the numbered files, whether there is a master or not."""
        number = int(one.catalogue.number)
        for name, column in one.columns.items():
            with self.subTest(column=name):
                read = illustris_python.groupcat.loadHalos(one.out, number, fields=[name])
                np.testing.assert_array_equal(read, column)
        read = illustris_python.groupcat.loadHalos(one.out, number, fields=list(one.columns))
        self.assertEqual(read.pop("count"), one.num)
        self.assert_columns(read.get, one.columns)

    def check_header(self, one, _):
        header = illustris_python.groupcat.loadHeader(one.out, int(one.catalogue.number))
        self.assertEqual(header["Ngroups_Total"], one.num)
        self.assertEqual(header["Nids_Total"], len(one.catalogue.ids))
        self.assertEqual(header["NumFiles"], len(one.catalogue.paths))
        for name in ("BoxSize", "HubbleParam", "Omega0", "OmegaLambda", "Redshift", "Time"):
            self.assertEqual(header[name], one.catalogue.header[name])

    def test_columns(self):
        self.on_each(self.check_columns)

    def test_header(self):
        self.on_each(self.check_header)

    def test_all_columns_without_naming_them(self):
        """Several files; of a single one illustris_python wants to be told the names."""
        one = written(GADGET_NOW, "--files", "3")
        read = illustris_python.groupcat.loadHalos(one.out, 1)
        self.assertEqual(read.pop("count"), one.num)
        self.assertEqual(sorted(read), sorted(one.columns))
        with self.assertRaises(TypeError):
            illustris_python.groupcat.loadHalos(written(GADGET_NOW, "--files", "1").out, 1)

    def test_no_velocities(self):
        """Where the snapshot has none there are none of groups."""
        one = written(GAS_SNAPSHOT, "--files", "3")
        read = illustris_python.groupcat.loadHalos(one.out, 0)
        self.assertNotIn("GroupVel", read)
        self.assert_columns(read.get, one.columns)

    def test_no_groups(self):
        one = written(GADGET_NOW, "--files", "1", "--min-size", "1000000")
        self.assertEqual(illustris_python.groupcat.loadHalos(one.out, 1), {"count": 0})


class Members(ReaderCase):
    def test_ids_of_a_group(self):
        """The recipe of docs/formats.md: ids stand group by group, here in those of a master."""
        one = written(GAS_SNAPSHOT, "--attach-types", "0", "--files", "3", "--master")
        groups = illustris_python.groupcat.loadHalos(one.out, 0, fields=["GroupOffset", "GroupLen"])
        ids, group_of = one.membership.ids, one.membership.group_of
        with h5py.File(one.catalogue.master, "r") as file:
            for group in range(groups["count"]):
                first = groups["GroupOffset"][group]
                read = file["IDs/ID"][first : first + groups["GroupLen"][group]]
                ours = [ids[kind][group_of[kind] == group] for kind in one.kinds]
                np.testing.assert_array_equal(np.sort(read), np.sort(np.concatenate(ours)))

    def test_members_want_a_file_that_fof_does_not_write(self):
        """They are refused, not wrong: the file of offsets is IllustrisTNG's own."""
        one = written(GADGET_NOW, "--files", "1")
        for load in (
            lambda: illustris_python.groupcat.loadSingle(one.out, 1, haloID=0),
            lambda: illustris_python.snapshot.loadHalo(one.out, 1, 0, "dm"),
        ):
            with self.assertRaises(OSError):
                load()


if __name__ == "__main__":
    main()
