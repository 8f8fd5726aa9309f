#!/usr/bin/env python3
"""Writes one snapshot in the styles of many codes, and files that are broken in every way.

    make_snapshots.py SOURCE OUTDIR

SOURCE is a GADGET-4 snapshot of dark matter at z = 0 (data/gadget4-dm64/snapshot_001.hdf5).
Everything in OUTDIR/good holds the same particles in the same order, so the same groups must come
out of it. OUTDIR/bad holds files of 1000 particles that must be refused. OUTDIR/edge has positions
at the upper edge of the box, OUTDIR/unequal has masses that differ, OUTDIR/huge more particles than
32 bits count, OUTDIR/subsampled a sample as SWIFT writes it. OUTDIR/positions.f32, velocities.f32
and ids.u32 are SOURCE's columns as raw numbers. Needs numpy and h5py.
"""

import os
import shutil
import sys

import h5py
import numpy as np
from broken_snapshots import BROKEN
from snapshot_styles import (
    STYLES,
    Source,
    create,
    swift_columns,
    swift_distributed,
    write_gadget3_header,
    write_gadget4,
    write_swift_frame,
)


def unequal_masses(src, out):
    """Masses over six decades, and one massless particle; masses.f32 holds them as raw numbers."""
    path = f"{out}/unequal/snapshot_002.hdf5"
    write_gadget4(path, src)
    masses = np.exp(np.random.default_rng(1).normal(0, 3, len(src))).astype(np.float32)
    masses[len(src) // 2] = 0
    masses.tofile(f"{out}/masses.f32")
    with h5py.File(path, "a") as f:
        f["Header"].attrs["MassTable"] = np.zeros(2)
        f["PartType1/Masses"] = masses


def huge(src, out):
    """More particles than 32 bits count, and a header that has lost the high bits; the datasets
    take no room, since nothing was written."""
    n = 2**32 + 5
    for name in ("with_high_word", "without_high_word", "zero_high_word"):
        with create(f"{out}/huge/{name}_004.hdf5") as f:
            header = write_gadget3_header(
                f, src, [0, 5, 0, 0, 0, 0], [0, n, 0, 0, 0, 0], 1, src.mass
            )
            if name != "with_high_word":
                del header["NumPart_Total_HighWord"]
            if name == "zero_high_word":
                header["NumPart_Total_HighWord"] = np.zeros(6, np.uint32)
            group = f.create_group("PartType1")
            group.create_dataset("Coordinates", (n, 3), np.float32, chunks=(1 << 16, 3))
            group.create_dataset("ParticleIDs", (n,), np.uint64, chunks=(1 << 16,), fillvalue=7)


def subsampled(src, out):
    with create(f"{out}/subsampled/snap_0005.hdf5") as f:
        write_swift_frame(f, src, len(src), 1, 0)
        f["Header"].attrs["OutputType"] = b"SubSampled"
        for name, values in swift_columns(src).items():
            f[f"PartType1/{name}"] = values


def main(source, out):
    shutil.rmtree(out, ignore_errors=True)
    os.makedirs(out)
    src = Source(source)
    src.pos.tofile(f"{out}/positions.f32")
    src.vel.tofile(f"{out}/velocities.f32")
    src.ids.tofile(f"{out}/ids.u32")
    for write in STYLES:
        write(src, f"{out}/good")
    swift_distributed(src, f"{out}/good/swift_distributed")
    small = src.first(1000)
    for write in BROKEN:
        write(small, f"{out}/bad")
    unequal_masses(src.first(100001), out)
    huge(src, out)
    subsampled(small, out)
    write_gadget4(
        f"{out}/edge/snapshot_003.hdf5",
        small,
        pos=np.where(small.pos < 0.05, np.float32(src.box), small.pos),
    )


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(sys.argv[1], sys.argv[2])
