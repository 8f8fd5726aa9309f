"""One snapshot as the codes write theirs."""

import os

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


# All hold the same particles. Each writes files into a folder.
STYLES = (
    good_gadget4,
    good_integer,
    good_gadget2,
    good_arepo,
    good_eagle,
    good_gizmo,
    good_swift,
)
