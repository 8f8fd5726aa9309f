#include "src/io/hdf5/input.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <vector>

namespace zhalo::io::hdf5 {

namespace fs = std::filesystem;

namespace {

/// "${ORIGIN}" at its beginning is the folder of the file at `path`, as HDF5 has it; empty if the
/// variable is not set.
fs::path prefix_from_environment(const char* variable, const std::string& path) {
  const char* value = std::getenv(variable);
  const std::string text = value == nullptr ? "" : value;
  const std::string origin = "${ORIGIN}";
  if (text.rfind(origin, 0) != 0) return text;
  return fs::path(path).parent_path().string() + text.substr(origin.size());
}

/// `get` is a call of HDF5 for the name of something, with what it asks for before room and size.
template <class Getter>
std::string name_from(const Getter& get) {
  std::string name(static_cast<std::size_t>(std::max<ssize_t>(get(nullptr, 0), 0)), '\0');
  get(name.data(), name.size() + 1);
  return name;
}

}  // namespace

std::string file_of(hid_t object, const std::string& path) {
  const std::string file =
      name_from([&](char* name, std::size_t size) { return H5Fget_name(object, name, size); });
  return file.empty() ? path : file;
}

std::string name_in_file(hid_t object) {
  return name_from([&](char* name, std::size_t size) { return H5Iget_name(object, name, size); });
}

std::string virtual_file(hid_t properties, std::size_t part) {
  return name_from([&](char* name, std::size_t size) {
    return H5Pget_virtual_filename(properties, part, name, size);
  });
}

std::string virtual_dataset(hid_t properties, std::size_t part) {
  return name_from([&](char* name, std::size_t size) {
    return H5Pget_virtual_dsetname(properties, part, name, size);
  });
}

bool unescape(std::string& name) {
  std::string plain;
  for (std::size_t i = 0; i < name.size(); ++i) {
    plain += name[i];
    if (name[i] == '%' && (++i == name.size() || name[i] != '%')) return false;
  }
  name = plain;
  return true;
}

std::vector<fs::path> virtual_paths(const std::string& file, const std::string& path) {
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

Handle open_source(std::string& file, const std::string& path) {
  for (const fs::path& path_tried : virtual_paths(file, path)) {
    Handle opened(H5Fopen(path_tried.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose);
    if (!opened.valid()) continue;
    file = path_tried.string();
    return opened;
  }
  return {};
}

fs::path external_path(const std::string& name, const std::string& path) {
  return prefix_from_environment("HDF5_EXTFILE_PREFIX", path) / name;
}

namespace {

void note_parts(hid_t properties, const std::string& holder, Origins& origins) {
  std::size_t num_parts = 0;
  if (H5Pget_virtual_count(properties, &num_parts) < 0) return;
  for (std::size_t i = 0; i < num_parts; ++i) {
    std::string file = virtual_file(properties, i), dataset = virtual_dataset(properties, i);
    if (unescape(file) && unescape(dataset)) origins.parts.insert({holder, file, dataset});
  }
}

void note_storage(hid_t properties, const std::string& holder, Origins& origins) {
  for (int i = 0; i < H5Pget_external_count(properties); ++i) {
    std::array<char, 4096> name{};
    off_t offset = 0;
    hsize_t size = 0;
    if (H5Pget_external(properties, static_cast<unsigned>(i), name.size() - 1, name.data(), &offset,
                        &size) >= 0)
      origins.files.insert(external_path(name.data(), holder).string());
  }
}

/// Called by HDF5 for each external link that it follows, before it opens the other file, whose
/// path it does not tell. That file is the parent of the next link, or holds the object.
// NOLINTNEXTLINE(readability-function-size): HDF5 sets the parameters
herr_t note_link(const char* parent_file, const char*, const char*, const char*, unsigned*, hid_t,
                 void* passed) {
  static_cast<std::set<std::string>*>(passed)->insert(parent_file);
  return 0;
}

}  // namespace

void note_origins(hid_t dataset, const std::string& path, Origins& origins) {
  const Handle properties(H5Dget_create_plist(dataset), H5Pclose);
  if (!properties.valid()) return;
  const std::string holder = file_of(dataset, path);
  if (H5Pget_layout(properties.id()) == H5D_VIRTUAL) {
    note_parts(properties.id(), holder, origins);
  } else {
    note_storage(properties.id(), holder, origins);
  }
}

LinkTrail::LinkTrail() : access_(H5Pcreate(H5P_LINK_ACCESS), H5Pclose) {
  H5Pset_elink_cb(access_.id(), note_link, &passed_);
}

void LinkTrail::note(hid_t file, const std::string& object, Origins& origins) {
  if (passed_.empty()) return;
  if (noted_.insert(object).second) {
    const Handle end(H5Oopen(file, object.c_str(), access_.id()), H5Oclose);
    origins.files.insert(passed_.begin(), passed_.end());
    if (end.valid()) origins.files.insert(file_of(end.id(), {}));
  }
  passed_.clear();
}

// Why what a file names cannot be reached: filters that are missing, links that lead nowhere.

std::string missing_filter(hid_t properties) {
  for (int i = 0; i < H5Pget_nfilters(properties); ++i) {
    std::array<char, 256> name{};
    unsigned flags = 0, config = 0;
    std::size_t num_values = 0;
    const H5Z_filter_t filter =
        H5Pget_filter2(properties, static_cast<unsigned>(i), &flags, &num_values, nullptr,
                       name.size(), name.data(), &config);
    if (filter >= 0 && H5Zfilter_avail(filter) <= 0)
      return fmt::format(
          "compressed with {} (number {}), which HDF5 lacks here: install that filter and set "
          "HDF5_PLUGIN_PATH to its directory",
          name.data(), filter);
  }
  return {};
}

std::string why_nothing_is_below(hid_t file, const std::string& object) {
  const std::string reason = last_error();  // before other calls have theirs
  const std::string parent = object.substr(0, object.rfind('/'));
  const Handle opened(H5Oopen(file, parent.c_str(), H5P_DEFAULT), H5Oclose);
  if (parent == object || !opened.valid() || H5Iget_type(opened.id()) == H5I_GROUP)
    return fmt::format("whether there is a /{} cannot be read: {}", object, reason);
  return fmt::format("/{} is no group, so there is no /{} (write a group with that dataset)",
                     parent, object);
}

namespace {

/// The files that HDF5 looks for, for a link in the file at `path`, in this order.
std::vector<fs::path> paths_behind_link(const std::string& named, const std::string& path) {
  std::vector<fs::path> paths;
  const char* prefix = std::getenv("HDF5_EXT_PREFIX");
  if (prefix != nullptr && *prefix != '\0') paths.push_back(fs::path(prefix) / named);
  std::error_code ignored;
  const fs::path behind_links = fs::canonical(path, ignored).parent_path();
  paths.insert(paths.end(), {fs::path(path).parent_path() / named, named, behind_links / named});
  return paths;
}

/// Of the file that a link names.
std::string fault_of_linked_file(const std::string& named, const std::string& path) {
  const std::vector<fs::path> paths = paths_behind_link(named, path);
  for (const fs::path& path_tried : paths) {
    std::error_code ignored;
    if (!fs::exists(fs::symlink_status(path_tried, ignored))) continue;
    try {
      const InputFile opened(path_tried.string());
    } catch (const FileError& error) {
      return fmt::format("{} (put the right file there)", error.what());
    }
    return "it has no such object (put the right file there, or mend the link)";
  }
  return "it is missing (put that file there, or mend the link)";
}

}  // namespace

std::string where_link_leads(hid_t file, const std::string& link, const std::string& path) {
  std::string reason = last_error();
  H5L_info_t info{};
  const bool is_known = H5Lget_info(file, link.c_str(), &info, H5P_DEFAULT) >= 0 &&
                        (info.type == H5L_TYPE_SOFT || info.type == H5L_TYPE_EXTERNAL);
  std::vector<char> value(is_known ? info.u.val_size + 1 : 1);  // ends with 0
  if (!is_known || H5Lget_val(file, link.c_str(), value.data(), value.size(), H5P_DEFAULT) < 0)
    return reason;
  if (info.type == H5L_TYPE_SOFT)
    return fmt::format("it names '{}' in the same file (mend the link)", trimmed(value.data()));
  const char *named = nullptr, *object = nullptr;
  unsigned flags = 0;
  if (H5Lunpack_elink_val(value.data(), info.u.val_size, &flags, &named, &object) < 0)
    return reason;
  return fmt::format("it names '{}' in the file '{}': {}", trimmed(object), trimmed(named),
                     fault_of_linked_file(named, path));
}

}  // namespace zhalo::io::hdf5
