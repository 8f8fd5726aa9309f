"""What zhalo read of mutants, compared with h5py on the same files.

  check_successes.py FOLDER     FOLDER/NUMBER: the files of a mutant, and what `fuzz --save` left
                                of its reading

Positions, velocities, ids and masses must be equal bit for bit. Each mutant is read in a process of
its own: on some damaged files HDF5 crashes with h5py's calls, too. The exit status is 1 if one
differs, and 2 if there was nothing to compare.
"""

import math
import os
import sys
from pathlib import Path

import h5py
import numpy as np

POSITIONS = ("Coordinates", "IntCoordinates")
VELOCITIES = ("Velocities", "Velocity")
MASSES = ("Masses", "Mass", "DynamicalMasses")

# What an attribute raises that is damaged (RuntimeError: h5a.exists), missing or of another type.
UNREADABLE = (LookupError, TypeError, ValueError, OSError, RuntimeError, ZeroDivisionError)


class Reading:
    """What zhalo says: the file `reading`, and the raw numbers beside it."""

    def __init__(self, folder):
        words = [line.split(" ", 1) for line in (folder / "reading").read_text().splitlines()]
        self.files = [value for key, value in words if key == "file"]
        self.types = [int(value) for key, value in words if key == "type"]
        facts = dict(words)
        self.factor = float(facts["velocity_factor"])
        self.box = np.array(facts["box"].split(), float) if "box" in facts else None
        self.folder = folder

    def numbers(self, kind, name, dtype):
        return np.fromfile(self.folder / f"read.{kind}.{name}", dtype)


def columns(files, kind, names):
    """The arrays of all files, flat, or None if no file has one of these names."""
    parts = []
    for path in files:
        with h5py.File(path, "r") as file:
            group = file.get(f"PartType{kind}")
            name = next(
                (
                    name
                    for name in names
                    if isinstance(group, h5py.Group) and group.get(name) is not None
                ),
                None,
            )
            if name is not None:
                parts.append(group[name][...].ravel())
    return np.concatenate(parts) if parts else None


def in_native_digits(values):
    """As zhalo keeps velocities and masses: float32 unless the file has more than 4 bytes for a
    number."""
    return values.astype(np.float64 if values.dtype.itemsize > 4 else np.float32)


def expected_positions(reading, kind):
    values = columns(reading.files, kind, POSITIONS)
    if values.dtype.kind != "u":
        return values.astype(np.float64)
    cells = 2.0 ** (8 * values.dtype.itemsize)
    return values.astype(np.float64) / cells * np.tile(reading.box, len(values) // 3)


def expected_velocities(reading, kind):
    values = columns(reading.files, kind, VELOCITIES)
    if values is None:
        return np.empty(0)
    values = in_native_digits(values)
    with np.errstate(invalid="ignore", over="ignore"):  # damaged numbers may be anything
        return (values * values.dtype.type(reading.factor)).astype(np.float64)


def header_numbers(file, name):
    """Of an attribute; none if there is none. Of some damaged headers HDF5 reads the attributes,
    but cannot tell that they are groups."""
    if not h5py.h5a.exists(file.id, name.encode(), obj_name=b"Header"):
        return np.empty(0)
    attribute = h5py.h5a.open(file.id, name.encode(), obj_name=b"Header")
    if attribute.shape is None:  # HDF5's null dataspace: reading it leaves the memory as it was
        return np.empty(0)
    values = np.empty(attribute.shape, attribute.dtype)
    attribute.read(values)
    return values.ravel()


def expected_masses(reading, kind, num):
    with h5py.File(reading.files[0], "r") as file:
        table = header_numbers(file, "MassTable")
    if table.dtype.kind in "iuf" and kind < len(table) and table[kind] > 0:
        return np.full(num, float(table[kind]))
    values = columns(reading.files, kind, MASSES)
    return np.empty(0) if values is None else in_native_digits(values).astype(np.float64)


def expected_ids(reading, kind):
    """As HDF5 converts to unsigned integers: what is less than 0 becomes 0, fractions go."""
    values = columns(reading.files, kind, ("ParticleIDs",))
    if values is None:
        return np.empty(0, np.uint64)
    if values.dtype.kind == "u":
        return values.astype(np.uint64)
    last = np.iinfo(np.uint64).max
    return np.array(
        [min(max(int(value), 0), last) if np.isfinite(value) else 0 for value in values], np.uint64
    )


def allowed_factors(path):
    """1, or the root of the scale factor wherever a file may state it."""
    factors = [1.0]
    with h5py.File(path, "r") as file:
        for name, scale in (
            ("Time", float),
            ("ExpansionFactor", float),
            ("Redshift", lambda z: 1 / (1 + float(z))),
        ):
            try:
                factors.append(math.sqrt(scale(header_numbers(file, name)[0])))
            except UNREADABLE:
                pass  # then it is none of the factors
    return factors


def differences(reading):
    """One line for each column that is not as h5py has it."""
    if not any(
        np.isclose(reading.factor, factor, rtol=1e-12)
        for factor in allowed_factors(reading.files[0])
    ):
        yield f"velocities times {reading.factor}"
    for kind in reading.types:
        pos = reading.numbers(kind, "pos", np.float64)
        pairs = {
            "pos": (pos, expected_positions(reading, kind)),
            "velocity": (
                reading.numbers(kind, "velocity", np.float64),
                expected_velocities(reading, kind),
            ),
            "mass": (
                reading.numbers(kind, "mass", np.float64),
                expected_masses(reading, kind, len(pos) // 3),
            ),
            "id": (reading.numbers(kind, "id", np.uint64), expected_ids(reading, kind)),
        }
        for name, (found, expected) in pairs.items():
            if not np.array_equal(found, expected, equal_nan=name != "id"):
                yield f"type {kind}: {name} is not what h5py reads"


def check(folder):
    """Exit status of a child: 0 equal, 1 different, 3 h5py refuses what zhalo read."""
    os.chdir(folder)
    try:
        found = list(differences(Reading(Path("."))))
    except (OSError, KeyError, RuntimeError, TypeError) as error:
        print(f"{folder.name}: h5py reads not all of it: {error}")
        return 3
    for line in found:
        print(f"{folder.name}: {line}")
    return 1 if found else 0


def check_in_child(folder):
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        try:
            status = check(folder)
        except Exception as error:  # of this program: a line of its own, not one of the parent's
            print(f"{folder.name}: {type(error).__name__} in check_successes.py: {error}")
            status = 1
        sys.stdout.flush()
        os._exit(status)
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status)


def main(root):
    folders = sorted(
        path for path in Path(root).absolute().iterdir() if (path / "reading").exists()
    )
    results = [check_in_child(folder) for folder in folders]
    equal, different = results.count(0), results.count(1)
    print(
        f"{len(results)} mutants that zhalo read: {equal} equal to h5py's reading, "
        f"{different} different, {results.count(3)} that h5py does not read, "
        f"{sum(status < 0 for status in results)} that crash it"
    )
    if different or results.count(3):
        return 1
    return 0 if equal else 2


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1]))
