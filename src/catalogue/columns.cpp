// Columns of the particles in group order.

#include "kernels/on.hpp"
#include "src/comm/agreement.hpp"
#include "src/core/instantiate.hpp"
#include "src/core/validate.hpp"
#include "src/domain/domain_state.hpp"
#include "zhalo/catalogue/catalogue.hpp"

namespace zhalo {
namespace {

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
