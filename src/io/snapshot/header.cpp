#include "src/io/snapshot/header.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "zhalo/core/error.hpp"

namespace zhalo::io {

using hdf5::InputFile;

// ---- what kind of file ----

void check_is_snapshot(const InputFile& file) {
  const std::string output = file.text("Header", "OutputType").value_or("");
  for (const char* group : {"Group", "Subhalo", "FOF", "Groups"}) {
    if (!file.has(group)) continue;
    throw InputError(
        fmt::format("'{}' is a group catalogue (it has /{}), not a snapshot: give the snapshot it "
                    "was made from",
                    file.path(), group));
  }
  if (output == "FOF" || output == "LineOfSight") {
    throw InputError(
        fmt::format("'{}' is SWIFT output of type {}, not a snapshot", file.path(), output));
  }
  if (!file.has("Header")) {
    throw InputError(
        fmt::format("'{}' has no /Header: it is no snapshot of a code that zhalo reads ({})",
                    file.path(), names_of_codes()));
  }
}

// ---- counts ----

namespace {

/// 64-bit totals, or 32 low bits with a second attribute for the high ones.
void read_totals(const InputFile& file, HeaderCounts& counts) {
  if (const auto wide = file.integers("Header", "TotalNumberOfParticles")) {
    counts.total = *wide;
    return;
  }
  counts.total = file.integers("Header", "NumPart_Total").value_or(std::vector<Index>{});
  const auto high = file.integers("Header", "NumPart_Total_HighWord");
  const bool narrow = file.attribute_bytes("Header", "NumPart_Total") == 4;
  if (narrow) {
    for (Index& total : counts.total) total &= 0xffffffff;  // some codes store it as int32
  }
  counts.total_may_lack_high_bits = narrow && !high;
  if (!narrow || !high) return;
  for (std::size_t type = 0; type < std::min(high->size(), counts.total.size()); ++type) {
    counts.total[type] += (*high)[type] << 32;
  }
}

/// As HeaderCounts::initial_masses: SWIFT states them in its internal unit.
std::vector<double> read_initial_masses(const InputFile& file) {
  if (!file.holds_numbers("Header", "InitialMassTable")) return {};
  auto masses = file.reals("Header", "InitialMassTable").value_or(std::vector<double>{});
  const std::string unit = "Unit mass in cgs (U_M)";
  const auto internal = positive(first_number(file, {{"InternalCodeUnits", unit}}));
  const auto stated = positive(first_number(file, {{"Units", unit}}));
  const double factor = internal && stated ? *internal / *stated : 1;
  for (double& mass : masses) mass *= factor;
  return masses;
}

/// As HeaderCounts::constants.
std::array<double, 5> read_constants(const InputFile& file) {
  constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
  const auto constant = [&](const char* name) {
    return first_number(file, {{"Header", name}, {"Parameters", name}, {"Cosmology", name}})
        .value_or(unknown);
  };
  std::vector<double> box{unknown};
  if (file.holds_numbers("Header", "BoxSize")) box = file.reals("Header", "BoxSize").value_or(box);
  if (box.size() != 3) box.assign(3, box.front());
  return {box[0], box[1], box[2], constant("HubbleParam"), constant("Omega0")};
}

}  // namespace

HeaderCounts read_counts(const InputFile& file, AttributePaths times) {
  HeaderCounts counts;
  counts.in_this_file = file.integers("Header", "NumPart_ThisFile").value_or(std::vector<Index>{});
  counts.mass_table = file.reals("Header", "MassTable").value_or(std::vector<double>{});
  counts.initial_masses = read_initial_masses(file);
  read_totals(file, counts);
  if (counts.in_this_file.empty() && counts.total.empty()) {
    throw InputError(
        fmt::format("'{}' states no number of particles (Header/NumPart_ThisFile, NumPart_Total): "
                    "it is no snapshot",
                    file.path()));
  }
  const std::size_t num_types = std::max(counts.in_this_file.size(), counts.total.size());
  counts.num_types = static_cast<int>(num_types);
  for (auto* column : {&counts.in_this_file, &counts.total}) {
    if (!column->empty()) column->resize(num_types);
  }
  counts.mass_table.resize(num_types);
  counts.num_files =
      file.integers("Header", "NumFilesPerSnapshot").value_or(std::vector<Index>{1}).front();
  if (counts.num_files == 0) counts.num_files = 1;  // this one
  times.emplace_back("Header", "Redshift");
  counts.time = first_number(file, times);
  if (counts.time && std::isnan(*counts.time))
    counts.time.reset();  // it would not be equal to itself
  counts.constants = read_constants(file);
  return counts;
}

}  // namespace zhalo::io
