/// Elements that go from one order over all ranks to another, in even parts, and back.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "zhalo/comm/context.hpp"
#include "zhalo/core/buffer.hpp"

namespace zhalo {

/// What a rank sends and receives, and in which order it lies on either side. Each element goes to
/// one rank, or to none, or to several (then there is no way back).
class Redistribution {
 public:
  using Indices = std::optional<Buffer<LocalIndex>>;

  Redistribution() = default;
  /// The plan counts elements by rank. `sent` are the indices of the elements that are sent, in the
  /// order of sending; none: all, as they lie. In the new order, element i is number arrived[i] of
  /// those that came; none: the order in which they came.
  explicit Redistribution(ExchangePlan plan, Indices sent = std::nullopt,
                          Indices arrived = std::nullopt);

  const ExchangePlan& plan() const { return plan_; }
  Index num_received() const { return plan_.num_received(); }
  /// Of the elements that are sent, in the order of sending; only if they were given.
  Span<const LocalIndex> sent() const { return sent_->span(); }
  Span<const LocalIndex> arrived() const { return arrived_->span(); }
  /// For the order on arrival, where it is known only when keys have come.
  void set_arrived(Buffer<LocalIndex> arrived) { arrived_ = std::move(arrived); }

  /// A column and where it goes: an array of num_received() elements forward, and of as many as
  /// there were at first backward. Elements that were not sent stay as they are.
  struct Move {
    ColumnView from;
    void* to = nullptr;
    bool is_packed = false;  ///< `from` lies in the order of sending already
  };
  /// Moves all columns in one exchange. Waits for the device only if elements change their rank.
  /// Collective.
  void forward(const Context& context, const std::vector<Move>& moves) const;
  /// One element for each that came goes back to where that came from. Collective.
  void backward(const Context& context, const Move& move) const;

  /// By this one and then by `next`. Of what this one brings, only what `next` sends is gathered,
  /// at once into its order of sending. Collective.
  void forward_through(const Context& context, const Redistribution& next, const ColumnView& from,
                       void* to) const;

  /// The same for elements that lie in the order in which they came. Collective.
  void backward_as_arrived(const Context& context, const Move& move) const;

  /// What arrives of a column. Collective.
  template <class T>
  Buffer<T> forward(const Context& context, Span<const T> from, std::string_view purpose) const {
    Buffer<T> to(context.exec, num_received(), purpose);
    forward(context, {{column_view(from), to.data()}});
    return to;
  }

 private:
  /// What stays on this rank, in the order of sending and in that of arrival.
  struct Own {
    Share sent;
    Share arrived;
  };
  /// A column under way, in either order.
  struct Workspace {
    Buffer<std::byte> sent;
    Buffer<std::byte> received;
  };

  Own own_of(const Context& context) const;
  /// Puts elements into the order of sending. Those that stay go to the order of arrival at once:
  /// their part of workspace.sent is left out, never touched. Packed elements are left as they are.
  ColumnMove pack(const Context& context, const Move& move, const Indices& sent,
                  Workspace& workspace) const;
  /// As forward(), with another order of sending.
  void forward_sent(const Context& context, const std::vector<Move>& moves,
                    const Indices& sent) const;
  bool stays_on_rank() const { return plan_.send_offset.size() == 2; }

  ExchangePlan plan_;
  Indices sent_;
  Indices arrived_;
};

/// A column with gaps, copied to `packed` without them; any other as it is.
ColumnView without_gaps(const Exec& exec, const ColumnView& column, Buffer<std::byte>& packed);

// Bringing a sequence that each rank has sorted into one order over all ranks, in even parts.

/// A rank's elements in ascending order of their keys, of which the lowest `bits` bits (at most 63)
/// may be set.
struct SortedKeys {
  Span<const std::uint64_t> keys;
  int bits = 0;
  /// Weight of all elements before each, and of all at the end (size + 1); empty: each weighs 1.
  /// Weights are positive.
  Span<const Index> weight_before{};
  /// If keys stand for several elements: the number of elements before each key, and of all at the
  /// end. A key at which elements are cut must stand for one. Not together with weights.
  Span<const Index> num_before{};
};

/// Who sends what, so that the elements of all ranks are in one order by (key, rank, index): rank r
/// receives the part of that order that begins where r / size() of the elements (or of their
/// weight) lie before it. Without weights parts are those of share_of. Collective; memory grows
/// with the number of ranks, not its square. After the exchange each rank still has to sort what
/// came, stably.
///
/// The cuts are exact: for each, all ranks together find the key by bisection, four bits a round;
/// equal keys are cut by rank and index.
ExchangePlan plan_even_parts(const Context& context, const SortedKeys& sorted);

/// The keys at which plan_even_parts() would cut, without weights: one fewer than there are ranks.
/// Collective.
std::vector<std::uint64_t> keys_of_cuts(const Context& context, const SortedKeys& sorted);

/// Sorts by keys in place, stably; returns the former index of each. Not collective.
Buffer<LocalIndex> sort_indices(const Exec& exec, Span<std::uint64_t> keys, int bits);

/// How many of the ascending `ranks` are each rank. Not collective.
std::vector<Index> count_ranks(const Exec& exec, Span<const std::uint64_t> ranks, int num_ranks);

/// Bits that numbers up to `largest` need.
int bits_for(Index largest);

}  // namespace zhalo
