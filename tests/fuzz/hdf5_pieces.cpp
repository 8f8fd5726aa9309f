#include "tests/fuzz/hdf5_pieces.hpp"

#include <array>
#include <stdexcept>

namespace zhalo::fuzz {

void need(bool good, const std::string& what) {
  if (!good)
    throw std::runtime_error("the fuzzer itself failed: " + what + " (" + io::hdf5::last_error() +
                             ")");
}

Handle space_of(const Extent& extent) {
  if (extent.empty()) return {H5Screate(H5S_SCALAR), H5Sclose};
  return {H5Screate_simple(static_cast<int>(extent.size()), extent.data(), nullptr), H5Sclose};
}

Handle text_type(std::size_t length) {
  Handle type(H5Tcopy(H5T_C_S1), H5Tclose);
  need(H5Tset_size(type.id(), length == 0 ? H5T_VARIABLE : length) >= 0, "a type of text");
  return type;
}

Handle open_to_write(const std::string& path) {
  Handle file(H5Fopen(path.c_str(), H5F_ACC_RDWR, H5P_DEFAULT), H5Fclose);
  need(file.valid(), "opening " + path);
  return file;
}

Handle open_object(const Handle& file, const std::string& path) {
  Handle object(H5Oopen(file.id(), path.c_str(), H5P_DEFAULT), H5Oclose);
  need(object.valid(), "opening the object " + path);
  return object;
}

Handle open_dataset(const Handle& file, const std::string& path) {
  Handle dataset(H5Dopen2(file.id(), path.c_str(), H5P_DEFAULT), H5Dclose);
  need(dataset.valid(), "opening the dataset " + path);
  return dataset;
}

Handle dataset_properties() {
  Handle properties(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
  need(H5Pset_obj_track_times(properties.id(), false) >= 0, "leaving out time stamps");
  return properties;
}

Extent extent_of_dataset(const Handle& dataset) {
  const Handle space(H5Dget_space(dataset.id()), H5Sclose);
  std::array<hsize_t, H5S_MAX_RANK> lengths{};
  const int rank = H5Sget_simple_extent_dims(space.id(), lengths.data(), nullptr);
  need(rank >= 0, "the extent of a dataset");
  return {lengths.begin(), lengths.begin() + rank};
}

Index points_of(const Extent& extent) {
  Index points = 1;
  for (const hsize_t length : extent) points *= static_cast<Index>(length);
  return points;
}

void put_attribute(const Handle& file, const std::string& object, const std::string& name,
                   const Values& values) {
  const Handle owner = open_object(file, object);
  if (H5Aexists(owner.id(), name.c_str()) > 0)
    need(H5Adelete(owner.id(), name.c_str()) >= 0, "deleting " + name);
  const Handle space = space_of(values.extent);
  const Handle attribute(
      H5Acreate2(owner.id(), name.c_str(), values.type, space.id(), H5P_DEFAULT, H5P_DEFAULT),
      H5Aclose);
  need(attribute.valid(), "making the attribute " + name);
  need(values.data == nullptr || H5Awrite(attribute.id(), values.type, values.data) >= 0,
       "writing the attribute " + name);
}

void put_text(const Handle& file, const std::string& object, const std::string& name,
              const std::string& text) {
  const Handle type = text_type(text.size() + 1);
  put_attribute(file, object, name, {type.id(), {}, text.c_str()});
}

void put_dataset(const Handle& file, const std::string& path, const Values& values,
                 const Handle& properties) {
  const Handle space = space_of(values.extent);
  const Handle links(H5Pcreate(H5P_LINK_CREATE), H5Pclose);
  H5Pset_create_intermediate_group(links.id(), 1);
  const Handle dataset(H5Dcreate2(file.id(), path.c_str(), values.type, space.id(), links.id(),
                                  properties.id(), H5P_DEFAULT),
                       H5Dclose);
  need(dataset.valid(), "making the dataset " + path);
  need(values.data == nullptr ||
           H5Dwrite(dataset.id(), values.type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data) >= 0,
       "writing the dataset " + path);
}

SeedWriter::SeedWriter(const std::string& path, Format format) {
  const Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
  if (format == Format::latest)
    H5Pset_libver_bounds(access.id(), H5F_LIBVER_V110, H5F_LIBVER_LATEST);
  file_ = Handle(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access.id()), H5Fclose);
  need(file_.valid(), "making " + path);
}

void SeedWriter::group(const std::string& name) const {
  const Handle made(H5Gcreate2(file_.id(), name.c_str(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT),
                    H5Gclose);
  need(made.valid(), "making the group " + name);
}

}  // namespace zhalo::fuzz
