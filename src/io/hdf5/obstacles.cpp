// Why what a file names cannot be reached: filters that are missing, links that lead nowhere.
#include <fmt/format.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <vector>

#include "src/io/hdf5/input.hpp"

namespace zhalo::io::hdf5 {

namespace fs = std::filesystem;

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
