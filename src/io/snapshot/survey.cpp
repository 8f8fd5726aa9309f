#include "src/io/snapshot/state.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "src/io/snapshot/dialect.hpp"
#include "src/io/snapshot/files.hpp"
#include "zhalo/core/error.hpp"

namespace zhalo::io {

using hdf5::InputFile;

namespace {

bool agree_in_low_bits(Index a, Index b) { return (a & 0xffffffff) == (b & 0xffffffff); }

/// Of a file whose header does not say it.
Index count_without_header(const Found& found) {
  if (found.rows) return *found.rows;
  for (const auto column : all_columns) (found.layout.*column).fault.check();
  return 0;
}

/// The number of particles in a file: the datasets' length, if the header does not contradict it.
Index settle_count(const InputFile& file, int type, const HeaderCounts& header, const Found& found,
                   std::vector<std::string>& notes) {
  const auto at = static_cast<std::size_t>(type);
  if (header.in_this_file.empty()) return count_without_header(found);
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
  for (const auto column : all_columns) {
    const Column& here = found.*column;
    Column& known = layout.*column;
    if (first) known = here;
    if (known.name == here.name) {
      if (!known.fault) known.fault = here.fault;
      if (known.fault) continue;  // of what else it is, little is known
      const bool spans_box = here.integer && column == &TypeLayout::position;
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

std::string text_of_constant(double value) {
  return std::isnan(value) ? "not stated" : fmt::format("{:.10g}", value);
}

/// What shows that two files are not of one snapshot, in words; empty if nothing does. A number
/// that only one of them states counts: which of the two is looked into first must not matter.
std::string difference(const HeaderCounts& file, const HeaderCounts& other) {
  if (file.num_files != other.num_files)
    return fmt::format("its number of files is {}, that of the other {}", file.num_files,
                       other.num_files);
  if (file.time != other.time) return "their times differ";
  if (file.num_types != other.num_types || file.total != other.total)
    return "their total numbers of particles differ";
  constexpr std::array<const char*, 5> names{"BoxSize", "BoxSize", "BoxSize", "HubbleParam",
                                             "Omega0"};
  for (std::size_t i = 0; i < names.size(); ++i) {
    const double a = file.constants[i], b = other.constants[i];
    if (a == b || (std::isnan(a) && std::isnan(b))) continue;
    return fmt::format("its {} is {}, that of the other {}", names[i], text_of_constant(a),
                       text_of_constant(b));
  }
  return {};
}

/// Same snapshot, or a file of another one that lies among them?
void check_same_snapshot(const FileContents& file, const FileContents& first) {
  const std::string what = difference(file.header, first.header);
  if (what.empty()) return;
  throw InputError(
      fmt::format("'{}' belongs to another snapshot than '{}', or one of their headers is damaged: "
                  "{} (put the files of one snapshot together, or repair the header)",
                  file.path, first.path, what));
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
  summary.coordinates_fault = layout.position.fault;
  summary.velocities_fault = layout.velocity.fault;
  summary.ids_fault = layout.id.fault;
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
    summary.masses_fault = layout.mass.fault;
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
    if (here.count > 0) here.layout = found.layout;
    contents.types.push_back(std::move(here));
  }
  contents.origins = file.origins();
  return contents;
}

/// A copy under the name of another file would bring its particles twice, and that file's never.
void check_no_copies(const std::vector<FileContents>& files) {
  std::map<std::uint64_t, std::vector<std::string>> alike;  // by samples
  for (const FileContents& file : files) {
    const bool is_empty = std::all_of(file.types.begin(), file.types.end(),
                                      [](const TypeInFile& type) { return type.count == 0; });
    if (is_empty) continue;  // such may well be equal
    std::vector<std::string>& others = alike[file.sample];
    for (const std::string& other : others) {
      if (have_same_bytes(file.path, other))
        throw InputError(fmt::format(
            "'{}' is a copy of '{}': its particles would count twice, and those of another file "
            "are missing (put the right file in its place)",
            file.path, other));
    }
    others.push_back(file.path);
  }
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
  for (Index i = files.first; i < files.first + files.count; ++i) {
    const std::string& path = info.files[static_cast<std::size_t>(i)];
    contents.push_back(look_into_file(path, times));
    if (info.files.size() > 1) contents.back().sample = sample_of(path);
  }
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
  check_no_copies(files);
  check_totals(first, state.info);
}

}  // namespace zhalo::io
