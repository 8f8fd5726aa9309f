/// How much memory calls need, before they are made.
#pragma once

#include <array>

#include "zhalo/core/types.hpp"

namespace zhalo {

/// Bytes of a rank's memory that a call takes beyond what is in use when it begins. With several
/// ranks: of the rank with most.
///
/// The figures are those of a CUDA device with more than about 10000 particles or cells a rank.
/// MemoryPool::peak_bytes() of the real call agrees within 10%, if the particles are distributed as
/// Clustering says. Ranks may own particles in any order. Not counted: the CUDA context, the code
/// of kernels, and what plans of cuFFT and NCCL take.
struct MemoryNeed {
  double peak = 0;  ///< at most while the call runs
  double kept = 0;  ///< when it has returned: its results, and what a domain keeps
};

/// What depends on where particles are. For uniform particles the three numbers are 0.043, 0 and 1.
/// For particles of which 60% are in groups they are 0.12, 0.6 and 0.6. The default lies between
/// these two. The choice changes the need of make_catalogue() by up to a fifth, and that of the
/// others by less.
struct Clustering {
  double leaves = 0.09;     ///< of the tree, per particle
  double in_groups = 0.35;  ///< part of the particles that are members of the catalogue's groups
  double labels = 0.9;      ///< friends-of-friends groups of one member or more, per particle
};

/// Particles of a search in 3 dimensions, evenly over the ranks.
struct SearchSize {
  Index num_particles = 0;  ///< over all ranks
  int num_ranks = 1;
  bool double_positions = false;
  Clustering clustering{};
};

/// friends_of_friends() of particles.
MemoryNeed friends_of_friends_need(const SearchSize& size);

/// A Domain of particles, of positions alone.
MemoryNeed domain_need(const SearchSize& size);
/// friends_of_friends() of a domain. What it keeps can be negative: the domain then needs its keys
/// no more.
MemoryNeed groups_need(const SearchSize& size);
/// Domain::add_columns of so many bytes per particle, the longest column of which has
/// `longest_bytes`.
MemoryNeed columns_need(const SearchSize& size, double bytes, double longest_bytes);
/// make_catalogue() of a domain, and its members: of a FofResult, or of labels.
MemoryNeed catalogue_need(const SearchSize& size, bool of_labels = false);
/// in_group_order() of a column of so many bytes per particle.
MemoryNeed group_order_need(const SearchSize& size, double bytes);

/// What is searched and returned. The queries are evenly over the ranks.
struct NeighbourSize {
  Index num_queries = 0;  ///< over all ranks; 0: the particles themselves
  int k = 8;
  Index chunk_bytes = 0;  ///< KnnOptions::chunk_bytes
  /// Of columns that quantities or a reduction need, per particle. Masses that are the same for all
  /// particles of all ranks are no column.
  double bytes_per_column = 0;
  bool lists = true;       ///< distances and indices are returned, no locations or columns
  int num_quantities = 0;  ///< of KnnOutput::quantities
};

/// knn() of particles. knn_reduce() and neighbour_quantity() are without lists and with one
/// quantity.
MemoryNeed knn_need(const SearchSize& size, const NeighbourSize& search);

/// A mesh, divided over the ranks.
struct MeshSize {
  Vec<Index, 3> num{};  ///< cells along each axis
  int num_ranks = 1;
  bool double_values = false;
  std::array<int, 2> shape{};  ///< Decomposition::shape(); {0, 0}: slabs
};

/// Bytes of a rank's part of a Field without ghosts, and of its Modes, which are transposed.
double field_bytes(const MeshSize& mesh);
double modes_bytes(const MeshSize& mesh);
/// paint() of particles into a field that is there; `window_order`: 1 for NGP to 4 for PCS.
MemoryNeed paint_need(const SearchSize& size, const MeshSize& mesh, int window_order = 2);
/// to_modes(): the modes are kept.
MemoryNeed to_modes_need(const MeshSize& mesh);
/// to_field() in the memory of the modes, into a field that is there. To keep the modes takes
/// modes_bytes() / num_ranks more.
MemoryNeed to_field_need(const MeshSize& mesh);
/// displace() of modes that are there, in order 1 or 2.
MemoryNeed displace_need(const MeshSize& mesh, int order = 2);

/// The most that a sequence of calls needs.
class MemoryTally {
 public:
  void call(const MemoryNeed& need);
  void take(double bytes);
  void drop(double bytes) { take(-bytes); }

  double in_use() const { return in_use_; }
  double peak() const { return peak_; }
  /// The sequence as one call.
  MemoryNeed need() const { return {peak_, in_use_}; }

 private:
  double in_use_ = 0;
  double peak_ = 0;
};

}  // namespace zhalo
