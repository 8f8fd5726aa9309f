#!/usr/bin/env python3
"""Shows tests/apps/check_catalogue.py catalogues that are wrong: check_catalogue_test.py GOOD
SCRATCH."""

import glob
import os
import shutil
import sys

import h5py
import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "..", "apps"))
import check_catalogue  # noqa: E402


def first(pattern):
    return lambda out: h5py.File(glob.glob(f"{out}/{pattern}")[0], "a")


TABLE = first("groups_*/*.0.hdf5")
MASTER = first("groups_*/fof_subhalo_tab_[0-9][0-9][0-9].hdf5")
MEMBERSHIP_MASTER = first("membership_[0-9][0-9][0-9].hdf5")
MEMBERSHIP = first("membership_*.0.hdf5")


def change(name, row, by):
    def fault(f):
        f[name][row] = f[name][row] + by

    return fault


def swap_ids(f):
    ids = f["IDs/ID"][:]
    ids[[0, -1]] = ids[[-1, 0]]
    f["IDs/ID"][:] = ids


def swap_first_ids(f):
    """Of one group."""
    f["IDs/ID"][:2] = f["IDs/ID"][:2][::-1]


def shuffle_groups(f):
    for name in f["Group"]:
        f["Group"][name][:] = f["Group"][name][:][::-1]


def retype(f):
    lengths, attributes = f["Group/GroupLen"][:], dict(f["Group/GroupLen"].attrs)
    del f["Group/GroupLen"]
    f["Group/GroupLen"] = lengths.astype(np.int64)
    f["Group/GroupLen"].attrs.update(attributes)


def copy(name):
    def fault(f):
        values = f[name][:]
        del f[name]
        f[name] = values

    return fault


def skip(name):
    """The second file's rows are not shown."""

    def fault(f):
        sources = f[name].virtual_sources()
        layout = h5py.VirtualLayout(f[name].shape, f[name].dtype)
        for number, source in enumerate(sources):
            if number == 1:
                continue
            low, high = source.vspace.get_select_bounds()
            rows = high[0] + 1 - low[0]
            layout[low[0] : high[0] + 1] = h5py.VirtualSource(
                source.file_name, name, shape=(rows, *f[name].shape[1:])
            )
        del f[name]
        f.create_virtual_dataset(name, layout)

    return fault


FAULTS = [
    (TABLE, change("Group/GroupLen", 3, 1), "GroupLen"),
    (TABLE, change("Group/GroupOffsetType", (5, 1), 1), "GroupOffsetType"),
    (TABLE, change("Group/GroupOffset", 5, 1), "GroupOffset"),
    (TABLE, change("Group/GroupLabel", 0, 1), "GroupLabel"),
    (TABLE, change("Group/GroupMassType", (2, 1), 1.0), "GroupMass"),
    (TABLE, change("Group/GroupVel", (2, 1), 1.0), "GroupVel"),
    (TABLE, shuffle_groups, "sorted"),
    (TABLE, swap_ids, "group order"),
    (TABLE, swap_first_ids, "checksum"),
    (TABLE, lambda f: f["Header"].attrs.__setitem__("Checksum", "1"), "checksum"),
    (TABLE, retype, "int32"),
    (TABLE, lambda f: f["Header"].attrs.__setitem__("Ngroups_Total", 1), "Ngroups_Total"),
    (TABLE, lambda f: f["Header"].attrs.__delitem__("Nsubgroups_ThisFile"), "Nsubgroups_ThisFile"),
    (TABLE, lambda f: f["Header"].attrs.__setitem__("NumFiles", 7), "NumFiles"),
    (TABLE, lambda f: f["Group"].__delitem__("GroupCM"), "columns"),
    (MASTER, lambda f: f["Header"].attrs.__setitem__("Ngroups_ThisFile", 1), "Ngroups_ThisFile"),
    (MASTER, lambda f: f["Header"].attrs.__setitem__("NumFiles", 1), "NumFiles"),
    (MASTER, copy("Group/GroupMass"), "copy"),
    (MASTER, skip("Group/GroupPos"), "GroupPos"),
    (
        MEMBERSHIP_MASTER,
        lambda f: f["PartType1"].attrs.__setitem__("FirstParticle", 2),
        "FirstParticle",
    ),
    (MEMBERSHIP, change("PartType1/GroupNr", 0, 1), "GroupLenType"),
    (MEMBERSHIP, lambda f: f["PartType1"].attrs.__setitem__("FirstParticle", 2), "FirstParticle"),
]


def main(good, scratch):
    check_catalogue.check(good)
    for number, (open_file, fault, word) in enumerate(FAULTS):
        shutil.rmtree(scratch, ignore_errors=True)
        shutil.copytree(good, scratch)
        with open_file(scratch) as f:
            fault(f)
        try:
            check_catalogue.check(scratch)
        except check_catalogue.Fault as found:
            assert word in str(found), f"fault {number}: {found}"
        else:
            sys.exit(f"fault {number} ({word}) was not found")
    print(f"{len(FAULTS)} faults found")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
