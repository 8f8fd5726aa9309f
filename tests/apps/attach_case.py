"""What the tests of attached types share: the snapshot with gas, and a run of fof whose results are
sound."""


import h5py
import numpy as np
from catalogue_files import Catalogue
from check_catalogue import Membership, check
from command_case import MPIEXEC, NEEDS_MPI, launcher
from fof_case import GADGET, GAS, FofCase, each, each_rank, main, shows_results

__all__ = [
    "AS_SWIFT",
    "GADGET",
    "GAS",
    "LENGTH",
    "MPIEXEC",
    "NEEDS_MPI",
    "SNAPSHOT",
    "AttachCase",
    "each",
    "each_rank",
    "gas_snapshot",
    "main",
    "shows_results",
]

SNAPSHOT = GAS / "snap_0000.hdf5"
AS_SWIFT = (
    "--link-types",
    1,
    "--attach-types",
    0,
    "--attach-radius",
    1,
    "--min-counts",
    "linked",
    "--meansep",
    "rho",
)
LENGTH = 0.23044020054036027  # of SWIFT


def gas_snapshot():
    """Of types 0 and 1: positions, masses, and SWIFT's groups, -1 for none; the side of the box."""
    with h5py.File(SNAPSHOT, "r") as file:

        def column(name):
            return [file[f"PartType{kind}/{name}"][:] for kind in (0, 1)]

        theirs = [np.where(group == 2147483647, -1, group - 1) for group in column("FOFGroupIDs")]
        return column("Coordinates"), column("Masses"), theirs, file["Header"].attrs["BoxSize"][0]


class AttachCase(FofCase):
    def results(self, out="fof_output"):
        """The catalogue and the membership of all files, sound in themselves."""
        check(str(self.folder / out))
        catalogue = Catalogue(str(self.folder / out))
        return catalogue, Membership(str(self.folder / out), catalogue.number).group_of

    def run_on(self, ranks, snapshot, *options):
        status, _, errors = self.run_fof(
            snapshot, "-q", "--membership", *options, launcher=launcher(ranks)
        )
        self.assertEqual((status, errors), (0, ""))
        return self.results()
