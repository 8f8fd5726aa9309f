#include "src/io/snapshot/state.hpp"

#include <fmt/format.h>

#include "zhalo/core/error.hpp"
#include "zhalo/io/result_file.hpp"

namespace zhalo::io {

std::string group_of_type(int type) {
  return type == no_type ? "Query" : fmt::format("PartType{}", type);
}

void check_ranges(const std::vector<TypeRange>& ranges, int lowest, int num_types,
                  const char* what) {
  int last = lowest - 1;
  for (const TypeRange& range : ranges) {
    if (range.type <= last || range.type >= num_types || range.count < 0)
      throw InputError(fmt::format(
          "{} with a range of particle type {} after one of type {}: give one range for each "
          "type of the snapshot, in ascending order",
          what, range.type, last));
    last = range.type;
  }
}

Index num_rows(const std::vector<TypeRange>& ranges) {
  Index count = 0;
  for (const TypeRange& range : ranges) count += range.count;
  return count;
}

std::vector<TypeRows> rows_by_type(const Communicator& comm, const FileShares& shares,
                                   const std::vector<TypeRange>& ranges,
                                   const std::vector<int>& types) {
  std::vector<TypeRows> rows;
  Index begin = 0;
  for (const int type : types) {
    TypeRange range{type, 0, 0};
    for (const TypeRange& mine : ranges) range = mine.type == type ? mine : range;
    const Index before = comm.exclusive_sum(range.count);
    if (range.count > 0 && range.first != before) {
      throw InputError(
          fmt::format("the particles of type {} do not follow one another over the ranks: this "
                      "rank's begin at {}, lower ranks have {}",
                      type, range.first, before));
    }
    rows.push_back({range, begin, Placement(comm, shares, range.count)});
    begin += range.count;
  }
  return rows;
}

void write_types(hdf5::OutputFile& file, const FileView& view, const std::vector<TypeRows>& rows,
                 std::size_t num_types) {
  std::vector<Index> counts(num_types), totals(num_types);
  for (const TypeRows& type : rows) {
    const Share held = type.placement.in_files(view.files);
    const std::string group = group_of_type(type.range.type);
    file.make_group(group);
    file.attribute(group, "FirstParticle", held.first);
    if (type.range.type == no_type) continue;
    counts.at(static_cast<std::size_t>(type.range.type)) = held.count;
    totals.at(static_cast<std::size_t>(type.range.type)) = type.placement.total();
  }
  file.attribute("Header", "NumPart_ThisFile", counts);
  file.attribute("Header", "NumPart_Total", totals);
}

}  // namespace zhalo::io
