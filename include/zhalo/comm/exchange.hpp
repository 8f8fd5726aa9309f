/// Who sends how much to whom.
#pragma once

#include <vector>

#include "zhalo/core/types.hpp"

namespace zhalo {

/// A variable all-to-all, known to both sides. Elements lie by rank: those for (from) rank r are
/// [offset[r], offset[r + 1]). A pair of ranks may exchange nothing, and a rank may send to itself.
struct ExchangePlan {
  std::vector<Index> send_offset;     ///< size() + 1
  std::vector<Index> receive_offset;  ///< size() + 1

  Index num_sent() const { return send_offset.back(); }
  Index num_received() const { return receive_offset.back(); }
  /// The way back: what was received is sent to where it came from.
  ExchangePlan reversed() const { return {receive_offset, send_offset}; }
};

/// One array that travels: num_sent() elements at `send` become num_received() elements at
/// `receive`, in the order of ranks.
struct ExchangeColumn {
  const void* send = nullptr;
  void* receive = nullptr;
  Index element_size = 0;
};

}  // namespace zhalo
