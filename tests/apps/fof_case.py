"""What the tests of the command fof share: running it in an empty folder, reading what it wrote."""

import json
import shutil

import h5py
import numpy as np
from command_case import (
    DATA,
    GADGET,
    GAS,
    PROGRAM,
    SANITIZED,
    SECONDS,
    SNAPSHOTS,
    SWIFT,
    CommandCase,
    each,
    each_rank,
    environment_of,
    main,
    shows_results,
)

__all__ = [
    "DATA",
    "GADGET",
    "GAS",
    "PROGRAM",
    "SANITIZED",
    "SECONDS",
    "SNAPSHOT",
    "SNAPSHOTS",
    "SWIFT",
    "FofCase",
    "each",
    "each_rank",
    "environment_of",
    "main",
    "shows_results",
]


SNAPSHOT = GADGET / "snapshot_001.hdf5"


class FofCase(CommandCase):
    def run_fof(self, *arguments, **environment):
        """Exit status, output and errors."""
        return self.run_command(*arguments, **environment)

    def fof(self, *arguments, **environment):
        """Output of a run that must succeed without a word on standard error."""
        return self.succeed(*arguments, **environment)

    def catalogue(self, number, out="fof_output"):
        """The table and the header of a catalogue of one file."""
        with h5py.File(
            self.folder / out / f"groups_{number:03d}" / f"fof_subhalo_tab_{number:03d}.0.hdf5", "r"
        ) as file:
            table = {name: values[:] for name, values in file["Group"].items()}
            table["ID"] = file["IDs/ID"][:]
            is_empty = len(table["GroupLen"]) == 0
            self.assertEqual(int(file["Header"].attrs["Checksum"], 16) == 0, is_empty)
            return table, {**file["Header"].attrs, **file["Parameters"].attrs}

    def ids_by_group(self, table):
        """IDs of the members, ascending in each group."""
        group = np.repeat(np.arange(len(table["GroupLen"])), table["GroupLen"])
        return table["ID"][np.lexsort((table["ID"], group))]

    def membership(self, number, particle_type=1, out="fof_output"):
        """For each particle of the snapshot its group and id."""
        with h5py.File(self.folder / out / f"membership_{number:03d}.0.hdf5", "r") as file:
            group = file[f"PartType{particle_type}"]
            return group["GroupNr"][:], group["ParticleIDs"][:]

    def assert_same_sets(self, group, expected):
        """Two labellings of the same particles, -1 for none, are the same sets; returns our number
        of each expected group."""
        np.testing.assert_array_equal(group >= 0, expected >= 0)
        rows = np.flatnonzero(expected >= 0)
        ours = np.full(expected.max() + 1, -1)
        ours[expected[rows]] = group[rows]
        np.testing.assert_array_equal(ours[expected[rows]], group[rows])
        self.assertEqual(len(np.unique(ours)), len(ours))
        return ours

    def copy_of_snapshot(self, edit):
        """Of the snapshot, edit(file) done to it."""
        shutil.copy(SNAPSHOT, self.folder / "snapshot_001.hdf5")
        with h5py.File(self.folder / "snapshot_001.hdf5", "r+") as file:
            edit(file)
        return "snapshot_001.hdf5"

    def assert_one_warning(self, arguments, *words):
        """And the same with -q, and in the report for machines."""
        for quiet in ([], ["-q"]):
            status, _, errors = self.run_fof(*arguments, *quiet, "--json", "report.json")
            self.assertEqual(
                (status, errors.count("fof: warning: "), errors.count("\n")), (0, 1, 1), errors
            )
            for word in words:
                self.assertIn(word, errors)
        self.assertIn(
            words[0], json.loads((self.folder / "report.json").read_text())["warnings"][0]
        )
