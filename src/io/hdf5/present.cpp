#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <vector>

#include "src/io/hdf5/input.hpp"

namespace zhalo::io::hdf5 {

namespace fs = std::filesystem;

namespace {

using Extent = std::array<hsize_t, H5S_MAX_RANK>;

constexpr int max_levels = 8;  // of virtual datasets that show parts of virtual datasets

/// Where a dataset is, and what is known.
struct Location {
  std::string path;
  int level;  ///< of virtual datasets that led there
  CompleteDatasets* complete;
};

std::string missing_of(hid_t dataset, const Location& location, Rows rows);

/// "${ORIGIN}" at its beginning is the folder of the file at `path`, as HDF5 has it; empty if the
/// variable is not set.
fs::path prefix_from_environment(const char* variable, const std::string& path) {
  const char* value = std::getenv(variable);
  const std::string text = value == nullptr ? "" : value;
  const std::string origin = "${ORIGIN}";
  if (text.rfind(origin, 0) != 0) return text;
  return fs::path(path).parent_path().string() + text.substr(origin.size());
}

/// By H5Fget_name or H5Iget_name. A link may lead to another file than the one that was opened.
template <class Getter>
std::string name_of(const Getter& get, hid_t dataset) {
  std::string name(static_cast<std::size_t>(std::max<ssize_t>(get(dataset, nullptr, 0), 0)), '\0');
  get(dataset, name.data(), name.size() + 1);
  return name;
}

/// The file that holds the dataset, which was found in the one at `path`. Others that it names are
/// looked for beside it.
std::string file_of(hid_t dataset, const std::string& path) {
  const std::string file = name_of(H5Fget_name, dataset);
  return file.empty() ? path : file;
}

std::string missing_chunks(hid_t dataset, hid_t properties, const Location& location) {
  const std::string file = name_of(H5Fget_name, dataset), name = name_of(H5Iget_name, dataset);
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
    const fs::path path_tried = prefix_from_environment("HDF5_EXTFILE_PREFIX", path) / name.data();
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

using NameGetter = ssize_t (*)(hid_t, std::size_t, char*, std::size_t);

std::string name_of(NameGetter get, hid_t properties, std::size_t i) {
  std::string name(static_cast<std::size_t>(std::max<ssize_t>(get(properties, i, nullptr, 0), 0)),
                   '\0');
  get(properties, i, name.data(), name.size() + 1);
  return name;
}

Part part_of(hid_t properties, std::size_t i) {
  return {name_of(H5Pget_virtual_filename, properties, i),
          name_of(H5Pget_virtual_dsetname, properties, i),
          Handle(H5Pget_virtual_vspace(properties, i), H5Sclose),
          Handle(H5Pget_virtual_srcspace(properties, i), H5Sclose)};
}

/// In the names of parts "%%" is a percent sign. False for "%b", which stands for numbers of files
/// that go on without end.
bool unescape(std::string& name) {
  std::string plain;
  for (std::size_t i = 0; i < name.size(); ++i) {
    plain += name[i];
    if (name[i] == '%' && (++i == name.size() || name[i] != '%')) return false;
  }
  name = plain;
  return true;
}

/// Where HDF5 looks for a file that holds a part of the dataset in the file at `path`, in this
/// order (H5F_prefix_open_file). Of an absolute name that leads nowhere it looks for the last part.
std::vector<fs::path> paths_of(const std::string& file, const std::string& path) {
  std::vector<fs::path> paths;
  fs::path name = file;
  if (name.is_absolute()) {
    paths.push_back(name);
    name = name.filename();
  }
  const char* listed = std::getenv("HDF5_VDS_PREFIX");
  std::istringstream folders(listed == nullptr ? "" : listed);
  for (std::string folder; std::getline(folders, folder, ':');) {
    if (!folder.empty()) paths.push_back(folder / name);
  }
  // As one folder again: only here does HDF5 know the variable's own variable.
  const fs::path prefix = prefix_from_environment("HDF5_VDS_PREFIX", path);
  if (!prefix.empty()) paths.push_back(prefix / name);
  std::error_code ignored;
  const fs::path behind_links = fs::canonical(path, ignored).parent_path();
  paths.insert(paths.end(), {fs::path(path).parent_path() / name, name, behind_links / name});
  return paths;
}

/// The first of the paths that has a file which HDF5 can open.
Handle open_source(std::string& file, const std::string& path) {
  for (const fs::path& path_tried : paths_of(file, path)) {
    Handle opened(H5Fopen(path_tried.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose);
    if (!opened.valid()) continue;
    file = path_tried.string();
    return opened;
  }
  return {};
}

/// The name of a file that cannot be opened, and why.
std::string name_and_fault(const std::string& file, const std::string& path) {
  for (const fs::path& path_tried : paths_of(file, path)) {
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
  if (location.level == max_levels || H5Pget_virtual_count(properties, &num_parts) < 0)
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
    std::string file = name_of(H5Pget_virtual_filename, properties.id(), i);
    if (file == "." || !unescape(file)) continue;
    const std::vector<fs::path> paths = paths_of(file, path);
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

}  // namespace zhalo::io::hdf5
