#!/usr/bin/env python3
"""Checks catalogues that zhalo wrote: layout, what must hold between the columns, and membership.

    check_catalogue.py [--snapshot FILE] OUT...

Each OUT holds one groups_NNN, and maybe membership_NNN.*. With --snapshot (one file, linked type 1)
masses, centres, velocities and radii are also computed anew from the particles of each group.
Prints one line per OUT; the first fault ends it with exit code 1. Needs numpy and h5py.
"""

import argparse
import os
import sys

import h5py
import numpy as np
from catalogue_files import Catalogue, Fault, check_master, need, numbered


class Membership:
    """All files of a membership, joined: per type the group of each particle and its id."""

    def __init__(self, out, number):
        self.group_of, self.ids = {}, {}
        self.paths = numbered(f"{out}/membership_{number}.*.hdf5")
        self.master = f"{out}/membership_{number}.hdf5"
        totals = 0
        for path in self.paths:
            with h5py.File(path, "r") as f:
                totals = f["Header"].attrs["NumPart_Total"]
                need(f["Header"].attrs["NumFiles"] == len(self.paths), f"{path}: NumFiles is wrong")
                for group in (g for g in f if g.startswith("PartType")):
                    self.append(path, f, int(group[8:]))
        for kind, column in self.group_of.items():
            need(
                len(column) == totals[kind],
                f"NumPart_Total of type {kind} is not the number of rows",
            )

    def append(self, path, f, kind):
        group = f[f"PartType{kind}"]
        known = self.group_of.get(kind, np.empty(0, np.int64))
        need(
            group.attrs["FirstParticle"] == len(known),
            f"{path}: FirstParticle of type {kind} leaves a gap",
        )
        need(
            len(group["GroupNr"]) == f["Header"].attrs["NumPart_ThisFile"][kind],
            f"{path}: NumPart_ThisFile is wrong",
        )
        need(group["GroupNr"].dtype == np.int64, f"{path}: GroupNr is not int64")
        self.group_of[kind] = np.concatenate([known, group["GroupNr"][:]])
        self.ids[kind] = np.concatenate(
            [self.ids.get(kind, np.empty(0, np.uint64)), group["ParticleIDs"][:]]
        )

    def check_against(self, catalogue):
        kinds = sorted(self.group_of)
        for kind in kinds:
            group_of = self.group_of[kind]
            need(
                np.all((group_of >= -1) & (group_of < catalogue.num)),
                "a group number is out of range",
            )
            counts = np.bincount(group_of[group_of >= 0], minlength=catalogue.num)
            need(
                np.array_equal(counts, catalogue.columns["GroupLenType"][:, kind]),
                f"membership of type {kind} contradicts GroupLenType",
            )
        if not kinds:
            return
        everyone = np.concatenate([self.group_of[kind] for kind in kinds])
        ids = np.concatenate([self.ids[kind] for kind in kinds])
        check_ids(catalogue, everyone, ids)
        linked = np.concatenate(
            [self.group_of[kind] for kind in kinds if kind in catalogue.linked_types]
        )
        first = np.full(catalogue.num, len(linked))
        np.minimum.at(first, linked[linked >= 0], np.flatnonzero(linked >= 0))
        need(
            np.array_equal(first, catalogue.columns["GroupLabel"]),
            "GroupLabel is not the first linked member's index",
        )
        stated = catalogue.header["Checksum"].decode()
        if len(catalogue.ids) > 0 and int(stated, 16) != 0:  # 0: a table that was made up
            types = catalogue.linked_types + catalogue.attached_types
            need(
                stated == checksum(catalogue, np.concatenate([self.ids[kind] for kind in types])),
                "the checksum is not that of the catalogue",
            )


def add_to_hash(hashes, numbers):
    """The next number of each hash, by the mixing function of SplitMix64."""
    x = (hashes ^ np.ascontiguousarray(numbers).view(np.uint64)) + np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


def checksum(catalogue, ids):
    """As docs/formats.md says; `ids` are those of all particles, each once, in their order."""
    c, rows = catalogue.columns, np.arange(catalogue.num, dtype=np.uint64)
    unknown = np.full((catalogue.num, 3), np.nan)
    hashes = np.zeros(catalogue.num, np.uint64)
    for numbers in (rows, c["GroupLen"].astype(np.int64), c["GroupLabel"], c["GroupMass"]):
        hashes = add_to_hash(hashes, numbers)
    for vector in (c["GroupPos"], c.get("GroupVelPeculiar", unknown)):
        for axis in range(3):
            hashes = add_to_hash(hashes, vector[:, axis])
    for numbers in (
        c.get("GroupVelDispersion", unknown[:, 0]),
        c["GroupInertiaRadius"],
        c["GroupExtentRadius"],
    ):
        hashes = add_to_hash(hashes, numbers)
    for kind in range(c["GroupLenType"].shape[1]):
        length = c["GroupLenType"][:, kind].astype(np.int64)
        some = length > 0
        hashes[some] = add_to_hash(hashes[some], length[some])
        hashes[some] = add_to_hash(hashes[some], c["GroupMassType"][some, kind])
    order = np.argsort(ids)
    index = order[np.searchsorted(ids[order], catalogue.ids)].astype(np.int64)
    members = add_to_hash(np.zeros(len(index), np.uint64), np.arange(len(index), dtype=np.uint64))
    members = add_to_hash(members, index)
    total = int(hashes.sum(dtype=np.uint64)) + int(members.sum(dtype=np.uint64))
    return f"{total % 2**64:016x}"


def check_ids(catalogue, group_of, ids):
    """IDs are the members, group by group, in any order inside a group."""
    if len(catalogue.ids) == 0:
        return
    members = group_of >= 0
    expected = np.lexsort((ids[members], group_of[members]))
    groups = np.repeat(np.arange(catalogue.num), catalogue.columns["GroupLen"])
    need(
        len(groups) == len(catalogue.ids)
        and np.array_equal(
            ids[members][expected], catalogue.ids[np.lexsort((catalogue.ids, groups))]
        ),
        "IDs are not the members in group order",
    )


def check_properties(catalogue, membership, path):
    """From the particles, group by group, in float64."""
    with h5py.File(path, "r") as f:
        position = f["PartType1/Coordinates"][:].astype(np.float64)
        velocity = f["PartType1/Velocities"][:].astype(np.float64) * np.sqrt(
            catalogue.header["Time"]
        )
        mass = f["Header"].attrs["MassTable"][1]
        box = float(f["Header"].attrs["BoxSize"])
        need(
            np.array_equal(membership.ids[1], f["PartType1/ParticleIDs"][:]),
            "ParticleIDs are not in the snapshot's order",
        )
    c = catalogue.columns
    for group in range(catalogue.num):
        members = np.flatnonzero(membership.group_of[1] == group)
        start = position[members[0]]
        near = start + (position[members] - start + box / 2) % box - box / 2
        centre = near.mean(0)
        away = np.sqrt(((near - centre) ** 2).sum(1))
        mean = velocity[members].mean(0)
        spread = np.sqrt(((velocity[members] - mean) ** 2).sum() / (3 * len(members)))
        distance = np.abs((c["GroupPos"][group] - centre + box / 2) % box - box / 2).max()
        need(distance < 1e-7 * box, f"the centre of group {group} is off by {distance}")
        for name, expected in (
            ("GroupMass", mass * len(members)),
            ("GroupVelPeculiar", mean),
            ("GroupVelDispersion", spread),
            ("GroupInertiaRadius", np.sqrt((away**2).mean())),
            ("GroupExtentRadius", away.max()),
        ):
            need(
                np.allclose(c[name][group], expected, rtol=1e-6, atol=1e-6),
                f"{name} of group {group} is {c[name][group]}, not {expected}",
            )


def check(out, snapshot=None):
    out = os.path.abspath(out)
    catalogue = Catalogue(out)
    catalogue.check()
    if os.path.exists(catalogue.master):
        check_master(
            catalogue.master,
            catalogue.paths,
            ("Ngroups_ThisFile", "Nids_ThisFile"),
            ("Ngroups_Total", "Nids_Total"),
        )
    membership = Membership(out, catalogue.number)
    need(
        membership.paths or not os.path.exists(membership.master),
        f"{membership.master} shows files that are not there",
    )
    if os.path.exists(membership.master):
        check_master(membership.master, membership.paths, ("NumPart_ThisFile",), ("NumPart_Total",))
    if membership.paths:
        membership.check_against(catalogue)
    if snapshot:
        need(membership.paths, f"{out} holds no membership")
        check_properties(catalogue, membership, snapshot)
    return (
        f"{out}: {catalogue.num} groups, {len(catalogue.ids)} ids in {len(catalogue.paths)} file(s)"
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--snapshot")
    parser.add_argument("outputs", nargs="+")
    arguments = parser.parse_args()
    try:
        for out in arguments.outputs:
            print("check_catalogue:", check(out, arguments.snapshot))
    except Fault as fault:
        sys.exit(f"check_catalogue: {fault}")


if __name__ == "__main__":
    main()
