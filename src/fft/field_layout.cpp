#include "zhalo/fft/redistribute.hpp"

namespace zhalo {

FieldLayout FieldLayout::of_cells(const Decomposition& decomposition) {
  FieldLayout layout;
  for (int rank = 0; rank < decomposition.num_ranks(); ++rank)
    layout.layout.push_back(decomposition.cells_layout(rank));
  return layout;
}

FieldLayout FieldLayout::of_modes(const Decomposition& decomposition, Spectrum spectrum,
                                  ModeOrder order) {
  FieldLayout layout;
  for (int rank = 0; rank < decomposition.num_ranks(); ++rank)
    layout.layout.push_back(decomposition.modes_layout(rank, spectrum, order));
  return layout;
}

}  // namespace zhalo
