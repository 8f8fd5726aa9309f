"""Writes those inputs of corpus/ that were made by hand: one fault each, found by the hostile
testing that came before the fuzzer.

  make_corpus.py FOLDER

What the readers do with them stands in corpus/outcomes. Inputs that the fuzzer finds are added as
they are (`fuzz --only NUMBER --keep FOLDER`).
"""

import sys
from pathlib import Path

import h5py
import numpy as np

NUM = 20
POSITIONS = "PartType1/Coordinates"


def rows():
    return np.random.default_rng(1).uniform(0.01, 50, (NUM, 3)).astype(np.float32)


def snapshot(path, change=lambda file: None):
    """A small GADGET-4 snapshot, changed."""
    with h5py.File(path, "w") as file:
        header = file.create_group("Header").attrs
        for name in ("NumPart_ThisFile", "NumPart_Total"):
            header[name] = np.array([0, NUM], np.uint64)
        header["NumFilesPerSnapshot"] = np.int32(1)
        header["MassTable"] = np.array([0, 4.06])
        header["BoxSize"], header["Time"], header["Redshift"] = 50.0, 1.0, 0.0
        parameters = file.create_group("Parameters").attrs
        parameters.update(
            Omega0=0.308,
            OmegaLambda=0.692,
            HubbleParam=0.678,
            Hubble=100.0,
            UnitLength_in_cm=3.085678e24,
            UnitMass_in_g=1.989e43,
            UnitVelocity_in_cm_per_s=1e5,
        )
        parameters["ComovingIntegrationOn"] = np.int32(1)
        file.create_group("Config").attrs.update(
            {name: np.bytes_("on") for name in ("PERIODIC", "SELFGRAVITY", "FOF")}
        )
        file[POSITIONS] = rows()
        file["PartType1/Velocities"] = 20 * rows()
        file["PartType1/ParticleIDs"] = np.arange(1, NUM + 1, dtype=np.uint32)
        change(file)


def replaced(create):
    """A change: other coordinates, which `create(file)` makes."""

    def change(file):
        del file[POSITIONS]
        create(file)

    return change


def header(name, value):
    return lambda file: file["Header"].attrs.__setitem__(name, value)


def shows(*sources):
    """A virtual dataset; each source is (first row, rows, file, dataset)."""

    def create(file):
        layout = h5py.VirtualLayout((NUM, 3), np.float32)
        for first, num, name, dataset in sources:
            layout[first : first + num] = h5py.VirtualSource(name, dataset, (NUM, 3), np.float32)[
                :num
            ]
        file.create_virtual_dataset(POSITIONS, layout)

    return replaced(create)


def some_chunks(file):
    file.create_dataset(POSITIONS, (NUM, 3), np.float32, chunks=(5, 3), compression="gzip")[:10] = (
        rows()[:10]
    )


def many_rows(file):
    """More than any file holds; HDF5 fills them when they are read."""
    file.create_dataset(POSITIONS, (2**62, 3), np.float32, chunks=(1000, 3))


def empty_box(file):
    del file["Header"].attrs["BoxSize"]
    file["Header"].attrs.create("BoxSize", h5py.Empty(np.float64))


def link_to_itself(file):
    file[POSITIONS] = h5py.SoftLink("/" + POSITIONS)


def references(file):
    file[POSITIONS] = np.full((NUM, 3), file["Header"].ref, h5py.ref_dtype)


CHANGES = {
    "virtual_missing": shows((0, NUM, "none.hdf5", "pos")),
    "virtual_text": shows((0, NUM, "parts/text", "pos")),
    "virtual_gap": shows((0, 10, "parts/rows.hdf5", "pos")),
    "virtual_overlap": shows((0, 10, "parts/rows.hdf5", "pos"), (0, 10, "parts/rows.hdf5", "pos")),
    "virtual_itself": shows((0, NUM, ".", POSITIONS)),
    "virtual_good": shows((0, NUM, "parts/rows.hdf5", "pos")),
    "unwritten": replaced(lambda file: file.create_dataset(POSITIONS, (NUM, 3), np.float32)),
    "unwritten_chunks": replaced(some_chunks),
    "external_short": replaced(
        lambda file: file.create_dataset(
            POSITIONS, (NUM, 3), np.float32, external=[("parts/short.raw", 0, 12 * NUM)]
        )
    ),
    "signed_positions": replaced(
        lambda file: file.create_dataset(POSITIONS, data=rows().astype(np.int32))
    ),
    "references": replaced(references),
    "link_to_itself": replaced(link_to_itself),
    "negative_time": header("Time", -1.0),
    "huge_box": header("BoxSize", 1e300),
    "empty_box": empty_box,
    "max_particles": lambda file: [
        header(name, np.array([0, 2**64 - 1], np.uint64))(file)
        for name in ("NumPart_ThisFile", "NumPart_Total")
    ],
    "high_words": lambda file: [
        header("NumPart_Total", np.array([0, NUM], np.uint32))(file),
        header("NumPart_Total_HighWord", np.array([2**31, 2**31 - 1], np.uint32))(file),
    ],
    "many_rows": replaced(many_rows),
    "opaque_masses": header("MassTable", np.void(b"0123456789abcdef")),
    "files_without_end": header("NumFilesPerSnapshot", np.int32(2**31 - 1)),
}


def damaged_header(folder):
    """The first message of the header of /Header is not aligned: HDF5 fails at the first question,
    and answers the next ones."""
    path = folder / "damaged_header.hdf5"
    snapshot(path)
    data = bytearray(path.read_bytes())
    with h5py.File(path, "r") as file:
        address = h5py.h5o.get_info(file["Header"].id).addr
    # A version-1 header has 16 bytes, then messages: 2 bytes of type, 2 of size.
    data[address + 18] |= 1
    path.write_bytes(data)


def damaged_attribute(folder):
    """The message of an attribute in /Config says that its name is longer than the message: HDF5
    crashes when it lists them."""
    path = folder / "config_attribute.hdf5"
    snapshot(path)
    data = bytearray(path.read_bytes())
    name = data.index(b"SELFGRAVITY\0")
    # Version 1 of the message: version, reserved, and 2 bytes each for the sizes of name, type and
    # shape stand before the name.
    data[name - 6 : name - 4] = (0xFFF0).to_bytes(2, "little")
    path.write_bytes(data)


def damaged_type(folder, name, field, byte):
    """The type of the coordinates, which stands in the file as class and version 1, bit field,
    size, offset, precision, and the positions and sizes of exponent and mantissa, gets another
    byte."""
    path = folder / f"{name}.hdf5"
    snapshot(path)
    data = bytearray(path.read_bytes())
    with h5py.File(path, "r") as file:
        address = h5py.h5o.get_info(file[POSITIONS].id).addr
    single = bytes.fromhex("11201f00040000000000200017080017")
    data[data.index(single, address) + field] = byte
    path.write_bytes(data)


def others(folder):
    with h5py.File(folder / "catalogue_short_masses.hdf5", "w") as file:
        file.create_group("Header").attrs.update(NumFiles=np.int32(1), BoxSize=50.0)
        file["Group/GroupPos"] = rows()
        file["Group/GroupMass"] = np.ones(NUM - 1)
    with h5py.File(folder / "catalogue_unwritten.hdf5", "w") as file:
        file.create_group("Header").attrs.update(NumFiles=np.int32(1), BoxSize=50.0)
        file.create_dataset("Group/GroupPos", (NUM, 3), np.float32)
    with h5py.File(folder / "catalogue_counts.hdf5", "w") as file:
        file.create_group("Header").attrs.update(
            NumFiles=np.int32(1), BoxSize=50.0, Ngroups_ThisFile=np.int64(NUM + 1)
        )
        file["Group/GroupPos"], file["Group/GroupMass"], file["Group/GroupLen"] = (
            rows(),
            np.ones(NUM),
            np.ones(NUM, np.int32),
        )
    with h5py.File(folder / "points_many.hdf5", "w") as file:
        file.create_dataset("Coordinates", (2**62, 3), np.float64, chunks=(7, 3))
    with h5py.File(folder / "points_unwritten.hdf5", "w") as file:
        file.create_dataset("Coordinates", (NUM, 3), np.float64, chunks=(7, 3))
    with h5py.File(folder / "points_integers.hdf5", "w") as file:
        file["Coordinates"] = rows().astype(np.uint32)
    with h5py.File(folder / "catalogue_long_masses.hdf5", "w") as file:
        file.create_group("Header").attrs.update(NumFiles=np.int32(1), BoxSize=50.0)
        file["Group/GroupPos"] = rows()
        file["Group/GroupMass"] = np.ones(NUM + 1)
    (folder / "table_nul.txt").write_bytes(b"0.1 100\n0.2\0 90\n")
    (folder / "table_binary.txt").write_bytes(bytes(range(256)) * 4)
    (folder / "table_return.txt").write_bytes(b"0.1 100\n\r0.2 90\n0.3 80\r\n")
    (folder / "table_one_point.txt").write_text("# k P\n0.1 100\n")


def main(folder):
    folder = Path(folder)
    parts = folder / "parts"
    parts.mkdir(parents=True, exist_ok=True)
    (parts / "text").write_text("this is not HDF5\n")
    rows()[:-1].tofile(parts / "short.raw")
    with h5py.File(parts / "rows.hdf5", "w") as file:
        file["pos"] = rows()
    for name, change in CHANGES.items():
        snapshot(folder / f"{name}.hdf5", change)
    damaged_attribute(folder)
    damaged_header(folder)
    damaged_type(folder, "huge_elements", 7, 0x59)
    damaged_type(folder, "mantissa_outside", 14, 92)
    damaged_type(folder, "exponent_over_sign", 13, 9)
    others(folder)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])
