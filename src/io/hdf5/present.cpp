#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <vector>

#include "src/io/hdf5/input.hpp"

namespace zhalo::io::hdf5 {

namespace fs = std::filesystem;

namespace {

using Extent = std::array<hsize_t, H5S_MAX_RANK>;

/// Where a dataset is, and what is known.
struct Location {
  std::string path;
  int level;  ///< of virtual datasets that led there
  CompleteDatasets* complete;
};

std::string missing_of(hid_t dataset, const Location& location, Rows rows);

std::string missing_chunks(hid_t dataset, hid_t properties, const Location& location) {
  const std::string file = file_of(dataset, location.path), name = name_in_file(dataset);
  const bool may_be_known = location.complete != nullptr && !file.empty() && !name.empty();
  if (may_be_known && location.complete->has(file, name)) return {};
  Extent chunk{}, extent{};
  const Handle space(H5Dget_space(dataset), H5Sclose);
  const int rank = H5Pget_chunk(properties, H5S_MAX_RANK, chunk.data());
  if (rank < 1 || H5Sget_simple_extent_dims(space.id(), extent.data(), nullptr) != rank)
    return "its chunks cannot be counted";
  hsize_t needed = 1, written = 0;
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(rank); ++axis)
    needed *= (extent[axis] + chunk[axis] - 1) / chunk[axis];
  if (H5Dget_num_chunks(dataset, space.id(), &written) < 0) return "its chunks cannot be counted";
  if (written < needed)
    return fmt::format("{} of its {} chunks were never written", needed - written, needed);
  if (may_be_known) location.complete->add(file, name);
  return {};
}

std::string missing_storage(hid_t dataset, hid_t properties, const Location& location) {
  H5D_space_status_t status = H5D_SPACE_STATUS_ALLOCATED;
  if (H5Dget_space_status(dataset, &status) < 0) return "its storage cannot be examined";
  if (status == H5D_SPACE_STATUS_NOT_ALLOCATED) return "it was never written";
  if (const std::string filter = missing_filter(properties); !filter.empty())
    return fmt::format("it is {}", filter);
  return H5Pget_layout(properties) == H5D_CHUNKED ? missing_chunks(dataset, properties, location)
                                                  : "";
}

std::string missing_external(hid_t dataset, hid_t properties, const std::string& path) {
  const Handle type(H5Dget_type(dataset), H5Tclose);
  const Handle space(H5Dget_space(dataset), H5Sclose);
  hsize_t left =
      static_cast<hsize_t>(H5Sget_simple_extent_npoints(space.id())) * H5Tget_size(type.id());
  for (int i = 0; left > 0 && i < H5Pget_external_count(properties); ++i) {
    std::array<char, 4096> name{};
    off_t offset = 0;
    hsize_t size = 0;
    if (H5Pget_external(properties, static_cast<unsigned>(i), name.size() - 1, name.data(), &offset,
                        &size) < 0)
      return "its external files cannot be named";
    const fs::path path_tried = external_path(name.data(), path);
    const hsize_t needed = size == H5F_UNLIMITED ? left : std::min(left, size);
    std::error_code error;
    const std::uintmax_t found = fs::file_size(path_tried, error);
    if (error)
      return fmt::format("a part of it lies in the file '{}': {}", path_tried.string(),
                         error.message());
    if (found < static_cast<hsize_t>(offset) + needed)
      return fmt::format(
          "a part of it lies in the file '{}', which has {} bytes, but {} are needed",
          path_tried.string(), found, static_cast<hsize_t>(offset) + needed);
    left -= needed;
  }
  return {};
}

/// A part of a virtual dataset: where it is shown, and what is shown there.
struct Part {
  std::string file;  ///< "." for the same
  std::string dataset;
  Handle shown, source;  ///< selections
};

Part part_of(hid_t properties, std::size_t i) {
  return {virtual_file(properties, i), virtual_dataset(properties, i),
          Handle(H5Pget_virtual_vspace(properties, i), H5Sclose),
          Handle(H5Pget_virtual_srcspace(properties, i), H5Sclose)};
}

/// The name of a file that cannot be opened, and why.
std::string name_and_fault(const std::string& file, const std::string& path) {
  for (const fs::path& path_tried : virtual_paths(file, path)) {
    std::error_code unknown;
    if (!fs::exists(path_tried, unknown) && !unknown) continue;
    try {
      const InputFile opened(path_tried.string());
    } catch (const FileError& error) {
      return fmt::format("'{}': {}", file, error.what());
    }
  }
  return fmt::format("'{}', which is missing", file);
}

/// Whether what is shown lies within the dataset.
bool fits(hid_t dataset, const Part& part) {
  Extent extent{}, begin{}, end{};
  const Handle space(H5Dget_space(dataset), H5Sclose);
  const Handle& selection = part.source;
  if (H5Sget_select_type(selection.id()) == H5S_SEL_ALL)
    return H5Sget_simple_extent_npoints(space.id()) == H5Sget_select_npoints(part.shown.id());
  const int rank = H5Sget_simple_extent_dims(space.id(), extent.data(), nullptr);
  if (rank < 1 || H5Sget_simple_extent_ndims(selection.id()) != rank) return false;
  if (H5Sget_select_bounds(selection.id(), begin.data(), end.data()) < 0) return false;
  return std::equal(end.begin(), end.begin() + rank, extent.begin(),
                    [](hsize_t last, hsize_t length) { return last < length; });
}

std::string missing_in_source(Part part, const Location& location) {
  if (!unescape(part.file) || !unescape(part.dataset))
    return fmt::format(
        "its parts lie in files with names like '{}', which zhalo does not look into", part.file);
  const bool is_same = part.file == ".";
  if (is_same) part.file = location.path;
  const std::string named = part.file;
  const Handle file = open_source(part.file, location.path);
  if (!file.valid())
    return fmt::format("a part of it lies in the file {}", name_and_fault(named, location.path));
  const Handle source(H5Dopen2(file.id(), part.dataset.c_str(), H5P_DEFAULT), H5Dclose);
  if (!source.valid())
    return fmt::format("a part of it lies in the file '{}', which has no dataset '{}'", part.file,
                       part.dataset);
  if (!fits(source.id(), part))
    return fmt::format(
        "a part of it lies in the file '{}', whose dataset '{}' does not have its size", part.file,
        part.dataset);
  const std::string missing =
      missing_of(source.id(), {part.file, location.level + 1, location.complete}, {0, -1});
  return missing.empty() ? ""
                         : fmt::format("a part of it lies in the file '{}' in '{}': {}", part.file,
                                       part.dataset, missing);
}

bool is_among(const Handle& selection, Rows rows) {
  Extent begin{}, end{};
  if (rows.count < 0 || H5Sget_select_bounds(selection.id(), begin.data(), end.data()) < 0)
    return true;
  return static_cast<Index>(begin[0]) < rows.first + rows.count &&
         static_cast<Index>(end[0]) >= rows.first;
}

/// The block of numbers that a part shows.
struct Block {
  Extent begin{}, end{};

  bool meets(const Block& other, std::size_t rank) const {
    for (std::size_t axis = 0; axis < rank; ++axis) {
      if (end[axis] < other.begin[axis] || other.end[axis] < begin[axis]) return false;
    }
    return true;
  }
};

/// Parts that meet leave gaps elsewhere, though their numbers add up: there HDF5 leaves what was in
/// memory.
std::string wrong_blocks(std::vector<Block> blocks, std::size_t rank) {
  std::sort(blocks.begin(), blocks.end(),
            [](const Block& a, const Block& b) { return a.begin[0] < b.begin[0]; });
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    for (std::size_t j = i + 1; j < blocks.size() && blocks[j].begin[0] <= blocks[i].end[0]; ++j) {
      if (blocks[i].meets(blocks[j], rank)) return "some of its parts overlap";
    }
  }
  return {};
}

/// False if the selection is no block.
bool take_block(const Handle& selection, Block& block, std::size_t rank) {
  if (H5Sget_select_bounds(selection.id(), block.begin.data(), block.end.data()) < 0) return false;
  hsize_t volume = 1;
  for (std::size_t axis = 0; axis < rank; ++axis) volume *= block.end[axis] - block.begin[axis] + 1;
  return volume == static_cast<hsize_t>(H5Sget_select_npoints(selection.id()));
}

std::string missing_virtual(hid_t dataset, hid_t properties, const Location& location, Rows rows) {
  std::size_t num_parts = 0;
  const Handle space(H5Dget_space(dataset), H5Sclose);
  if (location.level == max_virtual_levels || H5Pget_virtual_count(properties, &num_parts) < 0)
    return "its parts cannot be found";
  hssize_t shown = 0;
  const auto rank = static_cast<std::size_t>(std::max(H5Sget_simple_extent_ndims(space.id()), 0));
  std::vector<Block> blocks;
  for (std::size_t i = 0; i < num_parts; ++i) {
    Part part = part_of(properties, i);
    const hssize_t points = H5Sget_select_npoints(part.shown.id());
    if (points < 0) return "its parts have no end, and zhalo does not look into such";
    shown += points;
    if (points > 0 && !take_block(part.shown, blocks.emplace_back(), rank))
      return "its parts are no blocks, and zhalo does not look into such";
    if (points == 0 || !is_among(part.shown, rows)) continue;
    if (std::string missing = missing_in_source(std::move(part), location); !missing.empty())
      return missing;
  }
  const hssize_t needed = H5Sget_simple_extent_npoints(space.id());
  return shown == needed ? wrong_blocks(std::move(blocks), rank)
                         : fmt::format("its parts hold {} of {} numbers", shown, needed);
}

/// rows.count of -1: all.
std::string missing_of(hid_t dataset, const Location& location, Rows rows) {
  const Handle properties(H5Dget_create_plist(dataset), H5Pclose);
  const Handle space(H5Dget_space(dataset), H5Sclose);
  if (!properties.valid() || !space.valid()) return "its description cannot be read";
  if (rows.count == 0 || H5Sget_simple_extent_npoints(space.id()) == 0) return {};
  const Location holder{file_of(dataset, location.path), location.level, location.complete};
  if (H5Pget_layout(properties.id()) == H5D_VIRTUAL)
    return missing_virtual(dataset, properties.id(), holder, rows);
  if (H5Pget_external_count(properties.id()) > 0)
    return missing_external(dataset, properties.id(), holder.path);
  return missing_storage(dataset, properties.id(), holder);
}

}  // namespace

std::string missing_file(hid_t dataset, const std::string& opened) {
  const std::string path = file_of(dataset, opened);
  std::size_t num_parts = 0;
  const Handle properties(H5Dget_create_plist(dataset), H5Pclose);
  if (H5Pget_layout(properties.id()) != H5D_VIRTUAL ||
      H5Pget_virtual_count(properties.id(), &num_parts) < 0)
    return {};
  for (std::size_t i = 0; i < num_parts; ++i) {
    std::string file = virtual_file(properties.id(), i);
    if (file == "." || !unescape(file)) continue;
    const std::vector<fs::path> paths = virtual_paths(file, path);
    std::error_code ignored;
    if (std::none_of(paths.begin(), paths.end(),
                     [&](const fs::path& path_tried) { return fs::exists(path_tried, ignored); }))
      return name_and_fault(file, path);
  }
  return {};
}

std::string missing_part(hid_t dataset, const std::string& path, Rows rows,
                         CompleteDatasets* complete) {
  return missing_of(dataset, {path, 0, complete}, rows);
}

bool CompleteDatasets::has(const std::string& file, const std::string& dataset) const {
  const std::lock_guard lock(mutex_);
  return names_.contains({file, dataset});
}

void CompleteDatasets::add(const std::string& file, const std::string& dataset) {
  const std::lock_guard lock(mutex_);
  names_.emplace(file, dataset);
}

// Kinds of numbers in files, and whether their description makes sense.

namespace {

/// Bits of a number in a file.
struct Bits {
  std::size_t first = 0;
  std::size_t count = 0;

  bool are_within(const Bits& all) const {
    return first >= all.first && first + count <= all.first + all.count;
  }
  bool meet(const Bits& other) const {
    return first < other.first + other.count && other.first < first + count;
  }
};

/// Damaged types may name bits that a number does not have, and HDF5 then reads those of its
/// neighbours; or an exponent that no machine has.
bool has_sound_bits(hid_t type, bool is_real) {
  constexpr std::size_t longest = 16;
  const std::size_t bytes = H5Tget_size(type);
  if (bytes == 0 || bytes > longest) return false;
  const int offset = H5Tget_offset(type);
  const Bits used{static_cast<std::size_t>(std::max(offset, 0)), H5Tget_precision(type)};
  if (offset < 0 || used.count == 0 || !used.are_within({0, 8 * bytes})) return false;
  if (!is_real) return true;
  Bits sign{0, 1}, exponent, mantissa;
  if (H5Tget_fields(type, &sign.first, &exponent.first, &exponent.count, &mantissa.first,
                    &mantissa.count) < 0)
    return false;
  const Bits all{0, used.count};  // fields count from the first bit in use
  const bool all_within =
      sign.are_within(all) && exponent.are_within(all) && mantissa.are_within(all);
  if (!all_within || sign.meet(exponent) || sign.meet(mantissa) || exponent.meet(mantissa))
    return false;
  return exponent.count > 0 && exponent.count < 64 &&
         H5Tget_ebias(type) == (std::size_t{1} << (exponent.count - 1)) - 1;
}

}  // namespace

Kind kind_of(hid_t type) {
  const H5T_class_t found = H5Tget_class(type);
  if (found != H5T_FLOAT && found != H5T_INTEGER) return Kind::other;
  if (!has_sound_bits(type, found == H5T_FLOAT)) return Kind::other;
  return found == H5T_FLOAT ? Kind::real : Kind::integer;
}

}  // namespace zhalo::io::hdf5
