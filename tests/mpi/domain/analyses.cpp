/// Analyses of one domain: results of each are those of the particles. traffic.cpp has what they
/// send.
#include <catch2/catch.hpp>

#include <atomic>

#include "tests/mpi/domain/analysed.hpp"
#include "zhalo/catalogue/attach.hpp"
#include "zhalo/catalogue/catalogue.hpp"
#include "zhalo/fof/fof.hpp"
#include "zhalo/knn/reduce.hpp"
#include "zhalo/knn/within.hpp"
#include "zhalo/mesh/paint.hpp"

namespace {

using namespace zhalo;
using namespace zhalo::testing;
using Catch::Contains;

struct NumWithin {
  ZHALO_HD Index operator()(const Neighbours<float>& near) const { return near.size(); }
};

/// Adds up the column over all pairs of a query.
struct AddUp {
  std::atomic<Index>* sum;
  void operator()(const Neighbours<float>& near, Index i, const NeighbourColumn<Index>& at) const {
    sum[near.query_index] += at[i] + near.index(i);
  }
};

}  // namespace

TEST_CASE("domain: groups and neighbours in it are those of the particles") {
  Analysed a(3000);
  const Context& context = a.context;
  const Box& box = a.points.box;
  const Domain<float> domain(context, a.particles, box);
  const FofOptions linking{.linking_length = a.points.linking_length};
  const KnnOptions nearest{.k = 9};
  const WithinOptions within{.radius = 0.03};

  CHECK(returned(domain, friends_of_friends(domain, linking).label) ==
        slice(brute_force_groups(a.points), a.share));
  const KnnResult<float> rows = knn(domain, nearest, {.locations = true});
  const KnnResult<float> of_particles = knn(context, a.particles, box, nearest);
  CHECK(to_host(context.exec, rows.query) == to_host(context.exec, domain.global_index()));
  struct Row {
    Index index[9];
    bool operator==(const Row&) const = default;
  };
  const Span<const Row> whole_rows(reinterpret_cast<const Row*>(rows.index.data()), rows.num_rows);
  const auto brought = to_host(context.exec, domain.to_caller_order(whole_rows));
  CHECK(std::equal(brought.begin(), brought.end(),
                   reinterpret_cast<const Row*>(of_particles.index.data())));
  CHECK(returned(domain, count_within(domain, within)) ==
        to_host(context.exec, count_within(context, a.particles, box, within)));
  CHECK(returned(domain, reduce_within(domain, within, NumWithin{})) ==
        to_host(context.exec, count_within(context, a.particles, box, within)));
}

TEST_CASE("domain: quantities of neighbours and sums over pairs in it are those of the particles") {
  Analysed a(3000);
  const Context& context = a.context;
  const Box& box = a.points.box;
  const auto num = static_cast<std::size_t>(a.share.count);
  std::vector<double> mass(num);
  std::vector<Index> number(num);
  for (std::size_t i = 0; i < num; ++i) {
    number[i] = (a.share.first + static_cast<Index>(i)) % 23;
    mass[i] = 1 + 0.25 * static_cast<double>(number[i]);
  }
  a.particles.segments[0].mass = mass.data();
  a.particles.segments[0].set_interleaved_velocity(a.rows.data());
  const Domain<float> domain(context, a.particles, box);
  const std::vector<QuantityOptions> wanted{
      {Quantity::kth_radius, {}}, {Quantity::density, {}}, {Quantity::velocity_dispersion, {}}};
  const auto in_domain = knn(domain, {.k = 12}, {.quantities = wanted}).quantities;
  const auto of_particles = knn(context, a.particles, box, {.k = 12}, {.quantities = wanted});
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const auto expected =
        to_host(context.exec, neighbour_quantity(context, a.particles, box, {.k = 12}, wanted[i]));
    CHECK(returned(domain, neighbour_quantity(domain, {.k = 12}, wanted[i])) == expected);
    CHECK(returned(domain, in_domain[i]) == expected);
    CHECK(to_host(context.exec, of_particles.quantities[i]) == expected);
  }

  // Without a column, and with masses that are the same on each rank but not on all.
  for (const double of_rank : {0.3, 1.0 + context.comm.rank()}) {
    std::fill(mass.begin(), mass.end(), of_rank);
    const auto expected = knn(context, a.particles, box, {.k = 12}, {.quantities = wanted});
    Particles<float> uniform = a.particles;
    uniform.segments[0].mass = RealColumn();
    uniform.uniform_mass = of_rank;
    const auto found = knn(context, uniform, box, {.k = 12}, {.quantities = wanted});
    for (std::size_t i = 0; i < wanted.size(); ++i)
      CHECK(to_host(context.exec, found.quantities[i]) ==
            to_host(context.exec, expected.quantities[i]));
  }

  // Sums of whole numbers, which need no order, by global index of the query.
  std::vector<std::atomic<Index>> ours(3000), expected(3000);
  const WithinOptions within{.radius = 0.03};
  const Buffer<Index> brought = domain.to_domain_order(number);
  for_each_neighbour_within(domain, within,
                            reduction(AddUp{ours.data()}, ParticleColumn("n", brought.span())));
  for_each_neighbour_within(context, a.particles, box, within,
                            reduction(AddUp{expected.data()}, ParticleColumn("n", number)));
  Index total = 0;
  for (std::size_t i = 0; i < ours.size(); ++i) {
    CHECK(context.comm.sum(ours[i].load()) == context.comm.sum(expected[i].load()));
    total += ours[i];
  }
  CHECK(context.comm.sum(total) > 0);
}

TEST_CASE("domain: one velocity for all particles, and no number behind it is read") {
  Analysed a(500);
  std::vector<double> numbers(static_cast<std::size_t>(3 * a.share.count + 3), 1e6);
  for (std::size_t axis = 0; axis < 3; ++axis) {
    numbers[axis] = 1 + static_cast<double>(axis);
    a.particles.segments[0].velocity[axis] = {&numbers[axis], 0};
  }
  const Domain<float> domain(a.context, a.particles, a.points.box);
  const Particles<float> sorted = domain.particles();
  bool right = true;
  for (Index i = 0; i < domain.num(); ++i) {
    for (std::size_t axis = 0; axis < 3; ++axis)
      right = right && sorted.segments[0].velocity[axis][i] == 1 + static_cast<double>(axis);
  }
  CHECK(right);
}

TEST_CASE("domain: velocities that some particles lack are none, and no zeros") {
  Analysed a(600);
  const bool is_last = a.context.comm.rank() + 1 == a.context.comm.size();
  std::vector<double> velocity(static_cast<std::size_t>(3 * a.share.count), 100);
  Particles<float> moving = a.particles;
  for (std::size_t axis = 0; axis < 3; ++axis)
    moving.segments[0].velocity[axis] = {velocity.data() + axis, 3 * sizeof(double)};
  Particles<float> halfway = moving;  // on the last rank not along z
  if (is_last) halfway.segments[0].velocity[2] = {};
  const auto dispersion = [&](const Domain<float>& domain, int species) {
    return neighbour_quantity(domain, {.k = 5}, {Quantity::velocity_dispersion},
                              {.queries = 0, .targets = species});
  };
  const Domain<float> two(a.context, {moving, a.particles}, a.points.box);
  CHECK(dispersion(two, 0).size() == two.num());
  CHECK_THROWS_WITH(dispersion(two, 1), Contains("has no velocities"));
  CHECK_FALSE(two.particles(1).segments[0].velocity[0]);
  const Domain<float> one(a.context, halfway, a.points.box);
  CHECK_THROWS_WITH(dispersion(one, 0), Contains("has no velocities"));
  CHECK_FALSE(one.particles().segments[0].velocity[0]);
}

TEST_CASE("domain: a linking length beyond all distances joins all") {
  Analysed a(50);
  const Box open = Box::unbounded();
  const Domain<float> domain(a.context, a.particles, open);
  for (const double length : {1.0, 10.0, 1e6, 1e300}) {
    INFO(length);
    const auto label = friends_of_friends(domain, {.linking_length = length}).label;
    CHECK(to_host(a.context.exec, label) ==
          std::vector<Index>(static_cast<std::size_t>(domain.num()), 0));
  }
  for (float& x : a.rows) x = 3.9F * x - 1.95F;  // on both sides of the origin
  const Domain<float> around_origin(a.context, a.particles, open);
  const auto label = friends_of_friends(around_origin, {.linking_length = 100}).label;
  CHECK(to_host(a.context.exec, label) ==
        std::vector<Index>(static_cast<std::size_t>(around_origin.num()), 0));
  Particles<float> lone = a.particles;
  lone.segments[0].num = std::min(lone.segments[0].num, Index{a.context.comm.rank() == 0 ? 1 : 0});
  const Domain<float> of_one(a.context, lone, open);
  CHECK(friends_of_friends(of_one, {.linking_length = 10}).label.size() == of_one.num());
}

TEST_CASE("domain: any linking length serves where all particles are at one position") {
  Analysed a(50);
  const Box box = GENERATE(Box::unbounded(), Box::periodic_cube(1));
  for (float& x : a.rows) x = 0;
  const Index none = GENERATE(0, 1);
  if (none != 0) a.particles.segments[0].num = 0;
  const Domain<float> domain(a.context, a.particles, box);
  const auto label = friends_of_friends(domain, {.linking_length = 1e-30}).label;
  CHECK(to_host(a.context.exec, label) ==
        std::vector<Index>(static_cast<std::size_t>(domain.num()), 0));
}

TEST_CASE("domain: a linking length is right where squares of lengths underflow or overflow") {
  const Analysed a(50);
  std::vector<double> rows(a.rows.begin(), a.rows.end());
  const double unit = GENERATE(0x1p-600, 0x1p600);
  for (double& x : rows) x *= unit;
  Particles<double> particles;
  particles.segments = {ParticleSegment<double>::interleaved(rows.data(), a.share.count)};
  const Domain<double> domain(a.context, particles, Box::unbounded());
  for (const double length : {0.125, 100.0}) {
    const auto label = friends_of_friends(domain, {.linking_length = length * unit}).label;
    const auto wanted =
        friends_of_friends(a.context, a.particles, Box::unbounded(), {.linking_length = length})
            .label;
    CHECK(to_host(a.context.exec, domain.to_caller_order(label)) ==
          to_host(a.context.exec, wanted));
  }
}

TEST_CASE("domain: columns with gaps go both ways") {
  Analysed a(500);
  const Domain<float> domain(a.context, a.particles, a.points.box);
  const auto bytes = static_cast<Index>(sizeof(float));
  std::vector<float> y(static_cast<std::size_t>(a.share.count));
  for (std::size_t i = 0; i < y.size(); ++i) y[i] = a.rows[3 * i + 1];
  std::vector<float> sorted(static_cast<std::size_t>(2 * domain.num()), -1), back(y.size());
  std::vector<float> packed(static_cast<std::size_t>(domain.num()));
  domain.to_domain_order(ColumnView{a.rows.data() + 1, a.share.count, bytes, 3 * bytes},
                         {packed.data(), domain.num(), bytes});
  CHECK(packed == to_host(a.context.exec, domain.position(1)));
  for (std::size_t i = 0; i < packed.size(); ++i) sorted[2 * i] = packed[i];
  domain.to_caller_order(ColumnView{sorted.data(), domain.num(), bytes, 2 * bytes},
                         {back.data(), a.share.count, bytes});
  CHECK(back == y);
}

TEST_CASE("domain: velocities may lie at different distances along each axis") {
  Analysed a(300);
  const auto num = static_cast<std::size_t>(a.share.count);
  std::vector<double> memory(5 * num + 3);  // x at 3 i, y at 1 + 5 i, z at 2 + 3 i
  const std::array<std::size_t, 3> stride{3, 5, 3};
  for (std::size_t axis = 0; axis < 3; ++axis)
    a.particles.segments[0].velocity[axis] =
        RealColumn(memory.data() + axis, static_cast<Index>(stride[axis] * sizeof(double)));
  for (std::size_t i = 0; i < memory.size(); ++i)
    memory[i] = static_cast<double>(a.share.first) + 0.25 * static_cast<double>(i);
  const Domain<float> domain(a.context, a.particles, a.points.box);
  const ParticleSegment<float> there = domain.particles().segments[0];
  for (std::size_t axis = 0; axis < 3; ++axis) {
    std::vector<double> given(num), kept(static_cast<std::size_t>(domain.num()));
    for (std::size_t i = 0; i < num; ++i) given[i] = memory[axis + stride[axis] * i];
    for (std::size_t i = 0; i < kept.size(); ++i)
      kept[i] = there.velocity[axis][static_cast<Index>(i)];
    CHECK(kept == to_host(a.context.exec, domain.to_domain_order(given)));
  }
}

TEST_CASE("domain: its catalogue is that of the particles") {
  Analysed a(4000);
  const Box& box = a.points.box;
  const FofOptions linking{.linking_length = a.points.linking_length};
  const Domain<float> domain(a.context, a.particles, box);
  const FofResult groups = friends_of_friends(domain, linking);
  const Catalogue catalogue = make_catalogue(domain, groups.label.span(), {.min_members = 5});
  const FofResult of_particles = friends_of_friends(a.context, a.particles, box, linking);
  const Catalogue expected =
      make_catalogue(a.context, a.particles, box, of_particles.label.span(), {.min_members = 5});
  CHECK(catalogue.num_groups_total > 0);
  CHECK(catalogue.checksum == expected.checksum);
  CHECK(returned(domain, catalogue.group_of) == to_host(a.context.exec, expected.group_of));
}

TEST_CASE("domain: parts of groups and labels give the same catalogue") {
  const Context context{Communicator(MPI_COMM_WORLD), host_exec(2)};
  const auto shape = GENERATE(Shape::blobs, Shape::lines, Shape::few_positions, Shape::lattice);
  const Cut cut = GENERATE(Cut::even, Cut::last_only, Cut::uneven);
  PointSet<float> points{{}, Box::periodic_cube(1), 0.03};
  Random random(21);
  fill(points, random, shape, 2000);
  const Share share = part_of(points.num(), cut, context.comm.rank(), context.comm.size());
  const std::vector<float> rows = rows_of(points, share);
  std::vector<std::uint8_t> type;
  for (Index i = share.first; i < share.first + share.count; ++i)
    type.push_back(static_cast<std::uint8_t>(i % 3));
  Particles<float> particles{
      .segments = {ParticleSegment<float>::interleaved(rows.data(), share.count)}};
  particles.segments[0].type = {type.data(), 1};
  Domain<float> domain(context, particles, points.box);
  domain.add_columns({particles});
  const FofResult groups = friends_of_friends(domain, {.linking_length = points.linking_length});
  for (const Index min_members : {Index{1}, Index{2}, Index{30}, Index{1001}, Index{1} << 33}) {
    for (const std::vector<int>& counted : {std::vector<int>{}, std::vector<int>{0, 2}}) {
      const CatalogueOptions options{
          .min_members = min_members, .num_types = 3, .counted_types = counted};
      const Catalogue catalogue = make_catalogue(domain, groups, options);
      const Catalogue expected = make_catalogue(domain, groups.label.span(), options);
      INFO("shape " << static_cast<int>(shape) << ", min_members " << min_members << ", counted "
                    << counted.size());
      CHECK(catalogue.checksum == expected.checksum);
      CHECK(catalogue.length == expected.length);
      CHECK(catalogue.label == expected.label);
      CHECK(to_host(context.exec, catalogue.group_of) == to_host(context.exec, expected.group_of));
      CHECK(to_host(context.exec, catalogue.members) == to_host(context.exec, expected.members));
    }
  }
}

TEST_CASE("domain: columns that cannot be added are errors, and change nothing") {
  Analysed a(200);
  std::vector<double> mass(a.rows.size(), 3);
  a.particles.segments[0].mass = RealColumn(mass.data());
  a.particles.segments[0].set_interleaved_velocity(a.rows.data());
  const std::vector<Particles<float>> species{a.particles, a.particles};
  Domain<float> domain(a.context, species, a.points.box);
  const std::vector<Index> first(static_cast<std::size_t>(domain.num(0)), 0);
  const std::vector<Index> second(static_cast<std::size_t>(domain.num(1)), 1);
  const std::vector<Span<const Index>> labels{first, second};
  CHECK_THROWS_WITH(
      make_catalogue(domain, friends_of_friends(domain, {.linking_length = 0.05}), {}),
      Catch::Contains("the groups are of the first of 2 species"));
  const auto checksum = [&] { return make_catalogue(domain, labels, {}).checksum; };
  const std::uint64_t before = checksum();
  Particles<float> flat = a.particles, heavy = a.particles, bad = a.particles;
  flat.dimensions = 2;
  CHECK_THROWS_WITH(domain.add_columns({flat, flat}),
                    Catch::Contains("in 2 dimensions are given for a domain in 3"));
  heavy.segments[0].mass = {};
  bad.segments[0].velocity[2] = {};
  bad.segments.resize(3);
  bad.segments[1].num = -1;
  bad.segments[2].num = 1;
  CHECK_THROWS_WITH(domain.add_columns({heavy, bad}), Catch::Contains("has -1 particles"));
  CHECK(checksum() == before);
}

TEST_CASE("domain: parts of groups are there for a domain of several ranks") {
  Analysed a(1000);
  const FofOptions linking{.linking_length = a.points.linking_length};
  const Domain<float> domain(a.context, a.particles, a.points.box);
  const FofResult groups = friends_of_friends(domain, linking);
  CHECK(groups.parts.root.size() == domain.num());
  const FofResult of_particles = friends_of_friends(a.context, a.particles, a.points.box, linking);
  CHECK(of_particles.parts.root.size() == 0);
  CHECK_THROWS_WITH(make_catalogue(domain, of_particles, {}),
                    Catch::Contains("not in the order of a domain"));
  const Domain<float> another(a.context, a.particles, a.points.box);
  CHECK_THROWS_WITH(make_catalogue(another, groups, {}),
                    Catch::Contains("the groups are of another domain"));
  CHECK_NOTHROW(make_catalogue(Domain<float>(domain), groups, {}));
  if (a.context.comm.size() == 1) return;
  FofResult broken = friends_of_friends(domain, linking);
  if (a.context.comm.rank() == 1) broken.parts = {};
  CHECK_THROWS_WITH(make_catalogue(domain, broken, {}),
                    Catch::Contains("but parts of groups for 0 particles"));
}

TEST_CASE("domain: particles of one species join the groups of another") {
  Analysed linked(2000), others(2000);
  const Context& context = linked.context;
  Random random(5);
  for (float& x : others.rows) x = static_cast<float>(random.uniform());
  const Box& box = linked.points.box;
  const Domain<float> domain(context, {linked.particles, others.particles}, box);
  const FofOptions linking{.linking_length = linked.points.linking_length};
  const Buffer<Index> label = friends_of_friends(domain, linking).label;
  const AttachResult joined = attach_particles(domain, label.span(), 0.1);
  const Buffer<Index> of_particles =
      friends_of_friends(context, linked.particles, box, linking).label;
  const AttachResult expected =
      attach_particles(context, LabelledParticles<float>{linked.particles, of_particles.span()},
                       others.particles, box, 0.1);
  CHECK(to_host(context.exec, domain.to_caller_order(joined.label, 1)) ==
        to_host(context.exec, expected.label));
}

TEST_CASE("domain: fields of its particles are those of the caller's") {
  Analysed a(2000);
  const Domain<float> domain(a.context, a.particles, a.points.box);
  Field<double> of_caller(a.context,
                          Decomposition(Grid{{{12, 12, 12}}, a.points.box}, a.context.comm.size()));
  Field<double> of_domain(a.context, of_caller.decomposition());
  paint(a.context, a.particles, of_caller);
  const PaintReport report = paint(domain, of_domain);
  CHECK(report.sum == 2000);
  CHECK(to_host(a.context.exec, Span<const double>(of_domain.span())) ==
        to_host(a.context.exec, Span<const double>(of_caller.span())));
  CHECK(returned(domain, readout(domain, of_domain)) ==
        to_host(a.context.exec, readout(a.context, of_caller, a.particles)));
  const auto two = readout(domain, std::vector<const Field<double>*>{&of_domain, &of_domain});
  CHECK(returned(domain, two.at(1)) == returned(domain, readout(domain, of_domain)));
  CHECK_THROWS_AS(paint(domain, of_domain, {}, 1), InputError);
  CHECK_THROWS_AS(readout(domain, of_domain, Window::cic, 1), InputError);
}
