#include "tests/support/brute_neighbours.hpp"

#include <algorithm>
#include <cmath>

namespace zhalo::testing {

template <class Real>
BruteNeighbours<Real>::BruteNeighbours(const PointSet<Real>& particles) : box_(particles.box) {
  double largest = 1e-300;
  for (int axis = 0; axis < box_.dimensions; ++axis)
    largest = std::max(largest, std::abs(box_.lo[axis]) + box_.length[axis]);
  for (const Real x : particles.pos) largest = std::max(largest, std::abs(static_cast<double>(x)));
  exponent_ = std::ilogb(largest) - 30;
  for (Index i = 0; i < particles.num(); ++i) pos_.push_back(inside(particles, i));
}

template <class Real>
Vec<Real, 3> BruteNeighbours<Real>::inside(const PointSet<Real>& points, Index i) const {
  Vec<Real, 3> x;
  for (int axis = 0; axis < box_.dimensions; ++axis)
    x[axis] = static_cast<Real>(
        std::ldexp(static_cast<double>(moved_inside(points.at(i, axis), box_, axis)), -exponent_));
  return x;
}

template <class Real>
Real BruteNeighbours<Real>::distance2(const Vec<Real, 3>& a, const Vec<Real, 3>& b) const {
  Vec<Real, 3> d;
  for (int axis = 0; axis < box_.dimensions; ++axis) {
    d[axis] = std::abs(a[axis] - b[axis]);
    const Real period = static_cast<Real>(std::ldexp(box_.length[axis], -exponent_));
    if (box_.periodic[axis]) d[axis] = std::min(d[axis], static_cast<Real>(period - d[axis]));
  }
  return std::fma(d[2], d[2], std::fma(d[1], d[1], d[0] * d[0]));
}

template <class Real>
std::vector<FoundNeighbour<Real>> BruteNeighbours<Real>::near(const Vec<Real, 3>& query,
                                                              const Wanted& wanted,
                                                              Index self) const {
  const double radius = std::ldexp(wanted.max_radius, -exponent_);
  std::vector<Candidate> all;
  for (std::size_t j = 0; j < pos_.size(); ++j) {
    const Real r2 = distance2(query, pos_[j]);
    if (static_cast<Index>(j) != self && static_cast<double>(std::sqrt(r2)) <= radius)
      all.push_back({r2, static_cast<Index>(j)});
  }
  const auto nearer = [](const Candidate& a, const Candidate& b) {
    return a.r2 != b.r2 ? a.r2 < b.r2 : a.index < b.index;
  };
  const auto num = static_cast<Index>(all.size());
  const Index kept = wanted.k > 0 && wanted.k < num ? wanted.k : num;
  std::partial_sort(all.begin(), all.begin() + kept, all.end(), nearer);
  all.resize(static_cast<std::size_t>(kept));
  std::vector<FoundNeighbour<Real>> found;
  for (const Candidate& c : all)
    found.push_back(
        {static_cast<Real>(std::ldexp(static_cast<double>(std::sqrt(c.r2)), exponent_)), c.index});
  return found;
}

template class BruteNeighbours<float>;
template class BruteNeighbours<double>;

}  // namespace zhalo::testing
