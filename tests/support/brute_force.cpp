#include "tests/support/brute_force.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "zhalo/core/types.hpp"

namespace zhalo::testing {

template <class Real>
Index count_wrapped(const PointSet<Real>& points) {
  Index count = 0;
  for (Index i = 0; i < points.num(); ++i) {
    bool outside = false;
    for (int axis = 0; axis < points.box.dimensions; ++axis) {
      const double x = static_cast<double>(points.at(i, axis));
      const double lo = points.box.lo[axis];
      outside =
          outside || (points.box.periodic[axis] && (x < lo || x >= lo + points.box.length[axis]));
    }
    count += outside ? 1 : 0;
  }
  return count;
}

template <class Real>
Real moved_inside(Real x, const Box& box, int axis) {
  if (!box.periodic[axis]) return x;
  const double lo = box.lo[axis];
  const double hi = lo + box.length[axis];
  double image = static_cast<double>(x);
  if (image >= lo && image < hi) return x;
  if (image == hi) image = lo;
  while (image >= hi) image -= box.length[axis];
  while (image < lo) image += box.length[axis];
  const Real rounded = static_cast<Real>(image);
  if (static_cast<double>(rounded) >= lo && static_cast<double>(rounded) < hi) return rounded;
  const Real edge = static_cast<Real>(lo);
  return static_cast<double>(edge) < lo
             ? std::nextafter(edge, std::numeric_limits<Real>::infinity())
             : edge;
}

namespace {

/// Particles inside the box, as three coordinates each, and the test for friends.
class Friends {
 public:
  template <class Real>
  explicit Friends(const PointSet<Real>& points)
      : box_(points.box), b2_(points.linking_length * points.linking_length) {
    for (Index i = 0; i < points.num(); ++i) {
      Vec3d x;
      for (int axis = 0; axis < box_.dimensions; ++axis)
        x[axis] = static_cast<double>(moved_inside(points.at(i, axis), box_, axis));
      pos_.push_back(x);
    }
  }

  Index num() const { return static_cast<Index>(pos_.size()); }

  bool operator()(Index i, Index j) const {
    const Vec3d& a = pos_[static_cast<std::size_t>(i)];
    const Vec3d& b = pos_[static_cast<std::size_t>(j)];
    Vec3d d;
    for (int axis = 0; axis < box_.dimensions; ++axis) {
      d[axis] = std::abs(a[axis] - b[axis]);
      if (box_.periodic[axis]) d[axis] = std::min(d[axis], box_.length[axis] - d[axis]);
    }
    return std::fma(d[2], d[2], std::fma(d[1], d[1], d[0] * d[0])) <= b2_;
  }

 private:
  Box box_;
  double b2_;
  std::vector<Vec3d> pos_;
};

}  // namespace

template <class Real>
bool are_friends(const PointSet<Real>& points, Index i, Index j) {
  return Friends(points)(i, j);
}

/// Breadth first from each particle that has no label yet.
template <class Real>
std::vector<Index> brute_force_groups(const PointSet<Real>& points) {
  const Friends friends(points);
  std::vector<Index> label(static_cast<std::size_t>(friends.num()), -1);
  std::vector<Index> left(label.size());
  std::iota(left.begin(), left.end(), Index{0});
  while (!left.empty()) {
    const Index first = left.front();
    std::vector<Index> members{first};
    left.erase(left.begin());
    for (std::size_t next = 0; next < members.size(); ++next) {
      std::vector<Index> others;
      for (const Index j : left) (friends(members[next], j) ? members : others).push_back(j);
      left.swap(others);
    }
    for (const Index i : members) label[static_cast<std::size_t>(i)] = first;
  }
  return label;
}

template <class Real>
bool are_fof_groups(const std::vector<Index>& label, const PointSet<Real>& points) {
  const Friends friends(points);
  const auto at = [](std::vector<Index>& v, Index i) -> Index& {
    return v[static_cast<std::size_t>(i)];
  };
  if (static_cast<Index>(label.size()) != friends.num()) return false;
  std::vector<Index> labels = label;
  for (Index i = 0; i < friends.num(); ++i) {
    const Index l = at(labels, i);
    if (l < 0 || l > i || at(labels, l) != l) return false;
  }
  // As many labels as components, and no edge between labels: then every label is one component.
  std::vector<Index> up(label.size());
  std::iota(up.begin(), up.end(), Index{0});
  const auto root = [&](Index i) {
    while (at(up, i) != i) i = at(up, i) = at(up, at(up, i));
    return i;
  };
  Index num_components = friends.num();
  for (Index i = 0; i < friends.num(); ++i) {
    for (Index j = 0; j < i; ++j) {
      if (!friends(i, j)) continue;
      if (at(labels, i) != at(labels, j)) return false;
      const Index a = root(i);
      const Index b = root(j);
      num_components -= a == b ? 0 : 1;
      at(up, a) = b;
    }
  }
  Index num_labels = 0;
  for (Index i = 0; i < friends.num(); ++i) num_labels += at(labels, i) == i ? 1 : 0;
  return num_labels == num_components;
}

#define ZHALO_INSTANTIATE(Real)                                          \
  template Index count_wrapped(const PointSet<Real>&);                   \
  template Real moved_inside(Real, const Box&, int);                     \
  template bool are_friends(const PointSet<Real>&, Index, Index);        \
  template std::vector<Index> brute_force_groups(const PointSet<Real>&); \
  template bool are_fof_groups(const std::vector<Index>&, const PointSet<Real>&);
ZHALO_INSTANTIATE(float)
ZHALO_INSTANTIATE(double)
#undef ZHALO_INSTANTIATE

}  // namespace zhalo::testing
