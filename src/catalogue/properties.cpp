#include "src/catalogue/properties.hpp"

#include <utility>

#include "src/catalogue/group_parts.hpp"
#include "src/core/synchronise.hpp"

namespace zhalo {
namespace {

using kernels::HaloReference;

/// The sums over one catalogue's groups.
template <class Real>
struct Summation {
  const Context& context;
  const GroupParts& parts;
  const kernels::MembersView<Real>& members;

  /// The position of each group's first member.
  Buffer<HaloReference> find_references(const std::vector<Index>& length) const {
    Buffer<Vec3d> pos(context.exec, parts.num(), "first members of groups");
    kernels::on(context.exec,
                [&](const auto& e) { kernels::first_positions(e, members, pos.span()); });
    return parts.references(std::move(pos), length);
  }

  /// About the centre: the references become those.
  void add_moments(Span<const HaloReference> of_parts, Buffer<HaloReference>& about,
                   Buffer<HaloProperties>& properties) const {
    Buffer<kernels::Moments> sums(context.exec, parts.num(), "sums over groups");
    kernels::on(context.exec,
                [&](const auto& e) { kernels::sum_moments(e, members, of_parts, sums.span()); });
    sums = parts.add(std::move(sums));
    kernels::on(context.exec, [&](const auto& e) {
      kernels::finish_moments(e, members.halo, sums.span(), about.span(), properties.span());
    });
  }

  void add_spreads(Span<const HaloReference> of_parts, const Buffer<HaloReference>& about,
                   Buffer<HaloProperties>& properties) const {
    Buffer<kernels::Spreads> sums(context.exec, parts.num(), "sums over groups");
    kernels::on(context.exec,
                [&](const auto& e) { kernels::sum_spreads(e, members, of_parts, sums.span()); });
    sums = parts.add(std::move(sums));
    kernels::on(context.exec, [&](const auto& e) {
      kernels::finish_spreads(e, members.halo, sums.span(), about.span(), properties.span());
    });
  }

  void add_types(Span<const HaloReference> of_parts, Catalogue& catalogue) const {
    const Index width = catalogue.num_types;
    Buffer<kernels::TypeSum> sums(context.exec, parts.num() * width, "sums over types");
    kernels::on(context.exec, [&](const auto& e) {
      kernels::sum_types(e, members, of_parts, catalogue.num_types, sums.span());
    });
    const std::vector<kernels::TypeSum> of_rows =
        to_host(context.exec, parts.add(std::move(sums), width));
    for (std::size_t at = 0; at < of_rows.size(); ++at) {
      const Index length = catalogue.length[at / static_cast<std::size_t>(width)];
      const double mass = of_rows[at].mass.value(kernels::resolution_of(length));
      catalogue.length_by_type.push_back(of_rows[at].length);
      catalogue.mass_by_type.push_back(mass * members.halo.unit.mass);
    }
  }
};

}  // namespace

template <class Real>
void sum_properties(const Context& context, const GroupMembers<Real>& members,
                    const kernels::HaloFrame& halo, Catalogue& catalogue) {
  const Exec& exec = context.exec;
  const GroupParts parts(context, members.keys, members.num_species, catalogue.num_groups_total);
  const auto blocks =
      kernels::on(exec, [&](const auto& e) { return kernels::make_blocks(e, parts.offset()); });
  const kernels::MembersView<Real> view{members.particles, halo, members.index,
                                        blocks.view(parts.offset())};
  const Summation<Real> sums{context, parts, view};

  Buffer<HaloReference> about = sums.find_references(catalogue.length);
  Buffer<HaloProperties> properties(exec, parts.num_rows(), "group properties");
  Buffer<HaloReference> of_parts = parts.spread(about);
  sums.add_moments(of_parts.span(), about, properties);
  if (catalogue.num_types > 1) sums.add_types(of_parts.span(), catalogue);
  of_parts = parts.spread(about);
  sums.add_spreads(of_parts.span(), about, properties);
  catalogue.properties = to_host(exec, properties);
  if (catalogue.num_types > 1) return;
  catalogue.length_by_type = catalogue.length;
  for (const HaloProperties& row : catalogue.properties) catalogue.mass_by_type.push_back(row.mass);
}

template void sum_properties(const Context&, const GroupMembers<float>&, const kernels::HaloFrame&,
                             Catalogue&);
template void sum_properties(const Context&, const GroupMembers<double>&, const kernels::HaloFrame&,
                             Catalogue&);

}  // namespace zhalo
