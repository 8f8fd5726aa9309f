"""The files of a catalogue as zhalo writes it, and what must hold in them."""

import contextlib
import glob
import os

import h5py
import numpy as np

HEADER = (
    "BoxSize",
    "Time",
    "Redshift",
    "Omega0",
    "OmegaLambda",
    "HubbleParam",
    "NumFiles",
    "UnitLength_in_cm",
    "UnitMass_in_g",
    "UnitVelocity_in_cm_per_s",
    "Ngroups_ThisFile",
    "Ngroups_Total",
    "Nsubgroups_ThisFile",
    "Nsubgroups_Total",
    "Nsubhalos_ThisFile",
    "Nsubhalos_Total",
    "Nids_ThisFile",
    "Nids_Total",
)
PARAMETERS = (
    "LinkingLength",
    "LinkingLengthRatio",
    "MeanSeparation",
    "MeanSeparationRule",
    "MinMembers",
    "LinkedTypes",
    "Snapshot",
    "CodeVersion",
)
COLUMNS = {
    "GroupLen": 1,
    "GroupLenType": 0,
    "GroupOffsetType": 0,
    "GroupMass": 1,
    "GroupMassType": 0,
    "GroupPos": 3,
    "GroupCM": 3,
    "GroupInertiaRadius": 1,
    "GroupExtentRadius": 1,
    "GroupLabel": 1,
    "GroupOffset": 1,
    "GroupNsubs": 1,
    "GroupFirstSub": 1,
}
VELOCITIES = {
    "GroupVel": 3,
    "GroupVelPeculiar": 3,
    "GroupVelDispersion": 1,
}  # none of them if the snapshot has none
SCALINGS = (
    "a_scaling",
    "h_scaling",
    "length_scaling",
    "mass_scaling",
    "velocity_scaling",
    "to_cgs",
    "Description",
)


class Fault(Exception):
    pass


def need(condition, words):
    if not condition:
        raise Fault(words)


def numbered(pattern):
    """Files with numbers 0, 1, ... without a gap."""
    paths = glob.glob(pattern)
    by_number = {int(p.split(".")[-2]): p for p in paths}
    need(
        sorted(by_number) == list(range(len(by_number))),
        f"{pattern}: the numbers are {sorted(by_number)}",
    )
    return [by_number[k] for k in sorted(by_number)]


class Catalogue:
    """All files of a catalogue, joined."""

    def __init__(self, out):
        folders = glob.glob(f"{out}/groups_*")
        need(len(folders) == 1, f"{out} holds {len(folders)} folders groups_NNN")
        self.number = folders[0][-3:]
        self.paths = numbered(f"{folders[0]}/fof_subhalo_tab_{self.number}.*.hdf5")
        need(self.paths, f"{folders[0]} holds no catalogue")
        self.master = f"{folders[0]}/fof_subhalo_tab_{self.number}.hdf5"
        need(
            set(glob.glob(f"{folders[0]}/*")) | set(glob.glob(f"{folders[0]}/.*"))
            <= {*self.paths, self.master},
            f"{folders[0]} holds other files besides",
        )
        parts, ids, checksums = [], [], set()
        for path in self.paths:
            with h5py.File(path, "r") as f:
                self.check_file(path, f)
                self.header = dict(f["Header"].attrs)
                checksums.add(f["Header"].attrs["Checksum"])
                self.linked_types = sorted(f["Parameters"].attrs["LinkedTypes"])
                self.attached_types = sorted(f["Parameters"].attrs.get("AttachedTypes", []))
                parts.append({name: f["Group"][name][:] for name in f["Group"]})
                ids.append(f["IDs/ID"][:])
        need(len(checksums) == 1, "the files state different checksums")
        self.columns = {name: np.concatenate([p[name] for p in parts]) for name in parts[0]}
        self.ids = np.concatenate(ids)
        self.num = len(self.columns["GroupLen"])

    def check_file(self, path, f):
        need(
            set(f) == {"Group", "Header", "IDs", "Parameters", "Subhalo"},
            f"{path} has the groups {list(f)}",
        )
        for name in HEADER:
            need(name in f["Header"].attrs, f"{path} lacks Header/{name}")
        for name in PARAMETERS:
            need(name in f["Parameters"].attrs, f"{path} lacks Parameters/{name}")
        header = f["Header"].attrs
        need(
            header["NumFiles"] == len(self.paths),
            f"{path}: NumFiles is {header['NumFiles']}, there are {len(self.paths)}",
        )
        need(np.ndim(header["BoxSize"]) == 0, f"{path}: BoxSize is no scalar")
        need(
            "GroupFOFLinkingLength" in f["Group"].attrs,
            f"{path} lacks the linking length of /Group",
        )
        need(
            set(f["Group"]) in ({*COLUMNS}, {*COLUMNS, *VELOCITIES}),
            f"{path}: the columns of /Group are {sorted(f['Group'])}",
        )
        need(len(f["Subhalo"]) == 0, f"{path}: /Subhalo is not empty")
        self.check_columns(path, f)

    def check_columns(self, path, f):
        rows = f["Header"].attrs["Ngroups_ThisFile"]
        num_types = f["Group/GroupLenType"].shape[1]
        need(num_types >= 6, f"{path} has {num_types} types")
        for name, column in f["Group"].items():
            width = (COLUMNS | VELOCITIES)[name]
            shape = (rows,) if width == 1 else (rows, width or num_types)
            need(
                column.shape == shape,
                f"{path}: {name} has the shape {column.shape} instead of {shape}",
            )
            if column.dtype.kind == "f" or name in ("GroupLen", "GroupLabel"):
                for scaling in SCALINGS:
                    need(scaling in column.attrs, f"{path}: {name} lacks {scaling}")
        need(
            f["Group/GroupLen"].dtype == np.int32 and f["Group/GroupLenType"].dtype == np.int32,
            f"{path}: GroupLen is not int32",
        )
        need(f["Group/GroupOffsetType"].dtype == np.int64, f"{path}: GroupOffsetType is not int64")
        need(f["IDs/ID"].dtype == np.uint64, f"{path}: IDs are not uint64")
        need(
            f["IDs/ID"].shape == (f["Header"].attrs["Nids_ThisFile"],),
            f"{path}: Nids_ThisFile is wrong",
        )

    def check(self):
        c, header = self.columns, self.header
        need(header["Ngroups_Total"] == self.num, "Ngroups_Total is not the sum over the files")
        need(header["Nids_Total"] == len(self.ids), "Nids_Total is not the sum over the files")
        length = c["GroupLen"].astype(np.int64)
        by_type = c["GroupLenType"].astype(np.int64)
        need(np.array_equal(by_type.sum(1), length), "GroupLenType does not sum to GroupLen")
        need(len(self.ids) in (0, length.sum()), "there are not as many IDs as members")
        need(np.all(np.diff(length) <= 0), "groups are not sorted by length")
        ties = np.diff(length) == 0
        need(
            np.all(np.diff(c["GroupLabel"])[ties] > 0),
            "groups of equal length are not sorted by label",
        )
        need(
            np.array_equal(c["GroupOffset"], np.cumsum(length) - length),
            "GroupOffset is not the running sum of GroupLen",
        )
        need(
            np.array_equal(c["GroupOffsetType"], np.cumsum(by_type, 0) - by_type),
            "GroupOffsetType is not the running sum",
        )
        need(
            np.allclose(c["GroupMassType"].sum(1), c["GroupMass"], rtol=1e-12),
            "GroupMassType does not sum to GroupMass",
        )
        need(np.all(c["GroupMassType"][by_type == 0] == 0), "mass of a type without members")
        need(np.array_equal(c["GroupPos"], c["GroupCM"]), "GroupPos differs from GroupCM")
        if "GroupVel" in c:
            need(
                np.allclose(c["GroupVel"], c["GroupVelPeculiar"] * header["Time"], rtol=1e-12),
                "GroupVel is not a times the peculiar velocity",
            )
        need(
            np.all(c["GroupNsubs"] == 0) and np.all(c["GroupFirstSub"] == -1), "there are subhaloes"
        )
        need(
            np.all(c["GroupInertiaRadius"] <= c["GroupExtentRadius"] * (1 + 1e-12)),
            "the inertia radius exceeds the extent",
        )
        box = header["BoxSize"]
        need(
            box == 0 or np.all((c["GroupPos"] >= 0) & (c["GroupPos"] < box)),
            "a centre lies outside the box",
        )


def check_master(path, paths, in_file, in_all):
    """The master shows all files as one file does. Attributes `in_file` count a file's rows,
    `in_all` those of all files."""
    here = os.getcwd()
    os.chdir("/")  # HDF5 finds the files beside the master, wherever the reader is
    try:
        with h5py.File(path, "r") as master, contextlib.ExitStack() as stack:
            parts = [stack.enter_context(h5py.File(p, "r")) for p in paths]
            number = (
                len(parts) if "Group" in master else 1
            )  # yt goes on from the master of a catalogue to the numbered files
            need(master["Header"].attrs["NumFiles"] == number, f"{path}: NumFiles is not {number}")
            for one, everything in zip(in_file, in_all):
                need(
                    np.array_equal(
                        master["Header"].attrs[one], parts[0]["Header"].attrs[everything]
                    ),
                    f"{path}: {one} is not {everything}",
                )
            names = []
            parts[0].visititems(
                lambda name, item: names.append(name) if isinstance(item, h5py.Dataset) else None
            )
            for name in names:
                joined = np.concatenate([f[name][:] for f in parts])
                need(
                    master[name].dtype == joined.dtype and np.array_equal(master[name][:], joined),
                    f"{path}: {name} is not that of the files",
                )
                need(master[name].is_virtual or not joined.size, f"{path}: {name} is a copy")
            kinds = [name for name in master if name.startswith("PartType")]
            need(
                all(master[name].attrs["FirstParticle"] == 0 for name in kinds),
                f"{path}: FirstParticle is not 0",
            )
    finally:
        os.chdir(here)
