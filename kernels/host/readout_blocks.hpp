/// Fields at positions on the host, a block of positions at a time.
#pragma once

#include <algorithm>

#include "kernels/common/mesh/mass_assignment.hpp"
#include "kernels/host/mass_assignment_blocks.hpp"
#include "kernels/host/parallel.hpp"

namespace zhalo::kernels {

template <int order, class T, class Real>
class ReadoutBlocks {
 public:
  ReadoutBlocks(const ParticlesView<Real>& points, const SegmentView<Real>& segment,
                const ReadoutCells<T>& readout)
      : one_{points, readout}, segment_(segment) {
    rows_.cells = readout.field.data();
    for (int a = 0; a < 3; ++a) rows_.first[a] = readout.cells.axis[a].first;
    for (int a = 0; a < 2; ++a) rows_.stride[a] = readout.cells.axis[a].stride;
  }

  /// Rows [first, last) of the segment. The cells of the next block are asked for before those of
  /// this one are read.
  void run(Index first, Index last) const {
    AssignmentBlock blocks[2];
    locate(first, last, blocks[0]);
    int now = 0;
    for (Index begin = first; begin < last; begin += AssignmentBlock::size, now = 1 - now) {
      locate(begin + AssignmentBlock::size, last, blocks[1 - now]);
      prefetch(blocks[1 - now]);
      finish(begin, blocks[now]);
    }
  }

 private:
  void locate(Index begin, Index last, AssignmentBlock& block) const {
    block.num = 0;
    if (begin >= last) return;
    append_positions(segment_.pos, begin, std::min<Index>(last - begin, AssignmentBlock::size),
                     block);
    locate_assignments(one_.readout.cells, block);
    for (int a = 0; a < 3; ++a) {
      const MeshAxis& axis = one_.readout.cells.axis[a];
      if (!axis.wraps || Index{block.max_cell[a]} + order <= axis.num) continue;
      for (int at = 0; at < block.num; ++at) {
        if (Index{block.first[a][at]} + order > axis.num) block.has_odd = block.is_odd[at] = true;
      }
    }
  }

  void prefetch(const AssignmentBlock& block) const {
    for (int at = 0; at < block.num; ++at) {
      if (block.is_odd[at]) continue;
      const T* from = rows_.cells + (block.first[0][at] - rows_.first[0]) * rows_.stride[0] +
                      (block.first[1][at] - rows_.first[1]) * rows_.stride[1] +
                      (block.first[2][at] - rows_.first[2]);
      for (int row = 0; row < order * order; ++row)
        prefetch_line(from + (row / order) * rows_.stride[0] + (row % order) * rows_.stride[1]);
    }
  }

  void finish(Index begin, const AssignmentBlock& block) const {
    alignas(64) double values[AssignmentBlock::size];
    readout_blocks(block, order, rows_, values);
    const Index first = segment_.first + begin;
    for (int at = 0; at < block.num; ++at) {
      if (block.is_odd[at]) {
        one_(first + at);
      } else {
        one_.readout.values[first + at] = static_cast<T>(values[at]);
      }
    }
  }

  ReadoutPoint<order, T, Real> one_;
  const SegmentView<Real>& segment_;
  ReadoutRows<T> rows_;
};

}  // namespace zhalo::kernels
