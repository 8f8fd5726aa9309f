"""Friends-of-friends by GADGET-4 (https://wwwmpa.mpa-garching.mpg.de/gadget4, GPL), on ranks.

Its linking length is compiled in, in mean separations of its cosmology. Any length is reached by
the mass of the particles. It runs on a snapshot that is written for it, and leaves the snapshot in
the order of its groups, from which come the labels.
"""

import re
import shutil
from pathlib import Path

import numpy as np

from compare_peers.peer import Absent, Peer, module, read_positions
from compare_peers.running import mpi_words, output_of

COMPILED_LENGTH = 0.2  # of its Config.sh, and its default
HUBBLE, GRAVITY = 0.1, 43007.1  # of its units, for one kpc and 1e10 solar masses
PARAMETERS = f"""InitCondFile none
OutputDir .
SnapshotFileBase snapshot
OutputListFilename none
ICFormat 3
SnapFormat 3
TimeLimitCPU 86400
CpuTimeBetRestartFile 86400
TimeBegin 0.5
TimeMax 1.0
ComovingIntegrationOn 1
Omega0 1.0
OmegaLambda 0.0
OmegaBaryon 0.0
HubbleParam 1.0
Hubble {HUBBLE}
BoxSize 1.0
OutputListOn 0
TimeBetSnapshot 1.1
TimeOfFirstSnapshot 1.0
TimeBetStatistics 1.0
NumFilesPerSnapshot 1
MaxFilesWithConcurrentIO 1
ErrTolIntAccuracy 0.01
CourantFac 0.3
MaxSizeTimestep 0.01
MinSizeTimestep 0.0
TypeOfOpeningCriterion 1
ErrTolTheta 0.5
ErrTolThetaMax 1.0
ErrTolForceAcc 0.002
TopNodeFactor 3.0
ActivePartFracForNewDomainDecomp 0.01
DesNumNgb 64
MaxNumNgbDeviation 1
UnitLength_in_cm 3.085678e21
UnitMass_in_g 1.989e43
UnitVelocity_in_cm_per_s 1e5
GravityConstantInternal {GRAVITY}
SofteningComovingClass0 0.001
SofteningMaxPhysClass0 0.001
SofteningClassOfPartType0 0
SofteningClassOfPartType1 0
ArtBulkViscConst 1.0
MinEgySpec 0
InitGasTemp 0
"""


def particle_mass(length):
    """With which its linking length is this one, in a box of side 1."""
    density = 3 * HUBBLE**2 / (8 * np.pi * GRAVITY)
    return density * (length / COMPILED_LENGTH) ** 3


class Gadget4(Peer):
    """call() returns labels, -1 for particles in groups that it does not list."""

    title = "GADGET-4"

    def find(self):
        self.program = self.options["gadget4"]
        if not self.program:
            raise Absent("--gadget4 does not say where the program Gadget4 is")
        self.h5py, _ = module("h5py")
        return ""

    def prepare(self, problem):
        self.problem = problem
        # One for all cases: its first run leaves a table there (Ewald's) that takes a minute.
        self.folder = Path(self.options["folder"], "gadget4")
        self.folder.mkdir(exist_ok=True)
        self.write_snapshot(self.folder / "input.hdf5")
        memory = 200 + problem["num"] // 1000 // problem["threads"]  # MB per rank
        (self.folder / "param.txt").write_text(f"{PARAMETERS}MaxMemSize {memory}\n")

    def write_snapshot(self, path):
        positions, num = read_positions(self.problem["points"]), self.problem["num"]
        with self.h5py.File(path, "w") as file:
            header = file.create_group("Header").attrs
            header["NumPart_ThisFile"] = np.array([0, num], np.uint64)
            header["NumPart_Total"] = np.array([0, num], np.uint64)
            header["MassTable"] = np.array([0, particle_mass(self.problem["length"])])
            for name, value in (("Time", 1.0), ("Redshift", 0.0), ("BoxSize", 1.0)):
                header[name] = value
            header["NumFilesPerSnapshot"] = np.int32(1)
            particles = file.create_group("PartType1")
            particles["Coordinates"] = positions
            particles["Velocities"] = np.zeros((num, 3), np.float32)
            particles["ParticleIDs"] = np.arange(1, num + 1, dtype=np.uint32)

    def call(self):
        shutil.copy(self.folder / "input.hdf5", self.folder / "snapshot_000.hdf5")
        words, environment = mpi_words(self.options["mpiexec"], self.problem["threads"])
        # Its ranks poll for messages: on cores that others use, too, they must let go of them.
        environment["OMPI_MCA_mpi_yield_when_idle"] = "1"
        command = [self.program, self.folder / "param.txt", 3, 0]
        self.told = output_of([*words, *command], environment, self.folder)
        return self.labels()

    def labels(self):
        """By where the groups lie in the snapshot that it wrote."""
        with self.h5py.File(self.folder / "fof_tab_000.hdf5") as file:
            groups = file["Group"]
            lengths = groups["GroupLen"][:] if "GroupLen" in groups else np.zeros(0, np.int64)
        with self.h5py.File(self.folder / "snapshot_000.hdf5") as file:
            index = file["PartType1/ParticleIDs"][:].astype(np.int64) - 1
        labels = np.full(self.problem["num"], -1)
        labels[index[: lengths.sum()]] = np.repeat(np.arange(len(lengths)), lengths)
        return labels

    def seconds(self):
        """Of its tree and of linking, without its domain decomposition and without properties."""
        found = [
            re.search(pattern, self.told)
            for pattern in (
                r"FOFTREE: Ngb-tree construction done. took ([\d.e+-]+) sec",
                r"FOF: primary group finding took = ([\d.e+-]+) sec",
            )
        ]
        return {self.title: sum(float(one.group(1)) for one in found)}

    def write(self, result, path):
        result.tofile(path)
