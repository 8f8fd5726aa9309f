#include "src/io/hdf5_output.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include "zhalo/core/error.hpp"

namespace zhalo::io::hdf5 {

namespace {

/// Strong: closing the file closes what is still open in it.
Handle strong_close_properties() {
  Handle properties(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
  H5Pset_fclose_degree(properties.id(), H5F_CLOSE_STRONG);
  return properties;
}

Handle simple_space(const std::vector<hsize_t>& extent) {
  return {H5Screate_simple(static_cast<int>(extent.size()), extent.data(), nullptr), H5Sclose};
}

/// Without the time of creation, which HDF5 would store: the same results are the same bytes.
Handle timeless_properties() {
  Handle properties(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
  H5Pset_obj_track_times(properties.id(), false);
  return properties;
}

template <class T>
std::vector<hsize_t> extent_of(Span<const T> values, Index columns) {
  const auto rows = static_cast<hsize_t>(values.size() / columns);
  if (columns == 1) return {rows};
  return {rows, static_cast<hsize_t>(columns)};
}

}  // namespace

OutputFile::OutputFile(const std::string& path, std::string shown_path) : shown_path_(std::move(shown_path)) {
  const Handle access = strong_close_properties();
  file_ = Handle(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access.id()), H5Fclose);
  need(file_.valid(), "cannot be written");
}

OutputFile::~OutputFile() { abandon(); }

void OutputFile::need(bool ok, const std::string& what) const {
  if (!ok) throw FileError(fmt::format("'{}' {}: {}", shown_path_, what, last_error()));
}

/// HDF5 cannot let go of a file before it has written what it still holds, and tries again, and crashes, when the program ends. On a
/// full disk that never succeeds: so the file under its feet is exchanged for one in memory.
void OutputFile::abandon() noexcept {
  if (!file_.valid()) return;
  void* handle = nullptr;
  const int memory = ::memfd_create("zhalo", MFD_CLOEXEC);
  if (memory >= 0 && H5Fget_vfd_handle(file_.id(), H5P_DEFAULT, &handle) >= 0) {
    ::dup3(memory, *static_cast<int*>(handle), O_CLOEXEC);
  }
  if (memory >= 0) ::close(memory);
  file_.close();
}

void OutputFile::make_group(const std::string& name) {
  Handle group(H5Gcreate2(file_.id(), name.c_str(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), H5Gclose);
  need(group.valid() && group.close(), "cannot be written");
}

void OutputFile::write_attribute(const std::string& object, const std::string& name, hid_t space, hid_t type,
                                 const void* values) {
  Handle attribute(
      H5Acreate_by_name(file_.id(), object.c_str(), name.c_str(), type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT),
      H5Aclose);
  need(attribute.valid() && H5Awrite(attribute.id(), type, values) >= 0 && attribute.close(), "cannot be written");
}

void OutputFile::attribute(const std::string& object, const std::string& name, double value) {
  const Handle space(H5Screate(H5S_SCALAR), H5Sclose);
  write_attribute(object, name, space.id(), H5T_NATIVE_DOUBLE, &value);
}

void OutputFile::attribute(const std::string& object, const std::string& name, int value) {
  const Handle space(H5Screate(H5S_SCALAR), H5Sclose);
  write_attribute(object, name, space.id(), H5T_NATIVE_INT, &value);
}

void OutputFile::attribute(const std::string& object, const std::string& name, Index value) {
  const Handle space(H5Screate(H5S_SCALAR), H5Sclose);
  write_attribute(object, name, space.id(), H5T_NATIVE_INT64, &value);
}

void OutputFile::attribute(const std::string& object, const std::string& name, const std::string& value) {
  const Handle space(H5Screate(H5S_SCALAR), H5Sclose);
  const Handle type(H5Tcopy(H5T_C_S1), H5Tclose);
  H5Tset_size(type.id(), value.size() + 1);
  write_attribute(object, name, space.id(), type.id(), value.c_str());
}

void OutputFile::attribute(const std::string& object, const std::string& name, const std::vector<double>& values) {
  write_attribute(object, name, simple_space({values.size()}).id(), H5T_NATIVE_DOUBLE, values.data());
}

void OutputFile::attribute(const std::string& object, const std::string& name, const std::vector<int>& values) {
  write_attribute(object, name, simple_space({values.size()}).id(), H5T_NATIVE_INT, values.data());
}

void OutputFile::attribute(const std::string& object, const std::string& name, const std::vector<Index>& values) {
  write_attribute(object, name, simple_space({values.size()}).id(), H5T_NATIVE_INT64, values.data());
}

void OutputFile::write_dataset(const std::string& name, hid_t type, const void* values, std::vector<hsize_t> extent) {
  const Handle space = simple_space(extent);
  const Handle properties = timeless_properties();
  Handle set(H5Dcreate2(file_.id(), name.c_str(), type, space.id(), H5P_DEFAULT, properties.id(), H5P_DEFAULT), H5Dclose);
  const bool empty = extent.front() == 0;
  need(set.valid() && (empty || H5Dwrite(set.id(), type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0) && set.close(),
       "cannot be written");
}

void OutputFile::dataset(const std::string& name, Span<const double> values, Index columns) {
  write_dataset(name, H5T_NATIVE_DOUBLE, values.data(), extent_of(values, columns));
}

void OutputFile::dataset(const std::string& name, Span<const Index> values, Index columns) {
  write_dataset(name, H5T_NATIVE_INT64, values.data(), extent_of(values, columns));
}

void OutputFile::dataset(const std::string& name, Span<const std::int32_t> values, Index columns) {
  write_dataset(name, H5T_NATIVE_INT32, values.data(), extent_of(values, columns));
}

void OutputFile::dataset(const std::string& name, Span<const std::uint64_t> values, Index columns) {
  write_dataset(name, H5T_NATIVE_UINT64, values.data(), extent_of(values, columns));
}

void OutputFile::close() {
  need(H5Fflush(file_.id(), H5F_SCOPE_LOCAL) >= 0, "cannot be written");
  need(H5Fclose(file_.id()) >= 0, "cannot be written");
  file_.release();
}

}  // namespace zhalo::io::hdf5
