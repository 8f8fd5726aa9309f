// The searches for neighbours on emulated lanes: the k-best list alone, then whole searches,
// against brute force and the vector groups.
#include <algorithm>

#include "tests/lanes/small_search.hpp"

namespace zhalo::testing {
namespace {

/// What is offered to the list of one row: squared distances (with ties) and global indices in no
/// order.
template <class Real>
struct Offer {
  std::vector<Real> distance2;
  std::vector<Index> index;

  Offer(Index num, Index distinct) {
    Random random(static_cast<std::uint64_t>(num * 1000 + distinct));
    for (Index i = 0; i < num; ++i) {
      distance2.push_back(static_cast<Real>(random.below(distinct)));
      index.push_back(i);
    }
    for (std::size_t i = index.size(); i-- > 1;)
      std::swap(index[i], index[static_cast<std::size_t>(random.below(static_cast<Index>(i) + 1))]);
    distance2.resize(distance2.size() + 64);  // vectors are loaded whole
  }
  Index num() const { return static_cast<Index>(index.size()); }

  /// (Squared distance, global index) of the k first.
  std::vector<std::pair<Real, Index>> best(Index k) const {
    std::vector<std::pair<Real, Index>> all;
    for (std::size_t i = 0; i < index.size(); ++i) all.emplace_back(distance2[i], index[i]);
    std::sort(all.begin(), all.end());
    all.resize(static_cast<std::size_t>(std::min(k, num())));
    return all;
  }
};

/// Offers everything to the list of one row, and has it merged whenever `batch` are staged.
template <class Lanes>
struct FillRow {
  using Real = typename Lanes::real;
  using Scratch = kernels::emulated::NeighbourScratch<Real>;
  kernels::BestRows<Real> rows;
  SearchColumn<Index> global_index;
  const Real* distance2;
  Index num;
  int batch;

  void operator()(const Lanes& lanes, Index row, Scratch& s) const {
    const kernels::emulated::BestList<Lanes> best{rows, global_index};
    int staged = 0;
    kernels::emulated::BestRow<Real> found = best.open(lanes, row, 0, s);
    for (Index j = 0; j < num; j += Lanes::size) {
      const std::uint64_t lane_bits = kernels::first_bits(std::min<Index>(num - j, Lanes::size));
      best.add(lanes, {lane_bits, lanes.load(distance2 + j), static_cast<LocalIndex>(j)}, staged,
               s);
      if (staged < batch) continue;
      best.flush(lanes, found, staged, s);
      staged = 0;
      if (found.num % 2 == 0) {  // as between two visits of a query
        best.close(lanes, found, row);
        found = best.open(lanes, row, static_cast<LocalIndex>(found.num), s);
      }
    }
    best.flush(lanes, found, staged, s);
    best.close(lanes, found, row);
    lanes.one([&] { rows.count[row] = static_cast<LocalIndex>(found.num); });
  }
};

template <class Lanes>
void check_list(Index k, Index num, Index distinct, int batch) {
  using Real = typename Lanes::real;
  INFO("k " << k << ", " << num << " offered, " << distinct << " distances, merged by " << batch);
  const Offer<Real> offer(num, distinct);
  OwnRows<Real> own(1, k);
  const SearchColumn<Index> index{offer.index.data(), nullptr, static_cast<LocalIndex>(num)};
  for_each_emulated<Lanes>(1, 1,
                           FillRow<Lanes>{own.rows, index, offer.distance2.data(), num, batch});
  const auto expected = offer.best(k);
  REQUIRE(Index{own.count[0]} == static_cast<Index>(expected.size()));
  for (std::size_t i = 0; i < expected.size(); ++i) {
    CHECK(own.distance2[i] == expected[i].first);
    CHECK(offer.index[own.index[i]] == expected[i].second);
  }
}

/// A query in each lane. What is tied is left to the general search.
template <class Case, int max_k>
void find_few(const SmallSearch<typename Case::Real>& small,
              const kernels::SearchView<typename Case::Real>& search,
              kernels::BestRows<typename Case::Real>& rows) {
  using Find = kernels::emulated::FindFewNearest<typename Case::Lanes, max_k>;
  for_each_emulated<typename Case::Lanes>(Case::num_warps, small.num_leaves(), Find{search, rows});
  rows.only_tied = true;
}

/// The k nearest on emulated lanes are those of brute force; the vector groups write the same, bit
/// for bit.
template <class Case>
void check_nearest(const PointSet<typename Case::Real>& points, const Wanted& wanted, int leaf_size,
                   const PointSet<typename Case::Real>* queries = nullptr) {
  using Real = typename Case::Real;
  using Lanes = typename Case::Lanes;
  INFO("k " << wanted.k << ", leaf size " << leaf_size);
  SmallSearch<Real> small(points, queries, leaf_size);
  const auto search = small.view(wanted);
  OwnRows<Real> own(small.num_queries(), wanted.k);
  if (wanted.k <= 8) {
    find_few<Case, 8>(small, search, own.rows);
  } else if (wanted.k <= 32) {
    find_few<Case, 32>(small, search, own.rows);
  }
  for_each_emulated<Lanes>(Case::num_warps, small.num_leaves(),
                           kernels::emulated::FindNearest<Lanes>{search, own.rows});
  const auto expected =
      queries != nullptr ? brute_table(points, *queries, wanted) : brute_table(points, wanted);
  CHECK(difference(small.table(own), expected) == "");

  OwnRows<Real> vectors(small.num_queries(), wanted.k);
  kernels::find_nearest(small.exec(), search, small.num_leaves(), vectors.rows);
  CHECK(own.count == vectors.count);
  CHECK(small.table(own) == small.table(vectors));
}

/// All within the radius: counted, listed, and sorted.
template <class Case>
void check_within(const PointSet<typename Case::Real>& points, double radius, int leaf_size) {
  using Real = typename Case::Real;
  using Lanes = typename Case::Lanes;
  const Wanted wanted{0, false, radius};
  SmallSearch<Real> small(points, nullptr, leaf_size);
  const auto search = small.view(wanted);
  std::vector<LocalIndex> count(static_cast<std::size_t>(small.num_queries()));
  kernels::WithinRows<Real> rows{count.data(), nullptr, nullptr, nullptr};
  const auto run = [&] {
    for_each_emulated<Lanes>(Case::num_warps, small.num_leaves(),
                             kernels::emulated::FindWithin<Lanes>{search, rows});
  };
  run();
  std::vector<Index> offset{0};
  for (LocalIndex& n : count) {
    offset.push_back(offset.back() + Index{n});
    n = 0;
  }
  std::vector<Real> distance2(static_cast<std::size_t>(offset.back()));
  std::vector<LocalIndex> index(distance2.size());
  rows = {count.data(), offset.data(), distance2.data(), index.data()};
  run();
  kernels::sort_rows(small.exec(), {offset.data(), static_cast<Index>(offset.size())}, rows,
                     small.global_index());
  CHECK(difference(small.table(rows), brute_table(points, wanted)) == "");
}

}  // namespace

TEMPLATE_TEST_CASE("the list of the k best on emulated lanes, ties included", "[lanes]",
                   (EmulatedLanes<float, 1>), (EmulatedLanes<float, 4>),
                   (EmulatedLanes<float, 32>)) {
  for (const Index k : {1, 8, 33}) {
    check_list<TestType>(k, 90, 1000000, 40);
    check_list<TestType>(k, 60, 7, 33);
    check_list<TestType>(k, 36, 1, 1);
  }
  check_list<TestType>(2, 110, 30, 96);
  check_list<TestType>(70, 50, 20, 20);  // never full
  check_list<TestType>(40, 40, 5, 25);   // just full
  check_list<TestType>(5, 0, 1, 1);
  check_list<TestType>(128, 300, 40, 60);  // the longest row in scratch memory
  check_list<TestType>(129, 300, 40, 60);
}

TEMPLATE_TEST_CASE("the k nearest on emulated lanes are those of brute force", "[lanes]",
                   (Case<float, 1>), (Case<float, 4>), (Case<double, 4>), (Case<float, 4, 3>),
                   (Case<float, 32>)) {
  using Real = typename TestType::Real;
  const Box periodic = Box::periodic_cube(1);
  SECTION("uniform, periodic") {
    check_nearest<TestType>(uniform_points<Real>(90, periodic, 0.1, 3), {.k = 8}, 12);
  }
  SECTION("uniform, open, others only") {
    check_nearest<TestType>(uniform_points<Real>(90, Box::unbounded(), 0.1, 4),
                            {.k = 33, .include_self = false}, 8);
  }
  SECTION("a radius") {
    check_nearest<TestType>(uniform_points<Real>(80, periodic, 0.1, 5),
                            {.k = 5, .max_radius = 0.25}, 4);
  }
  SECTION("two dimensions, knots over the edges") {
    check_nearest<TestType>(knotted_points<Real>(80, Box::periodic_cube(1, 2), 0.1, 0.06), {.k = 7},
                            8);
  }
  SECTION("a lattice full of ties") {
    check_nearest<TestType>(lattice_points<Real>(4, 0.25), {.k = 16}, 8);
  }
  SECTION("queries of their own, some far outside") {
    PointSet<Real> queries = uniform_points<Real>(30, Box::unbounded(), 0.1, 6);
    for (std::size_t i = 0; i < queries.pos.size(); i += 4) queries.pos[i] += 5;
    check_nearest<TestType>(uniform_points<Real>(80, Box::unbounded(), 0.1, 7), {.k = 9}, 8,
                            &queries);
  }
}

TEMPLATE_TEST_CASE(
    "the k nearest on emulated lanes: equal particles, more than there are, and next to none",
    "[lanes]", (Case<float, 4>), (Case<double, 32>)) {
  using Real = typename TestType::Real;
  PointSet<Real> equal{{}, Box::periodic_cube(1), 0.1};
  equal.pos.assign(120, static_cast<Real>(0.5));
  check_nearest<TestType>(equal, {.k = 5}, 8);
  check_nearest<TestType>(equal, {.k = 5, .include_self = false}, 32);
  for (const Index num : {0, 1, 2, 20})
    check_nearest<TestType>(uniform_points<Real>(num, Box::periodic_cube(1), 0.4, 8),
                            {.k = 30, .include_self = false}, 16);
}

TEMPLATE_TEST_CASE("the k nearest on emulated lanes: a search that is resumed in a second tree",
                   "[lanes]", (Case<float, 1>), (Case<float, 4>), (Case<float, 32>)) {
  using Real = typename TestType::Real;
  using Lanes = typename TestType::Lanes;
  const Box box = Box::periodic_cube(1);
  const PointSet<Real> first = uniform_points<Real>(60, box, 0.1, 9);
  PointSet<Real> second = uniform_points<Real>(50, box, 0.1, 10);
  std::copy_n(first.pos.begin(), 60, second.pos.begin());  // 20 that are equal
  PointSet<Real> all = first;
  all.pos.insert(all.pos.end(), second.pos.begin(), second.pos.end());
  for (const Index k : {1, 9, 80}) {
    const Wanted wanted{.k = k};
    SmallSearch<Real> small(first, nullptr, 8);
    small.add(second, 8);
    OwnRows<Real> own(small.num_queries(), k);
    const auto run = [&](const kernels::SearchView<Real>& search) {
      for_each_emulated<Lanes>(1, small.num_leaves(),
                               kernels::emulated::FindNearest<Lanes>{search, own.rows});
    };
    run(small.view(wanted));
    own.rows.resume = true;
    run(small.view(wanted, true));
    CHECK(difference(small.table(own), brute_table(all, first, wanted)) == "");
  }
}

TEMPLATE_TEST_CASE("all within a radius on emulated lanes are those of brute force", "[lanes]",
                   (Case<float, 1>), (Case<float, 4>), (Case<double, 4>), (Case<float, 4, 3>),
                   (Case<float, 32>)) {
  using Real = typename TestType::Real;
  check_within<TestType>(uniform_points<Real>(100, Box::periodic_cube(1), 0.1, 11), 0.2, 8);
  check_within<TestType>(knotted_points<Real>(60, Box::unbounded(2), 0.1, 0.06), 0.1, 12);
  check_within<TestType>(lattice_points<Real>(4, 0.25), 0.25, 32);
}

}  // namespace zhalo::testing
