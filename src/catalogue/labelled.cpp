#include "src/catalogue/labelled.hpp"

#include "kernels/catalogue.hpp"
#include "kernels/on.hpp"
#include "kernels/particles.hpp"
#include "src/comm/agreement.hpp"
#include "src/core/host_copies.hpp"
#include "src/core/instantiate.hpp"
#include "src/domain/domain_state.hpp"

namespace zhalo {

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
