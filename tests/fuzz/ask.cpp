// The calls of HDF5 that reading needs, by themselves.
#include <algorithm>
#include <array>
#include <filesystem>

#include "tests/fuzz/plain.hpp"

namespace zhalo::fuzz {

namespace fs = std::filesystem;

namespace {

constexpr hssize_t max_asked = hssize_t{1} << 24;

void ask_attribute(const Handle& file, const Contents::Attribute& which) {
  if (H5Aexists_by_name(file.id(), which.object.c_str(), which.name.c_str(), H5P_DEFAULT) <= 0)
    return;
  const Handle attribute(H5Aopen_by_name(file.id(), which.object.c_str(), which.name.c_str(),
                                         H5P_DEFAULT, H5P_DEFAULT),
                         H5Aclose);
  if (!attribute.valid()) return;
  const Handle type(H5Aget_type(attribute.id()), H5Tclose);
  const Handle space(H5Aget_space(attribute.id()), H5Sclose);
  const hssize_t points = H5Sget_simple_extent_npoints(space.id());
  if (points < 1 || points > max_asked) return;
  const H5T_class_t kind = H5Tget_class(type.id());
  if (kind == H5T_INTEGER || kind == H5T_FLOAT) {
    std::vector<double> reals(static_cast<std::size_t>(points));
    H5Aread(attribute.id(), H5T_NATIVE_DOUBLE, reals.data());
    std::vector<std::int64_t> integers(static_cast<std::size_t>(points));
    H5Aread(attribute.id(), H5T_NATIVE_INT64, integers.data());
  } else if (kind == H5T_STRING && points == 1 && H5Tis_variable_str(type.id()) > 0) {
    char* words = nullptr;
    if (H5Aread(attribute.id(), type.id(), &words) >= 0) H5free_memory(words);
  } else if (kind == H5T_STRING && points == 1) {
    std::string words(H5Tget_size(type.id()) + 1, '\0');
    H5Aread(attribute.id(), type.id(), words.data());
  }
}

void ask_virtual(hid_t properties) {
  std::size_t num = 0;
  if (H5Pget_virtual_count(properties, &num) < 0) return;
  for (std::size_t i = 0; i < num; ++i) {
    std::array<char, 4096> name{};
    H5Pget_virtual_filename(properties, i, name.data(), name.size());
    H5Pget_virtual_dsetname(properties, i, name.data(), name.size());
    for (const auto get : {H5Pget_virtual_vspace, H5Pget_virtual_srcspace}) {
      const Handle space(get(properties, i), H5Sclose);
      std::array<hsize_t, H5S_MAX_RANK> begin{}, end{};
      if (space.valid() && H5Sget_select_npoints(space.id()) > 0)
        H5Sget_select_bounds(space.id(), begin.data(), end.data());
    }
  }
}

/// Where the numbers lie and how they are stored.
void ask_storage(const Handle& dataset) {
  const Handle properties(H5Dget_create_plist(dataset.id()), H5Pclose);
  if (!properties.valid()) return;
  for (int i = 0; i < H5Pget_nfilters(properties.id()); ++i) {
    std::array<char, 256> name{};
    unsigned flags = 0, config = 0;
    std::size_t num_values = 0;
    H5Pget_filter2(properties.id(), static_cast<unsigned>(i), &flags, &num_values, nullptr,
                   name.size(), name.data(), &config);
  }
  H5D_space_status_t status = H5D_SPACE_STATUS_ERROR;
  H5Dget_space_status(dataset.id(), &status);
  const H5D_layout_t layout = H5Pget_layout(properties.id());
  if (layout == H5D_CHUNKED) {
    hsize_t num = 0;
    const Handle space(H5Dget_space(dataset.id()), H5Sclose);
    H5Dget_num_chunks(dataset.id(), space.id(), &num);
  }
  if (layout == H5D_VIRTUAL) ask_virtual(properties.id());
  for (int i = 0; i < H5Pget_external_count(properties.id()); ++i) {
    std::array<char, 4096> name{};
    off_t offset = 0;
    hsize_t size = 0;
    H5Pget_external(properties.id(), static_cast<unsigned>(i), name.size() - 1, name.data(),
                    &offset, &size);
  }
}

template <class T>
void ask_numbers(const Handle& dataset, std::size_t num) {
  std::vector<T> numbers(num);
  H5Dread(dataset.id(), native(T{}), H5S_ALL, H5S_ALL, H5P_DEFAULT, numbers.data());
}

void ask_dataset(const Handle& file, const std::string& path) {
  const Handle dataset(H5Dopen2(file.id(), path.c_str(), H5P_DEFAULT), H5Dclose);
  if (!dataset.valid()) return;
  ask_storage(dataset);
  const Handle type(H5Dget_type(dataset.id()), H5Tclose);
  const Handle space(H5Dget_space(dataset.id()), H5Sclose);
  const hssize_t points = H5Sget_simple_extent_npoints(space.id());
  const H5T_class_t kind = H5Tget_class(type.id());
  if (points < 1 || points > max_asked || (kind != H5T_INTEGER && kind != H5T_FLOAT)) return;
  ask_numbers<float>(dataset, static_cast<std::size_t>(points));
  ask_numbers<double>(dataset, static_cast<std::size_t>(points));
  ask_numbers<std::uint64_t>(dataset, static_cast<std::size_t>(points));
}

/// Every group on the way must exist.
bool exists(const Handle& file, const std::string& path) {
  for (std::size_t end = path.find('/', 1);; end = path.find('/', end + 1)) {
    const std::string part = path.substr(0, end);
    if (H5Lexists(file.id(), part.c_str(), H5P_DEFAULT) <= 0) return false;
    if (H5Oexists_by_name(file.id(), part.c_str(), H5P_DEFAULT) <= 0) return false;
    if (end == std::string::npos) return true;
  }
}

/// Names that no seed has and that zhalo asks for all the same: a look for a name may crash, too.
const std::vector<Contents::Attribute>& other_attributes() {
  static const std::vector<Contents::Attribute> all = [] {
    std::vector<Contents::Attribute> names;
    for (const char* object :
         {"Header", "Parameters", "Config", "Units", "Cosmology", "Constants"}) {
      for (const char* name : {"Code",
                               "OutputType",
                               "BoxSize",
                               "NumPart_ThisFile",
                               "NumPart_Total",
                               "NumFilesPerSnapshot",
                               "MassTable",
                               "Time",
                               "Redshift",
                               "ExpansionFactor",
                               "GIZMO_version",
                               "UnitLength_In_CGS",
                               "TotalNumberOfParticles",
                               "Git_commit",
                               "NumFiles",
                               "VORONOI",
                               "GFM_WINDS",
                               "PERIODIC",
                               "GRAVITY_NOT_PERIODIC",
                               "HubbleParam",
                               "Omega0",
                               "ComovingIntegrationOn",
                               "GRAVITY"})
        names.push_back({object, name});
    }
    return names;
  }();
  return all;
}

void ask_file(const std::string& path, const Seed& seed) {
  if (H5Fis_hdf5(path.c_str()) <= 0) return;
  const Handle file(H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose);
  if (!file.valid()) return;
  for (const char* group : {"Group", "Subhalo", "FOF", "Groups", "Header", "Policy", "HashTable",
                            "Constants", "Coordinates"})
    exists(file, group);
  const auto ask = [&](const Contents::Attribute& which) {
    if (which.object == "/" || exists(file, which.object)) ask_attribute(file, which);
  };
  for (const auto& which : other_attributes()) ask(which);
  for (const SeedFile& known : seed.files) {
    for (const auto& which : known.contents.attributes) ask(which);
    for (const std::string& dataset : known.contents.datasets)
      if (exists(file, dataset)) ask_dataset(file, dataset);
  }
}

std::vector<std::string> files_here() {
  std::vector<std::string> paths;
  for (const auto& entry : fs::recursive_directory_iterator(".")) {
    std::error_code ignored;
    if (entry.is_regular_file(ignored)) paths.push_back(entry.path().string());
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

/// All numbers of a file's datasets; those that cannot be read are missing.
std::string numbers_of_file(const std::string& path, const Seed& seed) {
  std::string all;
  const Handle file(H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose);
  for (const SeedFile& known : seed.files) {
    for (const std::string& name : known.contents.datasets) {
      if (!file.valid() || !exists(file, name)) continue;
      const Handle dataset(H5Dopen2(file.id(), name.c_str(), H5P_DEFAULT), H5Dclose);
      const Handle space(H5Dget_space(dataset.id()), H5Sclose);
      const hssize_t points = H5Sget_simple_extent_npoints(space.id());
      if (points < 1 || points > max_asked) continue;
      std::string bytes(static_cast<std::size_t>(points) * sizeof(double), '\0');
      if (H5Dread(dataset.id(), H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, bytes.data()) >=
          0)
        all += bytes;
    }
  }
  return all;
}

}  // namespace

void ask_everything(const Seed& seed) {
  for (const std::string& path : files_here()) ask_file(path, seed);
}

bool numbers_change(const Seed& seed) {
  // With memory that HDF5 has used before, and with memory that the sanitizer has just filled.
  const auto with_limit = [](int limit) {
    H5set_free_list_limits(limit, limit, limit, limit, limit, limit);
    H5garbage_collect();
  };
  const std::vector<std::string> paths = files_here();
  return std::any_of(paths.begin(), paths.end(), [&](const std::string& path) {
    with_limit(-1);
    numbers_of_file(path, seed);
    const std::string used = numbers_of_file(path, seed);
    with_limit(0);
    return numbers_of_file(path, seed) != used;
  });
}

}  // namespace zhalo::fuzz
