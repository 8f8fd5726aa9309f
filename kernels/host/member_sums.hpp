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

/// Reads members of one block column by column: they are of one species, which is one segment.
template <class Real>
class BatchReader {
 public:
  BatchReader(const MembersView<Real>& members, const SegmentView<Real>& segment)
      : members_(members), segment_(segment) {}

  /// Of the members [first, end) of a block as many as a batch holds.
  void read(Index first, Index end, MemberBatch& batch) const {
    const int num = static_cast<int>(std::min<Index>(end - first, MemberBatch::size));
    const HaloFrame& halo = members_.halo;
    const double uniform_mass = members_.particles.uniform_mass * halo.mass_to_unit;
    const LocalIndex* const rows = &members_.member[first];
    prefetch(first + num, end);
    batch.num = num;
    take(segment_.mass, rows, {num, halo.mass_to_unit, uniform_mass}, batch.mass);
    for (int axis = 0; axis < 3; ++axis) {
      const bool is_there = axis < members_.particles.dimensions;
      take(segment_.pos[axis], rows, {num, halo.coordinate_to_unit, 0}, batch.pos[axis]);
      take(segment_.velocity[axis], rows, {num, halo.velocity_to_unit, is_there ? unknown : 0},
           batch.velocity[axis]);
    }
  }

 private:
  struct Conversion {
    int num;
    double to_unit;
    double without_column;
  };

  /// Asks for what the next batch reads first.
  void prefetch(Index first, Index end) const {
    for (Index m = first; m < std::min(first + MemberBatch::size, end); ++m) {
      const Index row = members_.member[m] - segment_.first;
      for (int axis = 0; axis < members_.particles.dimensions; ++axis)
        prefetch_line(&segment_.pos[axis][row]);
      if (segment_.velocity[0]) prefetch_line(segment_.velocity[0].address_of(row));
    }
  }

  template <class T>
  void take(const Strided<T>& column, const LocalIndex* rows, const Conversion& conversion,
            double* to) const {
    if (!column)
      return static_cast<void>(std::fill_n(to, conversion.num, conversion.without_column));
    for (int i = 0; i < conversion.num; ++i)
      to[i] = static_cast<double>(column[rows[i] - segment_.first]) * conversion.to_unit;
  }
  void take(const RealColumn& column, const LocalIndex* rows, const Conversion& conversion,
            double* to) const {
    if (column.is_double()) {
      take(Strided<double>{static_cast<const double*>(column.data()), column.stride_bytes()}, rows,
           conversion, to);
    } else {
      take(Strided<float>{static_cast<const float*>(column.data()), column.stride_bytes()}, rows,
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
