/// Union-find on a parent array, for many threads at once.
///
/// Invariant: parent[i] <= i, so the root of a set is its smallest element and a walk to the root
/// ends. Roots are hooked, larger to smaller, with compare-and-swap; paths are halved while they
/// are walked (Jayanti & Tarjan 2016, PODC, "A randomized concurrent algorithm for disjoint set
/// union", with index order in place of a random one: Z-order keeps the trees shallow).
#pragma once

#include "kernels/common/atomics.hpp"
#include "zhalo/core/span.hpp"

namespace zhalo::kernels {

struct DisjointSets {
  Span<LocalIndex> parent;

  ZHALO_HD LocalIndex find(LocalIndex i) const {
    LocalIndex up = atomic_load(parent[i]);
    while (up != i) {
      const LocalIndex above = atomic_load(parent[up]);
      if (above != up) atomic_store(parent[i], above);
      i = up;
      up = above;
    }
    return i;
  }

  /// find() that leaves all paths as they are. It is for elements of which most are roots or right
  /// below one, in random order: one branch for both.
  ZHALO_HD LocalIndex root_of(LocalIndex i) const {
    LocalIndex up = atomic_load(parent[i]);
    LocalIndex above = atomic_load(parent[up]);
    while (above != up) {
      up = above;
      above = atomic_load(parent[up]);
    }
    return up;
  }

  /// Whether the walk from i to its root comes by `above`: then both are in one set. It ends
  /// earlier than find() where they are. Sets that are united meanwhile may be missed.
  ZHALO_HD bool is_below(LocalIndex i, LocalIndex above) const {
    while (i > above) {
      const LocalIndex up = atomic_load(parent[i]);
      if (up == i) return false;
      i = up;
    }
    return i == above;
  }

  ZHALO_HD void unite(LocalIndex a, LocalIndex b) const {
    a = find(a);
    b = find(b);
    while (a != b) {
      if (a < b) {
        const LocalIndex larger = b;
        b = a;
        a = larger;
      }
      const LocalIndex seen = atomic_compare_exchange(parent[a], a, b);
      if (seen == a) return;
      a = find(seen);
      b = find(b);
    }
  }

  /// unite() where no other thread is at work.
  ZHALO_HD void unite_alone(LocalIndex a, LocalIndex b) const {
    a = find(a);
    b = find(b);
    if (a < b) {
      parent[b] = a;
    } else {
      parent[a] = b;
    }
  }
};

}  // namespace zhalo::kernels
