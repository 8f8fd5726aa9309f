// In a build with serial HDF5, or with ZHALO_PARALLEL_HDF5=OFF.
#include "src/io/hdf5/output.hpp"
#include "zhalo/core/error.hpp"

namespace zhalo::io::hdf5 {

bool can_write_at_once() { return false; }

void write_at_once(const Communicator&, const NamedFile& file, const std::vector<PlacedRows>&,
                   Index) {
  throw FileError(
      "'" + file.shown +
      "' cannot be written by several ranks at once: zhalo was built without parallel HDF5");
}

}  // namespace zhalo::io::hdf5
