// What other ranks have.
#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include "src/knn/row_search.hpp"

namespace zhalo {

namespace {

/// Squared, of the two points of two boxes that are furthest from each other.
double largest_distance2(const kernels::CoarseBox& a, const kernels::CoarseBox& b,
                         const double (&period)[3]) {
  double sum = 0;
  for (int axis = 0; axis < 3; ++axis) {
    const double direct = std::max(a.hi[axis] - b.lo[axis], b.hi[axis] - a.lo[axis]);
    const double d = std::min(direct, period[axis] / 2);
    sum += d * d;
  }
  return sum;
}

constexpr double endless = std::numeric_limits<double>::infinity();

struct Portion {
  double distance2;
  Index count;
};

void add_portions(const kernels::CoarseBox& box, const CoarseBoxes& boxes,
                  const double (&period)[3], std::vector<Portion>& portions) {
  for (std::size_t i = 0; i < static_cast<std::size_t>(boxes.num); ++i)
    portions.push_back({largest_distance2(box, boxes.box[i], period), boxes.count[i]});
}

/// Within which distance there are `num` particles. Halves the portions that may be the last one.
double distance2_of(std::vector<Portion>& portions, Index num) {
  auto first = portions.begin(), end = portions.end();
  Index nearer = 0;  // particles of the portions before `first`
  while (end - first > 1) {
    const auto middle = first + (end - first) / 2;
    std::nth_element(first, middle, end,
                     [](const Portion& a, const Portion& b) { return a.distance2 < b.distance2; });
    const Index count = std::accumulate(
        first, middle, nearer, [](Index sum, const Portion& one) { return sum + one.count; });
    if (count >= num) {
      end = middle;
    } else {
      nearer = count;
      first = middle;
    }
  }
  return first != end && nearer + first->count >= num ? first->distance2 : endless;
}

}  // namespace

OtherRanks::OtherRanks(std::vector<CoarseBoxes> boxes, int own, const double (&period)[3])
    : boxes_(std::move(boxes)) {
  std::copy(period, period + 3, period_);
  for (std::size_t rank = 0; rank < boxes_.size(); ++rank) {
    const CoarseBoxes& of_rank = boxes_[rank];
    if (static_cast<int>(rank) == own || of_rank.num == 0) continue;
    ranks_.push_back(static_cast<int>(rank));
    num_.push_back(
        std::accumulate(of_rank.count.begin(), of_rank.count.begin() + of_rank.num, Index{0}));
    hulls_.push_back(of_rank.around_all());
  }
  for (std::size_t first = 0; first < hulls_.size(); first += kernels::hulls_of_group) {
    kernels::CoarseBox all = hulls_[first];
    const std::size_t end = std::min(hulls_.size(), first + kernels::hulls_of_group);
    for (std::size_t hull = first; hull < end; ++hull) all = around(all, hulls_[hull]);
    group_hulls_.push_back(all);
  }
}

OtherRanks::Bound OtherRanks::nearest_with(const kernels::CoarseBox& box, Index num) const {
  double reach2 = endless;  // to whole hulls; the boxes in them are nearer
  for_each_hull_near(box, reach2, [&](std::size_t hull) {
    if (num_[hull] >= num) reach2 = std::min(reach2, largest_distance2(box, hulls_[hull], period_));
  });
  Bound nearest;
  if (reach2 == endless) return nearest;
  std::vector<Portion> portions;
  for_each_hull_near(box, reach2, [&](std::size_t hull) {
    portions.clear();
    add_portions(box, boxes_[static_cast<std::size_t>(ranks_[hull])], period_, portions);
    const double distance2 = distance2_of(portions, num);
    if (distance2 < nearest.distance2) nearest = {distance2, ranks_[hull]};
  });
  return nearest;
}

double OtherRanks::reach_of(const kernels::CoarseBox& box, Index num) const {
  std::vector<Portion> portions;
  for (const CoarseBoxes& boxes : boxes_) add_portions(box, boxes, period_, portions);
  return distance2_of(portions, num);
}

}  // namespace zhalo
