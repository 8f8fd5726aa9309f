/// Bricks that go from the arrays of some ranks to those of others. Both sides know all bricks, so nothing is asked before data is sent.
#pragma once

#include <vector>

#include "kernels/kernels.hpp"
#include "zhalo/comm/context.hpp"
#include "zhalo/mesh/brick.hpp"

namespace zhalo {

/// Axes of a layout from the largest stride to the smallest.
AxisOrder order_of(const BrickLayout& layout);

/// A brick that this rank sends to another rank or receives from it, by the indices of this rank's array; in the message its axes have
/// that order.
struct MessageBrick {
  int rank = 0;
  Brick brick;
  AxisOrder order = natural_order;
};

/// A brick of this rank's that stays with it, by the indices of the one array and of the other.
struct OwnBrick {
  Brick from;
  Brick to;
};

/// All of one rank. Brick i of those sent to rank r is brick i of those that r receives from this one.
struct BrickMessages {
  std::vector<MessageBrick> sent;  ///< ascending by rank, as the next
  std::vector<MessageBrick> received;
  std::vector<OwnBrick> own;
};

/// Elements sent and received.
ExchangePlan plan_messages(const BrickMessages& messages, int num_ranks);

/// Moves in memory of an Exec.
class UploadedMoves {
 public:
  UploadedMoves() = default;
  UploadedMoves(const Exec& exec, const std::vector<kernels::BrickMove>& moves);

  kernels::BrickMoves view() const { return {moves_.span(), num_words_}; }

 private:
  Buffer<kernels::BrickMove> moves_;
  Index num_words_ = 0;
};

/// A list of moves that grows.
class MoveList {
 public:
  /// Elements are that many words.
  explicit MoveList(Index words_per_element) : words_per_element_(words_per_element) {}

  /// A brick of an array, and the place of the array's first element.
  struct Place {
    const BrickLayout& layout;
    const Brick& brick;
    Index first_element = 0;
  };
  /// Both bricks have the same shape; empty ones are left out.
  void add(const Place& from, const Place& to);
  /// The same words the other way.
  MoveList reversed() const;
  bool empty() const { return moves_.empty(); }

  UploadedMoves upload(const Exec& exec) const { return {exec, moves_}; }

 private:
  Index words_per_element_;
  Index num_words_ = 0;
  std::vector<kernels::BrickMove> moves_;
};

/// How the elements of two arrays become messages and messages become elements.
struct MessageMoves {
  MoveList pack;    ///< from the array to what is sent
  MoveList unpack;  ///< from what is received to the array
  MoveList own;     ///< from array to array
};
MessageMoves make_moves(const BrickMessages& messages, const BrickLayout& from, const BrickLayout& to, Index words_per_element);

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
void exchange_messages(const Context& context, const ExchangePlan& plan, Index element_size, Messages& messages);

/// Packs, exchanges, unpacks; copies what stays. Collective.
void move_bricks(const Context& context, const UploadedMessages& moves, const kernels::WordArrays& arrays, Index element_size);

/// Rounds in which bricks can be added one after the other: bricks of one round do not overlap, and a brick's round is behind those of all
/// bricks before it that it overlaps.
std::vector<std::size_t> rounds_of(const std::vector<Brick>& bricks);

}  // namespace zhalo
