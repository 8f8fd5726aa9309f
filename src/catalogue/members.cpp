#include "src/catalogue/members.hpp"

#include <utility>

#include "kernels/on.hpp"
#include "kernels/sort.hpp"
#include "src/domain/balance.hpp"

namespace zhalo {

int MemberKeys::bits() const { return bits_for(num_groups * num_species()); }

SortedMembers sort_members(const Exec& exec, Span<const Index> group_of, const MemberKeys& keys) {
  SortedMembers members;
  members.index = kernels::on(
      exec, [&](const auto& e) { return kernels::select_members(e, group_of, keys.num_members); });
  const Index num = members.index.size();
  const auto first = to_exec(exec, Span<const Index>(keys.first_of_species), "species");
  members.key = Buffer<std::uint64_t>(exec, num, "sorting into group order");
  Buffer<std::uint64_t> spare_keys(exec, num, "sorting into group order");
  Buffer<LocalIndex> spare_indices(exec, num, "sorting into group order");
  const kernels::SortPairs pairs{members.key.span(), members.index.span(), spare_keys.span(),
                                 spare_indices.span()};
  kernels::on(exec, [&](const auto& e) {
    kernels::make_member_keys(e, group_of, members.index.span(), first.span(), members.key.span());
    kernels::sort_pairs(e, pairs, keys.bits());
  });
  return members;
}

std::shared_ptr<const Redistribution> make_group_order(const Context& context,
                                                       SortedMembers& members, int bits) {
  const Index num = members.index.size();
  if (context.comm.size() == 1) {
    return std::make_shared<const Redistribution>(ExchangePlan{{0, num}, {0, num}},
                                                  std::move(members.index));
  }
  auto order = std::make_shared<Redistribution>(
      plan_even_parts(context, {members.key.span(), bits}), std::move(members.index));
  Buffer<std::uint64_t> received(context.exec, order->num_received(), "keys of members");
  order->forward(context, {{column_view(members.key), received.data(), true}});
  order->set_arrived(sort_indices(context.exec, received.span(), bits));
  return order;
}

}  // namespace zhalo
