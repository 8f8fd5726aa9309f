#include <algorithm>
#include <cstddef>
#include <cstring>
#include <vector>

#include "src/c/handles.hpp"

namespace zhalo::c {
namespace {

std::size_t size_of(int precision) {
  return one_of(precision, 1, "precision") == ZHALO_FLOAT ? sizeof(float) : sizeof(double);
}

/// A column without its gaps.
std::vector<std::byte> packed(const zhalo_column& column, Index num) {
  const std::size_t size = size_of(column.precision);
  std::vector<std::byte> numbers(static_cast<std::size_t>(num) * size);
  for (Index i = 0; i < num; ++i) {
    std::memcpy(numbers.data() + static_cast<std::size_t>(i) * size,
                static_cast<const std::byte*>(column.data) + i * column.stride_bytes, size);
  }
  return numbers;
}

/// Brings the caller's columns to where the context computes.
class Columns {
 public:
  Columns(const Exec& exec, const zhalo_particles& particles)
      : exec_(exec),
        num_(particles.num),
        copies_(particles.is_on_device == 0 && std::holds_alternative<Cuda>(exec)) {
    validate(particles.is_on_device == 0 || std::holds_alternative<Cuda>(exec),
             "the particles are on a device, and the context computes on the host; copy them to "
             "the host, or make the context with ZHALO_CUDA");
  }

  /// The column with its stride in bytes, in memory of the Exec.
  zhalo_column checked(zhalo_column column, const char* what) {
    if (column.data == nullptr || num_ == 0) return {};
    const auto size = static_cast<Index>(size_of(column.precision));
    if (column.stride_bytes == 0) column.stride_bytes = size;
    validate(column.stride_bytes >= size,
             "{} of {} bytes are {} bytes apart (give the distance in bytes, or 0 for no gaps)",
             what, size, column.stride_bytes);
    if (!copies_) return column;
    const std::vector<std::byte> numbers = packed(column, num_);
    uploaded_.push_back(to_exec(exec_, Span<const std::byte>(numbers), what));
    return {uploaded_.back().data(), size, column.precision};
  }

 private:
  const Exec& exec_;
  Index num_;
  bool copies_;
  std::vector<Buffer<std::byte>> uploaded_;
};

RealColumn real_column(const zhalo_column& column) {
  if (column.data == nullptr) return {};
  if (column.precision == ZHALO_FLOAT)
    return {static_cast<const float*>(column.data), column.stride_bytes};
  return {static_cast<const double*>(column.data), column.stride_bytes};
}

int dimensions_of(const zhalo_particles& particles) {
  const int dimensions = particles.dimensions == 0 ? 3 : particles.dimensions;
  validate(dimensions == 2 || dimensions == 3, "there are {} dimensions (must be 2 or 3)",
           dimensions);
  return dimensions;
}

Box box_of(const zhalo_box& given, int dimensions) {
  Box box;
  box.dimensions = dimensions;
  for (int axis = 0; axis < dimensions; ++axis) {
    box.lo[axis] = given.lo[axis];
    box.length[axis] = given.length[axis];
    box.periodic[axis] = given.periodic[axis] != 0;
  }
  return box;
}

/// Every axis has positions of one precision, and either every axis has velocities or none.
void validate_axes(const zhalo_particles& particles, int dimensions) {
  const int precision = one_of(particles.position[0].precision, 1, "precision of positions");
  const bool has_velocity = particles.velocity[0].data != nullptr;
  for (int axis = 0; axis < dimensions; ++axis) {
    const zhalo_column& position = particles.position[axis];
    validate(position.data != nullptr, "there are {} particles without positions along {}",
             particles.num, "xyz"[axis]);
    validate(position.precision == precision,
             "positions along {} have another precision than along x (all must have one)",
             "xyz"[axis]);
    validate((particles.velocity[axis].data != nullptr) == has_velocity,
             "there are velocities along some axes only (give all or none)");
  }
}

/// Whether positions are float, as all ranks with particles must agree. Collective.
bool agree_on_float(const Communicator& comm, const zhalo_particles& particles) {
  const bool has_particles = particles.num > 0;
  const Index own = particles.position[0].precision;
  const Index highest = comm.max(has_particles ? own : Index{ZHALO_DOUBLE});
  const Index lowest = comm.min(has_particles ? own : highest);
  validate(lowest == highest,
           "some ranks have positions in float and others in double; give all in one precision");
  return highest == ZHALO_FLOAT;
}

template <class Real>
Particles<Real> view(const zhalo_particles& given, int dimensions, Columns& columns) {
  Particles<Real> particles;
  particles.dimensions = dimensions;
  if (given.uniform_mass != 0) particles.uniform_mass = given.uniform_mass;
  ParticleSegment<Real>& segment = particles.segments.emplace_back();
  segment.num = given.num;
  for (int axis = 0; axis < dimensions; ++axis) {
    const zhalo_column position = columns.checked(given.position[axis], "positions");
    const auto i = static_cast<std::size_t>(axis);
    segment.pos[i] = {static_cast<const Real*>(position.data), position.stride_bytes};
    segment.velocity[i] = real_column(columns.checked(given.velocity[axis], "velocities"));
  }
  segment.mass = real_column(columns.checked(given.mass, "masses"));
  return particles;
}

zhalo_domain make_domain_of(const std::shared_ptr<const Context>& context,
                            const zhalo_particles& given, const zhalo_box& given_box) {
  validate(given.num >= 0, "there are {} particles", given.num);
  const int dimensions = dimensions_of(given);
  if (given.num > 0) validate_axes(given, dimensions);
  const Box box = box_of(given_box, dimensions);
  Columns columns(context->exec, given);
  if (agree_on_float(context->comm, given))
    return {context, Domain<float>(*context, view<float>(given, dimensions, columns), box)};
  return {context, Domain<double>(*context, view<double>(given, dimensions, columns), box)};
}

}  // namespace

extern "C" {

int zhalo_set_rows(zhalo_column* columns, const void* rows, int precision, int dimensions) {
  return status_of([&] {
    at(columns, "columns");
    validate(dimensions == 2 || dimensions == 3, "there are {} dimensions (must be 2 or 3)",
             dimensions);
    const std::size_t size = size_of(precision);
    const auto stride = static_cast<Index>(size) * dimensions;
    for (int axis = 0; axis < dimensions; ++axis) {
      const auto* first = static_cast<const std::byte*>(rows);
      if (first != nullptr) first += static_cast<std::size_t>(axis) * size;
      columns[axis] = {first, stride, precision};
    }
  });
}

int zhalo_domain_create(const zhalo_context* context, const zhalo_particles* particles,
                        const zhalo_box* box, zhalo_domain** domain) {
  if (domain != nullptr) *domain = nullptr;
  return status_of([&] {
    const auto& shared = at(context, "context").shared;
    make_handle(shared, domain,
                [&] { return make_domain_of(shared, at(particles, "particles"), at(box, "box")); });
  });
}

int zhalo_domain_get_counts(const zhalo_domain* domain, zhalo_domain_counts* counts) {
  return status_of([&] {
    at(counts, "counts") = std::visit(
        [](const auto& of) {
          return zhalo_domain_counts{of.num_origin(), of.num_total(), of.num_wrapped()};
        },
        at(domain, "domain").particles);
  });
}

void zhalo_domain_destroy(zhalo_domain* domain) { delete domain; }

}  // extern "C"

}  // namespace zhalo::c
