/// Sums over blocks of members on the host: a thread for each block, members in vectors.
#pragma once

#include <algorithm>

#include "kernels/catalogue.hpp"
#include "kernels/common/backend.hpp"
#include "kernels/host/parallel.hpp"

namespace zhalo::kernels {

/// Some members. Those behind the last fill vectors; they add nothing.
struct alignas(64) MemberBatch {
  static constexpr int size = 64;

  double mass[size];
  double pos[3][size];
  double velocity[3][size];
  int num = 0;
};

/// What members are added up about, and how finely.
struct BatchFrame {
  HaloReference about;
  double period[3];
};

/// Adds the members of a batch, whose last vector is filled.
void add_batch(MemberBatch& batch, const BatchFrame& frame, Moments& sum);
void add_batch(MemberBatch& batch, const BatchFrame& frame, Spreads& sum);

/// Reads members of one block column by column: they are of one species, which is one segment. In
/// Z-order most members of a group follow each other without a gap, and are read as they lie.
template <class Real>
class BatchReader {
 public:
  BatchReader(const MembersView<Real>& members, const SegmentView<Real>& segment)
      : members_(members), segment_(segment) {}

  /// Of the members [first, end) of a block as many as a batch holds.
  void read(Index first, Index end, MemberBatch& batch) const {
    batch.num = static_cast<int>(std::min<Index>(end - first, MemberBatch::size));
    const Index next = first + batch.num;
    for (Index m = next; m < std::min(next + MemberBatch::size, end); m += part_size)
      prefetch(part_of(m, end));
    for (int at = 0; at < batch.num; at += part_size)
      take_all(part_of(first + at, next), batch, at);
  }

 private:
  static constexpr int part_size = 16;

  /// Some members of a batch.
  struct Part {
    const LocalIndex* rows;
    int num;
    bool is_dense;  ///< without a gap
  };
  Part part_of(Index first, Index end) const {
    const LocalIndex* const rows = &members_.member[first];
    const int num = static_cast<int>(std::min<Index>(end - first, part_size));
    return {rows, num, rows[num - 1] - rows[0] == static_cast<LocalIndex>(num - 1)};
  }
  Index row_of(const Part& part, int i) const { return part.rows[i] - segment_.first; }

  struct Conversion {
    double to_unit;
    double without_column;
  };

  void take_all(const Part& part, MemberBatch& batch, int at) const {
    const HaloFrame& halo = members_.halo;
    const double uniform_mass = members_.particles.uniform_mass * halo.mass_to_unit;
    take(segment_.mass, part, {halo.mass_to_unit, uniform_mass}, batch.mass + at);
    for (int axis = 0; axis < 3; ++axis) {
      const bool is_there = axis < members_.particles.dimensions;
      take(segment_.pos[axis], part, {halo.coordinate_to_unit, 0}, batch.pos[axis] + at);
      take(segment_.velocity[axis], part, {halo.velocity_to_unit, is_there ? unknown : 0},
           batch.velocity[axis] + at);
    }
  }

  /// Asks for what the next batch reads first: each line of memory at least once.
  void prefetch(const Part& part) const {
    const int step = part.is_dense ? 4 : 1;
    for (int i = 0; i < part.num; i += step) {
      const Index row = row_of(part, i);
      for (int axis = 0; axis < members_.particles.dimensions; ++axis)
        prefetch_line(&segment_.pos[axis][row]);
      if (segment_.velocity[0]) prefetch_line(segment_.velocity[0].address_of(row));
    }
  }

  template <class T>
  void take(const Strided<T>& column, const Part& part, const Conversion& conversion,
            double* to) const {
    const double to_unit = conversion.to_unit;
    if (!column) {
      std::fill_n(to, part.num, conversion.without_column);
    } else if (!part.is_dense) {
      for (int i = 0; i < part.num; ++i)
        to[i] = static_cast<double>(column[row_of(part, i)]) * to_unit;
    } else if (column.stride_bytes == static_cast<Index>(sizeof(T))) {
      const T* const from = &column[row_of(part, 0)];
      for (int i = 0; i < part.num; ++i) to[i] = static_cast<double>(from[i]) * to_unit;
    } else {
      const Index first = row_of(part, 0);
      for (int i = 0; i < part.num; ++i) to[i] = static_cast<double>(column[first + i]) * to_unit;
    }
  }
  void take(const RealColumn& column, const Part& part, const Conversion& conversion,
            double* to) const {
    if (column.is_double()) {
      take(Strided<double>{static_cast<const double*>(column.data()), column.stride_bytes()}, part,
           conversion, to);
    } else {
      take(Strided<float>{static_cast<const float*>(column.data()), column.stride_bytes()}, part,
           conversion, to);
    }
  }

  const MembersView<Real>& members_;
  const SegmentView<Real>& segment_;
};

/// Sums the members of a block in batches.
template <class SumBlock>
struct SumBlockByBatches {
  static constexpr bool long_elements = true;
  SumBlock block;

  void operator()(Index b) const {
    const auto& members = block.members;
    BatchFrame frame{block.about[members.blocks.part[b]], {}};
    std::copy_n(members.halo.period, 3, frame.period);
    const Index begin = members.blocks.begin(b);
    const Index end = members.blocks.end(b);
    const BatchReader reader(members, block.particle(begin).segment);
    typename SumBlock::Sum sum;
    MemberBatch batch;
    for (Index m = begin; m < end; m += MemberBatch::size) {
      reader.read(m, end, batch);
      add_batch(batch, frame, sum);
    }
    block.sums[b] = sum;
  }
};

template <class SumBlock>
void sum_blocks(const Host& exec, const SumBlock& block) {
  for_each(exec, block.sums.size(), SumBlockByBatches<SumBlock>{block});
}

}  // namespace zhalo::kernels
