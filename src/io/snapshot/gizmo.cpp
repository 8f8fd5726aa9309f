// GIZMO: GADGET-3 with a version and other names of units.
#include <fmt/format.h>

#include "src/io/snapshot/dialect.hpp"

namespace zhalo::io {

using hdf5::InputFile;

Dialect gizmo_dialect() {
  Dialect dialect = gadget_family(Code::gizmo, "GIZMO", [](const InputFile& file) {
    return file.has_attribute("Header", "GIZMO_version") ||
           file.has_attribute("Header", "UnitLength_In_CGS");
  });
  dialect.states_units_with_h = true;
  dialect.read_version = [](const InputFile& file) {
    const auto version = file.reals("Header", "GIZMO_version");
    return version ? fmt::format("{:g}", version->front()) : std::string();
  };
  return dialect;
}

}  // namespace zhalo::io
