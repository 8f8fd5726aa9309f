"""What the tests of the command knn share: snapshots made on the spot, and the true neighbours by
scipy's cKDTree in float64."""

import glob

import h5py
import numpy as np
from command_case import GADGET, CommandCase, main
from scipy.spatial import cKDTree
from snapshot_styles import Source

__all__ = ["BOX", "GADGET", "KnnCase", "Snapshot", "Truth", "main"]

BOX = 10.0


class Snapshot:
    """Particles of several types, uniform and in clumps, with masses and velocities; in as many
    files as are asked for."""

    def __init__(self, counts, seed=1, kind=np.float32, box=BOX):
        random = np.random.default_rng(seed)
        self.box = box
        self.pos, self.vel, self.mass = {}, {}, {}
        for particle_type, count in counts.items():
            centres = random.uniform(0, box, (5, 3))
            clumps = centres[random.integers(0, 5, count)] + random.normal(
                0, 0.01 * box, (count, 3)
            )
            pos = (
                np.where(
                    random.uniform(size=(count, 1)) < 0.5,
                    clumps,
                    random.uniform(0, box, (count, 3)),
                )
                % box
            )
            pos = pos.astype(kind)
            self.pos[particle_type] = np.where(pos >= kind(box), kind(0), pos)
            self.vel[particle_type] = random.normal(0, 100, (count, 3)).astype(np.float32)
            self.mass[particle_type] = random.uniform(0.5, 2, count).astype(np.float32)

    def header(self, counts, num_files):
        columns = np.zeros(6, np.int64)
        for particle_type, pos in self.pos.items():
            columns[particle_type] = len(pos)
        return {
            "NumPart_ThisFile": np.array([counts.get(t, 0) for t in range(6)], np.int32),
            "NumPart_Total": columns.astype(np.uint32),
            "NumPart_Total_HighWord": np.zeros(6, np.uint32),
            "NumFilesPerSnapshot": np.int32(num_files),
            "MassTable": np.zeros(6),
            "BoxSize": self.box,
            "Time": 1.0,
            "Redshift": 0.0,
            "Omega0": 0.3,
            "OmegaLambda": 0.7,
            "HubbleParam": 0.7,
            "UnitLength_in_cm": 3.085678e24,
            "UnitMass_in_g": 1.989e43,
            "UnitVelocity_in_cm_per_s": 1e5,
        }

    def write(self, path, num_files=1, masses=True, velocities=True):
        """`path` has no ending; returns the name to give to the command."""
        for number in range(num_files):
            parts = {
                t: slice(number * len(pos) // num_files, (number + 1) * len(pos) // num_files)
                for t, pos in self.pos.items()
            }
            with h5py.File(
                f"{path}.{number}.hdf5" if num_files > 1 else f"{path}.hdf5", "w"
            ) as file:
                counts = {t: part.stop - part.start for t, part in parts.items()}
                file.create_group("Header").attrs.update(self.header(counts, num_files))
                for t, part in parts.items():
                    file[f"PartType{t}/Coordinates"] = self.pos[t][part]
                    if velocities:
                        file[f"PartType{t}/Velocities"] = self.vel[t][part]
                    if masses:
                        file[f"PartType{t}/Masses"] = self.mass[t][part]
        return path

    def joined(self, types):
        """Positions of these types, in the order in which they are numbered."""
        return np.concatenate([self.pos[t] for t in sorted(types)])


class Truth:
    """Among `pos`, in a periodic box (None: without edges)."""

    def __init__(self, pos, box=BOX):
        self.pos = pos.astype(np.float64)
        self.box = box
        self.tree = cKDTree(self.pos, boxsize=box)

    def distances(self, queries, indices):
        """From each query to the particles of its row."""
        separation = np.abs(self.pos[indices] - queries.astype(np.float64)[:, None])
        if self.box is not None:
            separation = np.minimum(separation, self.box - separation)
        return np.sqrt((separation**2).sum(axis=2))

    def nearest(self, queries, k, exclude_self=False):
        """Distances and indices; rows without the query itself, wherever among its twins it may
        stand."""
        distances, indices = self.tree.query(
            queries.astype(np.float64), k + 1 if exclude_self else k
        )
        distances, indices = distances.reshape(len(queries), -1), indices.reshape(len(queries), -1)
        if not exclude_self:
            return distances, indices
        own = indices == np.arange(len(queries))[:, None]
        own[~own.any(axis=1), -1] = True
        shape = (len(queries), k)
        return distances[~own].reshape(shape), indices[~own].reshape(shape)


class KnnCase(CommandCase):
    def real(self, number=1):
        return GADGET / f"snapshot_{number:03d}.hdf5", Source(
            GADGET / f"snapshot_{number:03d}.hdf5"
        )

    def snapshot(self, counts, name="snapshot_007", num_files=1, **how):
        snapshot = Snapshot(counts, **how)
        snapshot.write(self.folder / name, num_files)
        return snapshot

    def results(self, out, group="PartType1"):
        """The datasets of one group, put together from all numbered files or from the one without a
        number."""
        paths = glob.glob(str(self.folder / f"{out}.[0-9]*.hdf5"))
        paths.sort(key=lambda path: int(path.split(".")[-2]))
        columns = {}
        for path in paths or [self.folder / f"{out}.hdf5"]:
            with h5py.File(path, "r") as file:
                for name, values in file[group].items():
                    columns.setdefault(name, []).append(values[:])
        return {name: np.concatenate(parts) for name, parts in columns.items()}

    def assert_neighbours(self, results, truth, queries, k, exclude_self=False):
        """The k nearest, in order; at equal distances, to rounding, either of two may be the
        k-th."""
        distances, indices = results["Distances"], results["Indices"]
        self.assertEqual((distances.shape, indices.shape), ((len(queries), k),) * 2)
        self.assertEqual((distances.dtype, indices.dtype), (queries.dtype, np.int64))
        expected, neighbours = truth.nearest(queries, k, exclude_self)
        rounding = 4 * np.finfo(queries.dtype).eps
        close = {"rtol": rounding, "atol": rounding * (truth.box or np.abs(queries).max())}
        np.testing.assert_allclose(distances, expected, **close)
        np.testing.assert_allclose(truth.distances(queries, indices), distances, **close)
        self.assertTrue((distances[:, 1:] >= distances[:, :-1]).all())
        self.assertTrue((np.diff(np.sort(indices, axis=1), axis=1) > 0).all())
        differ = (np.sort(indices, axis=1) != np.sort(neighbours, axis=1)).any(axis=1)
        for row in np.flatnonzero(differ):
            for other in set(indices[row]) ^ set(neighbours[row]):
                distance = truth.distances(queries[row : row + 1], np.array([[other]]))[0, 0]
                np.testing.assert_allclose(distance, expected[row, -1], **close)
        if exclude_self:
            self.assertFalse((indices == np.arange(len(queries))[:, None]).any())
