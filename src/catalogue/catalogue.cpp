#include "zhalo/catalogue/catalogue.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numeric>
#include <type_traits>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "kernels/catalogue.hpp"
#include "kernels/on.hpp"
#include "src/catalogue/members.hpp"
#include "src/catalogue/properties.hpp"
#include "src/comm/agreement.hpp"
#include "src/core/validate.hpp"
#include "src/domain/domain_state.hpp"
#include "zhalo/comm/context.hpp"
#include "zhalo/core/memory_need.hpp"

namespace zhalo {
namespace {

/// What all ranks must have given alike: collectives that follow from it would not meet.
struct Request {
  Box box;
  Index min_members;
  int num_types;
  kernels::TypeSet counted;

  friend bool operator==(const Request&, const Request&) = default;
};

/// A type is a byte.
constexpr int max_types = 256;

void validate_request(const Communicator& comm, const Request& request) {
  validate(request.min_members >= 1, "min_members is {} (must be at least 1)", request.min_members);
  validate(request.num_types >= 1 && request.num_types <= max_types,
           "num_types is {} (must be 1 to {}: a type is a byte)", request.num_types, max_types);
  const std::vector<Request> of_ranks = comm.all_gather(request);
  for (std::size_t rank = 1; rank < of_ranks.size(); ++rank) {
    validate(of_ranks[rank] == of_ranks[0],
             "ranks 0 and {} want catalogues with different dimensions, boxes, min_members or "
             "types; give all ranks the same",
             rank);
  }
}

/// None if none is named: all count.
kernels::TypeSet counted_types(const CatalogueOptions& options) {
  kernels::TypeSet types;
  for (const int type : options.counted_types) {
    validate(type >= 0 && type < options.num_types && type < max_types,
             "counted_types has type {} (there are 0 to {}, by num_types)", type,
             options.num_types - 1);
    types.add(type);
  }
  return types;
}

Request request_of(const Box& box, const CatalogueOptions& options) {
  return {box, options.min_members, options.num_types, counted_types(options)};
}

template <class Real>
GroupOrder order_by_size(const Labelled<Real>& input, const kernels::TypeSet& counted,
                         const GroupLimits& limits) {
  const Context& context = input.domain.context;
  Buffer<LocalIndex> marks;
  if (limits.only_marked) {
    marks = Buffer<LocalIndex>(context.exec, input.label.size(), "particles that count");
    kernels::on(context.exec, [&](const auto& e) {
      kernels::mark_types(e, input.particles.view(), counted, marks.span());
    });
  }
  return order_groups(context, {input.label, marks.span(), input.parts}, limits);
}

void take_order(const Communicator& comm, GroupOrder order, Catalogue& catalogue) {
  catalogue.num_groups_total = order.num_total;
  catalogue.first_group = share_of(order.num_total, comm.rank(), comm.size()).first;
  catalogue.length = std::move(order.length);
  catalogue.label = std::move(order.label);
  catalogue.group_of = std::move(order.group_of);
  const Index num = std::accumulate(catalogue.length.begin(), catalogue.length.end(), Index{0});
  Index offset = comm.exclusive_sum(num);
  for (const Index length : catalogue.length) {
    catalogue.offset.push_back(offset);
    offset += length;
  }
  catalogue.num_members_total = comm.sum(num);
  catalogue.first_member = share_of(catalogue.num_members_total, comm.rank(), comm.size()).first;
}

/// The power of two above.
double unit_above(double largest) {
  return largest > 0 ? std::ldexp(1.0, std::clamp(std::ilogb(largest), -1001, 1022) + 1) : 1;
}

/// The longest side of a box around the particles of all species.
template <class Real>
double extent_of(const DomainState<Real>& domain) {
  double longest = 0;
  for (int axis = 0; axis < domain.box.dimensions; ++axis) {
    double lo = std::numeric_limits<double>::infinity(), hi = -lo;
    for (const DomainSpecies<Real>& species : domain.species) {
      if (species.extent.range.total == 0) continue;
      lo = std::min(lo, species.extent.lo[axis]);
      hi = std::max(hi, species.extent.hi[axis]);
    }
    longest = std::max(longest, domain.box.periodic[axis] ? domain.box.length[axis] : hi - lo);
  }
  validate(std::isfinite(longest),
           "particles are too far apart for centres of mass: their distances overflow float64; "
           "leave out those that are far away");
  return longest;
}

/// Of all ranks.
template <class Real>
Magnitudes largest_of(const DomainState<Real>& domain) {
  const Communicator& comm = domain.context.comm;
  double max_mass = 0, max_velocity = 0;
  for (const DomainSpecies<Real>& species : domain.species) {
    max_mass = std::max(max_mass, species.columns.max_mass());
    max_velocity = std::max(max_velocity, species.columns.max_velocity());
  }
  return {comm.max(max_mass), comm.max(extent_of(domain)), comm.max(max_velocity)};
}

template <class Real>
kernels::HaloFrame halo_frame(const DomainState<Real>& domain, const Magnitudes& largest) {
  kernels::HaloFrame halo;
  halo.frame.box = domain.box;
  halo.unit = {unit_above(largest.mass), unit_above(largest.length), unit_above(largest.velocity)};
  const auto inverse = [](double power) { return std::ldexp(1.0, -std::ilogb(power)); };
  halo.mass_to_unit = inverse(halo.unit.mass);
  halo.velocity_to_unit = inverse(halo.unit.velocity);
  halo.coordinate_to_unit =
      std::ldexp(1.0, -std::ilogb(domain.key_frame.frame.scale) - std::ilogb(halo.unit.length));
  for (int axis = 0; axis < domain.box.dimensions; ++axis) {
    if (domain.box.periodic[axis])
      halo.period[axis] = domain.box.length[axis] * inverse(halo.unit.length);
  }
  return halo;
}

/// What is not known is not there: no zeros.
void forget_velocities(Catalogue& catalogue) {
  catalogue.has_velocities = false;
  const Vec3d unknown{{kernels::unknown, kernels::unknown, kernels::unknown}};
  for (const HaloColumn& column : halo_columns) {
    if (column.unit.velocity == 0) continue;
    for (HaloProperties& row : catalogue.properties) {
      if (const auto* number = std::get_if<double HaloProperties::*>(&column.property)) {
        row.** number = kernels::unknown;
      } else {
        row.*std::get<1>(column.property) = unknown;
      }
    }
  }
}

/// Of this rank's members. One rank alone has no need of the others' indices.
template <class Real>
Buffer<Index> global_indices_in(const Redistribution& group_order, const Labelled<Real>& input) {
  const Context& context = input.domain.context;
  constexpr const char* purpose = "members in group order";
  if (context.comm.size() > 1)
    return group_order.forward(context, input.global_index().view, purpose);
  std::vector<Span<const LocalIndex>> origins;
  for (const DomainSpecies<Real>& species : input.domain.species)
    origins.push_back(species.particles.redistribution.sent());
  const Exec& exec = context.exec;
  const auto origin = to_exec(exec, Span<const Span<const LocalIndex>>(origins), purpose);
  const auto first = to_exec(exec, Span<const Index>(input.first_of_species), purpose);
  Buffer<Index> members(exec, group_order.num_received(), purpose);
  kernels::on(exec, [&](const auto& e) {
    kernels::find_origins_of_members(e, {origin.span(), first.span()}, group_order.sent(),
                                     members.span());
  });
  return members;
}

template <class Real>
Catalogue make(const Labelled<Real>& input, const CatalogueOptions& options) {
  DomainState<Real>& domain = input.domain;
  const Context& context = domain.context;
  validate_input(input, options.num_types);

  const GroupLimits limits{input.num_total, options.min_members, !options.counted_types.empty()};
  Catalogue catalogue;
  catalogue.num_types = options.num_types;
  take_order(context.comm, order_by_size(input, counted_types(options), limits), catalogue);
  MemberKeys keys{catalogue.num_groups_total, input.first_of_species};
  if (context.comm.size() == 1) keys.num_members = catalogue.num_members_total;
  SortedMembers members = sort_members(context.exec, catalogue.group_of.span(), keys);
  catalogue.largest = largest_of(domain);
  const kernels::HaloFrame halo = halo_frame(domain, catalogue.largest);
  const MemberRuns runs{members.key.span(), keys.num_species()};
  const std::optional<int> only_type = options.num_types == 1 ? 0 : domain.only_type;
  const GroupSums sums = sum_properties<Real>(
      context, {input.particles.view(), runs, members.index.span(), only_type}, halo, catalogue);
  const auto order = make_group_order(context, members, keys.bits());
  members = {};
  catalogue.members = global_indices_in(*order, input);
  catalogue.to_group_order = {order};
  Buffer<std::uint64_t> hash(context.exec, 1, "hash of members");
  kernels::on(context.exec, [&](const auto& e) {
    kernels::hash_members(e, catalogue.members.span(), catalogue.first_member, hash.data());
  });
  const std::uint64_t hash_of_members = take_sums(context.exec, sums, hash, halo.unit, catalogue);
  if (!domain.has_velocities) forget_velocities(catalogue);
  catalogue.checksum = checksum_of(context, catalogue, hash_of_members);
  return catalogue;
}

/// Labels and group_of are in the caller's order.
template <class Real>
Catalogue make_in_caller_order(DomainState<Real>& domain, Span<const Index> label,
                               const CatalogueOptions& options) {
  const Context& context = domain.context;
  Distribution<Real>& particles = domain.species.front().particles;
  Buffer<Index> of_domain = particles.redistribution.forward(context, label, "labels");
  Catalogue catalogue = make(Labelled<Real>(domain, of_domain.span()), options);
  of_domain = std::move(catalogue.group_of);
  catalogue.group_of = Buffer<Index>(context.exec, label.size(), "group of each particle");
  particles.redistribution.backward(context, {column_view(of_domain), catalogue.group_of.data()});
  synchronise(context.exec);
  catalogue.to_group_order.insert(
      catalogue.to_group_order.begin(),
      std::make_shared<const Redistribution>(std::move(particles.redistribution)));
  return catalogue;
}

/// Labels are in the order of the domain; parts of groups are those of all ranks, or null.
template <class Real>
Catalogue make_in_domain_order(const Domain<Real>& domain, Span<const Index> label,
                               const LinkedParts* parts, const CatalogueOptions& options) {
  const Context& context = domain.context();
  return together(context, [&] {
    const PhaseTimer timer(context, "catalogue");
    validate_request(context.comm, request_of(domain.box(), options));
    Index num = 0;
    for (int s = 0; s < domain.num_species(); ++s) num += domain.num_total(s);
    const bool of_labels = parts == nullptr;
    const DeviceMemoryScope memory(
        context, fmt::format("a catalogue of {} particles", num), [=](int ranks) {
          return catalogue_need({num, ranks, std::is_same_v<Real, double>}, of_labels).peak;
        });
    return make(Labelled<Real>(*domain.state(), label, parts), options);
  });
}

}  // namespace

template <class Real>
Catalogue make_catalogue(const Domain<Real>& domain, Span<const Index> label,
                         const CatalogueOptions& options) {
  return make_in_domain_order(domain, label, nullptr, options);
}

template <class Real>
Catalogue make_catalogue(const Domain<Real>& domain, const FofResult& groups,
                         const CatalogueOptions& options) {
  return together(domain.context(), [&] {
    for (int s = 1; s < domain.num_species(); ++s)
      validate(domain.num_total(s) == 0,
               "the groups are of the first of {} species of the domain; give make_catalogue what "
               "attach_particles returned for the others, or labels of all",
               domain.num_species());
    std::vector<AttachResult> none(static_cast<std::size_t>(domain.num_species() - 1));
    return make_catalogue(domain, groups, none, options);
  });
}

template <class Real>
Catalogue make_catalogue(const Domain<Real>& domain, const FofResult& groups,
                         const std::vector<AttachResult>& attached,
                         const CatalogueOptions& options) {
  const Context& context = domain.context();
  return together(context, [&] {
    validate_groups(domain, groups);
    validate(std::ssize(attached) == domain.num_species() - 1,
             "particles of {} species are attached to the groups of the first of {}",
             attached.size(), domain.num_species());
    if (attached.empty())
      return make_in_domain_order(domain, groups.label.span(), &groups.parts, options);
    const JoinedSpecies all(domain, groups, attached);
    const bool any_without_parts = context.comm.max(Index{all.lacks_parts()}) == 1;
    return make_in_domain_order(domain, all.label(), any_without_parts ? nullptr : &all.parts(),
                                options);
  });
}

template <class Real>
Catalogue make_catalogue(const Domain<Real>& domain, const std::vector<Span<const Index>>& label,
                         const CatalogueOptions& options) {
  const Context& context = domain.context();
  return together(context, [&] {
    validate(static_cast<int>(label.size()) == domain.num_species(),
             "labels of {} species are given for a domain of {}", label.size(),
             domain.num_species());
    for (int s = 0; s < domain.num_species(); ++s) {
      const Index num = label[static_cast<std::size_t>(s)].size();
      validate(num == domain.num(s), "there are {} labels for {} particles of species {}", num,
               domain.num(s), s);
    }
    if (label.size() == 1) return make_catalogue(domain, label.front(), options);
    const Buffer<Index> all = joined(context.exec, label);
    return make_catalogue(domain, Span<const Index>(all.span()), options);
  });
}

template <class Real>
Catalogue make_catalogue(const Context& context, const Particles<Real>& particles, const Box& box,
                         Span<const Index> label, const CatalogueOptions& options) {
  return together(context, [&] {
    validate_box(box, particles.dimensions);
    validate_box_fits<Real>(box);
    validate_request(context.comm, request_of(box, options));
    validate(label.size() == particles.num(), "there are {} labels for {} particles", label.size(),
             particles.num());
    validate_memory(context.exec, label, "labels");
    // Particles that were attached may lie outside a box that is not periodic.
    const auto domain = make_domain<Real>(context, {{particles, {}, true}}, box, {});
    add_columns(*domain, {particles});
    const PhaseTimer timer(context, "catalogue");
    return make_in_caller_order(*domain, label, options);
  });
}

#define ZHALO_MAKE_CATALOGUE(...) \
  template Catalogue make_catalogue(__VA_ARGS__, const CatalogueOptions&)
#define ZHALO_MAKE_CATALOGUE_OF(Real)                                                            \
  ZHALO_MAKE_CATALOGUE(const Domain<Real>&, Span<const Index>);                                  \
  ZHALO_MAKE_CATALOGUE(const Domain<Real>&, const FofResult&);                                   \
  ZHALO_MAKE_CATALOGUE(const Domain<Real>&, const FofResult&, const std::vector<AttachResult>&); \
  ZHALO_MAKE_CATALOGUE(const Domain<Real>&, const std::vector<Span<const Index>>&);              \
  ZHALO_MAKE_CATALOGUE(const Context&, const Particles<Real>&, const Box&, Span<const Index>)
ZHALO_MAKE_CATALOGUE_OF(float);
ZHALO_MAKE_CATALOGUE_OF(double);

}  // namespace zhalo
