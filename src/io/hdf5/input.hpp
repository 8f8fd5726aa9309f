/// One HDF5 file, open for reading.
#pragma once

#include <optional>
#include <vector>

#include "src/io/hdf5/handle.hpp"
#include "zhalo/core/types.hpp"

namespace zhalo::io::hdf5 {

enum class Kind { real, integer, other };

/// What a dataset looks like from outside.
struct DatasetShape {
  std::vector<Index> extent;
  Kind kind = Kind::other;
  int bytes = 0;  ///< per element
  bool is_signed = false;
};

/// Rows [first, first + count) of a dataset; a row is an element of the first axis.
struct Rows {
  Index first = 0;
  Index count = 0;
};

/// Throws FileError with the path in every message. Silences HDF5 while it lives; keep it on the
/// stack.
class InputFile {
 public:
  explicit InputFile(std::string path);

  const std::string& path() const { return path_; }

  /// The object exists, and so does what it links to.
  bool has(const std::string& object) const;
  bool has_attribute(const std::string& object, const std::string& name) const;

  /// Whether there is such an attribute with numbers that zhalo can read.
  bool holds_numbers(const std::string& object, const std::string& name) const;

  /// Attributes of any shape and numeric type; nothing if absent or of no elements. FileError if
  /// there is one that holds no numbers.
  std::optional<std::vector<double>> reals(const std::string& object,
                                           const std::string& name) const;
  std::optional<std::vector<Index>> integers(const std::string& object,
                                             const std::string& name) const;
  std::optional<std::string> text(const std::string& object, const std::string& name) const;
  /// Bytes per element; 0 if absent.
  int attribute_bytes(const std::string& object, const std::string& name) const;

  /// Empty if there is no such dataset.
  std::optional<DatasetShape> shape(const std::string& dataset) const;
  /// Reads rows and converts them to `memory_type`. Throws if some of them were never written, or
  /// lie in another file that lacks them.
  void read(const std::string& dataset, Rows rows, hid_t memory_type, void* to) const;
  /// Throws if the dataset needs a filter that HDF5 does not have here, or is virtual and one of
  /// its source files is missing.
  void check_readable(const std::string& dataset) const;

 private:
  Handle open_attribute(const std::string& object, const std::string& name) const;
  template <class T>
  std::optional<std::vector<T>> numbers(const std::string& object, const std::string& name,
                                        hid_t memory_type) const;
  [[noreturn]] void fail(const std::string& what) const;

  QuietErrors quiet_;
  std::string path_;
  Handle file_;
};

}  // namespace zhalo::io::hdf5
