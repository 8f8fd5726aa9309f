#include "src/io/hdf5/output.hpp"

#include <fcntl.h>
#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "zhalo/core/error.hpp"

namespace zhalo::io::hdf5 {

std::vector<hsize_t> extent_of(Index rows, const DatasetView& like) {
  std::vector<hsize_t> extent{static_cast<hsize_t>(rows)};
  extent.insert(extent.end(), like.row_shape.begin(), like.row_shape.end());
  return extent;
}

Handle simple_space(const std::vector<hsize_t>& extent) {
  return {H5Screate_simple(static_cast<int>(extent.size()), extent.data(), nullptr), H5Sclose};
}

namespace {

/// Strong: closing the file closes what is still open in it.
Handle access_properties() {
  Handle properties(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
  H5Pset_fclose_degree(properties.id(), H5F_CLOSE_STRONG);
  return properties;
}

/// Without the time of creation, which HDF5 would store: the same results are the same bytes.
Handle dataset_properties() {
  Handle properties(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
  H5Pset_obj_track_times(properties.id(), false);
  return properties;
}

/// A space of `extent` with rows [first, first + count) selected.
Handle selected_rows(const std::vector<hsize_t>& extent, Index first, Index count) {
  Handle space = simple_space(extent);
  std::vector<hsize_t> start(extent.size(), 0), size = extent;
  start[0] = static_cast<hsize_t>(first);
  size[0] = static_cast<hsize_t>(count);
  H5Sselect_hyperslab(space.id(), H5S_SELECT_SET, start.data(), nullptr, size.data(), nullptr);
  return space;
}

hid_t open_file(const std::string& path, Open how, hid_t access) {
  if (how == Open::existing) return H5Fopen(path.c_str(), H5F_ACC_RDWR, access);
  return H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access);
}

}  // namespace

OutputFile::OutputFile(const std::string& path, std::string shown_path, Open how)
    : shown_path_(std::move(shown_path)), driver_(closable_driver()) {
  const Session session;
  const Handle access = access_properties();
  need(driver_.valid() && H5Pset_driver(access.id(), driver_.id(), nullptr) >= 0,
       "cannot be written");
  file_ = Handle(open_file(path, how, access.id()), H5Fclose);
  need(file_.valid(), "cannot be written");
  state_ = state_of(file_.id());
}

OutputFile::~OutputFile() {
  const Session session;
  if (file_.valid()) state_->abandoned = true;
}

void OutputFile::need(bool ok, const std::string& what) const {
  if (state_ != nullptr && state_->failure != 0)
    throw FileError(fmt::format("'{}' {}: {}", shown_path_, what, std::strerror(state_->failure)));
  if (!ok) throw FileError(fmt::format("'{}' {}: {}", shown_path_, what, last_error()));
}

void OutputFile::make_group(const std::string& name) {
  const Session session;
  Handle group(H5Gcreate2(file_.id(), name.c_str(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT),
               H5Gclose);
  need(group.valid() && group.close(), "cannot be written");
}

void OutputFile::write_attribute(const std::string& object, const std::string& name, hid_t type,
                                 std::optional<std::size_t> num, const void* values) {
  const Session session;
  const Handle space = num ? simple_space({*num}) : Handle(H5Screate(H5S_SCALAR), H5Sclose);
  Handle attribute(H5Acreate_by_name(file_.id(), object.c_str(), name.c_str(), type, space.id(),
                                     H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT),
                   H5Aclose);
  const bool empty = num && *num == 0;  // HDF5 refuses null for nothing
  need(attribute.valid() && (empty || H5Awrite(attribute.id(), type, values) >= 0) &&
           attribute.close(),
       "cannot be written");
}

void OutputFile::attribute(const std::string& object, const std::string& name,
                           const std::string& text) {
  const Session session;
  const Handle type(H5Tcopy(H5T_C_S1), H5Tclose);
  H5Tset_size(type.id(), text.size() + 1);
  write_attribute(object, name, type.id(), {}, text.c_str());
}

void OutputFile::create_dataset(const std::string& name, hid_t type,
                                const std::vector<hsize_t>& extent, const Handle& properties) {
  const Handle space = simple_space(extent);
  Handle set(H5Dcreate2(file_.id(), name.c_str(), type, space.id(), H5P_DEFAULT, properties.id(),
                        H5P_DEFAULT),
             H5Dclose);
  need(set.valid() && set.close(), "cannot be written");
}

void OutputFile::make_dataset(const std::string& name, const DatasetView& like, Index rows) {
  const Session session;
  const Handle properties = dataset_properties();
  H5Pset_alloc_time(properties.id(), H5D_ALLOC_TIME_EARLY);
  H5Pset_fill_time(properties.id(), H5D_FILL_TIME_NEVER);
  create_dataset(name, like.type, extent_of(rows, like), properties);
}

void OutputFile::write_rows(const std::string& name, Index first, const DatasetView& cells) {
  const Session session;
  if (cells.rows == 0) return;
  Handle set(H5Dopen2(file_.id(), name.c_str(), H5P_DEFAULT), H5Dclose);
  need(set.valid(), "cannot be written");
  const Handle memory = simple_space(extent_of(cells.rows, cells));
  const Handle all(H5Dget_space(set.id()), H5Sclose);
  std::array<hsize_t, H5S_MAX_RANK> extent{};
  H5Sget_simple_extent_dims(all.id(), extent.data(), nullptr);
  const Handle rows =
      selected_rows(extent_of(static_cast<Index>(extent[0]), cells), first, cells.rows);
  need(H5Dwrite(set.id(), cells.type, memory.id(), rows.id(), H5P_DEFAULT, cells.data) >= 0 &&
           set.close(),
       "cannot be written");
}

namespace {

/// HDF5 reads "%%" in the names of sources as a percent sign.
std::string escaped(const std::string& name) {
  std::string doubled;
  for (const char letter : name) doubled.append(letter == '%' ? 2 : 1, letter);
  return doubled;
}

}  // namespace

void OutputFile::make_virtual_dataset(const std::string& name, const DatasetView& like,
                                      const std::vector<SourceRows>& sources) {
  const Session session;
  Index rows = 0;
  for (const SourceRows& source : sources) rows += source.rows;
  const Handle properties = dataset_properties();
  Index first = 0;
  for (const SourceRows& source : sources) {
    if (source.rows == 0) continue;
    const Handle shown = selected_rows(extent_of(rows, like), first, source.rows);
    const Handle whole = simple_space(extent_of(source.rows, like));
    need(H5Pset_virtual(properties.id(), shown.id(), escaped(source.file).c_str(), name.c_str(),
                        whole.id()) >= 0,
         "cannot be written");
    first += source.rows;
  }
  create_dataset(name, like.type, extent_of(rows, like), properties);
}

/// Room on the disk for the whole file: that it is full shows at once. File systems that cannot
/// reserve are taken at their word. The length stays HDF5's to set.
void OutputFile::reserve_space() {
  const int descriptor = descriptor_of(file_.id());
  hsize_t size = 0;
  if (descriptor < 0 || H5Fget_filesize(file_.id(), &size) < 0) return;
  int failed = 0;
  do {
    failed =
        ::fallocate(descriptor, FALLOC_FL_KEEP_SIZE, 0, static_cast<off_t>(size)) == 0 ? 0 : errno;
  } while (failed == EINTR);
  if (failed == ENOSPC || failed == EDQUOT || failed == EFBIG)
    throw FileError(fmt::format("'{}' cannot be written: {}", shown_path_, std::strerror(failed)));
}

void OutputFile::close() {
  const Session session;
  reserve_space();
  need(file_.close(), "cannot be written");
}

}  // namespace zhalo::io::hdf5
