/// Pieces of HDF5 files, for seeds and for structured mutants: plain calls of HDF5's C interface,
/// none of zhalo's own writers.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "src/io/hdf5/input.hpp"
#include "zhalo/core/types.hpp"

namespace zhalo::fuzz {

using io::hdf5::Handle;
using Extent = std::vector<hsize_t>;

inline hid_t native(float) { return H5T_NATIVE_FLOAT; }
inline hid_t native(double) { return H5T_NATIVE_DOUBLE; }
inline hid_t native(std::int32_t) { return H5T_NATIVE_INT32; }
inline hid_t native(std::uint32_t) { return H5T_NATIVE_UINT32; }
inline hid_t native(std::int64_t) { return H5T_NATIVE_INT64; }
inline hid_t native(std::uint64_t) { return H5T_NATIVE_UINT64; }

/// Throws std::runtime_error: the fuzzer itself failed, not what it tests.
void need(bool good, const std::string& what);

/// A scalar for an empty extent.
Handle space_of(const Extent& extent);

/// Text of this many characters; 0: of any length.
Handle text_type(std::size_t length);

Handle open_to_write(const std::string& path);
Handle open_object(const Handle& file, const std::string& path);
Handle open_dataset(const Handle& file, const std::string& path);

/// Of datasets without a time stamp, so that a mutant has the same bytes on every day.
Handle dataset_properties();
Extent extent_of_dataset(const Handle& dataset);
Index points_of(const Extent& extent);

struct Values {
  hid_t type = H5I_INVALID_HID;  ///< in memory and in the file
  Extent extent{};
  const void* data = nullptr;
};

template <class T>
Values values_of(const std::vector<T>& numbers, Extent extent) {
  return {native(T{}), std::move(extent), numbers.data()};
}

/// An attribute of this name that is there already goes.
void put_attribute(const Handle& file, const std::string& object, const std::string& name,
                   const Values& values);
void put_text(const Handle& file, const std::string& object, const std::string& name,
              const std::string& text);
/// The dataset, or only its description if the values have no data.
void put_dataset(const Handle& file, const std::string& path, const Values& values,
                 const Handle& properties);

/// A file of a seed while it is written.
class SeedWriter {
 public:
  enum class Format { usual, latest };
  explicit SeedWriter(const std::string& path, Format format = Format::usual);

  void group(const std::string& name) const;
  template <class T>
  void attribute(const std::string& object, const std::string& name, T value) const {
    put_attribute(file_, object, name, {native(T{}), {}, &value});
  }
  template <class T>
  void attribute(const std::string& object, const std::string& name,
                 const std::vector<T>& values) const {
    put_attribute(file_, object, name, values_of(values, {values.size()}));
  }
  void text(const std::string& object, const std::string& name, const std::string& value) const {
    put_text(file_, object, name, value);
  }
  /// `width` numbers in a row; 1: shape (N).
  template <class T>
  void dataset(const std::string& path, const std::vector<T>& values, std::size_t width = 1) const {
    dataset(path, values, width, dataset_properties());
  }
  template <class T>
  void dataset(const std::string& path, const std::vector<T>& values, std::size_t width,
               const Handle& properties) const {
    Extent extent{values.size() / width};
    if (width > 1) extent.push_back(width);
    put_dataset(file_, path, values_of(values, extent), properties);
  }
  const Handle& file() const { return file_; }

 private:
  Handle file_;
};

}  // namespace zhalo::fuzz
