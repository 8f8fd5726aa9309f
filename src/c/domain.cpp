#include "src/c/handles.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <variant>
#include <vector>

#include "kernels/memory.hpp"

namespace zhalo::c {
// The caller's particles.

namespace {

/// A column without its gaps.
std::vector<std::byte> packed(const zhalo_column& column, Index num, std::size_t size) {
  std::vector<std::byte> numbers(static_cast<std::size_t>(num) * size);
  for (Index i = 0; i < num; ++i) {
    std::memcpy(numbers.data() + static_cast<std::size_t>(i) * size,
                static_cast<const std::byte*>(column.data) + i * column.stride_bytes, size);
  }
  return numbers;
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

}  // namespace

std::size_t size_of_number(int precision) {
  return one_of(precision, 1, "precision") == ZHALO_FLOAT ? sizeof(float) : sizeof(double);
}

int dimensions_of(const zhalo_particles& particles) {
  const int dimensions = particles.dimensions == 0 ? 3 : particles.dimensions;
  validate(dimensions == 2 || dimensions == 3, "there are {} dimensions (must be 2 or 3)",
           dimensions);
  return dimensions;
}

CallerColumns::CallerColumns(const Exec& exec, const zhalo_particles& given)
    : exec_(exec),
      given_(given),
      dimensions_(dimensions_of(given)),
      copies_(given.is_on_device == 0 && std::holds_alternative<Cuda>(exec)) {
  validate(given.num >= 0, "there are {} particles", given.num);
  if (given.num > 0) validate_axes(given, dimensions_);
  validate(given.is_on_device == 0 || std::holds_alternative<Cuda>(exec),
           "the particles are on a device, and the context computes on the host; copy them to "
           "the host, or make the context with ZHALO_CUDA");
}

/// The column with its stride in bytes, in memory of the Exec.
zhalo_column CallerColumns::checked(zhalo_column column, std::size_t size, const char* what) {
  if (column.data == nullptr || given_.num == 0) return {};
  const auto bytes = static_cast<Index>(size);
  if (column.stride_bytes == 0) column.stride_bytes = bytes;
  validate(column.stride_bytes >= bytes,
           "{} of {} bytes are {} bytes apart (give the distance in bytes, or 0 for no gaps)", what,
           bytes, column.stride_bytes);
  if (std::holds_alternative<Cuda>(exec_)) validate_location(column, bytes, what);
  if (!copies_) return column;
  const std::vector<std::byte> values = packed(column, given_.num, size);
  uploaded_.push_back(to_exec(exec_, Span<const std::byte>(values), what));
  return {uploaded_.back().data(), bytes, column.precision};
}

/// A wrong location would fail where nothing can be mended: in a copy or in a kernel.
void CallerColumns::validate_location(const zhalo_column& column, Index bytes,
                                      const char* what) const {
  if (copies_) {
    const kernels::MemoryOwner owner = kernels::owner_of(std::get<Cuda>(exec_), column.data);
    validate(owner == kernels::MemoryOwner::host || owner == kernels::MemoryOwner::both,
             "{} are in memory of a device (set is_on_device to 1)", what);
    return;
  }
  validate_numbers(exec_, column.data, column.stride_bytes, bytes, what);
}

RealColumn CallerColumns::numbers(const zhalo_column& column, const char* what) {
  if (column.data == nullptr || given_.num == 0) return {};
  const zhalo_column from = checked(column, size_of_number(column.precision), what);
  if (from.precision == ZHALO_FLOAT)
    return {static_cast<const float*>(from.data), from.stride_bytes};
  return {static_cast<const double*>(from.data), from.stride_bytes};
}

Strided<std::uint8_t> CallerColumns::types() {
  if (given_.num == 0) return {nullptr};
  if (given_.type.data != nullptr) {
    validate(given_.type.precision == ZHALO_UINT8,
             "the types of particles are given as numbers of kind {} (must be ZHALO_UINT8)",
             given_.type.precision);
    const zhalo_column from = checked(given_.type, 1, "types");
    return {static_cast<const std::uint8_t*>(from.data), from.stride_bytes};
  }
  validate(given_.uniform_type >= 0 && given_.uniform_type <= 255,
           "the type of all particles is {} (must be 0 to 255)", given_.uniform_type);
  if (given_.uniform_type == 0) return {nullptr};
  const auto type = static_cast<std::byte>(given_.uniform_type);
  uploaded_.push_back(to_exec(exec_, Span<const std::byte>(&type, 1), "type of all particles"));
  return {reinterpret_cast<const std::uint8_t*>(uploaded_.back().data()), 0};
}

template <class Real>
Particles<Real> CallerColumns::positions() {
  Particles<Real> particles;
  particles.dimensions = dimensions_;
  ParticleSegment<Real>& segment = particles.segments.emplace_back();
  segment.num = given_.num;
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(dimensions_); ++axis) {
    const zhalo_column position = checked(given_.position[axis], sizeof(Real), "positions");
    segment.pos[axis] = {static_cast<const Real*>(position.data), position.stride_bytes};
  }
  return particles;
}

template <class Real>
Particles<Real> CallerColumns::view() {
  Particles<Real> particles = positions<Real>();
  if (given_.uniform_mass != 0) particles.uniform_mass = given_.uniform_mass;
  ParticleSegment<Real>& segment = particles.segments.front();
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(dimensions_); ++axis)
    segment.velocity[axis] = numbers(given_.velocity[axis], "velocities");
  segment.mass = numbers(given_.mass, "masses");
  segment.type = types();
  return particles;
}

template Particles<float> CallerColumns::positions();
template Particles<double> CallerColumns::positions();
template Particles<float> CallerColumns::view();
template Particles<double> CallerColumns::view();

// Domains.

namespace {

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

/// Whether positions are float, as all species with particles on all ranks must agree. Without any
/// particles they are if a rank says so. Collective.
bool agree_on_float(const Communicator& comm, Span<const zhalo_particles> species) {
  constexpr Index none = -1;
  Index own_highest = none;
  Index own_lowest = ZHALO_FLOAT;
  Index own_stated = ZHALO_DOUBLE;
  for (const zhalo_particles& given : species) {
    const Index precision = given.position[0].precision;
    if (precision == ZHALO_FLOAT) own_stated = precision;
    if (given.num == 0) continue;
    own_highest = std::max(own_highest, precision);
    own_lowest = std::min(own_lowest, precision);
  }
  const Index highest = comm.max(own_highest);
  const Index lowest = comm.min(own_lowest);
  const Index stated = comm.max(own_stated);
  validate(highest != ZHALO_FLOAT || lowest == highest,
           "some ranks or species have positions in float and others in double; give all in one "
           "precision");
  return (highest == none ? stated : highest) == ZHALO_FLOAT;
}

/// What of its particles a rank gives. Types are 0 where nothing else is said.
struct GivenColumn {
  const char* name;
  bool (*is_given)(const zhalo_particles& particles);
};
constexpr GivenColumn given_columns[] = {
    {"velocities", [](const zhalo_particles& of) { return of.velocity[0].data != nullptr; }},
    {"masses",
     [](const zhalo_particles& of) { return of.mass.data != nullptr || of.uniform_mass != 0; }},
};

/// InputError if some ranks give a column of a species and others with particles do not: they have
/// forgotten it, and nobody would miss it. Collective.
void validate_columns_of_ranks(const Communicator& comm, Span<const zhalo_particles> species) {
  if (comm.size() == 1) return;
  const Index num_species = species.size();
  const Index max_species = comm.max(num_species);
  validate(num_species == max_species,
           "the ranks do not give as many species: {} here, {} elsewhere", num_species,
           max_species);
  for (Index s = 0; s < num_species; ++s) {
    const zhalo_particles& own = species[s];
    for (const GivenColumn& column : given_columns) {
      const bool is_given = own.num > 0 && column.is_given(own);
      const bool is_given_somewhere = comm.max(Index{is_given}) != 0;
      validate(own.num == 0 || is_given == is_given_somewhere,
               "the particles of species {} have no {} on this rank, and others have; give them "
               "on all ranks, or on none",
               s, column.name);
    }
  }
}

template <class Real>
Domain<Real> domain_of(const Context& context, std::vector<CallerColumns>& given, const Box& box,
                       const DomainOptions& options) {
  std::vector<Particles<Real>> species;
  species.reserve(given.size());
  for (CallerColumns& one : given) species.push_back(one.view<Real>());
  return Domain<Real>(context, species, box, options);
}

zhalo_domain make_domain_of(const std::shared_ptr<const Context>& context,
                            Span<const zhalo_particles> species, const zhalo_box& given_box,
                            const zhalo_domain_options& given_options) {
  std::vector<CallerColumns> given;
  given.reserve(static_cast<std::size_t>(species.size()));
  for (const zhalo_particles& one : species) given.emplace_back(context->exec, one);
  const Box box = box_of(given_box, dimensions_of(species[0]));
  validate_columns_of_ranks(context->comm, species);
  DomainOptions options;
  options.min_length = given_options.min_length;
  if (agree_on_float(context->comm, species))
    return {context, domain_of<float>(*context, given, box, options)};
  return {context, domain_of<double>(*context, given, box, options)};
}

}  // namespace

extern "C" {

int zhalo_set_rows(zhalo_column* columns, const void* rows, int precision, int dimensions) {
  return status_of([&] {
    at(columns, "columns");
    validate(dimensions == 2 || dimensions == 3, "there are {} dimensions (must be 2 or 3)",
             dimensions);
    const std::size_t size = size_of_number(precision);
    const auto stride = static_cast<Index>(size) * dimensions;
    for (int axis = 0; axis < dimensions; ++axis) {
      const auto* first = static_cast<const std::byte*>(rows);
      if (first != nullptr) first += static_cast<std::size_t>(axis) * size;
      columns[axis] = {first, stride, precision};
    }
  });
}

// NOLINTNEXTLINE(readability-function-size): C needs a pointer and a size where C++ has a span
int zhalo_domain_create(const zhalo_context* context, const zhalo_particles* species,
                        int num_species, const zhalo_box* box, const zhalo_domain_options* options,
                        zhalo_domain** domain) {
  if (domain != nullptr) *domain = nullptr;
  return status_of([&] {
    const auto& shared = at(context, "context").shared;
    make_handle(shared, domain, [&] {
      validate(num_species > 0, "there are {} species (must be at least 1)", num_species);
      return make_domain_of(shared, {&at(species, "particles"), num_species}, at(box, "box"),
                            options_or_default(options));
    });
  });
}

int zhalo_domain_get_counts(const zhalo_domain* domain, int species, zhalo_domain_counts* counts) {
  return status_of([&] {
    const zhalo_domain& from = at(domain, "domain");
    const bool is_float = std::holds_alternative<Domain<float>>(from.particles);
    at(counts, "counts") = call_with(from, [&](const auto& of) {
      return zhalo_domain_counts{of.num_origin(species), of.num_total(species), of.num_wrapped(),
                                 of.num_species(), is_float ? ZHALO_FLOAT : ZHALO_DOUBLE};
    });
  });
}

void zhalo_domain_destroy(zhalo_domain* domain) { delete domain; }

}  // extern "C"

}  // namespace zhalo::c
