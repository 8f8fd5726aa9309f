"""haloes_ctypes.py LIBRARY [PARTICLES]: haloes from Python by ctypes (docs/c.md).

LIBRARY is libzhalo.so, built with -DBUILD_SHARED_LIBS=ON.
"""

import ctypes
import sys

import numpy as np

zhalo = ctypes.CDLL(sys.argv[1])
zhalo.zhalo_last_error.restype = ctypes.c_char_p
HOST = 1  # a processor
DOUBLE = 0  # a type of numbers


class ContextOptions(ctypes.Structure):
    _fields_ = [
        ("processor", ctypes.c_int),
        ("threads", ctypes.c_int),
        ("device", ctypes.POINTER(ctypes.c_int)),
        ("timeout_seconds", ctypes.c_double),
        ("stream", ctypes.c_void_p),
    ]


class Column(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p),
        ("stride_bytes", ctypes.c_int64),
        ("precision", ctypes.c_int),
    ]


class Box(ctypes.Structure):
    _fields_ = [
        ("lo", ctypes.c_double * 3),
        ("length", ctypes.c_double * 3),
        ("periodic", ctypes.c_int * 3),
    ]


class Particles(ctypes.Structure):
    _fields_ = [
        ("num", ctypes.c_int64),
        ("dimensions", ctypes.c_int),
        ("position", Column * 3),
        ("velocity", Column * 3),
        ("mass", Column),
        ("uniform_mass", ctypes.c_double),
        ("type", Column),
        ("uniform_type", ctypes.c_int),
        ("is_on_device", ctypes.c_int),
    ]


class CatalogueCounts(ctypes.Structure):
    _fields_ = [
        ("num_groups", ctypes.c_int64),
        ("num_groups_total", ctypes.c_int64),
        ("first_group", ctypes.c_int64),
        ("num_members", ctypes.c_int64),
        ("num_members_total", ctypes.c_int64),
        ("first_member", ctypes.c_int64),
        ("has_velocities", ctypes.c_int),
        ("num_types", ctypes.c_int),
        ("checksum", ctypes.c_uint64),
    ]


def call(name, *arguments):
    """Calls zhalo. What is wrong becomes an exception."""
    if getattr(zhalo, name)(*arguments) != 0:
        raise RuntimeError(zhalo.zhalo_last_error().decode())


def made(name, *arguments):
    """The handle that a call makes, which is its last argument."""
    handle = ctypes.c_void_p()
    call(name, *arguments, ctypes.byref(handle))
    return handle


def address(array):
    return ctypes.c_void_p(array.ctypes.data)


def make_domain(context, pos):
    """Of an array (num, 3) of float64 in the periodic unit cube. zhalo copies what it needs."""
    pos = np.ascontiguousarray(pos, np.float64)
    particles = Particles(num=len(pos))
    call("zhalo_set_rows", particles.position, address(pos), DOUBLE, 3)
    box = Box(length=(1, 1, 1), periodic=(1, 1, 1))
    one = ctypes.byref(particles)
    return made("zhalo_domain_create", context, one, 1, ctypes.byref(box))


def column(haloes, name, num, *shape):
    """A property of each halo."""
    values = np.empty((num, *shape))
    room = ctypes.c_int64(values.size)
    call("zhalo_catalogue_get_property", haloes, name.encode(), address(values), room)
    return values


def find_haloes(domain, linking_length):
    """Lengths and centres, the largest halo first."""
    groups = made("zhalo_find_groups", domain, ctypes.c_double(linking_length))
    haloes = made("zhalo_make_catalogue", groups, None)  # of at least 32 particles
    counts = CatalogueCounts()
    call("zhalo_catalogue_get_counts", haloes, ctypes.byref(counts))
    num = counts.num_groups
    length = np.empty(num, np.int64)
    call("zhalo_catalogue_get_lengths", haloes, address(length), ctypes.c_int64(num))
    centre = column(haloes, "GroupPos", num, 3)
    zhalo.zhalo_catalogue_destroy(haloes)
    zhalo.zhalo_groups_destroy(groups)
    return length, centre


def main():
    num = int(sys.argv[2]) if len(sys.argv) > 2 else 6000
    clump = np.arange(num) % 6  # five clumps, and particles anywhere
    random = np.random.RandomState(1)
    offset = random.uniform(-1, 1, (num, 3))
    pos = 0.15 + 0.17 * clump[:, None] + 0.004 * (clump[:, None] + 1) * offset
    pos[clump == 5] = random.uniform(0, 1, (num, 3))[clump == 5]

    options = ContextOptions(processor=HOST)
    context = made("zhalo_context_create_alone", ctypes.byref(options))
    domain = make_domain(context, pos)
    length, centre = find_haloes(domain, 0.2 / num ** (1 / 3))
    print(len(length), "haloes, the largest has", length[0], "particles around", centre[0].round(2))
    try:
        find_haloes(domain, -1)
    except RuntimeError as error:
        print(error)
    zhalo.zhalo_domain_destroy(domain)
    zhalo.zhalo_context_destroy(context)


main()
