// Quantities of neighbourhoods: kernels are normalised, and each quantity is what its definition
// gives on the full lists.
#include <catch2/catch.hpp>

#include <cstring>

#include "tests/support/point_sets.hpp"
#include "tests/support/run_knn.hpp"
#include "zhalo/knn/reduce.hpp"

namespace zhalo::testing {
namespace {

/// Particles with masses and velocities.
struct Fluid {
  PointSet<float> points;
  std::vector<double> mass;
  std::vector<double> velocity;

  Fluid(Index num, int dimensions) {
    Random random(7);
    points.box = Box::periodic_cube(2, dimensions);
    for (Index i = 0; i < num * dimensions; ++i) {
      points.pos.push_back(static_cast<float>(random.uniform(0, 2)));
      velocity.push_back(random.uniform(-3, 5));
    }
    for (Index i = 0; i < num; ++i) mass.push_back(random.uniform(0.5, 2));
  }

  Particles<float> particles() const {
    Particles<float> all = particles_of(points);
    all.segments[0].mass = RealColumn(mass.data());
    all.segments[0].set_interleaved_velocity(nullptr, points.box.dimensions);
    for (std::size_t axis = 0; axis < static_cast<std::size_t>(points.box.dimensions); ++axis)
      all.segments[0].velocity[axis] = RealColumn(
          velocity.data() + axis, points.box.dimensions * static_cast<Index>(sizeof(double)));
    return all;
  }
  /// Its positions in a precision, without anything else.
  template <class Real>
  PointSet<Real> positions() const {
    PointSet<Real> in_real;
    in_real.box = points.box;
    in_real.pos.assign(points.pos.begin(), points.pos.end());
    return in_real;
  }
  double v(Index i, int axis) const {
    return velocity[static_cast<std::size_t>(i * points.box.dimensions + axis)];
  }
};

std::vector<double> quantity_of(const Fluid& fluid, const KnnOptions& options,
                                const QuantityOptions& quantity) {
  Context context;
  context.exec = host_exec(2);
  return to_host(context.exec, neighbour_quantity(context, fluid.particles(), fluid.points.box,
                                                  options, quantity));
}

/// By quadrature over shells, of a kernel written out anew: Dehnen & Aly (2012), table 1, in their
/// (1 - q)+ notation.
double unnormalised(SphKernel kernel, double q) {
  const auto plus = [](double x) { return std::max(0.0, x); };
  switch (kernel) {
    case SphKernel::cubic_spline: return std::pow(plus(1 - q), 3) - 4 * std::pow(plus(0.5 - q), 3);
    case SphKernel::wendland_c2: return std::pow(plus(1 - q), 4) * (1 + 4 * q);
    default: return std::pow(plus(1 - q), 6) * (1 + 6 * q + 35 * q * q / 3);
  }
}

template <class F>
double integral_over_space(int dimensions, double support, F f) {
  constexpr int steps = 20000;
  double sum = 0;
  for (int i = 0; i < steps; ++i) {
    const double r = (i + 0.5) * support / steps;
    sum += f(r) * (dimensions == 3 ? 4 * M_PI * r * r : 2 * M_PI * r) * support / steps;
  }
  return sum;
}

}  // namespace

TEST_CASE("SPH kernels are normalised and have their shape", "[knn]") {
  for (const int dimensions : {2, 3}) {
    for (const auto kernel :
         {SphKernel::cubic_spline, SphKernel::wendland_c2, SphKernel::wendland_c4}) {
      const SphWeight weight{kernel, dimensions};
      const double support = 1.7;
      CHECK(integral_over_space(dimensions, support, [&](double r) {
              return weight(r, support);
            }) == Approx(1).epsilon(1e-6));
      const double norm = integral_over_space(
          dimensions, support, [&](double r) { return unnormalised(kernel, r / support); });
      for (const double q : {0.0, 0.1, 0.49, 0.5, 0.51, 0.9, 0.999})
        CHECK(weight(q * support, support) == Approx(unnormalised(kernel, q) / norm).epsilon(1e-6));
      CHECK(weight(support, support) == 0);
      CHECK(weight(2 * support, support) == 0);
    }
  }
}

TEST_CASE("quantities are those of the full lists", "[knn]") {
  const int dimensions = GENERATE(2, 3);
  const bool include_self = GENERATE(true, false);
  const Fluid fluid(500, dimensions);
  const int k = include_self ? 20 : 140;  // masses are taken 64 at a time
  const KnnOptions options{.k = k, .include_self = include_self, .chunk_bytes = 250 * k};
  const auto table = brute_table(fluid.points, {.k = k, .include_self = include_self});
  const auto radius = quantity_of(fluid, options, {Quantity::kth_radius});
  const auto mean = quantity_of(fluid, options, {Quantity::mean_radius});
  const auto dispersion = quantity_of(fluid, options, {Quantity::velocity_dispersion});
  const auto density = quantity_of(fluid, options, {Quantity::density, SphKernel::wendland_c2});
  const double norm = integral_over_space(
      dimensions, 1, [](double q) { return unnormalised(SphKernel::wendland_c2, q); });
  for (std::size_t i = 0; i < table.size(); ++i) {
    double sum = 0, total = 0, rho = 0;
    Vec3d momentum;
    const double support = static_cast<double>(table[i].back().distance);
    for (const auto& n : table[i]) {
      const double m = fluid.mass[static_cast<std::size_t>(n.index)];
      sum += static_cast<double>(n.distance);
      total += m;
      const double q = static_cast<double>(n.distance) / support;
      rho += m * unnormalised(SphKernel::wendland_c2, q);
      for (int axis = 0; axis < dimensions; ++axis) momentum[axis] += m * fluid.v(n.index, axis);
    }
    double square = 0;
    for (const auto& n : table[i]) {
      for (int axis = 0; axis < dimensions; ++axis)
        square += fluid.mass[static_cast<std::size_t>(n.index)] *
                  std::pow(fluid.v(n.index, axis) - momentum[axis] / total, 2);
    }
    REQUIRE(radius[i] == support);
    REQUIRE(mean[i] == Approx(sum / static_cast<double>(include_self ? k - 1 : k)).epsilon(1e-12));
    REQUIRE(density[i] == Approx(rho / norm / std::pow(support, dimensions)).epsilon(1e-6));
    REQUIRE(dispersion[i] == Approx(std::sqrt(square / (total * dimensions))).epsilon(1e-12));
  }
}

TEST_CASE("one search gives lists, columns and quantities: those of searches for each", "[knn]") {
  const RowOrder order = GENERATE(RowOrder::caller, RowOrder::domain);
  Context context;
  const Fluid fluid(500, 3);
  const KnnOptions options{.k = 20, .chunk_bytes = 5000};
  const std::vector<QuantityOptions> wanted{{Quantity::velocity_dispersion, {}},
                                            {Quantity::density, SphKernel::wendland_c4},
                                            {Quantity::kth_radius, {}},
                                            {Quantity::density, SphKernel::cubic_spline}};
  const Particles<float> particles = fluid.particles();
  const KnnOutput lists{.locations = true, .columns = {column_view(fluid.mass)}, .order = order};
  KnnOutput all = lists;
  all.quantities = wanted;
  const auto expected = knn(context, particles, fluid.points.box, options, lists);
  const auto found = knn(context, particles, fluid.points.box, options, all);
  CHECK(found.statistics.chunks > 1);
  CHECK(to_host(context.exec, found.index) == to_host(context.exec, expected.index));
  CHECK(to_host(context.exec, found.distance) == to_host(context.exec, expected.distance));
  CHECK(to_host(context.exec, found.columns[0]) == to_host(context.exec, expected.columns[0]));
  const auto location = to_host(context.exec, found.location);
  const auto expected_location = to_host(context.exec, expected.location);
  CHECK(std::memcmp(location.data(), expected_location.data(),
                    location.size() * sizeof(ParticleLocation)) == 0);
  const auto query = to_host(context.exec, found.query);
  REQUIRE(found.quantities.size() == wanted.size());
  CHECK(expected.quantities.empty());
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const auto alone = quantity_of(fluid, options, wanted[i]);
    const auto values = to_host(context.exec, found.quantities[i]);
    for (std::size_t row = 0; row < alone.size(); ++row)
      REQUIRE(values[row] ==
              alone[order == RowOrder::caller ? row : static_cast<std::size_t>(query[row])]);
  }
}

TEMPLATE_TEST_CASE("built-in densities have the bits of the functor", "[knn]", float, double) {
  const int dimensions = GENERATE(2, 3);
  Context context;
  const Fluid fluid(300, dimensions);
  const PointSet<TestType> positions = fluid.positions<TestType>();
  Particles<TestType> particles = particles_of(positions);
  particles.segments[0].mass = RealColumn(fluid.mass.data());
  // Rows that end in every lane of a vector, and longer than what is weighed at a time.
  for (const int k : {1, 2, 3, 4, 5, 6, 7, 8, 9, 31, 32, 64, 65, 150, 300}) {
    for (const auto kernel :
         {SphKernel::cubic_spline, SphKernel::wendland_c2, SphKernel::wendland_c4}) {
      const KnnOptions options{.k = k,
                               .include_self = k % 2 == 0,
                               .max_radius = k % 3 == 0 ? 0.35 : 4};  // fewer than k, or all
      const auto built_in = neighbour_quantity(context, particles, fluid.points.box, options,
                                               {Quantity::density, kernel});
      const auto functor = knn_reduce(
          context, particles, fluid.points.box, options,
          reduction(SphDensity{{kernel, dimensions}}, ParticleColumn("mass", fluid.mass)));
      INFO("k " << k);
      REQUIRE(to_host(context.exec, built_in) == to_host(context.exec, functor));
    }
  }
}

TEMPLATE_TEST_CASE("quantities of equal masses have the bits of those with a column", "[knn]",
                   float, double) {
  const int dimensions = GENERATE(2, 3);
  Context context;
  const Fluid fluid(400, dimensions);
  const PointSet<TestType> positions = fluid.positions<TestType>();
  Particles<TestType> uniform = particles_of(positions);
  uniform.uniform_mass = 0.3;
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(dimensions); ++axis)
    uniform.segments[0].velocity[axis] = fluid.particles().segments[0].velocity[axis];
  Particles<TestType> column = uniform;
  const std::vector<double> mass(400, 0.3);
  column.segments[0].mass = RealColumn(mass.data());
  Particles<TestType> one_number = uniform;
  one_number.segments[0].mass = RealColumn(mass.data(), 0);
  one_number.uniform_mass = 7;
  const KnnOptions options{.k = 33, .chunk_bytes = 5000};
  const Domain<TestType> domain(context, uniform, fluid.points.box);
  for (const QuantityOptions quantity :
       {QuantityOptions{Quantity::density, SphKernel::cubic_spline},
        QuantityOptions{Quantity::density, SphKernel::wendland_c4},
        QuantityOptions{Quantity::velocity_dispersion, {}}}) {
    const auto of = [&](const Particles<TestType>& particles) {
      return to_host(context.exec,
                     neighbour_quantity(context, particles, fluid.points.box, options, quantity));
    };
    const auto expected = of(column);
    CHECK(of(uniform) == expected);
    CHECK(of(one_number) == expected);
    if (quantity.quantity == Quantity::velocity_dispersion) continue;
    const auto in_domain = neighbour_quantity(domain, options, quantity);
    CHECK(to_host(context.exec, domain.to_caller_order(in_domain)) == expected);
  }
}

TEST_CASE("quantities of query points, in each order, with lists and without", "[knn]") {
  const RowOrder order = GENERATE(RowOrder::caller, RowOrder::domain);
  Context context;
  const Fluid fluid(300, 3);
  const Particles<float> particles = fluid.particles();
  Fluid asking(70, 3);
  const Particles<float> points = particles_of(asking.points);
  const Queries<float> search{points, particles};
  const KnnOptions options{.k = 5, .chunk_bytes = 500};
  KnnOutput output{.quantities = {{Quantity::kth_radius, {}}}, .order = order};
  const auto found = knn(context, search, fluid.points.box, options, output);
  const auto radius = to_host(context.exec, found.quantities[0]);
  const auto distance = to_host(context.exec, found.distance);
  REQUIRE(radius.size() == 70);
  for (std::size_t row = 0; row < 70; ++row)
    REQUIRE(radius[row] == static_cast<double>(distance[5 * row + 4]));
  output.distances = output.indices = false;
  const auto alone = knn(context, search, fluid.points.box, options, output);
  CHECK(to_host(context.exec, alone.quantities[0]) == radius);
  CHECK(to_host(context.exec, alone.query) == to_host(context.exec, found.query));
  CHECK(alone.index.empty());
}

TEST_CASE("a search in a domain makes no positions in the caller's unit", "[knn]") {
  Context context;
  const Fluid fluid(300, 3);
  const Domain<float> domain(context, fluid.particles(), fluid.points.box);
  knn(domain, {.k = 4});
  const MemoryPool& pool = *memory(context.exec);
  const std::size_t before = pool.bytes_in_use();
  neighbour_quantity(domain, {.k = 4}, {Quantity::velocity_dispersion, {}});
  CHECK(pool.bytes_in_use() == before);
  domain.position(0);
  CHECK(pool.bytes_in_use() > before);
}

TEST_CASE("quantities of few neighbours and of coincident ones", "[knn]") {
  Fluid fluid(3, 3);
  const KnnOptions options{.k = 8};
  CHECK(std::isinf(quantity_of(fluid, options, {Quantity::kth_radius})[1]));
  CHECK(std::isfinite(quantity_of(fluid, options, {Quantity::mean_radius})[1]));
  fluid.points.pos.assign(9, 0.5F);
  CHECK(std::isinf(quantity_of(fluid, {.k = 2}, {Quantity::density})[0]));
  CHECK(quantity_of(fluid, {.k = 2}, {Quantity::mean_radius})[0] == 0);
  CHECK(quantity_of(fluid, {.k = 1, .include_self = false, .max_radius = 0},
                    {Quantity::mean_radius})[0] == 0);
  const Fluid alone(1, 3);
  CHECK(quantity_of(alone, {.k = 4, .include_self = false}, {Quantity::density})[0] == 0);
  CHECK(quantity_of(alone, {.k = 4, .include_self = false}, {Quantity::velocity_dispersion})[0] ==
        0);
}

TEST_CASE("a velocity dispersion needs velocities", "[knn]") {
  Context context;
  const Fluid fluid(10, 3);
  CHECK_THROWS_WITH(neighbour_quantity(context, particles_of(fluid.points), fluid.points.box,
                                       {.k = 2}, {Quantity::velocity_dispersion}),
                    "segment 0 has no velocities on axis 0, which this quantity needs");
  CHECK_THROWS_WITH(neighbour_quantity(context, fluid.particles(), fluid.points.box, {.k = 0},
                                       {Quantity::density}),
                    Catch::Contains("k is 0 (must be 1 to 4096)"));
}

TEST_CASE("densities need masses that are finite and not negative", "[knn]") {
  Context context;
  Fluid fluid(10, 3);
  Particles<float> same = fluid.particles();
  same.segments[0].mass = {};
  const auto density = [&](const Particles<float>& particles) {
    return neighbour_quantity(context, particles, fluid.points.box, {.k = 2}, {Quantity::density});
  };
  for (const double bad : {double{NAN}, double{INFINITY}, -1.0}) {
    fluid.mass[4] = bad;
    CHECK_THROWS_WITH(density(fluid.particles()), Catch::StartsWith("1 of 10 particles") &&
                                                      Catch::Contains("first is particle 4"));
    const Domain<float> domain(context, fluid.particles(), fluid.points.box);
    CHECK_THROWS_WITH(neighbour_quantity(domain, {.k = 2}, {Quantity::density}),
                      Catch::Contains("first is particle 4"));
    same.uniform_mass = bad;
    CHECK_THROWS_WITH(density(same), Catch::Contains("a mass"));
  }
  fluid.mass[4] = 0;
  density(fluid.particles());
}

}  // namespace zhalo::testing
