/// All that an HDF5 file holds, read with HDF5 alone: what was written must stand up to others'
/// tools.
#pragma once

#include <hdf5.h>

#include <map>
#include <stdexcept>
#include <string>
#include <vector>

namespace contents {

/// Types, shapes and bytes; equal if and only if a reader sees the same.
struct Values {
  std::string type;
  std::vector<hsize_t> extent;
  std::string bytes;
  bool operator==(const Values&) const = default;
};

struct File {
  std::map<std::string, Values> attributes;  // "Header:NumFiles"
  std::map<std::string, Values> datasets;
  std::vector<std::string> groups;
};

inline void need(bool ok, const std::string& what) {
  if (!ok) throw std::runtime_error(what);
}

inline Values shape_of(hid_t type, hid_t space) {
  Values values;
  std::size_t size = 0;
  H5Tencode(type, nullptr, &size);
  values.type.resize(size);
  need(H5Tencode(type, values.type.data(), &size) >= 0, "a type cannot be encoded");
  values.extent.resize(static_cast<std::size_t>(H5Sget_simple_extent_ndims(space)));
  H5Sget_simple_extent_dims(space, values.extent.data(), nullptr);
  values.bytes.resize(static_cast<std::size_t>(H5Sget_simple_extent_npoints(space)) *
                      H5Tget_size(type));
  return values;
}

struct Visit {
  File* file;
  std::string object;
};

inline herr_t read_attribute(hid_t object, const char* name, const H5A_info_t*, void* data) {
  const auto& visit = *static_cast<Visit*>(data);
  const hid_t attribute = H5Aopen(object, name, H5P_DEFAULT), type = H5Aget_type(attribute),
              space = H5Aget_space(attribute);
  Values values = shape_of(type, space);
  need(H5Aread(attribute, type, values.bytes.data()) >= 0, std::string("attribute ") + name);
  visit.file->attributes[visit.object + ":" + name] = values;
  H5Sclose(space), H5Tclose(type), H5Aclose(attribute);
  return 0;
}

inline void read_dataset(hid_t set, const std::string& name, File& file) {
  const hid_t type = H5Dget_type(set), space = H5Dget_space(set);
  Values values = shape_of(type, space);
  need(values.bytes.empty() ||
           H5Dread(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.bytes.data()) >= 0,
       "dataset " + name);
  file.datasets[name] = values;
  H5Sclose(space), H5Tclose(type);
}

inline void read_group(hid_t group, const std::string& path, File& file) {
  H5G_info_t info;
  need(H5Gget_info(group, &info) >= 0, "group " + path);
  for (hsize_t i = 0; i < info.nlinks; ++i) {
    std::string name(256, '\0');
    const auto length = H5Lget_name_by_idx(group, ".", H5_INDEX_NAME, H5_ITER_INC, i, name.data(),
                                           name.size(), H5P_DEFAULT);
    name.resize(static_cast<std::size_t>(length));
    const hid_t object = H5Oopen(group, name.c_str(), H5P_DEFAULT);
    Visit visit{&file, path + name};
    H5Aiterate2(object, H5_INDEX_NAME, H5_ITER_INC, nullptr, read_attribute, &visit);
    if (H5Iget_type(object) == H5I_DATASET) {
      read_dataset(object, visit.object, file);
    } else {
      file.groups.push_back(visit.object);
      read_group(object, visit.object + "/", file);
    }
    H5Oclose(object);
  }
}

inline File read(const std::string& path) {
  File file;
  const hid_t handle = H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
  need(handle >= 0, path + " cannot be opened");
  read_group(handle, "", file);
  H5Fclose(handle);
  return file;
}

inline std::vector<std::int64_t> integers(const File& file, const std::string& attribute) {
  const Values& values = file.attributes.at(attribute);
  const std::size_t count = values.extent.empty() ? 1 : values.extent[0],
                    size = values.bytes.size() / count;
  std::vector<std::int64_t> numbers(count);
  for (std::size_t i = 0; i < count; ++i) {
    std::int32_t narrow = 0;
    if (size == sizeof narrow) {
      values.bytes.copy(reinterpret_cast<char*>(&narrow), size, i * size);
      numbers[i] = narrow;
    } else {
      values.bytes.copy(reinterpret_cast<char*>(&numbers[i]), size, i * size);
    }
  }
  return numbers;
}

}  // namespace contents
