"""docs/troubleshooting.md: each message of its tables is one of the commands' own.

troubleshooting_test.py PROGRAM ROOT
"""

import os
import re
import shutil

import h5py
import numpy as np
import program
from page_case import PROGRAM, ROOT, PageCase, main

SNAPSHOT = ROOT / "data/gadget4-dm64/snapshot_001.hdf5"


def delete(file, *names):
    """Attributes of the header and of the parameters."""
    for attributes in (file["Header"].attrs, file["Parameters"].attrs):
        for name in names:
            if name in attributes:
                del attributes[name]


def change_mass(file, mass):
    file["Header"].attrs["MassTable"] = np.array([0, mass, 0, 0, 0, 0], np.float64)


def mix_resolutions(file):
    mass = file["Header"].attrs["MassTable"][1]
    change_mass(file, 0)
    masses = np.full(len(file["PartType1/Coordinates"]), mass, np.float32)
    masses[::2] *= 2
    file["PartType1/Masses"] = masses


def spoil_position(file):
    pos = file["PartType1/Coordinates"]
    pos[17] = np.nan


def forget_positions(file):
    shape = file["PartType1/Coordinates"].shape
    del file["PartType1/Coordinates"]
    file["PartType1"].create_dataset("Coordinates", shape, np.float32, chunks=(1000, 3))


# What is done to a copy of the snapshot, and the command that then says the words.
EDITED = {
    "does not state its box size": (lambda file: delete(file, "BoxSize"), "fof"),
    "The file states no units": (
        lambda file: delete(file, *[n for n in file["Parameters"].attrs if n[:4] == "Unit"]),
        "fof",
    ),
    "no Time or Redshift": (
        lambda file: delete(file, "Time", "Redshift", "ComovingIntegrationOn"),
        "fof --meansep 0.78",
    ),
    "has no masses of particle type": (lambda file: change_mass(file, 0), "fof"),
    "The mean separations from the volume": (lambda file: change_mass(file, 0.1), "fof"),
    "The masses of the linked particles are from": (mix_resolutions, "fof"),
    "mean separation cannot be derived": (
        lambda file: delete(file, "BoxSize", "Omega0"),
        "fof --periodic no",
    ),
    "position that is not finite": (spoil_position, "fof"),
    "is incomplete: it was never written": (forget_positions, "fof"),
    "is missing: the snapshot has": (
        lambda file: file["Header"].attrs.__setitem__("NumFilesPerSnapshot", 2),
        "fof",
    ),
}
# Of the snapshot itself.
COMMANDS = {
    "no such file or directory": "fof nothing.hdf5",
    "in GADGET's binary format": "fof binary",
    "is not an HDF5 file": "fof text",
    "holds 2 snapshots": "fof two",
    "is truncated": "fof truncated.hdf5",
    "has no particles of type 0": f"fof {SNAPSHOT} --link-types 0",
    "lie outside the periodic box": f"fof {SNAPSHOT} --box-size 10",
    "The file's own is": f"fof {SNAPSHOT} --box-size 60 --dry-run",
    "more than half of a periodic box": f"fof {SNAPSHOT} --rlink-abs 26",
    "groups may join everything": f"fof {SNAPSHOT} --rlink 0.6 --dry-run",
    "span half of the periodic box or more": f"fof {SNAPSHOT} --rlink 1",
    "which zhalo did not write": f"knn {SNAPSHOT} -k 1 -o two/snapshot_001.hdf5",
    "which is read": f"knn {SNAPSHOT} -k 1 -o {SNAPSHOT}",
    "which is numbers for particles": f"knn {SNAPSHOT} -k 1 -o x && density {SNAPSHOT} -o x",
    "was not written by --json": f"fof {SNAPSHOT} --json text",
    "on a machine that has": f"density {SNAPSHOT} --grid 20000 --device host -o f.hdf5",
}


class Troubleshooting(PageCase):
    def setUp(self):
        super().setUp()
        whole = SNAPSHOT.read_bytes()
        (self.folder / "truncated.hdf5").write_bytes(whole[: len(whole) // 2])
        record = np.int32(256).tobytes()
        (self.folder / "binary").write_bytes(record + bytes(256) + record)
        (self.folder / "text").write_text("positions\n" * 100)
        (self.folder / "two").mkdir()
        for number in (1, 2):
            shutil.copy(SNAPSHOT, self.folder / f"two/snapshot_00{number}.hdf5")

    def said_by(self, command):
        path = f"{PROGRAM.parent}:{os.environ['PATH']}"
        _, output, errors = program.run(
            ["bash", "-c", command], self.folder, 120, {**os.environ, "PATH": path}
        )
        return output + errors

    def test_each_message_is_made(self):
        for words, command in COMMANDS.items():
            with self.subTest(words):
                self.assertIn(words, self.said_by(command))
        for words, (edit, command) in EDITED.items():
            with self.subTest(words):
                shutil.copy(SNAPSHOT, self.folder / "edited.0.hdf5")
                with h5py.File(self.folder / "edited.0.hdf5", "r+") as file:
                    edit(file)
                self.assertIn(words, self.said_by(f"{command} edited.0.hdf5"))

    def test_the_page_has_these_messages_and_no_others(self):
        page = (ROOT / "docs/troubleshooting.md").read_text()
        messages = re.findall(r"^\| `(.*?)` \|", page, re.MULTILINE)
        last = messages.index("but MPI sees one")
        self.assertEqual(set(messages[:last]), {*COMMANDS, *EDITED})
        paths = [*(ROOT / "src").rglob("*.cpp"), *(ROOT / "apps").rglob("*.cpp")]
        sources = "".join(path.read_text() for path in paths)
        for words in messages[last:]:
            with self.subTest(words):
                self.assertIn(words.replace("CUDA device", "{}"), sources)


if __name__ == "__main__":
    main()
