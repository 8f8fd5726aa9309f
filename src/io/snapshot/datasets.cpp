// The datasets of particles in one file: their names, shapes and types of numbers.
#include <fmt/format.h>

#include "src/io/snapshot/state.hpp"
#include "zhalo/core/error.hpp"

namespace zhalo::io {

using hdf5::DatasetShape;
using hdf5::InputFile;

std::string dataset_path(int type, const std::string& name) {
  return fmt::format("PartType{}/{}", type, name);
}

namespace {

struct Quantity {
  Column TypeLayout::*column;
  std::vector<std::string> names;  ///< in the order of preference
  int components;
  bool may_be_missing = false;  ///< most results do without

  /// What to do about a dataset that is written otherwise.
  std::string remedy(const char* right = "it so") const {
    return fmt::format("write {}{}", right,
                       may_be_missing ? ", or remove it if nothing needs it" : "");
  }
};

const std::vector<Quantity>& quantities() {
  static const std::vector<Quantity> all{
      {&TypeLayout::position, {"Coordinates", "IntCoordinates"}, 3},
      {&TypeLayout::velocity, {"Velocities", "Velocity"}, 3, true},
      {&TypeLayout::mass, {"Masses", "Mass", "DynamicalMasses"}, 1},
      {&TypeLayout::id, {"ParticleIDs"}, 1, true}};
  return all;
}

std::string text_of(const std::vector<Index>& extent) {
  std::string text = "(";
  for (const Index length : extent)
    text += fmt::format("{}{}", text.size() > 1 ? ", " : "", length);
  return text + ")";
}

/// Rows of (N, components), of a flat array of N * components, or of (N) or (N, 1) for scalars.
Index rows_of(const InputFile& file, const std::string& path, const DatasetShape& shape,
              const Quantity& quantity) {
  const auto& extent = shape.extent;
  const int components = quantity.components;
  const bool flat = extent.size() == 1 && extent[0] % components == 0;
  const bool table = extent.size() == 2 && extent[1] == components;
  if (flat) return extent[0] / components;
  if (table) return extent[0];
  throw InputError(fmt::format(
      "'{}': /{} has the shape {}, but {} is needed: {}", file.path(), path, text_of(extent),
      components == 1 ? "(N)" : fmt::format("(N, {0}) or ({0} N)", components), quantity.remedy()));
}

/// HDF5 makes ids of more than 64 bits the largest of 64 bits.
void check_ids(const InputFile& file, const std::string& path, const DatasetShape& shape,
               const std::string& remedy) {
  constexpr int max_bytes = 8;
  const bool is_integer = shape.kind == hdf5::Kind::integer;
  if (is_integer && shape.bytes <= max_bytes) return;
  throw InputError(fmt::format(
      "'{}': /{} holds {} of {} bits, but ids are integers of up to 64 bits: {}", file.path(), path,
      is_integer ? "integers" : "floating-point numbers", 8 * shape.bytes, remedy));
}

void check_numbers(const InputFile& file, const std::string& path, const DatasetShape& shape,
                   const Quantity& quantity) {
  if (shape.kind == hdf5::Kind::other)
    throw InputError(fmt::format("'{}': /{} does not hold numbers that zhalo can read: {}",
                                 file.path(), path, quantity.remedy("numbers")));
  if (quantity.column == &TypeLayout::id) return check_ids(file, path, shape, quantity.remedy());
  const bool spans_box = !shape.is_signed && (shape.bytes == 4 || shape.bytes == 8);
  const bool is_position = quantity.column == &TypeLayout::position;
  if (!is_position || shape.kind == hdf5::Kind::real || spans_box) return;
  throw InputError(
      fmt::format("'{}': /{} holds {} integers of {} bits (must be floating-point numbers, or "
                  "unsigned integers of 32 or 64 bits that span the box, as GADGET-4 may write "
                  "them)",
                  file.path(), path, shape.is_signed ? "signed" : "unsigned",
                  8 * static_cast<Index>(shape.bytes)));
}

void note_rows(const InputFile& file, Found& found, Index rows, const std::string& path) {
  if (!found.rows) {
    found.rows = rows;
    found.rows_from = path;
  }
  if (*found.rows == rows) return;
  throw InputError(
      fmt::format("'{}': /{} has {} particles, but /{} has {}: the file is damaged or incomplete",
                  file.path(), found.rows_from, *found.rows, path, rows));
}

/// Looks at a dataset. The rows are none if it does not show them. Nothing if it is not there.
std::optional<Column> look_at(const InputFile& file, const std::string& path,
                              const Quantity& quantity, std::optional<Index>& rows) {
  Column column;
  try {
    const auto shape = file.shape(path);
    if (!shape) return std::nullopt;
    column.integer = shape->kind == hdf5::Kind::integer;
    column.bytes = shape->bytes;
    rows = rows_of(file, path, *shape, quantity);
    check_numbers(file, path, *shape, quantity);
    file.check_readable(path);
  } catch (const InputError& error) {
    column.fault = {error.what(), false};
  } catch (const FileError& error) {
    column.fault = {error.what(), true};
  }
  return column;
}

}  // namespace

Found find_datasets(const InputFile& file, int type) {
  Found found;
  if (!file.has(fmt::format("PartType{}", type))) return found;
  for (const auto& quantity : quantities()) {
    for (const auto& name : quantity.names) {
      std::optional<Index> rows;
      const std::string path = dataset_path(type, name);
      const auto column = look_at(file, path, quantity, rows);
      if (!column) continue;
      if (rows) note_rows(file, found, *rows, path);
      found.layout.*quantity.column = *column;
      (found.layout.*quantity.column).name = name;
      break;
    }
  }
  return found;
}

}  // namespace zhalo::io
