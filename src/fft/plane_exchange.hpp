/// Who sends which part of its planes to whom, and where it lands.
#pragma once

#include <vector>

#include "kernels/fft.hpp"
#include "zhalo/comm/communicator.hpp"

namespace zhalo::mesh {

/// The other side of an exchange, or this rank itself. Blocks are dense, sent plane by plane. Sizes
/// are in complex numbers.
struct ExchangePeer {
  int rank = 0;
  kernels::PlanePiece store;  ///< which part of this rank's planes the peer gets, and its strides
                              ///< in the block; without data
  kernels::PlanePiece load;   ///< which part of the next planes came from the peer, and its strides
                              ///< in the block; without data
  Index sent_per_plane = 0;   ///< of the sender's planes
  Index received_per_plane = 0;
  Index received_planes = 0;
  Index receive_buffer = 0;  ///< where the peer's block lies in this rank's receive buffer memory
  Index receive_buffer_there = 0;  ///< where this rank's block lies in the peer's

  Index received_size() const { return received_per_plane * received_planes; }
};

/// An exchange among a group of ranks, seen from one of them.
struct PlaneExchange {
  std::vector<ExchangePeer> peers;  ///< in the group's order, this rank among them
  std::size_t me = 0;
  Index num_planes = 0;  ///< that this rank sends
  Index max_planes = 0;  ///< that a rank of the group sends
  Index receive_buffer_size = 0;
  Index planes_per_part = 1;

  Index num_parts() const { return (max_planes + planes_per_part - 1) / planes_per_part; }
  const ExchangePeer& self() const { return peers[me]; }
  /// Complex numbers that a part sends to others.
  Index sent_per_part() const;
  /// Of a message of a part, to or from another rank, in complex numbers.
  Index longest_message() const;
};

/// What a rank keeps for itself lies among what others send it, or apart.
enum class OwnBlock { received, apart };

struct ExchangeGroup {
  std::vector<int> ranks;
  std::size_t me = 0;
  OwnBlock own = OwnBlock::received;
  Index bytes_per_part = 0;
  Index element_size = 0;
};

/// Planes and rows change roles: member s has planes[s] of all planes, and gets rows[s] of all
/// planes, which become its planes. Planes are `width` wide.
PlaneExchange swap_planes_and_rows(const ExchangeGroup& group, const std::vector<Share>& planes,
                                   const std::vector<Share>& rows, Index width);

/// All members have the same planes; member s has rows[s] of each, and gets columns[s] of all rows.
PlaneExchange rows_to_columns(const ExchangeGroup& group, Index num_planes,
                              const std::vector<Share>& rows, const std::vector<Share>& columns);
/// The way back.
PlaneExchange columns_to_rows(const ExchangeGroup& group, Index num_planes,
                              const std::vector<Share>& rows, const std::vector<Share>& columns);

}  // namespace zhalo::mesh
