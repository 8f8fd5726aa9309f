/// Index boxes that go from the arrays of some ranks to those of others. Both sides know all index
/// boxes, so nothing is asked before data is sent.
#pragma once

#include <vector>

#include "kernels/mesh.hpp"
#include "zhalo/comm/context.hpp"
#include "zhalo/core/buffer.hpp"
#include "zhalo/fft/decomposition.hpp"

namespace zhalo {

/// Axes of a layout from the largest stride to the smallest.
AxisOrder order_of(const BoxLayout& layout);

/// An index box that this rank sends to another rank or receives from it, in indices of this rank's
/// array. In the message its axes have the given order.
struct MessageBox {
  int rank = 0;
  IndexBox index_box;
  AxisOrder order = natural_order;
};

/// An index box that stays on this rank, in indices of the one array and of the other.
struct OwnBox {
  IndexBox from;
  IndexBox to;
};

/// All index boxes of one rank. The i-th that is sent to rank r is the i-th that r receives from
/// this rank.
struct BoxMessages {
  std::vector<MessageBox> sent;  ///< ascending by rank, as the next
  std::vector<MessageBox> received;
  std::vector<OwnBox> own;
};

/// Elements sent and received.
ExchangePlan plan_messages(const BoxMessages& messages, int num_ranks);

/// Moves in memory of an Exec.
class UploadedMoves {
 public:
  UploadedMoves() = default;
  UploadedMoves(const Exec& exec, const std::vector<kernels::BoxMove>& moves);

  kernels::BoxMoves view() const { return {moves_.span(), num_words_}; }

 private:
  Buffer<kernels::BoxMove> moves_;
  Index num_words_ = 0;
};

/// A list of moves that grows.
class MoveList {
 public:
  /// Elements are that many words.
  explicit MoveList(Index words_per_element) : words_per_element_(words_per_element) {}

  /// An index box of an array, and the position of the array's first element.
  struct End {
    const BoxLayout& layout;
    const IndexBox& index_box;
    Index first_element = 0;
  };
  /// Both index boxes have the same shape; empty ones are left out.
  void add(const End& from, const End& to);
  /// The same words the other way.
  MoveList reversed() const;
  bool empty() const { return moves_.empty(); }

  UploadedMoves upload(const Exec& exec) const { return {exec, moves_}; }

 private:
  Index words_per_element_;
  Index num_words_ = 0;
  std::vector<kernels::BoxMove> moves_;
};

/// How the elements of two arrays become messages and messages become elements.
struct MessageMoves {
  MoveList pack;    ///< from the array to what is sent
  MoveList unpack;  ///< from what is received to the array
  MoveList own;     ///< from array to array
};
MessageMoves make_moves(const BoxMessages& messages, const BoxLayout& from, const BoxLayout& to,
                        Index words_per_element);

/// MessageMoves in memory of an Exec, with the plan of the messages.
struct UploadedMessages {
  ExchangePlan plan;
  UploadedMoves pack;
  UploadedMoves unpack;
  UploadedMoves own;
};

/// Elements under way: what is sent and what is received.
struct Messages {
  Buffer<std::byte> sent;
  Buffer<std::byte> received;

  Messages(const Exec& exec, const ExchangePlan& plan, Index element_size);
};

/// Sends what is packed, receives all. Collective.
void exchange_messages(const Context& context, const ExchangePlan& plan, Index element_size,
                       Messages& messages);

/// Packs, exchanges, unpacks; copies what stays. Collective.
void move_boxes(const Context& context, const UploadedMessages& moves,
                const kernels::ElementArrays& arrays, Index element_size);

/// Rounds in which index boxes can be added one after the other: index boxes of one round do not
/// overlap, and an index box's round is behind those of all index boxes before it that it overlaps.
std::vector<std::size_t> rounds_of(const std::vector<IndexBox>& index_boxes);

}  // namespace zhalo
