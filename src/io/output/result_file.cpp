#include "zhalo/io/result_file.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <algorithm>
#include <filesystem>
#include <functional>
#include <string_view>

#include "src/comm/agreement.hpp"
#include "src/io/output/file_set.hpp"
#include "src/io/snapshot/files.hpp"
#include "zhalo/core/error.hpp"

namespace zhalo::io {

// Rows of particles, type by type (file_set.hpp).

std::string group_of_type(int type) {
  return type == no_type ? "Query" : fmt::format("PartType{}", type);
}

void check_ranges(const std::vector<TypeRange>& ranges, int lowest, int num_types,
                  const char* what) {
  int last = lowest - 1;
  for (const TypeRange& range : ranges) {
    if (range.type <= last || range.type >= num_types || range.count < 0)
      throw InputError(fmt::format(
          "{} with a range of particle type {} after one of type {}: give one range for each "
          "type of the snapshot, in ascending order",
          what, range.type, last));
    last = range.type;
  }
}

Index num_rows(const std::vector<TypeRange>& ranges) {
  Index count = 0;
  for (const TypeRange& range : ranges) count += range.count;
  return count;
}

std::vector<TypeRows> rows_by_type(const Communicator& comm, const FileShares& shares,
                                   const std::vector<TypeRange>& ranges,
                                   const std::vector<int>& types) {
  std::vector<TypeRows> rows;
  Index begin = 0;
  for (const int type : types) {
    TypeRange range{type, 0, 0};
    for (const TypeRange& mine : ranges) range = mine.type == type ? mine : range;
    const Index before = comm.exclusive_sum(range.count);
    if (range.count > 0 && range.first != before) {
      throw InputError(
          fmt::format("the particles of type {} do not follow one another over the ranks: this "
                      "rank's begin at {}, lower ranks have {}",
                      type, range.first, before));
    }
    rows.push_back({range, begin, Placement(comm, shares, range.count)});
    begin += range.count;
  }
  return rows;
}

void write_types(hdf5::OutputFile& file, const FileView& view, const std::vector<TypeRows>& rows,
                 std::size_t num_types) {
  std::vector<Index> counts(num_types), totals(num_types);
  for (const TypeRows& type : rows) {
    const Share held = type.placement.in_files(view.files);
    const std::string group = group_of_type(type.range.type);
    file.make_group(group);
    file.attribute(group, "FirstParticle", held.first);
    if (type.range.type == no_type) continue;
    counts.at(static_cast<std::size_t>(type.range.type)) = held.count;
    totals.at(static_cast<std::size_t>(type.range.type)) = type.placement.total();
  }
  file.attribute("Header", "NumPart_ThisFile", counts);
  file.attribute("Header", "NumPart_Total", totals);
}

// Results.

using hdf5::OutputFile;

namespace {

Index numbers_in_row(const ResultColumn& column) { return std::max(column.width, Index{1}); }

hdf5::DatasetView cells_of(const ResultColumn& column) {
  hdf5::DatasetView cells =
      std::visit([&](const auto& values) { return hdf5::cells_of(values, numbers_in_row(column)); },
                 column.values);
  if (column.width > 0) cells.row_shape = {column.width};
  return cells;
}

/// Rows are cut into types in this order, and the last type is the largest.
void check_ascending(const std::vector<int>& types) {
  const bool ascends =
      std::adjacent_find(types.begin(), types.end(), std::greater_equal<>()) == types.end();
  if (!ascends || (!types.empty() && types.front() < no_type))
    throw InputError(
        fmt::format("the types of results are {} (must be ascending, each once, and at least {}); "
                    "sort them, and the rows by type",
                    fmt::join(types, ", "), no_type));
}

/// Room in the headers for every type that the snapshot or the results have.
std::size_t num_types_of(const Results& results, const SnapshotInfo& snapshot) {
  const int last = results.types.empty() ? no_type : results.types.back();
  return std::max(snapshot.types.size(), static_cast<std::size_t>(last + 1));
}

void check_results(const Results& results, std::size_t num_types) {
  check_ranges(results.ranges, no_type, static_cast<int>(num_types), "results");
  for (const TypeRange& range : results.ranges) {
    if (std::count(results.types.begin(), results.types.end(), range.type) == 0)
      throw InputError(fmt::format(
          "results of particle type {}, which is not among the types of the files", range.type));
  }
  const Index rows = num_rows(results.ranges);
  for (const ResultColumn& column : results.columns) {
    validate_dataset_name(column.name);
    const Index size =
        std::visit([](const auto& values) { return Index{values.size()}; }, column.values);
    if (column.width < 0 || size != rows * numbers_in_row(column))
      throw InputError(fmt::format("'{}' has {} numbers for {} particles (must be {} for each)",
                                   column.name, size, rows, numbers_in_row(column)));
  }
}

std::vector<FileColumn> columns_of(const Results& results, const std::vector<TypeRows>& rows) {
  std::vector<FileColumn> columns;
  for (const TypeRows& type : rows) {
    const std::string group = group_of_type(type.range.type);
    for (const ResultColumn& column : results.columns)
      columns.push_back({group + "/" + column.name,
                         cells_of(column).part({type.begin, type.range.count}), &type.placement,
                         column.meaning, column.notes});
  }
  return columns;
}

/// Ranks that share a file take turns: what one of them makes, the others write to. Collective.
void check_equal(const Communicator& comm, const std::string& name, const Results& results) {
  std::vector<Index> numbers = numbers_of(name, results.types);
  for (const ResultColumn& column : results.columns) {
    append_numbers(numbers, column.name);
    append_numbers(numbers, column.values.index());
    append_numbers(numbers, column.width);
  }
  validate_equal(comm, numbers, "the name of results, their types or their columns");
}

/// May throw on one rank only.
void write_rows(StagedFiles& files, const std::string& name, const Results& results,
                const SnapshotInfo& snapshot, const WriteOptions& options) {
  const Communicator& comm = files.comm();
  const FileShares shares = file_shares(comm, options);
  check_ascending(results.types);
  const std::size_t num_types = num_types_of(results, snapshot);
  check_results(results, num_types);
  check_equal(comm, name, results);
  const std::vector<TypeRows> rows = rows_by_type(comm, shares, results.ranges, results.types);

  FileSet set;
  set.prefix = name;
  set.units = snapshot.units;
  set.cosmological = snapshot.cosmological;
  set.columns = columns_of(results, rows);
  set.single_is_whole = true;
  set.write_header = [&](OutputFile& file, const FileView& view) {
    write_common_header(file, view.num_files, snapshot);
    write_types(file, view, rows, num_types);
    write_origin(file, snapshot);
    write_notes(file, "Parameters", results.parameters);
  };
  write_file_set(files, shares, set, options.master);
}

}  // namespace

void write_results(StagedFiles& files, const std::string& name, const Results& results,
                   const SnapshotInfo& snapshot, const WriteOptions& options) {
  files.all_or_nothing([&] { write_rows(files, name, results, snapshot, options); });
}

namespace {

/// By what each kind of file has, and no other.
Content content_of(const hdf5::InputFile& file) {
  if (!files_of_run(file)) return Content::another_code;
  if (file.has_attribute("Header", "NumFilesPerSnapshot")) return Content::snapshot;
  if (file.has_attribute("Header", "Ngroups_Total")) return Content::catalogue;
  if (file.has_attribute("Parameters", "LinkingLength")) return Content::membership;
  return file.has_attribute("Header", "NumPart_Total") ? Content::results : Content::field;
}

}  // namespace

Content content_of(const std::string& path) {
  // Another run may be about to replace the file, so that it is gone for a moment.
  constexpr int max_tries = 3;
  for (int tries = 0; tries < max_tries; ++tries) {
    if (!std::filesystem::is_regular_file(status_of(path))) return Content::nothing;
    try {
      return content_of(hdf5::InputFile(path));
    } catch (const hdf5::LockError&) {  // whose it is cannot be seen
      if (tries + 1 == max_tries) throw;
    } catch (const FileError&) {  // no HDF5, or no whole file
      std::error_code error;
      const std::uintmax_t bytes = std::filesystem::file_size(path, error);
      if (error || bytes == 0) return Content::nothing;
    }
  }
  return Content::another_code;
}

std::string describe(Content content) {
  switch (content) {
    case Content::nothing: return "nothing";
    case Content::another_code: return "a file that zhalo did not write";
    case Content::catalogue: return "a catalogue, as fof writes";
    case Content::membership: return "a membership of groups, as fof writes";
    case Content::results: return "numbers for particles, as knn writes";
    case Content::field: return "a field, as density writes";
    case Content::snapshot: return "a snapshot, as ics writes";
  }
  return {};
}

std::string snapshot_of_results(const std::string& path) {
  try {
    return hdf5::InputFile(path).text("Parameters", "Snapshot").value_or("");
  } catch (const Error&) {
    return {};
  }
}

bool is_result_name(const std::string& name, const std::string& file) {
  return file == name + ".hdf5" || !digits_in(file, name).empty();
}

}  // namespace zhalo::io
