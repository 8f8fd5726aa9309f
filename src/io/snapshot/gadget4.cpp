// GADGET-4.
#include "src/io/snapshot/dialect.hpp"

namespace zhalo::io {

using hdf5::InputFile;

namespace {

/// 64-bit totals without a second attribute for high bits.
bool is_of_gadget4(const InputFile& file) {
  return file.attribute_bytes("Header", "NumPart_Total") == 8 &&
         !file.has_attribute("Header", "NumPart_Total_HighWord");
}

/// GADGET-4 lists the options that it was compiled with.
std::optional<bool> read_periodic_gadget4(const InputFile& file, SnapshotInfo&) {
  if (file.has("Config")) return file.has_attribute("Config", "PERIODIC");
  return std::nullopt;
}

}  // namespace

Dialect gadget4_dialect() {
  Dialect dialect = gadget_family(Code::gadget4, "GADGET-4", is_of_gadget4);
  dialect.read_periodic = read_periodic_gadget4;
  dialect.gravity_in_cgs = 6.6738e-8;
  return dialect;
}

}  // namespace zhalo::io
