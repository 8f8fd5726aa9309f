#include "src/domain/domain_state.hpp"

#include <algorithm>
#include <cmath>
#include <type_traits>

#include "kernels/on.hpp"
#include "kernels/particles.hpp"
#include "src/core/instantiate.hpp"
#include "src/domain/positions.hpp"

namespace zhalo {
namespace {

/// The number that all elements are.
double number_of(const Exec& exec, const RealColumn& column) {
  double number = 0;
  if (column.is_double()) {
    copy_bytes(exec, &number, column.data(), sizeof(double));
    return number;
  }
  float single = 0;
  copy_bytes(exec, &single, column.data(), sizeof(float));
  return static_cast<double>(single);
}

/// The type of all particles of a segment.
std::uint8_t type_of(const Exec& exec, const Strided<std::uint8_t>& column) {
  std::uint8_t type = 0;
  if (column) copy_bytes(exec, &type, column.data, 1);
  return type;
}

/// Along some axis.
template <class Real>
bool lacks_velocity(const Particles<Real>& particles, const ParticleSegment<Real>& segment) {
  const auto end = segment.velocity.begin() + particles.dimensions;
  return segment.num > 0 &&
         !std::all_of(segment.velocity.begin(), end,
                      [](const RealColumn& column) { return static_cast<bool>(column); });
}

template <class Real>
ColumnTraits traits_of(const Exec& exec, const Particles<Real>& particles,
                       const ParticleSegment<Real>& segment) {
  ColumnTraits traits;
  if (segment.num == 0) return traits;
  traits.lacks_velocity = lacks_velocity(particles, segment);
  for (int axis = 0; axis < particles.dimensions; ++axis) {
    const RealColumn& velocity = segment.velocity[static_cast<std::size_t>(axis)];
    traits.has_velocity |= static_cast<bool>(velocity);
    traits.has_double_velocity |= velocity && velocity.is_double();
  }
  if (segment.type && segment.type.stride_bytes != 0) {
    traits.has_types = true;
  } else {
    traits.min_type = traits.max_type = type_of(exec, segment.type);
  }
  if (segment.mass && !segment.mass.is_one_number()) {
    traits.has_mass = true;
    traits.has_double_mass = segment.mass.is_double();
    return traits;
  }
  const double mass = segment.mass ? number_of(exec, segment.mass) : particles.uniform_mass;
  traits.min_uniform_mass = traits.max_uniform_mass = mass;
  // What is no number is not one mass for all: it becomes a column, and an error when it is used.
  constexpr double infinity = std::numeric_limits<double>::infinity();
  if (std::isnan(mass)) {
    traits.min_uniform_mass = -infinity;
    traits.max_uniform_mass = infinity;
  }
  return traits;
}

/// The only segment with particles, or null.
template <class Real>
const ParticleSegment<Real>* only_segment(const Particles<Real>& particles) {
  const ParticleSegment<Real>* only = nullptr;
  for (const ParticleSegment<Real>& segment : particles.segments) {
    if (segment.num == 0) continue;
    if (only != nullptr) return nullptr;
    only = &segment;
  }
  return only;
}

/// A column as it lies, if it is one of T; or no data. Elements at distance 0 would be elements
/// without gaps.
template <class T>
ColumnView view_of(const RealColumn& column, Index num) {
  if (!column || column.is_one_number() || column.is_double() != std::is_same_v<T, double>)
    return {};
  return {column.data(), num, static_cast<Index>(sizeof(T)), column.stride_bytes()};
}

/// Rows of velocities that lie as (num, dimensions) in one array of T; or no data.
template <class T, class Real>
ColumnView velocity_rows(const ParticleSegment<Real>& segment, int dimensions) {
  ColumnView rows = view_of<T>(segment.velocity.front(), segment.num);
  if (rows.data == nullptr) return {};
  for (int axis = 1; axis < dimensions; ++axis) {
    const auto column = view_of<T>(segment.velocity[static_cast<std::size_t>(axis)], segment.num);
    const bool follows = column.data == static_cast<const T*>(rows.data) + axis;
    if (!follows || column.stride_bytes != rows.stride_bytes) return {};
  }
  rows.element_size *= dimensions;
  return rows;
}

/// The columns of one rank's particles, which go to the domain one by one.
template <class Real>
class ColumnSource {
 public:
  ColumnSource(const Context& context, const Particles<Real>& particles,
               const Redistribution& to_domain)
      : context_(context),
        particles_(particles),
        from_(context.exec, particles, false),
        only_(only_segment(particles)),
        to_domain_(to_domain) {}

  template <class T>
  Buffer<T> velocities(Span<T> kernels::PackedColumns<Real>::*column) const {
    const int dimensions = particles_.dimensions;
    return only_ != nullptr ? as_it_lies(velocity_rows<T>(*only_, dimensions), column, dimensions)
                            : packed(column, dimensions);
  }
  template <class T>
  Buffer<T> masses(Span<T> kernels::PackedColumns<Real>::*column) const {
    return only_ != nullptr ? as_it_lies(view_of<T>(only_->mass, only_->num), column)
                            : packed(column);
  }
  Buffer<std::uint8_t> types() const {
    const auto column = &kernels::PackedColumns<Real>::type;
    if (only_ == nullptr || only_->type.stride_bytes == 0) return packed(column);
    return as_it_lies<std::uint8_t>({only_->type.data, only_->num, 1, only_->type.stride_bytes},
                                    column);
  }

 private:
  /// Rows of `width` elements; without data, those of the column.
  template <class T>
  Buffer<T> as_it_lies(const ColumnView& rows, Span<T> kernels::PackedColumns<Real>::*column,
                       Index width = 1) const {
    return rows.data != nullptr ? forwarded<T>({rows}, width) : packed(column, width);
  }

  template <class T>
  Buffer<T> packed(Span<T> kernels::PackedColumns<Real>::*column, Index width = 1) const {
    const Span<const LocalIndex> sent = to_domain_.sent();
    Buffer<T> packed(context_.exec, sent.size() * width, "columns of particles");
    kernels::PackedColumns<Real> to;
    to.*column = packed.span();
    kernels::on(context_.exec,
                [&](const auto& e) { kernels::pack_particles(e, from_.view(), sent, to); });
    if (context_.comm.size() == 1) return packed;
    const ColumnView rows{packed.data(), sent.size(), width * static_cast<Index>(sizeof(T)), 0};
    return forwarded<T>({rows, nullptr, true}, width);
  }

  template <class T>
  Buffer<T> forwarded(Redistribution::Move move, Index width) const {
    Buffer<T> received(context_.exec, to_domain_.num_received() * width, "columns of particles");
    move.to = received.data();
    to_domain_.forward(context_, {move});
    return received;
  }

  const Context& context_;
  const Particles<Real>& particles_;
  const SegmentTable<Real> from_;
  const ParticleSegment<Real>* only_;  ///< with all particles of this rank, or null
  const Redistribution& to_domain_;
};

}  // namespace

void ColumnTraits::add(const ColumnTraits& other) {
  has_velocity |= other.has_velocity;
  has_double_velocity |= other.has_double_velocity;
  lacks_velocity |= other.lacks_velocity;
  has_mass |= other.has_mass;
  has_double_mass |= other.has_double_mass;
  has_types |= other.has_types;
  min_type = std::min(min_type, other.min_type);
  max_type = std::max(max_type, other.max_type);
  min_uniform_mass = std::min(min_uniform_mass, other.min_uniform_mass);
  max_uniform_mass = std::max(max_uniform_mass, other.max_uniform_mass);
}

template <class Real>
std::vector<ColumnTraits> agree_on_columns(const Context& context,
                                           const std::vector<Particles<Real>>& species) {
  std::vector<ColumnTraits> all;
  for (const Particles<Real>& particles : species) {
    ColumnTraits mine;
    for (const ParticleSegment<Real>& segment : particles.segments)
      mine.add(traits_of(context.exec, particles, segment));
    ColumnTraits of_ranks;
    for (const ColumnTraits& of_rank : context.comm.all_gather(mine)) of_ranks.add(of_rank);
    all.push_back(of_ranks);
  }
  return all;
}

template <class Real>
ParticleColumns<Real>::ParticleColumns(const Context& context, const Particles<Real>& particles,
                                       const ColumnTraits& traits,
                                       const Redistribution& to_domain) {
  using Columns = kernels::PackedColumns<Real>;
  const ColumnSource<Real> source(context, particles, to_domain);
  if (traits.all_have_velocity() && traits.has_double_velocity) {
    velocity_ = source.velocities(&Columns::velocity);
  } else if (traits.all_have_velocity()) {
    velocity_float_ = source.velocities(&Columns::velocity_float);
  }
  if (traits.has_one_mass()) {
    if (traits.some_lack_mass()) uniform_mass_ = traits.max_uniform_mass;
    one_mass_ = to_exec(context.exec, Span<const double>(&uniform_mass_, 1), "mass of all");
  } else if (traits.needs_double_mass()) {
    mass_ = source.masses(&Columns::mass);
  } else {
    mass_float_ = source.masses(&Columns::mass_float);
  }
  if (traits.has_one_type()) {
    const std::uint8_t type = traits.min_type;
    type_ = to_exec(context.exec, Span<const std::uint8_t>(&type, 1), "type of all");
  } else {
    type_ = source.types();
  }
  const auto largest = [&](const auto& column) {
    return static_cast<double>(kernels::on(
        context.exec, [&](const auto& e) { return kernels::max_magnitude(e, column.span()); }));
  };
  max_velocity_ = std::max(largest(velocity_), largest(velocity_float_));
  max_mass_ = std::max(largest(mass_), largest(mass_float_));
  if (traits.has_one_mass() && traits.some_lack_mass()) max_mass_ = uniform_mass_;
}

template <class Real>
void ParticleColumns<Real>::show_in(ParticleSegment<Real>& segment, int dimensions) const {
  const auto show_velocity = [&](const auto& rows) {
    if (rows.empty()) return;
    for (int axis = 0; axis < dimensions; ++axis) {
      segment.velocity[static_cast<std::size_t>(axis)] =
          RealColumn(rows.data() + axis, dimensions * static_cast<Index>(sizeof(rows.data()[0])));
    }
  };
  show_velocity(velocity_);
  show_velocity(velocity_float_);
  if (!mass_.empty()) segment.mass = mass_.data();
  if (!mass_float_.empty()) segment.mass = mass_float_.data();
  if (!type_.empty()) segment.type = {type_.data(), type_.size() == 1 ? 0 : Index{1}};
}

ZHALO_FOR_REALS(agree_on_columns);
template class ParticleColumns<float>;
template class ParticleColumns<double>;

}  // namespace zhalo
