# Finds HDF5, the parallel one if there are both, and sets ZHALO_HAVE_PARALLEL_HDF5: whether ranks
# that share the file of a field write it at once. Any HDF5 does otherwise.
set(ZHALO_HAVE_PARALLEL_HDF5 OFF CACHE INTERNAL
                                       "Whether this tree compiles src/io/hdf5/at_once_mpi.cpp")
if(NOT ZHALO_PARALLEL_HDF5 STREQUAL "OFF")
  set(HDF5_PREFER_PARALLEL ON)
endif()
# What was found for another choice must not stay.
if(DEFINED ZHALO_HDF5_FOUND_FOR AND NOT ZHALO_HDF5_FOUND_FOR STREQUAL ZHALO_PARALLEL_HDF5)
  foreach(zhalo_found IN ITEMS HDF5_C_COMPILER_EXECUTABLE HDF5_C_LIBRARY_hdf5
                               ZHALO_HDF5_WRITES_AT_ONCE)
    unset(${zhalo_found} CACHE)
  endforeach()
endif()
set(ZHALO_HDF5_FOUND_FOR ${ZHALO_PARALLEL_HDF5}
    CACHE INTERNAL "ZHALO_PARALLEL_HDF5 when HDF5 was looked for")
# Quietly first: in a folder with a space in its name CMake 3.25 only then goes on to look, where
# h5pcc cannot compile.
find_package(HDF5 1.10.5 QUIET COMPONENTS C)
if(NOT HDF5_FOUND)
  find_package(HDF5 1.10.5 REQUIRED COMPONENTS C)
endif()

include(ZhaloOtherMpi)
zhalo_other_mpi_of(zhalo_other_mpi ${HDF5_C_LIBRARIES})
if(zhalo_other_mpi)
  message(
    FATAL_ERROR
      "the HDF5 that was found (${HDF5_C_LIBRARIES}) needs another MPI (${zhalo_other_mpi}) than "
      "the one that was found (${MPI_C_LIBRARIES}): with both in one program every run fails. Give "
      "an HDF5 of this MPI with HDF5_ROOT, or configure with -DZHALO_PARALLEL_HDF5=OFF to take a "
      "serial one")
endif()

# HDF5_IS_PARALLEL does not tell: HDF5 2.0 has another name for what CMake 3.25 looks at.
if(NOT ZHALO_PARALLEL_HDF5 STREQUAL "OFF")
  include(CMakePushCheckState)
  include(CheckCSourceCompiles)
  cmake_push_check_state(RESET)
  set(CMAKE_REQUIRED_LIBRARIES HDF5::HDF5 MPI::MPI_C)
  check_c_source_compiles(
    "#include <hdf5.h>
int main(void) { return H5Pset_fapl_mpio(0, MPI_COMM_WORLD, MPI_INFO_NULL); }"
    ZHALO_HDF5_WRITES_AT_ONCE)
  cmake_pop_check_state()
  if(ZHALO_HDF5_WRITES_AT_ONCE)
    set(ZHALO_HAVE_PARALLEL_HDF5 ON CACHE INTERNAL
                                          "Whether this tree compiles src/io/hdf5/at_once_mpi.cpp")
  endif()
endif()

if(ZHALO_HAVE_PARALLEL_HDF5)
  message(
    STATUS "HDF5 ${HDF5_VERSION}, parallel: ranks that share the file of a field write it at once")
elseif(ZHALO_PARALLEL_HDF5 STREQUAL "ON")
  message(
    FATAL_ERROR
      "ZHALO_PARALLEL_HDF5 is ON but the HDF5 that was found (${HDF5_C_LIBRARIES}) is serial, "
      "or not made for this MPI: install "
      "parallel HDF5 (Debian, with Open MPI: libhdf5-openmpi-dev), "
      "say where it is with HDF5_ROOT, or configure with "
      "-DZHALO_PARALLEL_HDF5=AUTO")
else()
  message(
    STATUS
      "HDF5 ${HDF5_VERSION}, used serially: ranks that share the file of a field write it in turns")
endif()
