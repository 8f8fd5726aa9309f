/// One HDF5 file that is being written, by one process at a time.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "src/io/hdf5/input.hpp"
#include "zhalo/comm/communicator.hpp"
#include "zhalo/core/span.hpp"

namespace zhalo::io::hdf5 {

/// A driver (H5Pset_driver) of files that can be closed whatever happens. They are as HDF5's own
/// POSIX driver would write them, but not locked meanwhile. It has to live until they are closed:
/// HDF5 itself would let go of it a moment too early.
Handle closable_driver();

/// Shared by a file of that driver and its user, who must look at it after each call: HDF5 itself
/// is told that everything went well. It cannot let go of a file before it has written what it
/// still holds: where that fails it tries again when the program ends, and crashes.
struct FileState {
  bool is_watched =
      false;        ///< by somebody who called state_of; before that HDF5 is told of failures
  int failure = 0;  ///< errno of the first failure
  bool abandoned = false;  ///< what is written goes nowhere; so since the first failure, or before
};
std::shared_ptr<FileState> state_of(hid_t file);

/// Of the open file; -1: there is none.
int descriptor_of(hid_t file);

/// Rows of a dataset in somebody else's memory.
struct DatasetView {
  const std::byte* data = nullptr;
  hid_t type = H5I_INVALID_HID;
  Index bytes = 0;  ///< of a row
  Index rows = 0;
  std::vector<Index>
      row_shape{};  ///< none: a row is one number; {3}: of a table; {64, 64}: a plane of a field

  DatasetView part(Share which) const {
    return {data + which.first * bytes, type, bytes, which.count, row_shape};
  }
};

template <class T>
DatasetView cells_of(Span<const T> values, Index columns = 1) {
  DatasetView cells{reinterpret_cast<const std::byte*>(values.data()), native_type(T{}),
                    columns * static_cast<Index>(sizeof(T)), values.size() / columns};
  if (columns > 1) cells.row_shape = {columns};
  return cells;
}

/// Extent of a dataset of so many rows like these.
std::vector<hsize_t> extent_of(Index rows, const DatasetView& like);
Handle simple_space(const std::vector<hsize_t>& extent);

/// A whole dataset of the same name in another file, named relative to the directory of the file
/// that shows it.
struct SourceRows {
  std::string file;
  Index rows = 0;
};

enum class Open { new_file, existing };

/// Every failure is a FileError that names `shown_path` and the reason. What lies at `path` is of
/// use only after close().
class OutputFile {
 public:
  OutputFile(const std::string& path, std::string shown_path, Open how = Open::new_file);
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  void make_group(const std::string& name);

  /// An attribute of a group or dataset: a number, or a list of numbers.
  template <class T>
  void attribute(const std::string& object, const std::string& name, const T& value) {
    if constexpr (std::is_arithmetic_v<T>) {
      write_attribute(object, name, native_type(T{}), {}, &value);
    } else {
      write_attribute(object, name, native_type(typename T::value_type{}), value.size(),
                      value.data());
    }
  }
  void attribute(const std::string& object, const std::string& name, const std::string& text);

  /// A dataset with the type and row shape of `like` and this many rows, whose offset in the file
  /// is fixed now: the file does not depend on who fills it, and in which order.
  void make_dataset(const std::string& name, const DatasetView& like, Index rows);
  /// Writes rows [first, first + cells.rows).
  void write_rows(const std::string& name, Index first, const DatasetView& cells);
  /// A dataset that shows those of other files, one after the other.
  void make_virtual_dataset(const std::string& name, const DatasetView& like,
                            const std::vector<SourceRows>& sources);

  /// Writes what is left; only now the file is whole.
  void close();

 private:
  /// Without `num` a single value, else a list.
  void write_attribute(const std::string& object, const std::string& name, hid_t type,
                       std::optional<std::size_t> num, const void* values);
  void create_dataset(const std::string& name, hid_t type, const std::vector<hsize_t>& extent,
                      const Handle& properties);
  void reserve_space();
  void need(bool ok, const std::string& what) const;

  std::string shown_path_;
  Handle driver_;  // before the file, which needs it
  std::shared_ptr<FileState> state_;
  Handle file_;
};

// One HDF5 file that several ranks write at once.

/// Whether this build can: with parallel HDF5 (ZHALO_PARALLEL_HDF5).
bool can_write_at_once();

struct NamedFile {
  std::string path;
  std::string shown;  ///< for messages
};

/// Rows of a dataset, and the row at which they begin.
struct PlacedRows {
  std::string dataset;
  Index first = 0;
  DatasetView cells;
};

/// MPI-IO counts in ints: no call writes more.
constexpr Index max_bytes_at_once = Index{64} << 20;

/// Writes rows of all `ranks` to a file that exists with all its datasets
/// (OutputFile::make_dataset), by MPI-IO, at most `max_bytes` in a call. Collective, also for those
/// without rows; FileError on all if a rank cannot open or write the file. While the file is opened
/// and closed ranks wait for one that is lost without limit.
void write_at_once(const Communicator& ranks, const NamedFile& file,
                   const std::vector<PlacedRows>& rows, Index max_bytes = max_bytes_at_once);

}  // namespace zhalo::io::hdf5
