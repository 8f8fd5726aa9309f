#include "src/catalogue/members.hpp"

#include <algorithm>
#include <limits>

#include "kernels/on.hpp"
#include "src/catalogue/sort_members.hpp"
#include "src/domain/balance.hpp"

namespace zhalo {

Members order_members(const Context& context, Span<const Index> group_of, Index num_groups) {
  const int bits = bits_for(num_groups);
  SortedMembers own = sort_members(context.exec, group_of, bits);
  const Index num = own.place.size();
  if (context.comm.size() == 1) {
    auto stay =
        std::make_shared<Redistribution>(ExchangePlan{{0, num}, {0, num}}, std::move(own.place));
    return {std::move(own.group), std::move(stay)};
  }
  auto redistribution = std::make_shared<Redistribution>(
      plan_even_parts(context, {own.group.span(), bits}), std::move(own.place));
  Members members;
  members.row = Buffer<std::uint64_t>(context.exec, redistribution->num_received(), "rows");
  redistribution->forward(context, {{column_view(own.group), members.row.data(), true}});
  redistribution->set_arrived(sort_indices(context.exec, members.row.span(), bits));
  members.redistribution = std::move(redistribution);
  return members;
}

Buffer<Index> global_indices(const Context& context, const Members& members, Index first_index) {
  const Redistribution& redistribution = *members.redistribution;
  Buffer<Index> sent(context.exec, redistribution.sent().size(), "members to send");
  kernels::on(context.exec, [&](const auto& e) {
    kernels::make_global(e, redistribution.sent(), first_index, sent.span());
  });
  if (context.comm.size() == 1) return sent;
  Buffer<Index> ordered(context.exec, redistribution.num_received(), "members in group order");
  redistribution.forward(context, {{column_view(sent), ordered.data(), true}});
  return ordered;
}

namespace {

/// Columns of all ranks: which there are, and in which precision they travel so that nothing is
/// lost.
struct Traits {
  bool has_velocity = false;
  bool has_double_velocity = false;
  bool has_mass = false;
  bool has_double_mass = false;
  bool has_type = false;
  /// Masses of particles without a column lie between these.
  double min_uniform_mass = std::numeric_limits<double>::infinity();
  double largest_uniform_mass = 0;

  bool has_one_mass() const { return !has_mass && min_uniform_mass >= largest_uniform_mass; }
  /// A uniform mass is given in double.
  bool needs_double_mass() const { return has_double_mass || largest_uniform_mass > 0; }

  void add(const Traits& other) {
    has_velocity = has_velocity || other.has_velocity;
    has_double_velocity = has_double_velocity || other.has_double_velocity;
    has_mass = has_mass || other.has_mass;
    has_double_mass = has_double_mass || other.has_double_mass;
    has_type = has_type || other.has_type;
    min_uniform_mass = std::min(min_uniform_mass, other.min_uniform_mass);
    largest_uniform_mass = std::max(largest_uniform_mass, other.largest_uniform_mass);
  }
};

template <class Real>
Traits traits_of(const ParticleSegment<Real>& segment, double uniform_mass) {
  Traits traits;
  if (segment.num == 0) return traits;
  for (const RealColumn& axis : segment.velocity) {
    traits.has_velocity = traits.has_velocity || axis;
    traits.has_double_velocity = traits.has_double_velocity || (axis && axis.is_double());
  }
  traits.has_type = static_cast<bool>(segment.type);
  traits.has_mass = static_cast<bool>(segment.mass);
  traits.has_double_mass = segment.mass && segment.mass.is_double();
  if (!segment.mass) traits.min_uniform_mass = traits.largest_uniform_mass = uniform_mass;
  return traits;
}

template <class Real>
Traits agree_on_traits(const Communicator& comm, const Particles<Real>& particles) {
  Traits mine;
  for (const auto& segment : particles.segments)
    mine.add(traits_of(segment, particles.uniform_mass));
  Traits all;
  for (const Traits& of_rank : comm.all_gather(mine)) all.add(of_rank);
  return all;
}

/// Columns of members in the order in which they come.
template <class Real>
struct PackedMembers {
  const Context& context;
  const kernels::ParticlesView<Real>& from;
  const Redistribution& redistribution;

  /// One of the columns, whose rows have `width` elements.
  template <class T>
  Buffer<T> bring(Span<T> kernels::PackedColumns<Real>::*column, Index width) const {
    Buffer<T> packed(context.exec, redistribution.sent().size() * width, "columns of members");
    kernels::PackedColumns<Real> to;
    to.*column = packed.span();
    kernels::on(context.exec, [&](const auto& e) {
      kernels::pack_particles(e, from, redistribution.sent(), to);
    });
    Buffer<T> received(context.exec, redistribution.num_received() * width, "columns of members");
    const ColumnView rows{packed.data(), packed.size() / width,
                          width * static_cast<Index>(sizeof(T)), 0};
    Redistribution(redistribution.plan()).forward(context, {{rows, received.data()}});
    return received;
  }
};

}  // namespace

template <class Real>
MemberParticles<Real>::MemberParticles(const Context& context, const Particles<Real>& particles,
                                       const kernels::ParticlesView<Real>& view,
                                       const Redistribution& redistribution)
    : view_(view) {
  if (context.comm.size() == 1) return;
  using Columns = kernels::PackedColumns<Real>;
  const Traits traits = agree_on_traits(context.comm, particles);
  const PackedMembers<Real> packed{context, view, redistribution};
  const int dimensions = view.dimensions;
  kernels::SegmentView<Real> segment;
  segment.num = redistribution.num_received();
  const auto row = [dimensions](auto size) { return dimensions * static_cast<Index>(size); };
  pos_ = packed.bring(&Columns::pos, dimensions);
  for (int axis = 0; axis < dimensions; ++axis)
    segment.pos[axis] = {pos_.data() + axis, row(sizeof(Real))};
  if (traits.has_double_velocity) {
    velocity_ = packed.bring(&Columns::velocity, dimensions);
    for (int axis = 0; axis < dimensions; ++axis)
      segment.velocity[axis] = {velocity_.data() + axis, row(sizeof(double))};
  } else if (traits.has_velocity) {
    velocity_float_ = packed.bring(&Columns::velocity_float, dimensions);
    for (int axis = 0; axis < dimensions; ++axis)
      segment.velocity[axis] = {velocity_float_.data() + axis, row(sizeof(float))};
  }
  if (traits.has_one_mass()) {
    view_.uniform_mass = traits.largest_uniform_mass;
  } else if (traits.needs_double_mass()) {
    segment.mass = (mass_ = packed.bring(&Columns::mass, 1)).data();
  } else {
    segment.mass = (mass_float_ = packed.bring(&Columns::mass_float, 1)).data();
  }
  if (traits.has_type) segment.type = {(type_ = packed.bring(&Columns::type, 1)).data()};
  segments_ = to_exec(context.exec, Span<const kernels::SegmentView<Real>>(&segment, 1),
                      "table of particle segments");
  view_.segments = segments_.span();
  view_.num = segment.num;
}

template class MemberParticles<float>;
template class MemberParticles<double>;

}  // namespace zhalo
