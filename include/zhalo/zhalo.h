/// zhalo for C, and for Fortran, Python and other languages that call C: domains, groups,
/// catalogues, neighbours and painted fields. docs/c.md has examples. A code may include single
/// headers of zhalo/c/ instead. For all of them:
///
/// - Every function returns a status: ZHALO_OK (0), or the kind of error. zhalo_last_error() then
///   has the message. No C++ exception leaves the library.
/// - A function that is collective must be called by all ranks of the context's communicator, in
///   the same order and with the same options. It returns the same status on all ranks. (A null
///   handle on one rank alone cannot be told to the others: they wait until the timeout.)
/// - Handles are pointers to types that only zhalo knows. Their owner is the caller, who ends each
///   with its destroy function. Handles may be destroyed in any order, because each keeps what it
///   needs of the others. All must be destroyed before MPI_Finalize. The end of the last handle
///   that uses a context is collective.
/// - A struct of options or particles with all bytes 0 has the defaults. Set it to zero first, as
///   `= {0}` does, and then set what should differ. For options, a null pointer means defaults (but
///   not for painting, which needs a grid).
/// - Arrays for results are the caller's. `room` is the number of elements that an array has room
///   for; too little room is ZHALO_INPUT_ERROR. Arrays are in host memory. With a context on a
///   device they may also be in memory of that device.
/// - Lengths are in the unit of the positions, masses and velocities in the unit in which they were
///   given. The global index of a particle counts from 0 in the order of ranks, and on a rank in
///   the order in which the rank gave its particles. Groups and neighbours are named by it.
/// - Results are equal bit for bit for any number of ranks and threads, on host and device. Only
///   power spectra are equal but for rounding.
#ifndef ZHALO_ZHALO_H
#define ZHALO_ZHALO_H

#include "zhalo/c/context.h"
#include "zhalo/c/domain.h"
#include "zhalo/c/fields.h"
#include "zhalo/c/groups.h"
#include "zhalo/c/neighbours.h"

#endif
