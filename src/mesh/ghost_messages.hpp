/// Whose cells a rank's ghosts are.
#pragma once

#include "src/fft/box_messages.hpp"
#include "zhalo/mesh/field.hpp"

namespace zhalo {

/// The cells of a rank with its ghosts. A rank without cells has none.
IndexBox with_ghosts(const Decomposition& decomposition, const Ghosts& ghosts, int rank);

/// What must travel so that the ghosts of all ranks become copies of their owners' cells. Index
/// boxes of one rank are in the order of the images of the grid that they are seen in (x slowest).
/// Without communication.
BoxMessages find_ghost_messages(const Decomposition& decomposition, const Ghosts& ghosts, int rank);

}  // namespace zhalo
