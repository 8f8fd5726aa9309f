/// One HDF5 file that is being written.
#pragma once

#include <cstdint>
#include <vector>

#include "src/io/hdf5_handle.hpp"
#include "zhalo/core/span.hpp"

namespace zhalo::io::hdf5 {

/// Every failure is a FileError that names `shown_path` and the reason. What lies at `path` is of use only after close().
class OutputFile {
 public:
  OutputFile(const std::string& path, std::string shown_path);
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  void make_group(const std::string& name);

  /// Attributes of a group or dataset.
  void attribute(const std::string& object, const std::string& name, double value);
  void attribute(const std::string& object, const std::string& name, int value);
  void attribute(const std::string& object, const std::string& name, Index value);
  void attribute(const std::string& object, const std::string& name, const std::string& value);
  void attribute(const std::string& object, const std::string& name, const std::vector<double>& values);
  void attribute(const std::string& object, const std::string& name, const std::vector<int>& values);
  void attribute(const std::string& object, const std::string& name, const std::vector<Index>& values);

  /// A dataset of values.size() / columns rows; one-dimensional if columns == 1.
  void dataset(const std::string& name, Span<const double> values, Index columns = 1);
  void dataset(const std::string& name, Span<const Index> values, Index columns = 1);
  void dataset(const std::string& name, Span<const std::int32_t> values, Index columns = 1);
  void dataset(const std::string& name, Span<const std::uint64_t> values, Index columns = 1);

  /// Writes what is left; only now the file is whole.
  void close();

 private:
  void write_attribute(const std::string& object, const std::string& name, hid_t space, hid_t type, const void* values);
  void write_dataset(const std::string& name, hid_t type, const void* values, std::vector<hsize_t> extent);
  void need(bool ok, const std::string& what) const;
  void abandon() noexcept;

  QuietErrors quiet_;
  std::string shown_path_;
  Handle file_;
};

}  // namespace zhalo::io::hdf5
