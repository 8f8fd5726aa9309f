/// Attaching particles to the groups of their nearest linked ones: against whole numbers, on any
/// number of ranks.
#include <catch2/catch.hpp>

#include <algorithm>
#include <array>
#include <numeric>
#include <optional>

#include "tests/mpi/catalogue/lattice.hpp"
#include "zhalo/catalogue/attach.hpp"
#include "zhalo/core/error.hpp"

namespace zhalo::testing {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

Index distance2(const Point& a, const Point& b, const Box& box) {
  Index sum = 0;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    Index d = std::abs(a[axis] - b[axis]);
    if (box.any_periodic()) d = std::min(d % cells, cells - d % cells);
    sum += d * d;
  }
  return sum;
}

/// The definition. A radius of `reach` lattice cells.
std::vector<Index> nearest_labels(const PointSet& point_set, const Box& box,
                                  std::optional<Index> reach) {
  std::vector<Index> labels;
  for (const Point& other : point_set.others) {
    Index best = reach ? *reach * *reach + 1 : std::numeric_limits<Index>::max();
    Index label = no_group;
    for (std::size_t i = 0; i < point_set.linked.size(); ++i) {
      const Index d2 = distance2(other, point_set.linked[i], box);
      if (d2 >= best) continue;  // of several the first
      best = d2;
      label = point_set.label[i];
    }
    labels.push_back(label);
  }
  return labels;
}

template <class Real>
void check(const Context& context, const PointSet& point_set, const Box& box,
           std::optional<Index> reach) {
  const double radius = reach ? static_cast<double>(*reach) / static_cast<double>(cells) : infinity;
  const std::vector<Index> expected = nearest_labels(point_set, box, reach);
  for (int way = 0; way < num_ways; ++way) {
    const Share linked_here =
        share_in_way(static_cast<Index>(point_set.linked.size()), way, context.comm);
    const Share others_here = share_in_way(static_cast<Index>(point_set.others.size()),
                                           (way + 1) % num_ways, context.comm);
    INFO(point_set.linked.size() << " linked, " << point_set.others.size() << " others, radius "
                                 << radius << ", way " << way);
    const Placed<Real> linked(point_set.linked, linked_here, box.dimensions);
    const Placed<Real> others(point_set.others, others_here, box.dimensions);
    const std::vector<Index> label = part(point_set.label, linked_here);
    const AttachResult found =
        attach_particles<Real>(context, {linked.particles, label}, others.particles, box, radius);
    CHECK(to_host(context.exec, found.label) == part(expected, others_here));
  }
}

template <class Real>
void check_all(const Context& context) {
  for (const bool periodic : {true, false}) {
    for (const int dimensions : {3, 2}) {
      const Box box = box_of(periodic, dimensions);
      for (const Index spread :
           {Index{3}, Index{16}, cells}) {  // hundreds at one position; ties everywhere; few ties
        const PointSet point_set = make_point_set(300, 400, spread, box);
        check<Real>(context, point_set, box, 0);
        check<Real>(context, point_set, box, 5);
        check<Real>(context, point_set, box, std::nullopt);
      }
    }
  }
}

}  // namespace

TEST_CASE("each particle gets the label of its nearest linked one: float") {
  check_all<float>(host_context());
}
TEST_CASE("each particle gets the label of its nearest linked one: double") {
  check_all<double>(host_context());
}

TEST_CASE("nothing linked, nothing to attach, one of each") {
  const Context context = host_context();
  const Box box = Box::periodic_cube(1);
  for (const auto& [linked, others] :
       {std::pair{0, 0}, {0, 50}, {50, 0}, {1, 50}, {50, 1}, {1, 1}}) {
    const PointSet point_set = make_point_set(linked, others, cells, box);
    check<float>(context, point_set, box, std::nullopt);
    check<double>(context, point_set, box, 20);
  }
}

TEST_CASE("particles outside the periodic box are counted") {
  const Context context = host_context();
  const Box box = Box::periodic_cube(1);
  const PointSet point_set = make_point_set(100, 200, cells, box);
  const auto is_outside = [](const Point& p) {
    return std::any_of(p.begin(), p.end(), [](Index x) { return x < 0 || x >= cells; });
  };
  const auto num_outside =
      std::count_if(point_set.linked.begin(), point_set.linked.end(), is_outside) +
      std::count_if(point_set.others.begin(), point_set.others.end(), is_outside);
  const Share linked_here = share_of(100, context.comm.rank(), context.comm.size());
  const Placed<double> linked(point_set.linked, linked_here, 3);
  const Placed<double> others(point_set.others,
                              share_of(200, context.comm.rank(), context.comm.size()), 3);
  const std::vector<Index> label = part(point_set.label, linked_here);
  CHECK(attach_particles<double>(context, {linked.particles, label}, others.particles, box, 1)
            .num_wrapped == num_outside);
}

namespace {

/// Linked particles of type 1 in groups of ten, and particles of type 0 that join them: all in the
/// order in which the ranks have them.
struct Mixture {
  Sample sample;
  PointSet point_set;
  Share linked_here, others_here;

  Mixture(const Communicator& comm, int way, const std::vector<int>& counted) {
    const Box box = Box::periodic_cube(1);
    point_set = make_point_set(240, 500, 30, box);
    for (Index i = 0; i < 240; ++i) point_set.label[static_cast<std::size_t>(i)] = i % 24;
    const std::vector<Index> attached = nearest_labels(point_set, box, 2);
    linked_here = share_in_way(240, way, comm);
    others_here = share_in_way(500, 3 - way, comm);
    for (const Share& of_rank : comm.all_gather(linked_here)) linked_shares_.push_back(of_rank);
    for (const Share& of_rank : comm.all_gather(others_here)) other_shares_.push_back(of_rank);
    for (std::size_t rank = 0; rank < linked_shares_.size(); ++rank) {
      add(point_set.linked, point_set.label, linked_shares_[rank], 1);
      add(point_set.others, attached, other_shares_[rank], 0);
    }
    sample.box = box;
    sample.options = {10, 2, counted};
  }

  std::vector<Index> any_order() const {
    std::vector<Index> order(sample.label.size());
    std::iota(order.begin(), order.end(), Index{0});
    return order;
  }

 private:
  void add(const std::vector<Point>& points, const std::vector<Index>& label, Share share,
           std::uint8_t type) {
    for (Index i = share.first; i < share.first + share.count; ++i) {
      const auto at = static_cast<std::size_t>(i);
      sample.label.push_back(label[at]);
      sample.type.push_back(type);
      sample.mass.push_back(1);
      for (const Index x : points[at])
        sample.pos.push_back(static_cast<double>(x) / static_cast<double>(cells));
      sample.velocity.insert(sample.velocity.end(), 3, 0);
    }
  }

  std::vector<Share> linked_shares_, other_shares_;
};

/// Each member is in the group among whose members it is; all together are those of the table.
void check_in_groups(const Context& context, const Catalogue& found, const Table& expected) {
  std::vector<Index> times_found(expected.group_of.size());
  const std::vector<Index> members = to_host(context.exec, found.members);
  for (std::size_t i = 0; i < members.size(); ++i) {
    const auto member = static_cast<std::size_t>(members[i]);
    const auto at = static_cast<std::size_t>(found.first_member) + i;
    CHECK(expected.group_of[member] ==
          expected.group_of[static_cast<std::size_t>(expected.members[at])]);
    ++times_found[member];
  }
  context.comm.sum_in_place(times_found);
  for (std::size_t i = 0; i < times_found.size(); ++i)
    CHECK(times_found[i] == (expected.group_of[i] == no_group ? 0 : 1));
}

/// Both kinds of particles of this rank, the linked first, and their labels by attach_particles.
void check_mixture(const Context& context, const Mixture& mixture) {
  const Placed<double> linked(mixture.point_set.linked, mixture.linked_here, 3);
  const Placed<double> others(mixture.point_set.others, mixture.others_here, 3);
  std::vector<Index> label = part(mixture.point_set.label, mixture.linked_here);
  const double radius = 2.0 / cells;
  const auto attached = attach_particles<double>(context, {linked.particles, label},
                                                 others.particles, mixture.sample.box, radius);
  for (const Index of_other : to_host(context.exec, attached.label)) label.push_back(of_other);

  const std::array<std::uint8_t, 2> types{1, 0};
  Particles<double> all = linked.particles;
  for (auto& segment : all.segments) segment.type = {&types[0], 0};
  for (auto segment : others.particles.segments) {
    segment.type = {&types[1], 0};
    all.segments.push_back(segment);
  }
  const Catalogue found =
      make_catalogue(context, all, mixture.sample.box, label, mixture.sample.options);
  const Table expected = Arithmetic(mixture.sample, mixture.any_order()).table();
  const Share rows{found.first_group, static_cast<Index>(found.length.size())};
  const Index before = context.comm.exclusive_sum(all.num());
  CHECK(found.num_groups_total == static_cast<Index>(expected.length.size()));
  CHECK(found.length == part(expected.length, rows));
  CHECK(found.label == part(expected.label, rows));
  CHECK(found.length_by_type == part(expected.length_by_type, {2 * rows.first, 2 * rows.count}));
  CHECK(to_host(context.exec, found.group_of) == part(expected.group_of, {before, all.num()}));
  check_in_groups(context, found, expected);
}

}  // namespace

TEST_CASE("a catalogue of linked and attached particles") {
  const Context context = host_context();
  std::vector<Index> num_groups;
  for (const std::vector<int>& counted : {std::vector<int>{}, {1}, {0}, {0, 1}}) {
    for (int way = 0; way < num_ways; ++way) {
      INFO("way " << way << ", " << counted.size() << " types count");
      const Mixture mixture(context.comm, way, counted);
      check_mixture(context, mixture);
      num_groups.push_back(static_cast<Index>(
          Arithmetic(mixture.sample, mixture.any_order()).table().length.size()));
    }
  }
  CHECK(num_groups[0] == 24);  // all have ten linked ones
  CHECK(num_groups[4] == 24);
  CHECK(num_groups[8] < 24);
}

TEST_CASE("what cannot be attached") {
  const Context context = host_context();
  const Box box = Box::periodic_cube(1);
  const PointSet point_set = make_point_set(10, 10, cells, box);
  const Placed<float> linked(point_set.linked,
                             share_of(10, context.comm.rank(), context.comm.size()), 3);
  const std::vector<Index> label(static_cast<std::size_t>(linked.particles.num()), 0);
  const auto attach = [&](Span<const Index> labels, double radius) {
    return attach_particles<float>(context, {linked.particles, labels}, linked.particles, box,
                                   radius);
  };
  CHECK_THROWS_AS(attach(label, -1), InputError);
  CHECK_THROWS_WITH(attach(label, -1), Catch::Contains("attached is -1 (must not be negative)"));
  CHECK_THROWS_WITH(attach(label, std::nan("")), Catch::Contains("must not be negative"));
  std::vector<Index> more = label;
  if (context.comm.rank() == 0) more.push_back(0);
  CHECK_THROWS_WITH(attach(more, 1), Catch::Contains("labels for"));
  const Span<const Index> nothing(nullptr, linked.particles.num());
  if (linked.particles.num() > 0 || context.comm.size() > 1)
    CHECK_THROWS_WITH(attach(nothing, 1),
                      Catch::Contains("labels: ") && Catch::Contains("their address is null"));
  CHECK(attach(label, 0).label.size() == linked.particles.num());
}

}  // namespace zhalo::testing
