"""What the tests of the command ics share: the linear spectrum and growth, and how results are
read."""

import h5py
import numpy as np
from command_case import CommandCase
from scipy.integrate import quad

OMEGA_M, OMEGA_L = 0.3, 0.7


def hubble(a, omega_l=OMEGA_L):
    return np.sqrt(OMEGA_M / a**3 + omega_l + (1 - OMEGA_M - omega_l) / a**2)


def growing_mode(a, omega_l=OMEGA_L):
    """Heath 1977: H times the integral of da / (a H)^3."""
    integral = quad(lambda x: (x * hubble(x, omega_l)) ** -3, 0, a, epsabs=0, epsrel=1e-10)[0]
    return hubble(a, omega_l) * integral


def growth(a, omega_l=OMEGA_L):
    return growing_mode(a, omega_l) / growing_mode(1, omega_l)


def growth_rate(a):
    """d ln D / d ln a."""
    step = 1e-4
    return (np.log(growing_mode(a * (1 + step))) - np.log(growing_mode(a / (1 + step)))) / (
        2 * np.log(1 + step)
    )


def linear_power(k):
    """A spectrum of the usual shape (Bardeen et al. 1986, Gamma = 0.2), without meaning in its
    height."""
    q = k / 0.2
    transfer = (
        np.log(1 + 2.34 * q)
        / (2.34 * q)
        * (1 + 3.89 * q + (16.1 * q) ** 2 + (5.46 * q) ** 3 + (6.71 * q) ** 4) ** -0.25
    )
    return 6e5 * k**0.96 * transfer**2


def smooth_power(omega_m, omega_b, h, index, sigma8):
    """Eisenstein & Hu 1998 without oscillations (eq. 26, 28 to 31), with this sigma8."""
    matter, fraction = omega_m * h**2, omega_b / omega_m
    sound = 44.5 * np.log(9.83 / matter) / np.sqrt(1 + 10 * (omega_b * h**2) ** 0.75)
    alpha = 1 - 0.328 * np.log(431 * matter) * fraction + 0.38 * np.log(22.3 * matter) * fraction**2

    def shape(k):
        q = (
            k
            * (2.7255 / 2.7) ** 2
            / (omega_m * h * (alpha + (1 - alpha) / (1 + (0.43 * k * h * sound) ** 4)))
        )
        logarithm = np.log(2 * np.e + 1.8 * q)
        return k**index * (logarithm / (logarithm + (14.2 + 731 / (1 + 62.5 * q)) * q**2)) ** 2

    k = np.geomspace(1e-5, 50, 200000)
    x = 8 * k
    integrand = shape(k) * (3 * (np.sin(x) - x * np.cos(x)) / x**3) ** 2 * k**3 / (2 * np.pi**2)
    height = sigma8**2 / np.trapz(integrand, np.log(k))
    return lambda k: height * shape(np.maximum(k, 1e-9))


def read(*paths):
    """Header attributes of the first file, and the particles of all."""
    columns = {name: [] for name in ("Coordinates", "Velocities", "ParticleIDs")}
    for path in paths:
        with h5py.File(path) as file:
            for name, parts in columns.items():
                parts.append(file["PartType1"][name][()])
    with h5py.File(paths[0]) as file:
        attributes = {**file["Parameters"].attrs, **file["Header"].attrs}
    return attributes, {name: np.concatenate(parts) for name, parts in columns.items()}


def centres(num, box):
    """Of the cells, in the order of the ids."""
    axis = (np.arange(num) + 0.5) * box / num
    return np.stack(np.meshgrid(axis, axis, axis, indexing="ij"), axis=-1).reshape(-1, 3)


def displacements(particles, num, box):
    moved = particles["Coordinates"].astype(np.float64) - centres(num, box)
    return moved - box * np.round(moved / box)


def painted(positions, num, box):
    """Overdensity at the centres of num^3 cells, by cloud-in-cell."""
    position = positions / box * num - 0.5
    cell = np.floor(position).astype(int)
    part = position - cell
    mesh = np.zeros(num**3)
    for corner in np.ndindex(2, 2, 2):
        weight = np.prod(np.where(corner, part, 1 - part), axis=1)
        x, y, z = ((cell + corner) % num).T
        mesh += np.bincount((x * num + y) * num + z, weight, num**3)
    return mesh.reshape(num, num, num) / mesh.mean() - 1


def spectrum(positions, mesh, box, num_bins, model):
    """P(k) in bins of the fundamental and `model` in the same bins."""
    modes = np.fft.fftn(painted(positions, mesh, box)) / mesh**3
    wave = np.fft.fftfreq(mesh) * mesh
    window = np.sinc(wave / mesh) ** 2
    modes /= window[:, None, None] * window[None, :, None] * window[None, None, :]
    length = np.sqrt(
        wave[:, None, None] ** 2 + wave[None, :, None] ** 2 + wave[None, None, :] ** 2
    ).ravel()
    number = np.round(length).astype(int)
    kept = (number > 0) & (number <= num_bins)
    counts = np.bincount(number[kept])
    mean = [
        np.bincount(number[kept], values) / np.maximum(counts, 1)
        for values in (
            (box**3 * np.abs(modes) ** 2).ravel()[kept],
            model(2 * np.pi / box * length[kept]),
        )
    ]
    return mean[0][1:], mean[1][1:]


class IcsCase(CommandCase):
    def write_table(self, name="linear.txt"):
        k = np.geomspace(1e-3, 100, 2000)
        np.savetxt(
            self.folder / name,
            np.column_stack([k, linear_power(k)]),
            header="k [h/Mpc]  P [(Mpc/h)^3]",
        )

    def made(self, *arguments, output="ics.hdf5", **environment):
        self.succeed(*arguments, "-q", "-o", output, **environment)
        return read(self.folder / output)
