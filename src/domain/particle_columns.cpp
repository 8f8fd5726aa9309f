#include "src/domain/particle_columns.hpp"

#include <algorithm>
#include <cmath>

#include "kernels/on.hpp"
#include "kernels/particles.hpp"
#include "src/domain/sorted_particles.hpp"

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

template <class Real>
ColumnTraits traits_of(const Exec& exec, const Particles<Real>& particles,
                       const ParticleSegment<Real>& segment) {
  ColumnTraits traits;
  if (segment.num == 0) return traits;
  for (int axis = 0; axis < particles.dimensions; ++axis) {
    const RealColumn& velocity = segment.velocity[static_cast<std::size_t>(axis)];
    traits.has_velocity |= static_cast<bool>(velocity);
    traits.lacks_velocity |= !velocity;
    traits.has_double_velocity |= velocity && velocity.is_double();
  }
  traits.has_type = static_cast<bool>(segment.type);
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

void add(ColumnTraits& all, const ColumnTraits& other) {
  all.has_velocity |= other.has_velocity;
  all.has_double_velocity |= other.has_double_velocity;
  all.lacks_velocity |= other.lacks_velocity;
  all.has_mass |= other.has_mass;
  all.has_double_mass |= other.has_double_mass;
  all.has_type |= other.has_type;
  all.min_uniform_mass = std::min(all.min_uniform_mass, other.min_uniform_mass);
  all.max_uniform_mass = std::max(all.max_uniform_mass, other.max_uniform_mass);
}

/// The columns of one rank's particles, which go to the domain one by one.
template <class Real>
class ColumnSource {
 public:
  ColumnSource(const Context& context, const kernels::ParticlesView<Real>& from,
               const Redistribution& to_domain)
      : context_(context), from_(from), to_domain_(to_domain) {}

  /// One of the columns, whose rows have `width` elements.
  template <class T>
  Buffer<T> bring(Span<T> kernels::PackedColumns<Real>::*column, Index width = 1) const {
    const Span<const LocalIndex> sent = to_domain_.sent();
    Buffer<T> packed(context_.exec, sent.size() * width, "columns of particles");
    kernels::PackedColumns<Real> to;
    to.*column = packed.span();
    kernels::on(context_.exec, [&](const auto& e) { kernels::pack_particles(e, from_, sent, to); });
    if (context_.comm.size() == 1) return packed;
    Buffer<T> received(context_.exec, to_domain_.num_received() * width, "columns of particles");
    const ColumnView rows{packed.data(), sent.size(), width * static_cast<Index>(sizeof(T)), 0};
    to_domain_.forward(context_, {{rows, received.data(), true}});
    return received;
  }

 private:
  const Context& context_;
  const kernels::ParticlesView<Real>& from_;
  const Redistribution& to_domain_;
};

}  // namespace

template <class Real>
ColumnTraits agree_on_columns(const Context& context, const std::vector<Particles<Real>>& species) {
  ColumnTraits mine;
  for (const Particles<Real>& particles : species) {
    for (const ParticleSegment<Real>& segment : particles.segments)
      add(mine, traits_of(context.exec, particles, segment));
  }
  ColumnTraits all;
  for (const ColumnTraits& of_rank : context.comm.all_gather(mine)) add(all, of_rank);
  return all;
}

template <class Real>
ParticleColumns<Real>::ParticleColumns(const Context& context, const Particles<Real>& particles,
                                       const ColumnTraits& traits,
                                       const Redistribution& to_domain) {
  using Columns = kernels::PackedColumns<Real>;
  const DeviceParticles<Real> input(context.exec, particles, false);
  const ColumnSource<Real> source(context, input.view(), to_domain);
  if (traits.has_double_velocity) {
    velocity_ = source.bring(&Columns::velocity, particles.dimensions);
  } else if (traits.has_velocity) {
    velocity_float_ = source.bring(&Columns::velocity_float, particles.dimensions);
  }
  if (traits.has_one_mass()) {
    if (traits.some_lack_mass()) uniform_mass_ = traits.max_uniform_mass;
  } else if (traits.needs_double_mass()) {
    mass_ = source.bring(&Columns::mass);
  } else {
    mass_float_ = source.bring(&Columns::mass_float);
  }
  if (traits.has_type) type_ = source.bring(&Columns::type);
}

template <class Real>
void ParticleColumns<Real>::show_in(Particles<Real>& particles) const {
  particles.uniform_mass = uniform_mass_;
  ParticleSegment<Real>& segment = particles.segments.front();
  const auto show_velocity = [&](const auto& rows) {
    if (rows.empty()) return;
    for (int axis = 0; axis < particles.dimensions; ++axis) {
      segment.velocity[static_cast<std::size_t>(axis)] = RealColumn(
          rows.data() + axis, particles.dimensions * static_cast<Index>(sizeof(rows.data()[0])));
    }
  };
  show_velocity(velocity_);
  show_velocity(velocity_float_);
  if (!mass_.empty()) segment.mass = mass_.data();
  if (!mass_float_.empty()) segment.mass = mass_float_.data();
  if (!type_.empty()) segment.type = {type_.data()};
}

template ColumnTraits agree_on_columns(const Context&, const std::vector<Particles<float>>&);
template ColumnTraits agree_on_columns(const Context&, const std::vector<Particles<double>>&);
template class ParticleColumns<float>;
template class ParticleColumns<double>;

}  // namespace zhalo
