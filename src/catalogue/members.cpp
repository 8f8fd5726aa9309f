#include "src/catalogue/members.hpp"

#include <utility>

#include "kernels/on.hpp"
#include "kernels/sort.hpp"
#include "src/comm/agreement.hpp"
#include "src/core/instantiate.hpp"
#include "src/core/validate.hpp"
#include "src/domain/domain_state.hpp"
#include "src/domain/redistribution.hpp"
#include "zhalo/catalogue/catalogue.hpp"

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

namespace {

// Columns of the particles in group order.

/// Redistributions that a column goes through, one after the other: one or two.
using Steps = std::vector<const Redistribution*>;

Steps steps_of(const Catalogue& catalogue) {
  validate(
      !catalogue.to_group_order.empty(),
      "the catalogue is empty, not as make_catalogue() returned it: it has no order of groups");
  Steps steps;
  for (const auto& step : catalogue.to_group_order) steps.push_back(step.get());
  return steps;
}

/// `to` is to have room for `num_members` elements.
void validate_room(const Context& context, const void* to, Index num_members) {
  validate(to != nullptr || num_members == 0,
           "the room for a column's {} elements on this rank has no memory", num_members);
  validate_memory(context.exec, to, "the room for the column");
}

void validate_gathered(const Context& context, const ColumnView& column, Index num) {
  validate_column(context.exec, column, num);
  validate(context.comm.min(column.element_size) == context.comm.max(column.element_size),
           "the column's elements have different sizes on different ranks");
}

void forward_through(const Context& context, const Steps& steps, const ColumnView& column,
                     void* to) {
  const Redistribution& first = *steps.front();
  if (steps.size() == 1) return first.forward(context, {{column, to}});
  first.forward_through(context, *steps.back(), column, to);
}

/// Columns of all species, one behind the other.
template <class Real>
Buffer<std::byte> in_domain_order(const Domain<Real>& domain,
                                  const std::vector<ColumnView>& columns) {
  const Index size = columns.front().element_size;
  Buffer<std::byte> sorted(domain.context().exec, num_of_species(domain) * size,
                           "a column in the domain's order");
  std::byte* to = sorted.data();
  for (int s = 0; s < domain.num_species(); ++s) {
    domain.to_domain_order(columns[static_cast<std::size_t>(s)], {to, domain.num(s), size}, s);
    to += domain.num(s) * size;
  }
  return sorted;
}

}  // namespace

void gather_in_group_order(const Context& context, const Catalogue& catalogue,
                           const ColumnView& column, void* to) {
  together(context, [&] {
    validate_gathered(context, column, catalogue.group_of.size());
    validate_room(context, to, catalogue.members.size());
    forward_through(context, steps_of(catalogue), column, to);
    synchronise(context.exec);
  });
}

template <class Real>
void gather_in_group_order(const Domain<Real>& domain, const Catalogue& catalogue,
                           const std::vector<ColumnView>& columns, void* to) {
  const Context& context = domain.context();
  together(context, [&] {
    validate(static_cast<int>(columns.size()) == domain.num_species(),
             "columns of {} species are given for a domain of {}", columns.size(),
             domain.num_species());
    validate(catalogue.group_of.size() == num_of_species(domain),
             "the catalogue is of {} particles on this rank, the domain of {} (give the domain "
             "that the catalogue was made of)",
             catalogue.group_of.size(), num_of_species(domain));
    for (int s = 0; s < domain.num_species(); ++s)
      validate_gathered(context, columns[static_cast<std::size_t>(s)], domain.num_origin(s));
    validate_room(context, to, catalogue.members.size());
    Steps steps = steps_of(catalogue);
    validate(steps.size() == 1,
             "the catalogue is of particles in the caller's order, not of a domain (give the "
             "context in place of the domain)");
    if (columns.size() == 1) {
      steps.insert(steps.begin(), &domain.state()->species.front().particles.redistribution);
      forward_through(context, steps, columns.front(), to);
      return synchronise(context.exec);
    }
    const Index element_size = columns.front().element_size;
    const Buffer<std::byte> sorted = in_domain_order(domain, columns);
    const ColumnView column{sorted.data(), sorted.size() / element_size, element_size, 0};
    forward_through(context, steps, column, to);
    synchronise(context.exec);
  });
}

ZHALO_FOR_REALS(gather_in_group_order);

}  // namespace zhalo
