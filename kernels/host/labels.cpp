/// From sets to labels on the host: passes over the particles in order, and hardly any walks.
#define ZHALO_BACKEND Host

#include <algorithm>

#include "kernels/host/parallel.hpp"
// The loops come first: the text is written in terms of them.
#include "kernels/fof.hpp"

namespace zhalo::kernels {

ZHALO_SPECIALIZE(find_smallest, LocalIndex);
ZHALO_SPECIALIZE(find_smallest, Index);

}  // namespace zhalo::kernels

#include "kernels/common/fof/sets.hpp"

namespace zhalo::kernels {
namespace {

/// The particles in [first, last), which one thread goes through in ascending order. All links
/// point down. So the element above i is done before i, and its own parent is where its set begins
/// in this part.
template <class T>
struct PartOfSets {
  DisjointSets sets;
  Span<const T> index;
  Span<T> smallest;
  LocalIndex first = 0, last = 0;

  /// Lets each particle point at the first of its set in this part, and notes the smallest index
  /// there. Reads and writes this part only. There is no branch: sizes of groups are random.
  void find_smallest() const {
    LocalIndex* const parent = sets.parent.data();
    for (LocalIndex i = first; i < last; ++i) {
      const LocalIndex linked = parent[i];
      const LocalIndex up = linked < first ? i : linked;
      const LocalIndex above = parent[up];
      const LocalIndex begin = above < first ? up : above;
      parent[i] = begin == i ? linked : begin;
      smallest[i] = index[i];
      smallest[begin] = std::min(smallest[begin], index[i]);
    }
  }

  /// Tells sets that begin in an earlier part.
  void tell_earlier_parts() const {
    for (LocalIndex i = first; i < last; ++i) {
      if (atomic_load(sets.parent[i]) < first) atomic_min(smallest[sets.find(i)], smallest[i]);
    }
  }
};

template <class T>
void find_smallest_in_parts(const Host& exec, const DisjointSets& sets, Span<const T> index,
                            Span<T> smallest) {
  const Index num = index.size();
  const Index num_parts = std::clamp<Index>(num / host_block, 1, threads_of(exec));
  const auto part = [&](Index p) {
    return PartOfSets<T>{sets, index, smallest, static_cast<LocalIndex>(num * p / num_parts),
                         static_cast<LocalIndex>(num * (p + 1) / num_parts)};
  };
  run_tasks(exec, num_parts, [&](Index p) { part(p).find_smallest(); });
  run_tasks(exec, num_parts - 1, [&](Index p) { part(p + 1).tell_earlier_parts(); });
}

}  // namespace

template <>
void find_smallest(const Host& exec, const DisjointSets& sets, Span<const LocalIndex> index,
                   Span<LocalIndex> smallest) {
  find_smallest_in_parts(exec, sets, index, smallest);
}
template <>
void find_smallest(const Host& exec, const DisjointSets& sets, Span<const Index> index,
                   Span<Index> smallest) {
  find_smallest_in_parts(exec, sets, index, smallest);
}

}  // namespace zhalo::kernels
