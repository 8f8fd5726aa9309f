#include "zhalo/catalogue/catalogue.hpp"

#include <limits>

#include "kernels/kernels.hpp"
#include "src/core/validate.hpp"
#include "src/domain/balance.hpp"
#include "src/domain/sorted_particles.hpp"

namespace zhalo {
namespace {

template <class Real>
void validate_columns(const Context& context, const kernels::ParticlesView<Real>& particles, const GlobalRange& range,
                      int num_types) {
  const auto summary =
      std::visit([&](const auto& exec) { return kernels::summarize_columns(exec, particles, num_types); }, context.exec);
  const auto first = [&](Index count, Index place) {
    return context.comm.min(count > 0 ? range.first + place : std::numeric_limits<Index>::max());
  };
  const Index bad_masses = context.comm.sum(summary.num_bad_mass);
  const Index first_bad_mass = first(summary.num_bad_mass, summary.first_bad_mass);
  validate(bad_masses == 0,
           "{} of {} particles have a mass that is not positive and finite, the first is particle {}; "
           "give masses, or repair the snapshot",
           bad_masses, range.total, first_bad_mass);
  const Index bad_types = context.comm.sum(summary.num_bad_type);
  const Index first_bad_type = first(summary.num_bad_type, summary.first_bad_type);
  validate(bad_types == 0, "{} of {} particles have a type beyond the {} that were announced, the first is particle {}",
           bad_types, range.total, num_types, first_bad_type);
}

void validate_labels(const Context& context, const kernels::LabelsView& labels) {
  const Index bad = std::visit([&](const auto& exec) { return kernels::count_bad_labels(exec, labels); }, context.exec);
  validate(context.comm.sum(bad) == 0, "{} labels are no global index of a particle; take them from friends_of_friends",
           context.comm.sum(bad));
}

/// Sorts values by keys, in place.
void sort(const Exec& exec, Buffer<std::uint64_t>& keys, Buffer<LocalIndex>& values, int bits) {
  Buffer<std::uint64_t> spare_keys(exec, keys.size(), "sorting into group order");
  Buffer<LocalIndex> spare_values(exec, keys.size(), "sorting into group order");
  const kernels::SortPairs pairs{keys.span(), values.span(), spare_keys.span(), spare_values.span()};
  std::visit([&](const auto& e) { kernels::sort_pairs(e, pairs, bits); }, exec);
}

/// Groups in their order, and each particle's row.
struct Order {
  Buffer<LocalIndex> roots;
  Buffer<Index> length;
  Buffer<Index> group_of;
};

Order order_groups(const Exec& exec, const kernels::LabelsView& labels, Index min_members) {
  const Index num = labels.label.size();
  Order order;
  Buffer<LocalIndex> counts(exec, num, "members of each group");
  std::visit(
      [&](const auto& e) {
        kernels::count_labels(e, labels, counts.span());
        order.roots = kernels::select_groups(e, counts.span(), min_members);
      },
      exec);
  Buffer<std::uint64_t> keys(exec, order.roots.size(), "sorting of groups");
  std::visit([&](const auto& e) { kernels::make_size_keys(e, counts.span(), order.roots.span(), keys.span()); }, exec);
  sort(exec, keys, order.roots, bits_for(num));
  order.length = Buffer<Index>(exec, order.roots.size(), "group lengths");
  order.group_of = Buffer<Index>(exec, num, "group of each particle");
  std::visit(
      [&](const auto& e) {
        kernels::number_rows(e, order.roots.span(), counts.span(), order.length.span());
        kernels::assign_groups(e, labels, counts.span(), order.group_of.span());
      },
      exec);
  return order;
}

/// Places of the members, group by group.
Buffer<LocalIndex> order_members(const Exec& exec, const Order& order) {
  const Span<const Index> group_of = order.group_of.span();
  auto members = std::visit([&](const auto& e) { return kernels::select_members(e, group_of); }, exec);
  Buffer<std::uint64_t> keys(exec, members.size(), "sorting into group order");
  std::visit([&](const auto& e) { kernels::make_member_keys(e, group_of, members.span(), keys.span()); }, exec);
  sort(exec, keys, members, bits_for(order.roots.size()));
  return members;
}

void take_order(const Exec& exec, const Order& order, Index first_index, Catalogue& catalogue) {
  catalogue.length = to_host(exec, order.length);
  for (const LocalIndex root : to_host(exec, order.roots)) catalogue.label.push_back(first_index + root);
  Index sum = 0;
  for (const Index length : catalogue.length) {
    catalogue.offset.push_back(sum);
    sum += length;
  }
  catalogue.num_groups_total = static_cast<Index>(catalogue.length.size());
  catalogue.num_members_total = sum;
}

template <class Real>
void take_rows(const Exec& exec, const kernels::MembersView<Real>& members, Catalogue& catalogue) {
  Buffer<kernels::GroupRow> rows(exec, members.offset.size() - 1, "group properties");
  std::visit([&](const auto& e) { kernels::sum_groups(e, members, rows.span()); }, exec);
  for (const kernels::GroupRow& row : to_host(exec, rows)) {
    catalogue.mass.push_back(row.mass);
    catalogue.centre.push_back(row.centre);
    catalogue.velocity.push_back(row.velocity);
    catalogue.velocity_dispersion.push_back(row.velocity_dispersion);
    catalogue.inertia_radius.push_back(row.inertia_radius);
    catalogue.extent_radius.push_back(row.extent_radius);
  }
}

template <class Real>
void take_types(const Exec& exec, const kernels::MembersView<Real>& members, Catalogue& catalogue) {
  if (catalogue.num_types == 1) {
    catalogue.length_by_type = catalogue.length;
    catalogue.mass_by_type = catalogue.mass;
    return;
  }
  const Index num = (members.offset.size() - 1) * catalogue.num_types;
  Buffer<Index> length(exec, num, "group lengths by type");
  Buffer<double> mass(exec, num, "group masses by type");
  std::visit([&](const auto& e) { kernels::sum_types(e, members, {catalogue.num_types, length.span(), mass.span()}); }, exec);
  catalogue.length_by_type = to_host(exec, length);
  catalogue.mass_by_type = to_host(exec, mass);
}

}  // namespace

template <class Real>
Catalogue make_catalogue(const Context& context, const Particles<Real>& particles, const Box& box, Span<const Index> label,
                         const CatalogueOptions& options) {
  const PhaseTimer timer(context, "catalogue");
  const Exec& exec = context.exec;
  validate(options.min_members >= 1, "a group needs at least {} members (must be at least 1)", options.min_members);
  validate(options.num_types >= 1, "the number of particle types is {} (must be at least 1)", options.num_types);
  validate(label.size() == particles.num(), "there are {} labels for {} particles", label.size(), particles.num());
  validate(context.comm.size() == 1, "a catalogue is made on one rank, the communicator has {}; start one process",
           context.comm.size());
  validate_box(box, particles.dimensions);
  const DeviceParticles<Real> input(exec, particles);
  const GlobalRange range = global_range(context.comm, particles.num());
  const kernels::LabelsView labels{label, range.first};
  validate_columns(context, input.view(), range, options.num_types);
  validate_labels(context, labels);

  Order order = order_groups(exec, labels, options.min_members);
  const Buffer<LocalIndex> places = order_members(exec, order);
  Catalogue catalogue;
  catalogue.num_types = options.num_types;
  take_order(exec, order, range.first, catalogue);

  std::vector<Index> ends = catalogue.offset;
  ends.push_back(catalogue.num_members_total);
  const Buffer<Index> offset = to_exec(exec, Span<const Index>(ends), "group offsets");
  kernels::Frame frame;
  frame.box = box;
  const kernels::MembersView<Real> members{input.view(), frame, places.span(), offset.span()};
  take_rows(exec, members, catalogue);
  take_types(exec, members, catalogue);

  catalogue.members = Buffer<Index>(exec, places.size(), "members in group order");
  std::visit([&](const auto& e) { kernels::make_global(e, places.span(), range.first, catalogue.members.span()); }, exec);
  catalogue.group_of = std::move(order.group_of);
  wait(exec);
  return catalogue;
}

void gather_in_group_order(const Context& context, const Catalogue& catalogue, const GroupOrderColumn& column, void* to) {
  const GlobalRange range = global_range(context.comm, column.num);
  validate(column.num == catalogue.group_of.size(), "the column has {} elements for {} particles", column.num,
           catalogue.group_of.size());
  const kernels::ElementsView elements{column.data, column.element_size, range.first};
  std::visit([&](const auto& e) { kernels::gather_elements(e, elements, catalogue.members.span(), to); }, context.exec);
  wait(context.exec);
}

template Catalogue make_catalogue(const Context&, const Particles<float>&, const Box&, Span<const Index>,
                                  const CatalogueOptions&);
template Catalogue make_catalogue(const Context&, const Particles<double>&, const Box&, Span<const Index>,
                                  const CatalogueOptions&);

}  // namespace zhalo
