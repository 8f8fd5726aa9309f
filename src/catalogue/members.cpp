#include "src/catalogue/members.hpp"

#include <utility>

#include "kernels/catalogue.hpp"
#include "kernels/on.hpp"
#include "kernels/particles.hpp"
#include "kernels/sort.hpp"
#include "src/comm/agreement.hpp"
#include "src/core/host_copies.hpp"
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

// Several species as one.

template <class Real>
JoinedSpecies::JoinedSpecies(const Domain<Real>& domain, const FofResult& groups,
                             const std::vector<AttachResult>& attached)
    : exec_(domain.context().exec) {
  const Index num = num_of_species(domain);
  label_ = Buffer<Index>(exec_, num, "labels");
  parts_.root = Buffer<LocalIndex>(exec_, num, "parts of groups");
  validate(groups.label.size() == domain.num(0), "there are {} labels for {} particles",
           groups.label.size(), domain.num(0));
  put(0, groups.label, groups.parts);
  Index first = domain.num(0);
  for (int s = 1; s < domain.num_species(); first += domain.num(s++)) {
    const AttachResult& result = attached[static_cast<std::size_t>(s - 1)];
    if (result.label.empty() && domain.num(s) > 0) {
      leave_out(first, domain.num(s));
      continue;
    }
    validate(result.label.size() == domain.num(s),
             "there are {} labels for {} particles of species {}", result.label.size(),
             domain.num(s), s);
    // Without particles of the species, a rank may still have parts that others' particles join.
    validate((result.parts.root.empty() && result.parts.crossing.empty()) ||
                 result.parts.search == groups.parts.search,
             "particles of species {} are attached to other groups; attach them to these groups, "
             "or give labels alone",
             s);
    put(first, result.label, result.parts);
  }
}

void JoinedSpecies::put(Index first, const Buffer<Index>& label, const LinkedParts& parts) {
  const auto num = static_cast<std::size_t>(label.size());
  validate_memory(exec_, label.span(), "labels");
  queue_copy(exec_, label_.data() + first, label.data(), num * sizeof(Index));
  parts_.crossing.insert(parts_.crossing.end(), parts.crossing.begin(), parts.crossing.end());
  if (parts.root.size() != label.size()) {
    lacks_parts_ = true;
  } else {
    queue_copy(exec_, parts_.root.data() + first, parts.root.data(), num * sizeof(LocalIndex));
  }
}

void JoinedSpecies::leave_out(Index first, Index num) {
  kernels::on(exec_, [&](const auto& e) {
    kernels::fill(e, label_.span().subspan(first, num), no_group);
    kernels::fill(e, parts_.root.span().subspan(first, num), kernels::no_root<LocalIndex>);
  });
}

template JoinedSpecies::JoinedSpecies(const Domain<float>&, const FofResult&,
                                      const std::vector<AttachResult>&);
template JoinedSpecies::JoinedSpecies(const Domain<double>&, const FofResult&,
                                      const std::vector<AttachResult>&);

// What a catalogue is made of, and whether it can be used.

template <class Real>
GlobalIndices Labelled<Real>::global_index() const {
  const Exec& exec = domain.context.exec;
  for (std::size_t s = 0; s < domain.species.size(); ++s)
    ensure_global_index(domain, static_cast<int>(s));
  GlobalIndices indices;
  indices.view = domain.species.front().particles.global_index.span();
  if (domain.species.size() == 1) return indices;
  indices.joined = Buffer<Index>(exec, label.size(), "global indices");
  Index first = 0;
  for (std::size_t s = 0; s < domain.species.size(); ++s) {
    const Span<const Index> own = domain.species[s].particles.global_index.span();
    const Span<Index> to = indices.joined.span().subspan(first_of_species[s], own.size());
    kernels::on(exec, [&](const auto& e) { kernels::shift(e, own, first, to); });
    first += domain.species[s].extent.range.total;
  }
  indices.view = indices.joined.span();
  return indices;
}

namespace {

/// Bad masses, types and labels, of all ranks.
struct InputSummary {
  NumAndFirst masses;
  NumAndFirst types;
  Index num_bad_labels = 0;
};

template <class Real>
InputSummary examine(const Labelled<Real>& input, const kernels::MemberLimits& limits) {
  const Communicator& comm = input.domain.context.comm;
  const Exec& exec = input.domain.context.exec;
  const GlobalIndices index = input.global_index();
  Buffer<kernels::ColumnSummary> columns(exec, 1, "masses, types and labels");
  Buffer<Index> num_bad_labels(exec, 1, "masses, types and labels");
  kernels::on(exec, [&](const auto& e) {
    kernels::summarize_columns(e, input.particles.view(), index.view, limits.num_types,
                               columns.data());
    kernels::count_bad_labels(e, limits, num_bad_labels.data());
  });
  kernels::ColumnSummary bad;
  Index bad_labels = 0;
  HostCopies copies(exec);
  copies.add(Span<const kernels::ColumnSummary>(columns.span()), &bad);
  copies.add(Span<const Index>(num_bad_labels.span()), &bad_labels);
  copies.wait();
  return {bad_of_ranks(comm, bad.num_bad_mass, bad.first_bad_mass),
          bad_of_ranks(comm, bad.num_bad_type, bad.first_bad_type), comm.sum(bad_labels)};
}

}  // namespace

template <class Real>
void validate_input(const Labelled<Real>& input, int num_types) {
  const Context& context = input.domain.context;
  const kernels::MemberLimits limits{input.label, input.num_total, num_types};
  const DomainState<Real>& domain = input.domain;
  const bool labels_remain = domain.only_mass && kernels::is_mass(*domain.only_mass) &&
                             domain.only_type && *domain.only_type < num_types;
  Buffer<Index> num_bad(context.exec, 1, "masses, types and labels");
  kernels::on(context.exec, [&](const auto& e) {
    if (labels_remain) {
      kernels::count_bad_labels(e, limits, num_bad.data());
    } else {
      kernels::count_bad_members(e, input.particles.view(), limits, num_bad.data());
    }
  });
  if (context.comm.sum(to_host(context.exec, num_bad).front()) == 0) return;
  const InputSummary found = examine(input, limits);
  validate(
      found.masses.num == 0,
      "{} of {} particles have a mass that is not positive and finite, the first is particle {}; "
      "give masses, or repair the snapshot",
      found.masses.num, input.num_total, found.masses.first);
  validate(
      found.types.num == 0,
      "{} of {} particles have a type that is not below num_types, {}; the first is particle {}",
      found.types.num, input.num_total, num_types, found.types.first);
  validate(found.num_bad_labels == 0,
           "{} labels are neither no_group nor a global index of a particle; take them from "
           "friends_of_friends or attach_particles",
           found.num_bad_labels);
}

template struct Labelled<float>;
template struct Labelled<double>;
ZHALO_FOR_REALS(validate_input);

}  // namespace zhalo
