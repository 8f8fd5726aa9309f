/// What a rank knows of the particles of the others: which ranks a ball of queries may reach, and
/// how far it must reach at most.
#pragma once

#include <algorithm>
#include <limits>
#include <vector>

#include "kernels/knn.hpp"
#include "src/tree/tree.hpp"

namespace zhalo {

class OtherRanks {
 public:
  /// `boxes` of each rank, with those of rank `own`. Periods are infinite where not periodic.
  OtherRanks(std::vector<CoarseBoxes> boxes, int own, const double (&period)[3]);

  int num_ranks() const { return static_cast<int>(boxes_.size()); }
  /// Around the particles of each other rank that has any.
  Span<const kernels::CoarseBox> hulls() const { return hulls_; }
  /// Around each kernels::hulls_of_group of them.
  Span<const kernels::CoarseBox> group_hulls() const { return group_hulls_; }

  /// Calls `work(rank)` for each other rank with a box within reach of this one.
  template <class Work>
  void for_each_near(const kernels::CoarseBox& box, double reach2, const Work& work) const {
    for_each_hull_near(box, reach2, [&](std::size_t hull) {
      const auto boxes = boxes_[static_cast<std::size_t>(ranks_[hull])].span();
      const bool is_near = std::any_of(boxes.begin(), boxes.end(), [&](const auto& other) {
        return kernels::gap2(box, other, period_) <= reach2;
      });
      if (is_near) work(ranks_[hull]);
    });
  }

  struct Bound {
    double distance2 = std::numeric_limits<double>::infinity();
    int rank = -1;  ///< none
  };
  /// The rank that surely has `num` particles nearest to every point of the box, as far as boxes
  /// tell, and how far they are at most. None if no other rank has so many.
  Bound nearest_with(const kernels::CoarseBox& box, Index num) const;

  /// How far `num` particles of all ranks, this one included, are at most from every point of the
  /// box, squared. Infinite if there are fewer.
  double reach_of(const kernels::CoarseBox& box, Index num) const;

 private:
  /// Calls `work(hull)`, an index, for each hull within reach. The work may shorten the reach.
  template <class Work>
  void for_each_hull_near(const kernels::CoarseBox& box, const double& reach2,
                          const Work& work) const {
    for (std::size_t group = 0; group < group_hulls_.size(); ++group) {
      if (kernels::gap2(box, group_hulls_[group], period_) > reach2) continue;
      const std::size_t first = group * kernels::hulls_of_group;
      const std::size_t end = std::min(hulls_.size(), first + kernels::hulls_of_group);
      for (std::size_t hull = first; hull < end; ++hull)
        if (kernels::gap2(box, hulls_[hull], period_) <= reach2) work(hull);
    }
  }

  std::vector<CoarseBoxes> boxes_;  ///< of each rank
  std::vector<int> ranks_;          ///< of each hull
  std::vector<Index> num_;          ///< particles in each hull
  std::vector<kernels::CoarseBox> hulls_;
  std::vector<kernels::CoarseBox> group_hulls_;
  double period_[3];
};

}  // namespace zhalo
