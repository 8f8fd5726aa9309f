#include "tests/fuzz/plain.hpp"

#include <algorithm>

namespace zhalo::fuzz {

namespace {

/// More than any good mutant has.
constexpr hssize_t max_numbers = hssize_t{1} << 24;

Handle open_plainly(const std::string& path) {
  return {H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose};
}

/// Every link on the way must lead somewhere.
enum class Answer { no, yes, unknown };

Answer look_for(const Handle& file, const std::string& path) {
  for (std::size_t end = path.find('/', 1);; end = path.find('/', end + 1)) {
    const std::string part = path.substr(0, end);
    const htri_t linked = H5Lexists(file.id(), part.c_str(), H5P_DEFAULT);
    if (linked == 0) return Answer::no;
    if (linked < 0 || H5Oexists_by_name(file.id(), part.c_str(), H5P_DEFAULT) <= 0)
      return Answer::unknown;
    if (end == std::string::npos) return Answer::yes;
  }
}

template <class T>
bool append_numbers(const Handle& dataset, std::size_t num, std::vector<T>& numbers) {
  std::vector<T> more(num);
  if (num > 0 && H5Dread(dataset.id(), native(T{}), H5S_ALL, H5S_ALL, H5P_DEFAULT, more.data()) < 0)
    return false;
  numbers.insert(numbers.end(), more.begin(), more.end());
  return true;
}

bool append_dataset(const Handle& file, const std::string& path, PlainColumn& column) {
  const Handle dataset(H5Dopen2(file.id(), path.c_str(), H5P_DEFAULT), H5Dclose);
  if (!dataset.valid()) return false;
  const Handle type(H5Dget_type(dataset.id()), H5Tclose);
  const Handle space(H5Dget_space(dataset.id()), H5Sclose);
  const hssize_t points = H5Sget_simple_extent_npoints(space.id());
  if (points < 0 || points > max_numbers) return false;
  const auto num = static_cast<std::size_t>(points);
  column.integer = H5Tget_class(type.id()) == H5T_INTEGER;
  column.bytes = std::max(column.bytes, H5Tget_size(type.id()));
  // Ids, and positions that are integers; nobody asks for rows of real numbers as integers.
  const Extent extent = extent_of_dataset(dataset);
  const bool may_be_whole = column.integer || extent.size() != 2 || extent[1] != 3;
  return append_numbers(dataset, num, column.single) && append_numbers(dataset, num, column.wide) &&
         (!may_be_whole || append_numbers(dataset, num, column.whole));
}

}  // namespace

namespace {

/// One file's part of a column. What is lost once stays lost.
void gather(const Handle& file, const std::string& group, const Names& names, PlainColumn& column) {
  using State = PlainColumn::State;
  for (const char* name : names) {
    const std::string dataset = group.empty() ? name : group + "/" + name;
    const Answer found = look_for(file, dataset);
    if (found == Answer::no) continue;
    const bool good = found == Answer::yes && append_dataset(file, dataset, column);
    column.state = good && column.state != State::lost ? State::read : State::lost;
    return;
  }
}

}  // namespace

std::vector<PlainColumn> read_plain(const std::vector<std::string>& files, const std::string& group,
                                    const std::vector<Names>& quantities) {
  std::vector<PlainColumn> columns(quantities.size());
  for (const std::string& path : files) {
    const Handle file = open_plainly(path);
    for (std::size_t i = 0; i < quantities.size(); ++i) {
      if (file.valid()) gather(file, group, quantities[i], columns[i]);
      if (!file.valid()) columns[i].state = PlainColumn::State::lost;
    }
  }
  return columns;
}

std::optional<double> plain_attribute(const std::string& path, const std::string& object,
                                      const std::string& name, std::size_t at) {
  const Handle file = open_plainly(path);
  if (!file.valid() || look_for(file, object) != Answer::yes) return std::nullopt;
  const Handle attribute(
      H5Aopen_by_name(file.id(), object.c_str(), name.c_str(), H5P_DEFAULT, H5P_DEFAULT), H5Aclose);
  if (!attribute.valid()) return std::nullopt;
  const Handle space(H5Aget_space(attribute.id()), H5Sclose);
  const hssize_t points = H5Sget_simple_extent_npoints(space.id());
  if (points < 1 || points > max_numbers) return std::nullopt;
  std::vector<double> values(static_cast<std::size_t>(points));
  if (H5Aread(attribute.id(), H5T_NATIVE_DOUBLE, values.data()) < 0 || at >= values.size())
    return std::nullopt;
  return values[at];
}

}  // namespace zhalo::fuzz
