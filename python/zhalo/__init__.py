"""Haloes and neighbours in N-body particles, exactly.

    >>> domain = zhalo.Domain(positions, box=100.0)
    >>> groups = domain.friends_of_friends(linking_length)
    >>> haloes = groups.catalogue(min_members=32)
    >>> haloes["GroupPos"]
    >>> distances, indices = domain.knn(k=8)
    >>> field = domain.paint(256, window="tsc", values="overdensity")
    >>> spectrum = domain.power_spectrum(256)

docs/python.md of zhalo has more.
"""

from ._zhalo import (
    Box,
    Catalogue,
    CommunicationError,
    Context,
    DeviceError,
    Domain,
    Error,
    Field,
    Groups,
    InputError,
    OutOfMemory,
    Particles,
    PowerSpectrum,
    UnknownColumn,
)

__all__ = [
    "Box",
    "Catalogue",
    "CommunicationError",
    "Context",
    "DeviceError",
    "Domain",
    "Error",
    "Field",
    "Groups",
    "InputError",
    "OutOfMemory",
    "Particles",
    "PowerSpectrum",
    "UnknownColumn",
]
