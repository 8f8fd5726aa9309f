// AREPO and the IllustrisTNG simulations.
#include <algorithm>
#include <array>

#include "src/io/snapshot/dialect.hpp"

namespace zhalo::io {

using hdf5::InputFile;

namespace {

/// What every AREPO writes, or options that runs are compiled with, one or another. HDF5 1.10
/// crashes when it lists the attributes of a damaged group; it is asked for names.
bool is_of_arepo(const InputFile& file) {
  constexpr std::array names{"VORONOI",
                             "VORONOI_DYNAMIC_UPDATE",
                             "VORONOI_STATIC_MESH",
                             "VORONOI_MESH_KEEP_DT_AND_DTC",
                             "REGULARIZE_MESH_CM_DRIFT",
                             "REFINEMENT_SPLIT_CELLS",
                             "GFM_STELLAR_EVOLUTION",
                             "GFM_COOLING_METAL",
                             "GFM_PRIMORDIAL_RATES",
                             "GFM_WINDS",
                             "GFM_AGN_RADIATION"};
  if (file.has("Config") && file.has_attribute("Header", "Composition_vector_length")) return true;
  return std::any_of(names.begin(), names.end(),
                     [&](const char* name) { return file.has_attribute("Config", name); });
}

}  // namespace

Dialect arepo_dialect() {
  Dialect dialect = gadget_family(Code::arepo, "AREPO", is_of_arepo);
  dialect.gravity_in_cgs = 6.6738e-8;
  return dialect;
}

}  // namespace zhalo::io
