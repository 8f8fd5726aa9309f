/// Cutting sorted keys into the largest Morton cells that hold at most so many elements each.
///
/// A cell of depth d holds the elements that share d leading key bits. The cell of element s starts
/// at s if it is deeper than what s shares with s - 1, and holds at most `most` elements if it is
/// deeper than what s shares with s + most. So one look ahead and one back give each cell, without
/// recursion, from any known start. Equal keys cannot be cut by cells: where `equal_keys_stay` they
/// are one cell of any size, else they are cut into runs of `most`.
#pragma once

#include "kernels/common/particles/morton.hpp"
#include "kernels/tree.hpp"

namespace zhalo::kernels {

struct CellCutter : CellCut {
  /// End of the cell that starts at s.
  ZHALO_HD Index end_of_cell(Index s) const {
    const Index num = keys.size();
    const int back = s == 0 ? 0 : common_prefix(keys[s - 1], keys[s], bits) + 1;
    const int ahead = s + most < num ? common_prefix(keys[s], keys[s + most], bits) + 1 : 0;
    const int depth = back > ahead ? back : ahead;
    if (depth >= bits) {
      const Index end = first_not_sharing(s, bits, equal_keys_stay ? num : minimum(num, s + most));
      return end;
    }
    return first_not_sharing(s, depth, minimum(num, s + most));
  }

  /// Whether a cell starts at i, found from the keys around i alone.
  ZHALO_HD bool starts_cell(Index i) const {
    if (i == 0) return true;
    const int depth = common_prefix(keys[i - 1], keys[i], bits);
    if (depth >= bits) {
      if (equal_keys_stay) return false;
      return (i - first_sharing(i, bits, 0)) % most == 0;
    }
    const Index first = first_sharing(i - 1, depth, i > most ? i - 1 - most : 0);
    const Index end = first_not_sharing(i, depth, minimum(keys.size(), i + most));
    return end - first > most;
  }

 private:
  ZHALO_HD static Index minimum(Index a, Index b) { return a < b ? a : b; }

  /// First j > s with fewer than `depth` bits in common with s, or `limit`; doubling steps, then
  /// bisection.
  ZHALO_HD Index first_not_sharing(Index s, int depth, Index limit) const {
    Index shares = s;
    Index step = 1;
    while (shares + step < limit && common_prefix(keys[s], keys[shares + step], bits) >= depth) {
      shares += step;
      step *= 2;
    }
    Index beyond = minimum(limit, shares + step);
    while (beyond - shares > 1) {
      const Index middle = shares + (beyond - shares) / 2;
      if (common_prefix(keys[s], keys[middle], bits) >= depth) {
        shares = middle;
      } else {
        beyond = middle;
      }
    }
    return beyond;
  }

  /// Lowest j >= limit from which on all up to s share `depth` bits with s.
  ZHALO_HD Index first_sharing(Index s, int depth, Index limit) const {
    Index shares = s;
    Index beyond = limit - 1;
    while (shares - beyond > 1) {
      const Index middle = beyond + (shares - beyond) / 2;
      if (common_prefix(keys[s], keys[middle], bits) >= depth) {
        shares = middle;
      } else {
        beyond = middle;
      }
    }
    return shares;
  }
};

/// Counts (or, with `starts`, writes) the cells that start in one chunk of elements.
struct CutChunk {
  static constexpr bool long_elements = true;
  CellCutter cutter;
  Index chunk = 0;
  Span<Index> counts;       ///< per chunk; after a scan, offsets
  Span<LocalIndex> starts;  ///< empty: count

  ZHALO_HD void operator()(Index c) const {
    const Index num = cutter.keys.size();
    const Index last = (c + 1) * chunk < num ? (c + 1) * chunk : num;
    Index at = c * chunk;
    while (at < last && !cutter.starts_cell(at)) ++at;
    Index found = 0;
    for (; at < last; at = cutter.end_of_cell(at), ++found) {
      if (!starts.empty()) starts[counts[c] + found] = static_cast<LocalIndex>(at);
    }
    if (starts.empty()) counts[c] = found;
  }
};

}  // namespace zhalo::kernels
