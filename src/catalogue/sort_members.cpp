#include "src/catalogue/sort_members.hpp"

#include "kernels/catalogue.hpp"
#include "kernels/on.hpp"
#include "kernels/sort.hpp"

namespace zhalo {

SortedMembers sort_members(const Exec& exec, Span<const Index> group_of, int bits) {
  SortedMembers members;
  members.place =
      kernels::on(exec, [&](const auto& e) { return kernels::select_members(e, group_of); });
  const Index num = members.place.size();
  members.group = Buffer<std::uint64_t>(exec, num, "sorting into group order");
  Buffer<std::uint64_t> spare_groups(exec, num, "sorting into group order");
  Buffer<LocalIndex> spare_places(exec, num, "sorting into group order");
  const kernels::SortPairs pairs{members.group.span(), members.place.span(), spare_groups.span(),
                                 spare_places.span()};
  kernels::on(exec, [&](const auto& e) {
    kernels::make_member_keys(e, group_of, members.place.span(), members.group.span());
    kernels::sort_pairs(e, pairs, bits);
  });
  return members;
}

}  // namespace zhalo
