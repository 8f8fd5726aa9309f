/// The stages of a transform and the exchanges between them.
#pragma once

#include <vector>

#include "src/fft/plane_exchange.hpp"
#include "zhalo/fft/decomposition.hpp"

namespace zhalo::mesh {

enum class Direction { forward, backward };
/// Cells and modes in two arrays, or in one.
enum class Arrays { apart, in_place };

/// Where a stage's planes come from or go to: one of the caller's arrays, or an exchange.
struct StageArray {
  enum class Kind { cells, modes, exchange } kind = Kind::cells;
  std::size_t exchange = 0;
};

struct FftStage {
  kernels::PlaneSteps steps;
  int plane_axis = 0;
  int row_axis = 1;
  Index num_planes = 0;
  StageArray from;
  StageArray to;
  bool is_scaled = false;  ///< multiplies by the norm
};

/// Where the block that a rank keeps in an exchange lies, if it is apart.
enum class OwnBlockStorage {
  none,
  output,  ///< already in its place among the modes
  compact  ///< dense at the beginning of the array that is transformed in place
};

struct FftRoute {
  std::vector<FftStage> stages;
  std::vector<PlaneExchange> exchanges;
  OwnBlockStorage own_block_storage =
      OwnBlockStorage::none;  ///< in the only exchange for which it can be apart: the one between x
                              ///< and y
  std::size_t own_exchange = 0;
  /// Of the planes behind that exchange, the first that can be written without overwriting what is
  /// compact; those before it come last.
  Index first_safe_plane = 0;

  /// Complex numbers of receive buffer memory: exchanges use two memories in turn.
  Index receive_buffer_size(std::size_t memory) const;
  Index sent_per_part() const;
};

/// What a route depends on.
struct FftCase {
  const Decomposition& decomposition;
  int rank = 0;
  Spectrum spectrum = Spectrum::half;
  bool restore_order = false;
  Index bytes_per_part = 0;
  Index element_size = 0;  ///< of a complex number
  bool measure = false;
};

FftRoute make_route(const FftCase& fft_case, Direction direction, Arrays arrays);

}  // namespace zhalo::mesh
