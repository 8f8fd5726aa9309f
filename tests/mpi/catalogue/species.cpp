/// Catalogues of domains of one and two species, on any number of ranks.
#include <catch2/catch.hpp>

#include <cmath>
#include <numeric>

#include "tests/mpi/catalogue/lattice.hpp"
#include "zhalo/catalogue/attach.hpp"

namespace zhalo::testing {
namespace {

std::vector<Index> indices_from(Index first, Index num) {
  std::vector<Index> indices(static_cast<std::size_t>(num));
  std::iota(indices.begin(), indices.end(), first);
  return indices;
}

/// The catalogue of two species of one domain; this rank has these shares of them.
Catalogue of_two_species(const Context& context, const PointSet& points, Share linked_here,
                         Share others_here, Index min_members = 10) {
  const Box box = Box::periodic_cube(1);
  const Placed<double> linked(points.linked, linked_here, 3);
  const Placed<double> others(points.others, others_here, 3);
  const Domain<double> domain(context, {linked.particles, others.particles}, box);
  const std::vector<Index> label = part(points.label, linked_here);
  const Buffer<Index> of_linked = domain.to_domain_order(label);
  const Buffer<Index> of_others = attach_particles(domain, of_linked.span(), 2.0 / cells).label;
  Catalogue catalogue =
      make_catalogue(domain, {of_linked.span(), of_others.span()}, {.min_members = min_members});
  const std::vector<Index> first = indices_from(linked_here.first, linked_here.count);
  const std::vector<Index> second = indices_from(240 + others_here.first, others_here.count);
  const std::vector<Span<const Index>> given{first, second};
  CHECK(to_host(context.exec, in_group_order(domain, catalogue, given)) ==
        to_host(context.exec, catalogue.members));
  CHECK_THROWS_WITH(in_group_order(domain, catalogue, std::vector<Span<const Index>>{first}),
                    Catch::Contains("columns of 1 species are given for a domain of 2"));
  return catalogue;
}

}  // namespace

TEST_CASE("a catalogue of two species of a domain is that of one rank, bit for bit") {
  const Context context = host_context();
  PointSet points = make_point_set(240, 500, 30, Box::periodic_cube(1));
  for (Index i = 0; i < 240; ++i) points.label[static_cast<std::size_t>(i)] = i % 24;
  const Context alone;
  const Catalogue expected = of_two_species(alone, points, {0, 240}, {0, 500});
  REQUIRE(expected.num_groups_total == 24);
  // Linked members come first: indices of the others begin behind theirs.
  const auto is_linked = [](Index i) { return i < 240; };
  for (std::size_t g = 0; g < expected.length.size(); ++g) {
    const auto members = to_host(alone.exec, expected.members);
    const auto begin = members.begin() + expected.offset[g];
    CHECK(std::is_partitioned(begin, begin + expected.length[g], is_linked));
  }
  for (int way = 0; way < num_ways; ++way) {
    const Catalogue found = of_two_species(context, points, share_in_way(240, way, context.comm),
                                           share_in_way(500, (way + 2) % num_ways, context.comm));
    const Share rows{found.first_group, static_cast<Index>(found.length.size())};
    CHECK(found.checksum == expected.checksum);
    CHECK(found.length == part(expected.length, rows));
    CHECK(to_host(context.exec, found.members) ==
          part(to_host(alone.exec, expected.members), {found.first_member, found.members.size()}));
  }
}

TEST_CASE("two species in more groups than a byte can count the parts of") {
  const Context context = host_context();
  PointSet points = make_point_set(240, 500, 30, Box::periodic_cube(1));
  for (Index i = 0; i < 240; ++i) points.label[static_cast<std::size_t>(i)] = i % 200;
  const Catalogue expected = of_two_species(Context{}, points, {0, 240}, {0, 500}, 1);
  REQUIRE(expected.num_groups_total == 200);
  const Catalogue found = of_two_species(context, points, share_in_way(240, 0, context.comm),
                                         share_in_way(500, 0, context.comm), 1);
  CHECK(found.checksum == expected.checksum);
}

TEST_CASE("a group whose members all have velocities has none in a catalogue without them") {
  const Context context = host_context();
  const bool first = context.comm.rank() == 0;
  const std::vector<float> pos(30, 0.5F), velocity(30, 3.0F);
  Particles<float> with{.segments = {ParticleSegment<float>::interleaved(pos.data(), 10)}};
  if (!first) with.segments[0].num = 0;
  const Particles<float> without = with;
  with.segments[0].set_interleaved_velocity(velocity.data());
  const Domain<float> domain(context, {with, without}, Box::periodic_cube(1));
  const std::vector<Index> group(static_cast<std::size_t>(domain.num(0)), 0);
  const std::vector<Index> none(static_cast<std::size_t>(domain.num(1)), no_group);
  const Catalogue found = make_catalogue(
      domain, {Span<const Index>(group), Span<const Index>(none)}, {.min_members = 10});
  REQUIRE(found.num_groups_total == 1);
  CHECK_FALSE(found.has_velocities);
  for (const HaloProperties& halo : found.properties) {
    CHECK(std::isnan(halo.velocity_dispersion));
    for (const double component : halo.velocity.at) CHECK(std::isnan(component));
  }
}

TEST_CASE("columns in the caller's order come into group order") {
  const Context context = host_context();
  PointSet points = make_point_set(240, 0, 30, Box::periodic_cube(1));
  for (Index i = 0; i < 240; ++i) points.label[static_cast<std::size_t>(i)] = i % 7;
  for (int way = 0; way < num_ways; ++way) {
    const Share here = share_in_way(240, way, context.comm);
    const Placed<double> placed(points.linked, here, 3);
    const Domain<double> domain(context, placed.particles, Box::periodic_cube(1));
    const std::vector<Index> label = part(points.label, here);
    const Buffer<Index> labels = domain.to_domain_order(label);
    const Catalogue catalogue = make_catalogue(domain, labels.span(), {.min_members = 35});
    const std::vector<Index> index = indices_from(here.first, here.count);
    const auto column = Span<const Index>(index);
    const std::vector<Span<const Index>> too_short{column.subspan(0, here.count / 2)};
    CHECK(catalogue.num_groups_total == 2);
    CHECK(to_host(context.exec, in_group_order(domain, catalogue, std::vector{column})) ==
          to_host(context.exec, catalogue.members));
    CHECK_THROWS_WITH(in_group_order(domain, catalogue, too_short),
                      Catch::Contains("elements on this rank, which has"));
  }
}

/// Columns of two species on this rank: the first has one mass and one type, the second others.
/// Both can be given in two ways.
struct SpeciesColumns {
  std::vector<float> mass, velocity;
  std::vector<double> double_mass, double_velocity, threes, halves;
  std::vector<std::uint8_t> type, ones;

  SpeciesColumns(Share linked, Share others) {
    for (Index i = others.first; i < others.first + others.count; ++i) {
      mass.push_back(1 + static_cast<float>(i % 4));
      type.push_back(i % 2 == 0 ? 0 : 2);
      velocity.insert(velocity.end(), {0.25F * static_cast<float>(i % 8), 1, -2});
    }
    double_mass.assign(mass.begin(), mass.end());
    double_velocity.assign(velocity.begin(), velocity.end());
    threes.assign(static_cast<std::size_t>(linked.count + 1), 3);
    halves.assign(static_cast<std::size_t>(3 * linked.count + 1), 0.5);
    ones.assign(threes.size(), 1);
  }

  void show(std::vector<Particles<double>>& species, bool all_by_columns) const {
    ParticleSegment<double>&first = species[0].segments[0], &second = species[1].segments[0];
    species[0].uniform_mass = 3;
    first.type = {ones.data(), all_by_columns ? 1 : 0};
    first.set_interleaved_velocity(halves.data());
    second.type = {type.data(), 1};
    second.mass = mass.data();
    for (std::size_t axis = 0; axis < 3; ++axis)
      second.velocity[axis] = {velocity.data() + axis, 3 * sizeof(float)};
    if (!all_by_columns) return;
    first.mass = threes.data();
    second.mass = double_mass.data();
    second.set_interleaved_velocity(double_velocity.data());
  }
};

TEST_CASE("species may have their columns in different ways: the catalogue is the same") {
  const Context context = host_context();
  const PointSet points = make_point_set(240, 500, 30, Box::periodic_cube(1));
  const Share linked_here = share_in_way(240, 1, context.comm);
  const Share others_here = share_in_way(500, 3, context.comm);
  const Placed<double> linked(points.linked, linked_here, 3);
  const Placed<double> others(points.others, others_here, 3);
  const SpeciesColumns columns(linked_here, others_here);
  std::vector<std::uint64_t> checksums;
  for (const bool all_by_columns : {false, true}) {
    std::vector<Particles<double>> species(2);
    species[0].segments = {
        ParticleSegment<double>::interleaved(linked.pos.data(), linked_here.count)};
    species[1].segments = {
        ParticleSegment<double>::interleaved(others.pos.data(), others_here.count)};
    columns.show(species, all_by_columns);
    const Domain<double> domain(context, species, Box::periodic_cube(1));
    CHECK(bool{domain.particles(0).segments[0].mass} == all_by_columns);
    const std::vector<Index> one(static_cast<std::size_t>(domain.num(0)), 7);
    const std::vector<Index> too(static_cast<std::size_t>(domain.num(1)), 7);
    const Catalogue found =
        make_catalogue(domain, {Span<const Index>(one), Span<const Index>(too)}, {.num_types = 3});
    checksums.push_back(found.checksum);
    REQUIRE(found.num_groups_total == 1);
    CHECK(found.has_velocities);
    if (found.length.empty()) continue;
    CHECK(found.length_by_type == std::vector<Index>{250, 240, 250});
    CHECK(found.mass_by_type == std::vector<double>{500, 720, 750});
  }
  CHECK(checksums[0] == checksums[1]);
}

/// Three species that linked particles and others of this rank make up.
struct ThreeSpecies {
  Placed<float> linked, gas, stars;
  Domain<float> domain;

  ThreeSpecies(const Context& context, const PointSet& points, int way)
      : linked(points.linked, share_in_way(600, way, context.comm), 3),
        gas(points.others, share_in_way(900, (way + 1) % num_ways, context.comm), 3),
        stars({points.others.begin(), points.others.begin() + 40},
              share_in_way(40, (way + 2) % num_ways, context.comm), 3),
        domain(context, {linked.particles, gas.particles, stars.particles}, Box::periodic_cube(1)) {
  }
};

TEST_CASE("attached species are counted by their parts as by their labels") {
  const Context context = host_context();
  const PointSet points = make_point_set(600, 900, 5, Box::periodic_cube(1));
  for (int way = 0; way < num_ways; ++way) {
    const ThreeSpecies of(context, points, way);
    const FofResult groups = friends_of_friends(of.domain, {.linking_length = 1.1 / cells});
    std::vector<AttachResult> attached(2);
    for (const bool with_stars : {false, true}) {
      attached[0] = attach_particles(of.domain, groups, 1.5 / cells);
      if (with_stars) attached[1] = attach_particles(of.domain, groups, 0, 2);
      const auto by_labels = attach_particles(of.domain, groups.label.span(), 1.5 / cells);
      CHECK(to_host(context.exec, attached[0].label) == to_host(context.exec, by_labels.label));
      const std::vector<Index> none(static_cast<std::size_t>(of.domain.num(2)), no_group);
      const std::vector<Span<const Index>> labels{
          groups.label.span(), attached[0].label.span(),
          with_stars ? Span<const Index>(attached[1].label.span()) : Span<const Index>(none)};
      for (const Index min_members : {1, 2, 3, 12}) {
        const CatalogueOptions options{.min_members = min_members};
        const Catalogue expected = make_catalogue(of.domain, labels, options);
        const Catalogue found = make_catalogue(of.domain, groups, attached, options);
        CHECK(found.checksum == expected.checksum);
        CHECK(to_host(context.exec, found.group_of) == to_host(context.exec, expected.group_of));
        CHECK(expected.num_groups_total > 0);
      }
    }
    // A result for labels has no parts, so that all are counted by labels.
    attached[0] = attach_particles(of.domain, groups.label.span(), 1.5 / cells);
    attached[0].parts = {};
    CHECK(make_catalogue(of.domain, groups, attached, {.min_members = 2}).num_groups_total > 0);
    attached.pop_back();
    CHECK_THROWS_WITH(make_catalogue(of.domain, groups, attached, {}),
                      Catch::Contains("particles of 1 species are attached"));
    CHECK_THROWS_WITH(attach_particles(of.domain, groups, 0.1, 0),
                      Catch::Contains("name another one"));
  }
}

TEST_CASE("one particle is attached, and most ranks have none of its species") {
  const Context context = host_context();
  const PointSet points = make_point_set(600, 40, 20, Box::periodic_cube(1));
  for (std::size_t i = 0; i < points.others.size(); ++i) {
    const auto checksums_on = [&](const Context& on) {
      const Placed<float> linked(points.linked, share_in_way(600, 0, on.comm), 3);
      const Placed<float> star({points.others[i]}, share_in_way(1, 1, on.comm), 3);
      const Domain<float> domain(on, {linked.particles, star.particles}, Box::periodic_cube(1));
      const FofResult groups = friends_of_friends(domain, {.linking_length = 1.1 / cells});
      std::vector<AttachResult> attached(1);
      attached[0] = attach_particles(domain, groups, 1.5 / cells);
      const std::vector<Span<const Index>> labels{groups.label.span(), attached[0].label.span()};
      std::vector<std::uint64_t> checksums;
      for (const Index min_members : {2, 3, 4}) {
        const CatalogueOptions options{.min_members = min_members};
        checksums.push_back(make_catalogue(domain, groups, attached, options).checksum);
        CHECK(checksums.back() == make_catalogue(domain, labels, options).checksum);
      }
      return checksums;
    };
    CHECK(checksums_on(context) == checksums_on(Context{}));
  }
}

TEST_CASE("particles that were attached to other groups of the domain are an error") {
  const Context context = host_context();
  const PointSet points = make_point_set(600, 900, 5, Box::periodic_cube(1));
  const ThreeSpecies of(context, points, 0);
  const FofResult once = friends_of_friends(of.domain, {.linking_length = 1.1 / cells});
  const FofResult again = friends_of_friends(of.domain, {.linking_length = 1.5 / cells});
  std::vector<AttachResult> attached(2);
  attached[1] = attach_particles(of.domain, once, 1.5 / cells, 2);
  CHECK_THROWS_WITH(make_catalogue(of.domain, again, attached, {}),
                    Catch::Contains("species 2") && Catch::Contains("attach them to these groups"));
  CHECK_NOTHROW(make_catalogue(of.domain, once, attached, {}));
}

TEST_CASE("two species that lie far apart in an open box") {
  const Context context = host_context();
  const bool first = context.comm.rank() == 0;
  const Index num = first ? 40 : 0;
  std::vector<float> near(static_cast<std::size_t>(3 * num), 1), far(near.size(), 1025);
  const Domain<float> domain(
      context,
      {Particles<float>{.segments = {ParticleSegment<float>::interleaved(near.data(), num)}},
       Particles<float>{.segments = {ParticleSegment<float>::interleaved(far.data(), num)}}},
      Box::unbounded());
  const std::vector<Index> one(static_cast<std::size_t>(domain.num(0)), 0);
  const std::vector<Index> too(static_cast<std::size_t>(domain.num(1)), 0);
  const Catalogue found =
      make_catalogue(domain, {Span<const Index>(one), Span<const Index>(too)}, {});
  REQUIRE(found.num_groups_total == 1);
  if (found.length.empty()) return;
  CHECK(found.length[0] == 80);
  CHECK(found.properties[0].mass == 80);
  CHECK(found.properties[0].centre == Vec3d{{513, 513, 513}});
  CHECK(found.properties[0].max_radius == std::sqrt(3 * 512.0 * 512.0));
}

}  // namespace zhalo::testing
