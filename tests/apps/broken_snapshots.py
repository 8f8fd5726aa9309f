"""Snapshots that must be refused: broken, incomplete or contradictory."""

import os

import h5py
import numpy as np
from snapshot_styles import swift_distributed, thirds, write_gadget4


def bad_bytes(src, out):
    os.makedirs(out, exist_ok=True)
    with open(f"{out}/text.hdf5", "w") as f:
        f.write("this is not HDF5\n" * 100)
    open(f"{out}/empty.hdf5", "w").close()
    with open(f"{out}/gadget_binary.hdf5", "wb") as f:
        f.write(np.array([256] + [0] * 64 + [256], np.int32).tobytes())
    write_gadget4(f"{out}/truncated.hdf5", src)
    os.truncate(f"{out}/truncated.hdf5", os.path.getsize(f"{out}/truncated.hdf5") * 2 // 3)


def bad_sets_of_files(src, out):
    n = len(src)
    for k, part in enumerate(thirds(n)):
        write_gadget4(f"{out}/missing_chunk/snapshot_001.{k}.hdf5", src, part, num_files=3)
        write_gadget4(f"{out}/other_snapshot/snapshot_001.{k}.hdf5", src, part, num_files=3)
        write_gadget4(
            f"{out}/total_differs/snapshot_001.{k}.hdf5", src, part, num_files=3, total=n + 5
        )
        write_gadget4(f"{out}/other_box/snapshot_001.{k}.hdf5", src, part, num_files=3)
        write_gadget4(f"{out}/link_loop/snapshot_001.{k}.hdf5", src, part, num_files=3)
        for name in ("mixed_positions", "fewer_columns", "more_columns"):
            write_gadget4(f"{out}/{name}/snapshot_001.{k}.hdf5", src, part, num_files=3)
    os.remove(f"{out}/missing_chunk/snapshot_001.1.hdf5")
    os.remove(f"{out}/link_loop/snapshot_001.1.hdf5")
    os.symlink("snapshot_001.1.hdf5", f"{out}/link_loop/snapshot_001.1.hdf5")
    with h5py.File(f"{out}/mixed_positions/snapshot_001.2.hdf5", "a") as f:
        replace(f, "PartType1/Coordinates", f["PartType1/Coordinates"][:].astype(np.uint32))
    with h5py.File(f"{out}/fewer_columns/snapshot_001.2.hdf5", "a") as f:
        del f["PartType1/Velocities"]
    with h5py.File(f"{out}/more_columns/snapshot_001.2.hdf5", "a") as f:
        f["PartType1/Masses"] = np.ones(len(f["PartType1/Coordinates"]), np.float32)
    with h5py.File(f"{out}/other_snapshot/snapshot_001.2.hdf5", "a") as f:
        f["Header"].attrs["Time"] = 0.5
    with h5py.File(f"{out}/other_box/snapshot_001.2.hdf5", "a") as f:
        f["Header"].attrs["BoxSize"] = 2 * src.box
    write_gadget4(f"{out}/no_number.hdf5", src, num_files=3)
    write_gadget4(f"{out}/two_snapshots/snapshot_001.hdf5", src)
    write_gadget4(f"{out}/two_snapshots/snapshot_002.hdf5", src)
    os.makedirs(f"{out}/no_snapshot", exist_ok=True)
    swift_distributed(src, f"{out}/missing_source", missing=True)


def edited(path, src, edit):
    write_gadget4(path, src)
    with h5py.File(path, "a") as f:
        edit(f)


def replace(f, name, values):
    if name in f:
        del f[name]
    if values is not None:
        f[name] = values


def bad_contents(src, out):
    def edit(name, change):
        edited(f"{out}/{name}.hdf5", src, change)

    pos = "PartType1/Coordinates"
    write_gadget4(f"{out}/count_differs.hdf5", src, stated=len(src) + 10, total=len(src) + 10)

    def add_high_word(f):
        header = f["Header"].attrs
        header["NumPart_Total"] = header["NumPart_Total"].astype(np.uint32)
        header["NumPart_Total_HighWord"] = np.array([0, 1], np.uint32)

    edit("high_word_differs", add_high_word)
    edit("short_velocities", lambda f: replace(f, "PartType1/Velocities", src.vel[:-1]))
    edit("no_coordinates", lambda f: replace(f, pos, None))
    edit("two_columns", lambda f: replace(f, pos, src.pos[:, :2]))
    edit("signed_coordinates", lambda f: replace(f, pos, src.pos.astype(np.int32)))
    edit("short_coordinates", lambda f: replace(f, pos, src.pos.astype(np.uint16)))
    edit("text_coordinates", lambda f: replace(f, pos, np.full((len(src), 3), b"x")))
    edit("no_group", lambda f: replace(f, "PartType1", None))
    edit("no_header", lambda f: replace(f, "Header", None))
    edit(
        "no_counts",
        lambda f: [f["Header"].attrs.__delitem__(n) for n in ("NumPart_ThisFile", "NumPart_Total")],
    )
    edit("no_box", lambda f: f["Header"].attrs.__setitem__("BoxSize", 0.0))
    edit("no_masses", lambda f: f["Header"].attrs.__setitem__("MassTable", np.zeros(2)))
    edit("catalogue", lambda f: f.create_group("Group"))


def bad_missing_data(src, out):
    """Coordinates that are not there. HDF5 reads zeros for all of them."""
    n, half = len(src), len(src) // 2
    parts = os.path.abspath(f"{out}/parts")
    os.makedirs(parts)
    for name, rows in {
        "first": src.pos[:half],
        "second": src.pos[half:],
        "short": src.pos[half:-1],
    }.items():
        with h5py.File(f"{parts}/{name}", "w") as f:
            f["pos"] = rows
            f.create_dataset("unwritten", rows.shape, rows.dtype)
    with open(f"{parts}/text", "w") as f:
        f.write("this is not HDF5\n")
    src.pos[:-1].tofile(f"{parts}/short.raw")

    def edit(name, create):
        """create(file, path): makes the dataset."""
        edited(
            f"{out}/{name}.hdf5",
            src,
            lambda f: [
                replace(f, "PartType1/Coordinates", None),
                create(f, "PartType1/Coordinates"),
            ],
        )

    def virtual(*second):
        """The first half from one file, the second from file and dataset, if they are given."""

        def create(f, path):
            layout = h5py.VirtualLayout((n, 3), src.pos.dtype)
            layout[:half] = h5py.VirtualSource("parts/first", "pos", (half, 3))
            if second:
                layout[half:] = h5py.VirtualSource(*second, (n - half, 3))
            f.create_virtual_dataset(path, layout)

        return create

    def write_some_chunks(f, path):
        f.create_dataset(path, (n, 3), src.pos.dtype, chunks=(100, 3), compression="gzip")[
            :half
        ] = src.pos[:half]

    def virtual_twice(f, path):
        """The first half twice, in rows that overlap: the end is shown by none."""
        layout = h5py.VirtualLayout((n, 3), src.pos.dtype)
        for start in (0, half - 100):
            layout[start : start + half] = h5py.VirtualSource("parts/first", "pos", (half, 3))
        f.create_virtual_dataset(path, layout)

    edit("virtual_gap", virtual())
    edit("virtual_twice", virtual_twice)
    for name in ("text", "short", "none", "."):
        edit("virtual_" + {".": "folder"}.get(name, name), virtual(f"parts/{name}", "pos"))
    edit("virtual_no_dataset", virtual("parts/second", "none"))
    edit("virtual_unwritten", virtual("parts/second", "unwritten"))
    edit("unwritten", lambda f, path: f.create_dataset(path, (n, 3), src.pos.dtype))
    edit("unwritten_chunks", write_some_chunks)
    for name in ("short.raw", "none.raw"):
        edit(
            "external_" + name[:-4],
            lambda f, path, name=name: f.create_dataset(
                path, (n, 3), src.pos.dtype, external=[(f"{parts}/{name}", 0, n * 12)]
            ),
        )


def bad_positions(src, out):
    def edit(name, row, axis, value):
        pos = src.pos.copy()
        pos[row, axis] = value
        write_gadget4(f"{out}/{name}.hdf5", src, pos=pos)

    edit("nan", 17, 1, np.nan)
    edit("infinite", 3, 2, np.inf)
    edit("outside", 5, 0, -1.0)
    edit("far_away", 11, 2, 1e30)


def damaged_velocities(src, out):
    """One byte of the last chunk is not what its checksum says: found only when it is read."""
    path = f"{out}/damaged_velocities.hdf5"
    write_gadget4(path, src)
    with h5py.File(path, "a") as f:
        values = f["PartType1/Velocities"][:]
        del f["PartType1/Velocities"]
        made = f.create_dataset(
            "PartType1/Velocities", data=values, chunks=(100, 3), fletcher32=True
        )
        offset = made.id.get_chunk_info(made.id.get_num_chunks() - 1).byte_offset
    with open(path, "r+b") as raw:
        raw.seek(offset)
        byte = raw.read(1)[0]
        raw.seek(offset)
        raw.write(bytes([byte ^ 1]))


# Each writes files into a folder.
BROKEN = (
    bad_bytes,
    bad_sets_of_files,
    bad_contents,
    bad_missing_data,
    bad_positions,
    damaged_velocities,
)
