/// Groups (or labels) that begin on one rank and go on on the next ones: their sums, and what their
/// first rank knows of them.
#pragma once

#include <vector>

#include "zhalo/comm/context.hpp"
#include "zhalo/core/buffer.hpp"

namespace zhalo {

/// A rank's part of a sequence that is sorted over all ranks and seen as runs of equal keys: only
/// its first and its last run can be shared with other ranks. Every collective here costs one small
/// record of each rank. One rank that works alone pays nothing.
class SpanningRuns {
 public:
  static constexpr Index no_key = -1;

  /// `num` runs with keys from `first_key` to `last_key`, none of which is negative. Collective.
  SpanningRuns(const Context& context, Index num, Index first_key, Index last_key)
      : context_(context) {
    if (context.comm.size() == 1) return;
    mine_.first = num > 0 ? first_key : no_key;
    mine_.last = num > 1 ? last_key : no_key;
    of_ranks_ = context.comm.all_gather(mine_);
  }

  /// Whether this rank has runs of which the first begins on a lower rank.
  bool first_is_continued() const {
    if (of_ranks_.empty() || mine_.first == no_key) return false;
    return first_holder(mine_.first) < context_.comm.rank();
  }

  /// Adds up, in the order of ranks, the values of this rank's first run and of its last one (not
  /// used if it has but one). Collective.
  template <class T>
  void sum(T& first, T& last) const {
    if (context_.comm.size() == 1) return;
    const std::vector<Pair<T>> values = context_.comm.all_gather(Pair<T>{first, last});
    const auto total = [&](Index key) {
      T result{};
      for (std::size_t rank = 0; rank < values.size(); ++rank) {
        if (of_ranks_[rank].first == key) result += values[rank].first;
        if (of_ranks_[rank].last == key) result += values[rank].last;
      }
      return result;
    };
    if (mine_.first != no_key) first = total(mine_.first);
    if (mine_.last != no_key) last = total(mine_.last);
  }

  /// The same for a value per run in memory of the context's Exec. Collective.
  template <class T>
  void sum(Span<T> values) const {
    if (context_.comm.size() == 1) return;
    T first{};
    T last{};
    if (!values.empty())
      first = to_host(context_.exec, Span<const T>(values.subspan(0, 1))).front();
    if (!values.empty())
      last = to_host(context_.exec, Span<const T>(values.subspan(values.size() - 1, 1))).front();
    sum(first, last);
    if (mine_.first != no_key) queue_copy(context_.exec, values.data(), &first, sizeof(T));
    if (mine_.last != no_key)
      queue_copy(context_.exec, &values[values.size() - 1], &last, sizeof(T));
  }

  /// Gives the first run of each rank the value that it has where it begins. Collective.
  template <class T>
  void spread(Span<T> values) const {
    if (context_.comm.size() == 1) return;
    Pair<T> ends{};
    if (!values.empty())
      ends.first = to_host(context_.exec, Span<const T>(values.subspan(0, 1))).front();
    if (!values.empty())
      ends.last =
          to_host(context_.exec, Span<const T>(values.subspan(values.size() - 1, 1))).front();
    const std::vector<Pair<T>> of_ranks = context_.comm.all_gather(ends);
    if (!first_is_continued()) return;
    const auto holder = static_cast<std::size_t>(first_holder(mine_.first));
    const bool is_its_first = of_ranks_[holder].first == mine_.first;
    const T value = is_its_first ? of_ranks[holder].first : of_ranks[holder].last;
    queue_copy(context_.exec, values.data(), &value, sizeof(T));
  }

 private:
  template <class T>
  struct Pair {
    T first;
    T last;
  };

  /// The lowest rank that has the key.
  int first_holder(Index key) const {
    int rank = 0;
    while (of_ranks_[static_cast<std::size_t>(rank)].first != key &&
           of_ranks_[static_cast<std::size_t>(rank)].last != key)
      ++rank;
    return rank;
  }

  const Context& context_;
  Pair<Index> mine_{no_key, no_key};
  std::vector<Pair<Index>> of_ranks_;
};

}  // namespace zhalo
