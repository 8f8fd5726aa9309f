#include "zhalo/mesh/transpose.hpp"

namespace zhalo {

Partition Partition::of_cells(const Decomposition& decomposition) {
  Partition partition;
  for (int rank = 0; rank < decomposition.num_ranks(); ++rank) partition.layout.push_back(decomposition.cells_layout(rank));
  return partition;
}

Partition Partition::of_modes(const Decomposition& decomposition, Spectrum spectrum, ModeOrder order) {
  Partition partition;
  for (int rank = 0; rank < decomposition.num_ranks(); ++rank)
    partition.layout.push_back(decomposition.modes_layout(rank, spectrum, order));
  return partition;
}

}  // namespace zhalo
