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

HUBBLE = 0.678
KPC = 3.085678e21
MPC = 3.085678e24
SOLAR_MASS_1E10 = 1.989e43


class Source:
    def __init__(self, path):
        with h5py.File(path, "r") as f:
            self.header = dict(f["Header"].attrs)
            self.parameters = dict(f["Parameters"].attrs)
            self.config = dict(f["Config"].attrs)
            self.pos = f["PartType1/Coordinates"][:]
            self.vel = f["PartType1/Velocities"][:]
            self.ids = f["PartType1/ParticleIDs"][:]
        self.mass = float(self.header["MassTable"][1])
        self.box = float(self.header["BoxSize"])

    def __len__(self):
        return len(self.pos)

    def first(self, n):
        part = object.__new__(Source)
        part.__dict__ = dict(self.__dict__, pos=self.pos[:n], vel=self.vel[:n], ids=self.ids[:n])
        return part


def create(path):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    return h5py.File(path, "w")


def thirds(n):
    """Three files, the middle one empty."""
    cut = 2 * n // 5
    return [slice(0, cut), slice(cut, cut), slice(cut, n)]


# ---- GADGET-4 ----


def write_gadget4(path, src, part=slice(None), num_files=1, **columns):
    pos, vel, ids = (columns.get(name, getattr(src, name)) for name in ("pos", "vel", "ids"))
    total = columns.get("total", len(src))
    with create(path) as f:
        header = f.create_group("Header")
        header.attrs.update(src.header)
        here = len(pos[part])
        header.attrs["NumPart_ThisFile"] = np.array([0, columns.get("stated", here)], np.uint64)
        header.attrs["NumPart_Total"] = np.array([0, total], np.uint64)
        header.attrs["NumFilesPerSnapshot"] = np.int32(num_files)
        f.create_group("Parameters").attrs.update(src.parameters)
        f.create_group("Config").attrs.update(src.config)
        if here == 0:
            return
        group = f.create_group("PartType1")
        group["Coordinates"] = pos[part]
        group["Velocities"] = vel[part]
        group["ParticleIDs"] = ids[part]


def good_gadget4(src, out):
    for k, part in enumerate(thirds(len(src))):
        write_gadget4(f"{out}/split/snapshot_001.{k}.hdf5", src, part, num_files=3)
    write_gadget4(f"{out}/double/snapshot_001.hdf5", src, pos=src.pos.astype(np.float64))
    write_gadget4(
        f"{out}/ids64/snapshot_001.hdf5", src, ids=src.ids.astype(np.uint64) + np.uint64(1 << 40)
    )


def good_integer(src, out):
    for bits, kind in ((32, np.uint32), (64, np.uint64)):
        path = f"{out}/integer{bits}/snapshot_001.hdf5"
        write_gadget4(path, src)
        with h5py.File(path, "a") as f:
            cells = np.floor(src.pos.astype(np.float64) / src.box * 2.0**bits)
            del f["PartType1/Coordinates"]
            f["PartType1/IntCoordinates"] = cells.astype(kind)


# ---- GADGET-2/3, AREPO, EAGLE, GIZMO ----


def write_gadget3_header(f, src, counts, totals, num_files, mass=0.0):
    header = f.create_group("Header").attrs
    totals = np.asarray(totals, np.uint64)
    header["NumPart_ThisFile"] = np.asarray(counts, np.int32)
    header["NumPart_Total"] = (totals & np.uint64(0xFFFFFFFF)).astype(np.uint32)
    header["NumPart_Total_HighWord"] = (totals >> np.uint64(32)).astype(np.uint32)
    header["NumFilesPerSnapshot"] = np.int32(num_files)
    header["MassTable"] = np.array([0, mass, 0, 0, 0, 0], np.float64)
    header["BoxSize"] = src.box
    header["Time"] = 1.0
    header["Redshift"] = 0.0
    header["Omega0"] = 0.308
    header["OmegaLambda"] = 0.692
    header["HubbleParam"] = HUBBLE
    for flag in ("Sfr", "Cooling", "StellarAge", "Metals", "Feedback", "DoublePrecision"):
        header["Flag_" + flag] = np.int32(0)
    return header


def write_dark_matter(
    f, src, part, names=("Coordinates", "Velocities", "ParticleIDs"), length_factor=None
):
    group = f.create_group("PartType1")
    pos = (
        src.pos[part] if length_factor is None else src.pos[part].astype(np.float64) * length_factor
    )
    group[names[0]] = pos
    group[names[1]] = src.vel[part]
    group[names[2]] = src.ids[part].astype(np.uint64)
    return group


def good_gadget2(src, out):
    n = len(src)
    with create(f"{out}/gadget2/snapshot_001.hdf5") as f:
        write_gadget3_header(f, src, [0, n, 0, 0, 0, 0], [0, n, 0, 0, 0, 0], 1, src.mass)
        write_dark_matter(f, src, slice(None))
    with create(f"{out}/gadget2_masses/snapshot_001.hdf5") as f:
        write_gadget3_header(f, src, [0, n, 0, 0, 0, 0], [0, n, 0, 0, 0, 0], 1, 0)
        group = write_dark_matter(f, src, slice(None))
        group["Masses"] = src.mass * np.tile([0.8, 1.2], n // 2)
    with create(f"{out}/flat/snapshot_001.hdf5") as f:
        write_gadget3_header(f, src, [0, n, 0, 0, 0, 0], [0, n, 0, 0, 0, 0], 1, src.mass)
        group = f.create_group("PartType1")
        group["Coordinates"] = src.pos.ravel()
        group["Velocities"] = src.vel.ravel()
        group["ParticleIDs"] = src.ids


def good_arepo(src, out):
    """kpc/h, float64; chunk 0 has nothing but tracers, which have no Coordinates."""
    n, tracers = len(src), 7
    parts = [slice(0, 0), slice(0, n // 3), slice(n // 3, n)]
    for k, part in enumerate(parts):
        here = part.stop - part.start
        with create(f"{out}/arepo/snapdir_001/snapshot_001.{k}.hdf5") as f:
            header = write_gadget3_header(
                f,
                src,
                [0, here, 0, tracers if k == 0 else 0, 0, 0],
                [0, n, 0, tracers, 0, 0],
                3,
                src.mass,
            )
            header["BoxSize"] = src.box * 1000
            header["OmegaBaryon"] = 0.0486
            header["UnitLength_in_cm"] = KPC
            header["UnitMass_in_g"] = SOLAR_MASS_1E10
            header["UnitVelocity_in_cm_per_s"] = 1e5
            f.create_group("Config").attrs["VORONOI"] = b""
            f.create_group("Parameters").attrs["ComovingIntegrationOn"] = np.int32(1)
            if here:
                write_dark_matter(f, src, part, length_factor=1000)
            if k == 0:
                group = f.create_group("PartType3")
                group["TracerID"] = np.arange(tracers, dtype=np.uint64)
                group["ParentID"] = np.arange(tracers, dtype=np.uint64)


def good_eagle(src, out):
    """Singular names; some stars besides."""
    n, stars = len(src), 5
    for k, part in enumerate((slice(0, n // 2), slice(n // 2, n))):
        here = part.stop - part.start
        with create(f"{out}/eagle/snapshot_001_z000p000/snap_001_z000p000.{k}.hdf5") as f:
            header = write_gadget3_header(
                f, src, [0, here, 0, 0, stars if k else 0, 0], [0, n, 0, 0, stars, 0], 2, src.mass
            )
            header["ExpansionFactor"] = 1.0
            header["Time"] = 0.0140  # internal units, no scale factor
            f.create_group("HashTable")
            f.create_group("Constants").attrs["GRAVITY"] = 6.672e-8
            f.create_group("Units").attrs.update(
                UnitLength_in_cm=MPC, UnitMass_in_g=SOLAR_MASS_1E10, UnitVelocity_in_cm_per_s=1e5
            )
            write_dark_matter(
                f, src, part, names=("Coordinates", "Velocity", "ParticleIDs"), length_factor=1
            )
            if k:
                group = f.create_group("PartType4")
                group["Coordinates"] = src.pos[:stars].astype(np.float64)
                group["Velocity"] = src.vel[:stars]
                group["Mass"] = np.full(stars, 0.1, np.float32)
                group["ParticleIDs"] = np.arange(stars, dtype=np.uint64) + np.uint64(1 << 50)


def good_gizmo(src, out):
    """Masses per particle, its own attribute names."""
    n = len(src)
    for k, part in enumerate((slice(0, n // 4), slice(n // 4, n))):
        here = part.stop - part.start
        with create(f"{out}/gizmo/snapdir_001/snapshot_001.{k}.hdf5") as f:
            header = write_gadget3_header(f, src, [0, here, 0, 0, 0, 0], [0, n, 0, 0, 0, 0], 2)
            for old, new in (("Omega0", "Omega_Matter"), ("OmegaLambda", "Omega_Lambda")):
                header[new] = header[old]
                del header[old]
            header["Omega_Baryon"] = 0.048
            header["ComovingIntegrationOn"] = np.int32(1)
            header["GIZMO_version"] = 2022.0
            header["UnitLength_In_CGS"] = MPC / HUBBLE  # GIZMO's units contain the 1/h
            header["UnitMass_In_CGS"] = SOLAR_MASS_1E10 / HUBBLE
            header["UnitVelocity_In_CGS"] = 1e5
            group = write_dark_matter(f, src, part)
            group["Masses"] = np.full(here, src.mass, np.float32)
            group["ParticleChildIDsNumber"] = np.zeros(here, np.uint32)
            group["ParticleIDGenerationNumber"] = np.zeros(here, np.uint32)


# ---- SWIFT ----


def one(value, kind=np.float64):
    return np.array([value], kind)


def write_swift_frame(f, src, here, num_files, virtual):
    """No h anywhere, attributes of length 1, seven types; internal units differ from the file's."""
    header = f.create_group("Header").attrs
    counts = np.zeros(7, np.int64)
    counts[1] = here
    totals = np.zeros(7, np.int64)
    totals[1] = len(src)
    header["Code"] = b"SWIFT"
    header["OutputType"] = b"FullVolume"
    header["BoxSize"] = np.full(3, src.box / HUBBLE)
    header["Dimension"] = one(3, np.int32)
    header["NumPart_ThisFile"] = counts
    header["NumPart_Total"] = totals.astype(np.uint32)
    header["NumPart_Total_HighWord"] = np.zeros(7, np.uint32)
    header["TotalNumberOfParticles"] = totals
    header["NumFilesPerSnapshot"] = one(num_files, np.int32)
    header["MassTable"] = np.zeros(7)
    header["Redshift"] = one(0.0)
    header["Scale-factor"] = one(1.0)
    header["Time"] = one(0.0141)
    header["Virtual"] = one(virtual, np.int32)
    f.create_group("Policy")
    f.create_group("Code").attrs["Code Version"] = b"2026.04"
    f.create_group("Parameters").attrs["InitialConditions:periodic"] = b"1"
    units = {
        "Unit length in cgs (U_L)": MPC,
        "Unit mass in cgs (U_M)": SOLAR_MASS_1E10,
        "Unit time in cgs (U_t)": MPC / 2e5,
    }
    f.create_group("Units").attrs.update({name: one(value) for name, value in units.items()})
    inner = dict(units, **{"Unit length in cgs (U_L)": KPC, "Unit time in cgs (U_t)": KPC / 1e5})
    f.create_group("InternalCodeUnits").attrs.update(
        {name: one(value) for name, value in inner.items()}
    )
    gravity = 6.6738e-8 / MPC * SOLAR_MASS_1E10 / 1e10  # in the file's units: Mpc, 1e10 Msun, km/s
    density = 3 * (100 * HUBBLE) ** 2 / (8 * np.pi * gravity)
    cosmology = {
        "Cosmological run": one(1, np.int32),
        "h": one(HUBBLE),
        "Omega_m": one(0.308),
        "Omega_b": one(0.048),
        "Omega_cdm": one(0.26),
        "Omega_lambda": one(0.692),
        "Redshift": one(0.0),
        "Scale-factor": one(1.0),
        "Critical density at redshift zero [internal units]": one(density / 1e9),
    }
    f.create_group("Cosmology").attrs.update(cosmology)


def swift_columns(src):
    return {
        "Coordinates": src.pos.astype(np.float64) / HUBBLE,
        "Velocities": src.vel,
        "Masses": np.full(len(src), src.mass / HUBBLE, np.float32),
        "ParticleIDs": src.ids.astype(np.uint64),
    }


def good_swift(src, out):
    columns = swift_columns(src)
    with create(f"{out}/swift/snap_0001.hdf5") as f:
        write_swift_frame(f, src, len(src), 1, 0)
        group = f.create_group("PartType1")
        for name, values in columns.items():
            group.create_dataset(
                name,
                data=values,
                chunks=(8192,) + values.shape[1:],
                compression="gzip",
                fletcher32=True,
            )
        f["DMParticles"] = h5py.SoftLink("/PartType1")


def swift_distributed(src, out, missing=False):
    """Two files and a virtual one that joins them."""
    columns = swift_columns(src)
    parts = [slice(0, len(src) // 3), slice(len(src) // 3, len(src))]
    for k, part in enumerate(parts):
        with create(f"{out}/snap_0001/snap_0001.{k}.hdf5") as f:
            write_swift_frame(f, src, part.stop - part.start, 2, 0)
            for name, values in columns.items():
                f.create_dataset("PartType1/" + name, data=values[part])
    with create(f"{out}/snap_0001.hdf5") as f:
        write_swift_frame(f, src, len(src), 1, 1)
        for name, values in columns.items():
            layout = h5py.VirtualLayout(values.shape, values.dtype)
            for k, part in enumerate(parts):
                shape = values[part].shape
                layout[part] = h5py.VirtualSource(
                    f"snap_0001/snap_0001.{k}.hdf5", "PartType1/" + name, shape
                )
            f.create_virtual_dataset("PartType1/" + name, layout)
    if missing:
        os.remove(f"{out}/snap_0001/snap_0001.1.hdf5")


# ---- other good input ----


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


# ---- bad input ----


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


def main(source, out):
    shutil.rmtree(out, ignore_errors=True)
    os.makedirs(out)
    src = Source(source)
    src.pos.tofile(f"{out}/positions.f32")
    src.vel.tofile(f"{out}/velocities.f32")
    src.ids.tofile(f"{out}/ids.u32")
    for write in (
        good_gadget4,
        good_integer,
        good_gadget2,
        good_arepo,
        good_eagle,
        good_gizmo,
        good_swift,
    ):
        write(src, f"{out}/good")
    swift_distributed(src, f"{out}/good/swift_distributed")
    small = src.first(1000)
    for write in (
        bad_bytes,
        bad_sets_of_files,
        bad_contents,
        bad_missing_data,
        bad_positions,
        damaged_velocities,
    ):
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
