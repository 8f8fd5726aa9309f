#include "src/io/snapshot/state.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "src/io/snapshot/dialect.hpp"
#include "zhalo/core/error.hpp"

namespace zhalo::io {

using hdf5::DatasetShape;
using hdf5::InputFile;

std::string dataset_path(int type, const std::string& name) {
  return fmt::format("PartType{}/{}", type, name);
}

namespace {

struct Quantity {
  Column TypeLayout::*column;
  std::vector<std::string> names;  ///< in the order of preference
  int components;
};

const std::vector<Quantity>& quantities() {
  static const std::vector<Quantity> all{
      {&TypeLayout::position, {"Coordinates", "IntCoordinates"}, 3},
      {&TypeLayout::velocity, {"Velocities", "Velocity"}, 3},
      {&TypeLayout::mass, {"Masses", "Mass", "DynamicalMasses"}, 1},
      {&TypeLayout::id, {"ParticleIDs"}, 1}};
  return all;
}

std::string text_of(const std::vector<Index>& extent) {
  std::string text = "(";
  for (const Index length : extent)
    text += fmt::format("{}{}", text.size() > 1 ? ", " : "", length);
  return text + ")";
}

/// Rows of (N, components), of a flat array of N * components, or of (N) or (N, 1) for scalars.
Index rows_of(const InputFile& file, const std::string& path, const DatasetShape& shape,
              int components) {
  const auto& extent = shape.extent;
  const bool flat = extent.size() == 1 && extent[0] % components == 0;
  const bool table = extent.size() == 2 && extent[1] == components;
  if (flat) return extent[0] / components;
  if (table) return extent[0];
  throw InputError(fmt::format(
      "'{}': /{} has the shape {}, but {} is needed", file.path(), path, text_of(extent),
      components == 1 ? "(N)" : fmt::format("(N, {}) or ({} N)", components, components)));
}

void check_numbers(const InputFile& file, const std::string& path, const DatasetShape& shape,
                   bool is_position) {
  if (shape.kind == hdf5::Kind::other)
    throw InputError(
        fmt::format("'{}': /{} does not hold numbers that zhalo can read", file.path(), path));
  const bool spans_box = !shape.is_signed && (shape.bytes == 4 || shape.bytes == 8);
  if (!is_position || shape.kind == hdf5::Kind::real || spans_box) return;
  throw InputError(
      fmt::format("'{}': /{} holds {} integers of {} bits (must be floating-point numbers, or "
                  "unsigned integers of 32 or 64 bits that span the box, as GADGET-4 may write "
                  "them)",
                  file.path(), path, shape.is_signed ? "signed" : "unsigned",
                  8 * static_cast<Index>(shape.bytes)));
}

/// The datasets of one type in one file.
struct Found {
  TypeLayout layout;
  std::optional<Index> rows;
  std::string rows_from;
};

void note_rows(const InputFile& file, Found& found, Index rows, const std::string& path) {
  if (!found.rows) {
    found.rows = rows;
    found.rows_from = path;
  }
  if (*found.rows == rows) return;
  throw InputError(
      fmt::format("'{}': /{} has {} particles, but /{} has {}: the file is damaged or incomplete",
                  file.path(), found.rows_from, *found.rows, path, rows));
}

Found find_datasets(const InputFile& file, int type) {
  Found found;
  if (!file.has(fmt::format("PartType{}", type))) return found;
  for (const auto& quantity : quantities()) {
    for (const auto& name : quantity.names) {
      const std::string path = dataset_path(type, name);
      const auto shape = file.shape(path);
      if (!shape) continue;
      check_numbers(file, path, *shape, quantity.column == &TypeLayout::position);
      note_rows(file, found, rows_of(file, path, *shape, quantity.components), path);
      found.layout.*quantity.column = {name, shape->kind == hdf5::Kind::integer, shape->bytes};
      break;
    }
  }
  return found;
}

bool agree_in_low_bits(Index a, Index b) { return (a & 0xffffffff) == (b & 0xffffffff); }

/// The number of particles in a file: the datasets' length, if the header does not contradict it.
Index settle_count(const InputFile& file, int type, const HeaderCounts& header, const Found& found,
                   std::vector<std::string>& notes) {
  const auto at = static_cast<std::size_t>(type);
  if (header.in_this_file.empty()) return found.rows.value_or(0);
  const Index stated = header.in_this_file[at];
  const std::string group = fmt::format("PartType{}", type);
  if (stated != 0 && !file.has(group)) {
    throw InputError(
        fmt::format("'{}': the header says {} particles of type {}, but there is no /{}: the file "
                    "is damaged or incomplete",
                    file.path(), stated, type, group));
  }
  const Index rows = found.rows.value_or(stated);
  if (rows == stated) return rows;
  if (found.rows && agree_in_low_bits(rows, stated)) {
    notes.push_back(
        fmt::format("'{}': NumPart_ThisFile of type {} has lost its high bits ({}); the datasets' "
                    "length {} is taken.",
                    file.path(), type, stated, rows));
    return rows;
  }
  throw InputError(
      fmt::format("'{}': the header says {} particles of type {}, but /{} has {}: the file is "
                  "damaged or incomplete",
                  file.path(), stated, type, found.rows ? found.rows_from : group, rows));
}

/// A column must look alike in every file that has particles of the type.
void merge_columns(const std::string& path, int type, const TypeLayout& found, TypeLayout& layout,
                   bool first) {
  for (const auto& quantity : quantities()) {
    const Column& here = found.*quantity.column;
    Column& known = layout.*quantity.column;
    if (first) known = here;
    if (known.name == here.name) {
      const bool spans_box = here.integer && quantity.column == &TypeLayout::position;
      if (known.integer != here.integer || (spans_box && known.bytes != here.bytes))
        throw InputError(
            fmt::format("'{}' stores /{} as another type of number than the files before it", path,
                        dataset_path(type, here.name)));
      known.bytes = std::max(known.bytes, here.bytes);
      continue;
    }
    throw InputError(fmt::format("'{}' {} /{}, unlike the files before it", path,
                                 here.name.empty() ? "lacks" : "has",
                                 dataset_path(type, here.name.empty() ? known.name : here.name)));
  }
}

/// Same snapshot, or a file of another one that lies among them?
void check_same_snapshot(const FileContents& file, const FileContents& first_file) {
  const HeaderCounts &header = file.header, &first = first_file.header;
  const bool same = header.num_files == first.num_files && header.num_types == first.num_types &&
                    header.time == first.time && header.total == first.total;
  const bool same_universe =
      std::equal(header.constants.begin(), header.constants.end(), first.constants.begin(),
                 [](double a, double b) { return a == b || std::isnan(a) || std::isnan(b); });
  if (same && same_universe) return;
  throw InputError(fmt::format(
      "'{}' belongs to another snapshot than '{}': {} differ", file.path, first_file.path,
      same ? "BoxSize, HubbleParam or Omega0" : "time, number of files or total numbers"));
}

void check_totals(const HeaderCounts& header, SnapshotInfo& info) {
  std::vector<std::string>& notes = info.notes;
  for (std::size_t type = 0; type < header.total.size(); ++type) {
    const Index stated = header.total[type], found = info.types[type].count;
    if (stated == found) continue;
    if (header.total_may_lack_high_bits && stated <= 0xffffffff &&
        agree_in_low_bits(stated, found)) {
      notes.push_back(
          fmt::format("NumPart_Total of type {} has lost its high bits ({}); the sum over the "
                      "files {} is taken.",
                      type, stated, found));
      continue;
    }
    if (info.code == Code::swift && found == 0) {
      info.types[type].left_out = stated;
      notes.push_back(
          fmt::format("The run has {} particles of type {}, but its output leaves this type out.",
                      stated, type));
      continue;
    }
    throw InputError(fmt::format(
        "'{}': the header says {} particles of type {} in total, but its {} file(s) hold {}",
        info.files.front(), stated, type, info.files.size(), found));
  }
}

void check_columns_readable(const InputFile& file, int type, const TypeLayout& layout) {
  for (const auto& quantity : quantities()) {
    const Column& column = layout.*quantity.column;
    if (!column.name.empty()) file.check_readable(dataset_path(type, column.name));
  }
  const Column& id = layout.id;
  if (!id.name.empty() && !id.integer)
    throw InputError(fmt::format("'{}': /{} holds no integers: ids of other types are not read",
                                 file.path(), dataset_path(type, id.name)));
}

TypeSummary summarise(int type, const TypeLayout& layout, double table_mass,
                      const SnapshotOverrides& overrides) {
  TypeSummary summary;
  summary.count = layout.first_of_file.back();
  summary.has_coordinates = !layout.position.name.empty();
  summary.has_velocities = !layout.velocity.name.empty();
  summary.has_ids = !layout.id.name.empty();
  summary.double_coordinates = layout.position.bytes > 4 || layout.position.integer;
  summary.double_velocities = layout.velocity.bytes > 4;
  summary.double_masses = layout.mass.bytes > 4;
  if (const auto user = overrides.masses.find(type); user != overrides.masses.end()) {
    if (!is_readable_mass(user->second))
      throw InputError(fmt::format(
          "the mass {} that is given for type {} is negative or not finite", user->second, type));
    summary.mass_source = "user";
    summary.uniform_mass = user->second;
  } else if (is_readable_mass(table_mass) && table_mass > 0) {
    summary.mass_source = "MassTable";
    summary.uniform_mass = table_mass;
  } else if (!layout.mass.name.empty()) {
    summary.mass_source = layout.mass.name;
  }
  return summary;
}

/// Of one that is no mass; 0 is what codes write where masses are in datasets.
void warn_of_table_mass(int type, double value, SnapshotInfo& info) {
  if (info.types[static_cast<std::size_t>(type)].count == 0 || is_readable_mass(value)) return;
  info.warnings.push_back(
      fmt::format("'{}': Header/MassTable has {:g} for type {}, which is no mass: it is not used",
                  info.path, value, type));
}

/// SWIFT can leave out the masses of dark matter, which are all equal and do not change.
void take_initial_mass(int type, const HeaderCounts& header, SnapshotInfo& info) {
  constexpr int dark_matter = 1;
  const auto at = static_cast<std::size_t>(type);
  TypeSummary& summary = info.types[at];
  const bool is_missing = summary.count > 0 && summary.mass_source == "none";
  if (info.code != Code::swift || type != dark_matter || !is_missing) return;
  if (at >= header.initial_masses.size()) return;
  const double mass = header.initial_masses[at];
  if (!is_readable_mass(mass) || mass == 0) return;
  summary.mass_source = "InitialMassTable";
  summary.uniform_mass = mass;
  info.notes.push_back(fmt::format(
      "There are no masses of type {}: Header/InitialMassTable has {:g}, which is taken for each "
      "particle.",
      type, mass));
}

/// `known` is the MassTable of the files before, for those types of which they have particles.
void merge_table_mass(const std::string& path, int type, double here, double& known, bool first) {
  if (first) known = here;
  if (known == here || (std::isnan(known) && std::isnan(here))) return;
  throw InputError(fmt::format(
      "'{}' belongs to another snapshot than the files before it: its MassTable has {:g} "
      "for type {}, theirs {:g}",
      path, here, type, known));
}

FileContents look_into_file(const std::string& path, const AttributePaths& times) {
  const InputFile file(path);
  check_is_snapshot(file);
  FileContents contents;
  contents.path = path;
  contents.header = read_counts(file, times);
  for (int type = 0; type < contents.header.num_types; ++type) {
    const Found found = find_datasets(file, type);
    TypeInFile here;
    here.count = settle_count(file, type, contents.header, found, contents.notes);
    if (here.count > 0) {
      here.layout = found.layout;
      check_columns_readable(file, type, here.layout);
    }
    contents.types.push_back(std::move(here));
  }
  contents.origins = file.origins();
  return contents;
}

/// Appends one file to the layouts.
void append_file(Snapshot::State& state, const FileContents& file,
                 std::vector<double>& mass_table) {
  for (int type = 0; type < file.header.num_types; ++type) {
    const auto at = static_cast<std::size_t>(type);
    const auto& [found, count] = file.types[at];
    TypeLayout& layout = state.layouts[at];
    if (count > 0) {
      const bool first = layout.first_of_file.back() == 0;
      merge_columns(file.path, type, found, layout, first);
      merge_table_mass(file.path, type, file.header.mass_table[at], mass_table[at], first);
    }
    layout.first_of_file.push_back(layout.first_of_file.back() + count);
  }
  state.info.notes.insert(state.info.notes.end(), file.notes.begin(), file.notes.end());
}

}  // namespace

std::vector<FileContents> look_into_files(const SnapshotInfo& info, Share files) {
  const AttributePaths times = dialect_of(info.code).times;
  std::vector<FileContents> contents;
  for (Index i = files.first; i < files.first + files.count; ++i)
    contents.push_back(look_into_file(info.files[static_cast<std::size_t>(i)], times));
  return contents;
}

void combine_files(Snapshot::State& state, const std::vector<FileContents>& files,
                   const SnapshotOverrides& overrides) {
  const HeaderCounts& first = files.front().header;
  std::vector<double> mass_table = first.mass_table;
  state.layouts.resize(static_cast<std::size_t>(first.num_types));
  for (auto& layout : state.layouts) layout.first_of_file.push_back(0);
  for (const FileContents& file : files) {
    check_same_snapshot(file, files.front());
    append_file(state, file, mass_table);
  }
  for (std::size_t type = 0; type < state.layouts.size(); ++type) {
    state.info.types.push_back(
        summarise(static_cast<int>(type), state.layouts[type], mass_table[type], overrides));
    warn_of_table_mass(static_cast<int>(type), mass_table[type], state.info);
    take_initial_mass(static_cast<int>(type), first, state.info);
  }
  check_totals(first, state.info);
}

}  // namespace zhalo::io
