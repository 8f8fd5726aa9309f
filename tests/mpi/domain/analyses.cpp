/// Analyses of one domain: results of each are those of the particles, and none sorts or sends the
/// particles again.
#include <catch2/catch.hpp>

#include <set>
#include <string>

#include "tests/support/brute_force.hpp"
#include "tests/support/over_ranks.hpp"
#include "tests/support/point_sets.hpp"
#include "zhalo/catalogue/attach.hpp"
#include "zhalo/catalogue/catalogue.hpp"
#include "zhalo/fof/fof.hpp"
#include "zhalo/knn/within.hpp"
#include "zhalo/mesh/paint.hpp"
#include "zhalo/mesh/readout.hpp"

namespace {

using namespace zhalo;
using namespace zhalo::testing;

struct NumWithin {
  ZHALO_HD Index operator()(const Neighbours<float>& near) const { return near.size(); }
};

/// One set of points, shared out to the ranks, and the same as a domain.
struct Analysed {
  Timers timers;
  Context context{Communicator(MPI_COMM_WORLD), host_exec(2), &timers};
  PointSet<float> points;
  Share share;
  std::vector<float> rows;
  Particles<float> particles;

  explicit Analysed(Index num) {
    points = {{}, Box::periodic_cube(1), 0.05};
    Random random(17);
    fill(points, random, Shape::blobs, num);
    share = part_of(num, Cut::uneven, context.comm.rank(), context.comm.size());
    rows = rows_of(points, share);
    particles.segments = {ParticleSegment<float>::interleaved(rows.data(), share.count)};
  }

  /// Phases that took time since the last call.
  std::set<std::string> new_phases() {
    std::set<std::string> names;
    for (const Phase& phase : timers.phases()) names.insert(std::string(phase.name));
    timers = Timers{};
    return names;
  }
};

template <class T>
std::vector<T> returned(const Domain<float>& domain, const Buffer<T>& values) {
  return to_host(domain.context().exec, domain.to_caller_order(values.span()));
}

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

TEST_CASE("domain: a second analysis sorts nothing, and sends only what others must see") {
  Analysed a(4000);
  const Domain<float> domain(a.context, a.particles, a.points.box);
  const std::set<std::string> sorting{"bounds", "sort", "distribute"};
  std::set<std::string> made = a.new_phases();
  CHECK(made.count("sort") == 1);
  const auto sorts = [&] {
    const std::set<std::string> names = a.new_phases();
    return std::any_of(names.begin(), names.end(),
                       [&](const std::string& name) { return sorting.count(name) != 0; });
  };
  const Index sent_before = a.context.comm.bytes_sent();
  friends_of_friends(domain, {.linking_length = 0.02});
  CHECK_FALSE(sorts());
  knn(domain, {.k = 4});
  CHECK_FALSE(sorts());
  count_within(domain, {.radius = 0.02});
  // The tree of the second search for neighbours is that of the first.
  CHECK(a.new_phases().count("tree") == 0);
  if (a.context.comm.size() == 1) CHECK(a.context.comm.bytes_sent() == sent_before);
  // Had each call sent the particles as the domain did, it would be 28 bytes for each that moved.
  const Index sent = a.context.comm.sum(a.context.comm.bytes_sent() - sent_before);
  const Index as_particles = [&] {
    const Index before = a.context.comm.bytes_sent();
    friends_of_friends(a.context, a.particles, a.points.box, {.linking_length = 0.02});
    knn(a.context, a.particles, a.points.box, {.k = 4});
    count_within(a.context, a.particles, a.points.box, {.radius = 0.02});
    return a.context.comm.sum(a.context.comm.bytes_sent() - before);
  }();
  if (a.context.comm.size() > 1) CHECK(sent < as_particles);
}

TEST_CASE("domain: its catalogue sends no particle again, and is that of the particles") {
  Analysed a(4000);
  const Box& box = a.points.box;
  const FofOptions linking{.linking_length = a.points.linking_length};
  const Domain<float> domain(a.context, a.particles, box);
  const FofResult groups = friends_of_friends(domain, linking);
  a.new_phases();
  const Index sent_before = a.context.comm.bytes_sent();
  const Catalogue catalogue = make_catalogue(domain, groups.label.span(), {.min_members = 5});
  const Index sent = a.context.comm.sum(a.context.comm.bytes_sent() - sent_before);
  CHECK(a.new_phases() == std::set<std::string>{"catalogue"});
  // Labels and rows of groups on their way to order, sums of their parts, indices of members: less
  // than a particle's positions in each direction.
  CHECK(sent < 40 * domain.num_total());

  const FofResult of_particles = friends_of_friends(a.context, a.particles, box, linking);
  const Catalogue expected =
      make_catalogue(a.context, a.particles, box, of_particles.label.span(), {.min_members = 5});
  CHECK(catalogue.num_groups_total > 0);
  CHECK(catalogue.checksum == expected.checksum);
  CHECK(returned(domain, catalogue.group_of) == to_host(a.context.exec, expected.group_of));
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
  CHECK(to_host(context.exec, domain.to_caller_order(Span<const Index>(joined.label.span()), 1)) ==
        to_host(context.exec, expected.label));
}

TEST_CASE("domain: fields of its particles are those of the caller's") {
  Analysed a(2000);
  const Domain<float> domain(a.context, a.particles, a.points.box);
  Field<double> of_caller(a.context,
                          Decomposition(Grid{{{12, 12, 12}}, a.points.box}, a.context.comm.size()));
  Field<double> of_domain(a.context, of_caller.decomposition());
  paint(a.context, a.particles, of_caller);
  paint(a.context, domain.particles(), of_domain);
  CHECK(to_host(a.context.exec, Span<const double>(of_domain.span())) ==
        to_host(a.context.exec, Span<const double>(of_caller.span())));
  CHECK(returned(domain, readout(a.context, of_domain, domain.particles())) ==
        to_host(a.context.exec, readout(a.context, of_caller, a.particles)));
}
