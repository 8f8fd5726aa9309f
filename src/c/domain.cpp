#include <algorithm>
#include <cstddef>
#include <variant>
#include <vector>

#include "src/c/particles.hpp"

namespace zhalo::c {
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
