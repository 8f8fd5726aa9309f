#include "tests/mpi/c/compare.hpp"

#include <algorithm>
#include <type_traits>
#include <vector>

#include <catch2/catch.hpp>

#include "tests/mpi/c/compare_fields.hpp"
#include "tests/mpi/c/species.hpp"
#include "tests/support/same_bits.hpp"
#include "zhalo/catalogue/attach.hpp"
#include "zhalo/catalogue/catalogue.hpp"
#include "zhalo/fof/fof.hpp"
#include "zhalo/knn/within.hpp"

namespace zhalo::testing {
namespace {

// ---------------------------------------------------------------- groups and their catalogue

void compare_properties(const zhalo_catalogue* own, const Catalogue& wanted) {
  zhalo_property property;
  int num = 0;
  for (; zhalo_get_property(num, &property) == ZHALO_OK; ++num) {
    std::vector<double> numbers;
    for (const HaloColumn& column : halo_columns) {
      if (std::string(column.dataset) != property.name) continue;
      CHECK(property.mass_power == column.unit.mass);
      CHECK(property.length_power == column.unit.length);
      CHECK(property.velocity_power == column.unit.velocity);
      for (const HaloProperties& row : wanted.properties) {
        if (const auto* scalar = std::get_if<double HaloProperties::*>(&column.property)) {
          numbers.push_back(row.**scalar);
        } else {
          const Vec3d& vector = row.*std::get<Vec3d HaloProperties::*>(column.property);
          numbers.insert(numbers.end(), vector.at, vector.at + 3);
        }
      }
    }
    INFO(property.name);
    CHECK(numbers.size() ==
          wanted.properties.size() * static_cast<std::size_t>(property.num_numbers));
    CHECK(same_rows(numbers, [&](double* to, Index room) {
      return zhalo_catalogue_get_property(own, property.name, to, room);
    }));
  }
  CHECK(num == std::count_if(std::begin(halo_columns), std::end(halo_columns),
                             [](const auto& column) { return column.unit.scale_factor == 0; }));
}

void compare_rows(const zhalo_catalogue* own, const Catalogue& wanted) {
  const auto read = [&](const auto get) {
    return [own, get](auto* to, Index room) { return get(own, to, room); };
  };
  zhalo_catalogue_counts counts;
  IS_OK(zhalo_catalogue_get_counts(own, &counts));
  CHECK(counts.num_groups == static_cast<Index>(wanted.length.size()));
  CHECK(counts.num_groups_total == wanted.num_groups_total);
  CHECK(counts.first_group == wanted.first_group);
  CHECK(counts.num_members == wanted.members.size());
  CHECK(counts.num_members_total == wanted.num_members_total);
  CHECK(counts.first_member == wanted.first_member);
  CHECK(counts.has_velocities == 1);
  CHECK(counts.num_types == 3);
  CHECK(counts.checksum == wanted.checksum);
  CHECK(same_rows(wanted.length, read(zhalo_catalogue_get_lengths)));
  CHECK(same_rows(wanted.label, read(zhalo_catalogue_get_labels)));
  CHECK(same_rows(wanted.offset, read(zhalo_catalogue_get_offsets)));
  CHECK(same_rows(wanted.length_by_type, read(zhalo_catalogue_get_lengths_by_type)));
  CHECK(same_rows(wanted.mass_by_type, read(zhalo_catalogue_get_masses_by_type)));
  compare_properties(own, wanted);
}

/// Members, and what they carry: a struct of 12 bytes from 16 to 16.
template <class Real>
void compare_members(const Both<Real>& both, const zhalo_catalogue* own, const Catalogue& wanted) {
  const Exec& exec = both.context.exec;
  CHECK(same_rows(to_host(exec, wanted.members), [&](Index* to, Index room) {
    return zhalo_catalogue_get_members(own, to, room);
  }));
  const std::vector<Tagged>* const tagged[] = {&both.dark.tagged, &both.gas.tagged};
  zhalo_elements elements[2];
  std::vector<ColumnView> columns;
  for (int species = 0; species < 2; ++species) {
    const std::vector<Tagged>& from = *tagged[species];
    elements[species] = {from.data(), Tagged::used_bytes, sizeof(Tagged)};
    columns.push_back({from.data(), both.num(species), Tagged::used_bytes, sizeof(Tagged)});
  }
  const Index num = wanted.members.size();
  Buffer<char> ordered(exec, num * Tagged::used_bytes, "test");
  gather_in_group_order(both.domain, wanted, columns, ordered.data());
  auto values = room_for<char>(num * Tagged::used_bytes);
  IS_OK(zhalo_catalogue_get_member_elements(own, elements, values.data(), num));
  CHECK(same_bits(values, to_host(exec, ordered)));
}

template <class Real>
void compare_catalogues(const Both<Real>& both, const zhalo_groups* groups,
                        const std::vector<Span<const Index>>& labels) {
  const int counted[] = {1, 2};
  const CatalogueOptions options{.min_members = 3, .num_types = 3, .counted_types = {1, 2}};
  const zhalo_catalogue_options in_c{3, 3, counted, 2};
  const Catalogue wanted = make_catalogue(both.domain, labels, options);
  zhalo_catalogue* own = nullptr;
  IS_OK(zhalo_make_catalogue(groups, &in_c, &own));
  CHECK(wanted.num_groups_total > 10);
  compare_rows(own, wanted);
  compare_members(both, own, wanted);
  Index first = 0;
  for (int species = 0; species < 2; ++species) {
    const Span<const Index> rows = wanted.group_of.span().subspan(first, both.domain.num(species));
    first += rows.size();
    CHECK(same_rows(to_host(both.context.exec, both.domain.to_caller_order(rows, species)),
                    [&](Index* to, Index room) {
                      return zhalo_catalogue_get_group_of_particles(own, species, to, room);
                    }));
  }
  zhalo_catalogue_destroy(own);
}

template <class Real>
void compare_groups(const Both<Real>& both) {
  const FofResult fof = friends_of_friends(both.domain, {.linking_length = 0.03});
  zhalo_groups* groups = nullptr;
  IS_OK(zhalo_find_groups(both.in_c_domain, 0.03, &groups));
  const auto labels = [&](int species) {
    return [groups, species](Index* to, Index room) {
      return zhalo_groups_get_labels(groups, species, to, room);
    };
  };
  CHECK(same_rows(both.in_caller_order(fof.label, 0), labels(0)));
  // As long as it is not attached, the gas is in no group.
  const std::vector<Index> none(static_cast<std::size_t>(both.domain.num(1)), no_group);
  compare_catalogues(both, groups, {fof.label.span(), Span<const Index>(none)});
  for (const double radius : {1e-3, 0.05}) {
    const Buffer<Index> attached =
        attach_particles(both.domain, Span<const Index>(fof.label.span()), radius).label;
    IS_OK(zhalo_attach_species(groups, 1, radius));
    CHECK(same_rows(both.in_caller_order(attached, 1), labels(1)));
    CHECK(same_rows(both.in_caller_order(fof.label, 0), labels(0)));
    compare_catalogues(both, groups, {fof.label.span(), attached.span()});
  }
  zhalo_groups_destroy(groups);
}

// ---------------------------------------------------------------- neighbours

template <class Real>
void compare_lists(zhalo_neighbours* own, const std::vector<Real>& distances,
                   const std::vector<Index>& indices) {
  constexpr int precision = std::is_same_v<Real, float> ? ZHALO_FLOAT : ZHALO_DOUBLE;
  CHECK(same_rows(distances, [&](Real* to, Index room) {
    return zhalo_neighbours_get_distances(own, precision, to, room);
  }));
  CHECK(same_rows(
      indices, [&](Index* to, Index room) { return zhalo_neighbours_get_indices(own, to, room); }));
  zhalo_neighbours_destroy(own);
}

/// Rows of k of the domain's queries, in the caller's order.
template <class Real, class T>
std::vector<T> rows_in_caller_order(const Both<Real>& both, const Buffer<T>& rows, Index k,
                                    int species) {
  const auto size = k * static_cast<Index>(sizeof(T));
  std::vector<T> ordered(static_cast<std::size_t>(k * both.num(species)));
  both.domain.to_caller_order(ColumnView{rows.data(), both.domain.num(species), size, 0},
                              {ordered.data(), both.num(species), size}, species);
  return ordered;
}

template <class Real>
void compare_neighbours(const Both<Real>& both, const KnnOptions& options,
                        const KnnSpecies& species) {
  const KnnResult<Real> wanted = knn(both.domain, options, {}, species);
  const zhalo_neighbour_options in_c{.k = options.k,
                                     .exclude_self = options.include_self ? 0 : 1,
                                     .max_radius = options.max_radius,
                                     .queries = species.queries,
                                     .targets = species.targets,
                                     .quantity = 0,
                                     .kernel = 0};
  zhalo_neighbours* own = nullptr;
  IS_OK(zhalo_find_neighbours(both.in_c_domain, &in_c, &own));
  compare_lists(own, rows_in_caller_order(both, wanted.distance, options.k, species.queries),
                rows_in_caller_order(both, wanted.index, options.k, species.queries));
  const Buffer<Index> counts =
      count_within(both.domain, {.radius = 0.04, .include_self = options.include_self}, species);
  zhalo_neighbour_options within = in_c;
  within.max_radius = 0.04;
  CHECK(same_rows(both.in_caller_order(counts, species.queries), [&](Index* to, Index room) {
    return zhalo_count_within(both.in_c_domain, nullptr, &within, to, room);
  }));
}

/// All quantities, by all kernels, of particles and of points.
template <class Real>
void compare_quantities(const Both<Real>& both, const Species<Real>& points,
                        const Species<Real>& targets, int species) {
  const zhalo_particles of_points = points.in_c();
  const Particles<Real> queries = points.in_cpp(), particles = targets.in_cpp();
  const KnnOptions nearest{.k = 6, .max_radius = 0.2};
  for (const QuantityTraits& traits : quantity_table) {
    const auto number = static_cast<int>(traits.quantity);
    for (const auto kernel :
         {SphKernel::cubic_spline, SphKernel::wendland_c2, SphKernel::wendland_c4}) {
      const QuantityOptions wanted{traits.quantity, kernel};
      const zhalo_neighbour_options in_c{
          6, 0, 0.2, 1 - species, species, number, static_cast<int>(kernel)};
      const auto compute = [&](const zhalo_particles* given) {
        return [&, given](double* to, Index room) {
          return zhalo_compute_from_neighbours(both.in_c_domain, given, &in_c, to, room);
        };
      };
      INFO("quantity " << in_c.quantity << ", kernel " << in_c.kernel);
      const Buffer<double> own =
          neighbour_quantity(both.domain, nearest, wanted, {1 - species, species});
      CHECK(same_rows(both.in_caller_order(own, 1 - species), compute(nullptr)));
      const Buffer<double> at_points = neighbour_quantity(
          both.context, Queries<Real>{queries, particles}, both.box, nearest, wanted);
      CHECK(same_rows(to_host(both.context.exec, at_points), compute(&of_points)));
    }
  }
}

/// Points against the particles of C++'s own call, which sorts those of the caller.
template <class Real>
void compare_points(const Both<Real>& both, const Species<Real>& points,
                    const Species<Real>& targets, int species) {
  const zhalo_particles of_points = points.in_c();
  const Particles<Real> queries = points.in_cpp(), particles = targets.in_cpp();
  const Queries<Real> among{queries, particles};
  const KnnResult<Real> wanted = knn(both.context, among, both.box, {.k = 5, .max_radius = 0.3});
  zhalo_neighbour_options in_c{5, 0, 0.3, 99, species, 99, 99};  // 99: not used here
  zhalo_neighbours* own = nullptr;
  IS_OK(zhalo_find_neighbours_of_points(both.in_c_domain, &of_points, &in_c, &own));
  compare_lists(own, to_host(both.context.exec, wanted.distance),
                to_host(both.context.exec, wanted.index));
  const Buffer<Index> counts = count_within(both.context, among, both.box, {.radius = 0.3});
  CHECK(same_rows(to_host(both.context.exec, counts), [&](Index* to, Index room) {
    return zhalo_count_within(both.in_c_domain, &of_points, &in_c, to, room);
  }));
  compare_quantities(both, points, targets, species);
}

template <class Real>
void compare_kind(const zhalo_context* in_c, const Context& context, const Box& box,
                  Index num_gas = 250) {
  const Communicator& comm = context.comm;
  const Species<Real> dark(comm, box, 600, 1), gas(comm, box, num_gas, 2), points(comm, box, 90, 3);
  const zhalo_domain_options options{0.04};
  Both<Real> both{in_c, context,
                  dark, gas,
                  box,  {context, {dark.in_cpp(), gas.in_cpp()}, box, {.min_length = 0.04}}};
  const zhalo_particles species[] = {dark.in_c(), gas.in_c()};
  const zhalo_box c_box = box_in_c(box);
  IS_OK(zhalo_domain_create(in_c, species, 2, &c_box, &options, &both.in_c_domain));
  for (int i = 0; i < 2; ++i) {
    zhalo_domain_counts counts;
    IS_OK(zhalo_domain_get_counts(both.in_c_domain, i, &counts));
    CHECK(counts.num == both.num(i));
    CHECK(counts.num_total == both.domain.num_total(i));
    CHECK(counts.num_wrapped == both.domain.num_wrapped());
    CHECK(counts.num_species == 2);
    CHECK(counts.precision == (std::is_same_v<Real, float> ? ZHALO_FLOAT : ZHALO_DOUBLE));
    compare_fields(both, i);
    compare_spectra(both, i);
  }
  CHECK((both.domain.num_wrapped() > 0) == box.periodic[0]);
  compare_groups(both);
  compare_neighbours(both, {.k = 5}, {0, 0});
  compare_neighbours(both, {.k = 40, .include_self = false, .max_radius = 0.1}, {1, 1});
  compare_neighbours(both, {.k = 3, .max_radius = 0.05}, {1, 0});
  compare_neighbours(both, {.k = 9}, {0, 1});
  compare_points(both, points, dark, 0);
  compare_points(both, points, gas, 1);
  zhalo_domain_destroy(both.in_c_domain);
}

}  // namespace

void compare_c_and_cpp(const zhalo_context* in_c, const Context& in_cpp) {
  Box mixed = Box::periodic_cube(1);
  mixed.periodic[2] = false;
  mixed.length[2] = 0;
  Box flat = Box::periodic_cube(1);
  flat.dimensions = 2;
  compare_kind<float>(in_c, in_cpp, Box::periodic_cube(1));
  compare_kind<double>(in_c, in_cpp, mixed);
  compare_kind<double>(in_c, in_cpp, Box::periodic_cube(1));
  compare_kind<float>(in_c, in_cpp, flat);
  compare_kind<float>(in_c, in_cpp, Box::periodic_cube(1), 1);  // most ranks hold no gas
}

}  // namespace zhalo::testing
