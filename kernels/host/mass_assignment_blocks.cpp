// Mass assignment in vectors, compiled for every vector target; the best one that the processor has
// is taken at run time.
#include "kernels/host/mass_assignment_blocks.hpp"

#include <algorithm>
#include <limits>

#include "kernels/host/dispatch.hpp"
#include "kernels/host/positions.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/host/mass_assignment_blocks.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace zhalo::kernels::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using Doubles = hn::CappedTag<double, 8>;
using Integers = hn::RebindToSigned<Doubles>;
using Floats = hn::Rebind<float, Doubles>;
using Narrow = hn::Rebind<std::int32_t, Doubles>;
using Double = hn::Vec<Doubles>;

HWY_INLINE Double constant(double value) { return hn::Set(Doubles{}, value); }

constexpr double magic = 6755399441055744.0;  // 1.5 * 2^52, see whole() in mass_assignment.hpp

HWY_INLINE Double whole_of(Double x) {
  return hn::Sub(hn::Add(x, constant(magic)), constant(magic));
}

HWY_INLINE Double floor_of(Double x) {
  const Double nearest = whole_of(x);
  return hn::Sub(nearest, hn::IfThenElseZero(hn::Lt(x, nearest), constant(1)));
}

HWY_INLINE Double product(Double a, Double b, Double c) { return hn::Mul(hn::Mul(a, b), c); }

/// set_weights() of mass_assignment.hpp.
template <int order>
HWY_INLINE void weights_of(Double d, Double* weight) {
  if constexpr (order == 1) {
    weight[0] = constant(1);
  } else if constexpr (order == 2) {
    weight[0] = hn::Sub(constant(1), d);
    weight[1] = d;
  } else if constexpr (order == 3) {
    const Double below = hn::Sub(constant(0.5), d);
    const Double above = hn::Add(constant(0.5), d);
    weight[0] = product(constant(0.5), below, below);
    weight[1] = hn::Sub(constant(0.75), hn::Mul(d, d));
    weight[2] = product(constant(0.5), above, above);
  } else {
    const Double sixth = constant(1.0 / 6);
    const Double e = hn::Sub(constant(1), d);
    const auto inner = [&](Double a, Double b) {
      return hn::Mul(sixth, hn::Sub(constant(4),
                                    hn::Mul(product(constant(3), a, a), hn::Add(constant(1), b))));
    };
    weight[0] = hn::Mul(sixth, product(e, e, e));
    weight[1] = inner(d, e);
    weight[2] = inner(e, d);
    weight[3] = hn::Mul(sixth, product(d, d, d));
  }
}

/// split() of mass_assignment.hpp.
template <int order>
HWY_INLINE void split_into(Double fixed_weight, const Double* weight, Double* part) {
  constexpr int middle = order / 2;
  Double left = fixed_weight;
  for (int i = 0; i < order; ++i) {
    if (i == middle) continue;
    part[i] = whole_of(hn::Mul(fixed_weight, weight[i]));
    left = hn::Sub(left, part[i]);
  }
  part[middle] = left;
}

/// Weights of a vector of particles along all axes.
template <int order>
struct Weights {
  Double of[3][static_cast<std::size_t>(order)];

  HWY_INLINE Weights(const AssignmentBlock& block, int at) {
    for (int axis = 0; axis < 3; ++axis)
      weights_of<order>(hn::Load(Doubles{}, block.behind[axis] + at), of[axis]);
  }
};

/// Elements of a block from one vector to the next.
HWY_INLINE int lanes() { return static_cast<int>(hn::Lanes(Doubles{})); }

/// As many of the rows of three coordinates as fill vectors; returns how many.
int put_rows(const float* from, int num, double* const (&to)[3]) {
  int done = 0;
  for (; done + lanes() <= num; done += lanes()) {
    hn::Vec<Floats> x, y, z;
    hn::LoadInterleaved3(Floats{}, from + Index{3} * done, x, y, z);
    hn::StoreU(hn::PromoteTo(Doubles{}, x), Doubles{}, to[0] + done);
    hn::StoreU(hn::PromoteTo(Doubles{}, y), Doubles{}, to[1] + done);
    hn::StoreU(hn::PromoteTo(Doubles{}, z), Doubles{}, to[2] + done);
  }
  return done;
}
int put_rows(const double*, int, double* const (&)[3]) { return 0; }

/// As many of dense numbers as fill vectors.
int put_column(const float* from, int num, double* to) {
  int done = 0;
  for (; done + lanes() <= num; done += lanes())
    hn::StoreU(hn::PromoteTo(Doubles{}, hn::LoadU(Floats{}, from + done)), Doubles{}, to + done);
  return done;
}
int put_column(const double* from, int num, double* to) {
  std::copy_n(from, num, to);
  return num;
}

template <class Real>
void append(const Strided<Real> (&pos)[3], Index row, int num, AssignmentBlock& block) {
  constexpr auto size = static_cast<Index>(sizeof(Real));
  double* const to[3] = {block.pos[0] + block.num, block.pos[1] + block.num,
                         block.pos[2] + block.num};
  const int done = are_rows(pos) ? put_rows(&pos[0][row], num, to) : 0;
  for (int a = 0; a < 3; ++a) {
    int at = pos[a].stride_bytes == size ? put_column(&pos[a][row], num, to[a]) : done;
    for (; at < num; ++at) to[a][at] = static_cast<double>(pos[a][row + at]);
  }
  block.num += num;
}

template <int order>
void locate_on(const MeshAxis& axis, int a, AssignmentBlock& block) {
  // On fewer cells windows may go around more than once; `first` and what is computed on the way
  // to it hold no more.
  constexpr Index min_cell = 8, max_cell = std::numeric_limits<std::int32_t>::max() - min_cell;
  const bool is_left = axis.num < min_cell || axis.num > max_cell;
  const auto n = static_cast<double>(axis.num);
  auto max_first = hn::Zero(Narrow{});
  for (int at = 0; at < block.num; at += lanes()) {
    const Double pos = hn::Load(Doubles{}, block.pos[a] + at);
    const Double cells =
        hn::Sub(hn::Mul(hn::Sub(pos, constant(axis.lo)), constant(axis.cells_per_length)),
                constant(axis.offset));
    auto is_near = hn::And(hn::Gt(cells, constant(-2)), hn::Lt(cells, constant(n + 1)));
    const Double position = hn::IfThenElseZero(is_near, cells);
    const Double base = floor_of(order % 2 == 1 ? hn::Add(position, constant(0.5)) : position);
    hn::Store(hn::Sub(position, base), Doubles{}, block.behind[a] + at);
    constexpr int below = (order - 1) / 2;
    Double first = hn::Sub(base, constant(below));
    if (axis.periodic) {
      first = hn::Add(first, hn::IfThenElseZero(hn::Lt(first, constant(0)), constant(n)));
      first = hn::Sub(first, hn::IfThenElseZero(hn::Ge(first, constant(n)), constant(n)));
    } else {
      is_near =
          hn::And(is_near, hn::And(hn::Ge(first, constant(0)), hn::Le(first, constant(n - order))));
    }
    const auto cell = hn::DemoteTo(Narrow{}, first);
    hn::Store(cell, Narrow{}, block.first[a] + at);
    max_first = hn::Max(max_first, cell);
    if (HWY_LIKELY(!is_left && hn::AllTrue(Doubles{}, is_near))) continue;
    std::uint8_t bits[8] = {};
    hn::StoreMaskBits(Doubles{}, is_near, bits);
    block.has_odd = true;
    for (int lane = 0; lane < lanes(); ++lane)
      block.is_odd[at + lane] = block.is_odd[at + lane] || is_left || ((bits[0] >> lane) & 1) == 0;
  }
  block.max_cell[a] = hn::GetLane(hn::MaxOfLanes(Narrow{}, max_first));
}

template <int order>
void locate(const MeshCells& cells, AssignmentBlock& block) {
  for (bool& is_odd : block.is_odd) is_odd = false;
  block.has_odd = false;
  // What is behind the last, in the same vector, is like the last.
  for (int at = block.num; at % lanes() != 0; ++at) {
    for (double(&pos)[AssignmentBlock::size] : block.pos) pos[at] = pos[block.num - 1];
  }
  for (int a = 0; a < 3; ++a) locate_on<order>(cells.axis[a], a, block);
}

/// Parts of a vector of particles as integers, cell by cell.
template <int order>
HWY_INLINE void divide(const AssignmentBlock& block, int at, Index* parts) {
  const Weights<order> weight(block, at);
  Double plane[static_cast<std::size_t>(order)];
  split_into<order>(hn::Load(Doubles{}, block.fixed_weight + at), weight.of[0], plane);
  for (int i = 0; i < order; ++i) {
    Double row[static_cast<std::size_t>(order)];
    split_into<order>(plane[i], weight.of[1], row);
    for (int j = 0; j < order; ++j) {
      Double part[static_cast<std::size_t>(order)];
      split_into<order>(row[j], weight.of[2], part);
      for (int k = 0; k < order; ++k) {
        // A number below 2^51 plus the magic one has its integer in the lowest bits.
        const auto bits = hn::BitCast(Integers{}, hn::Add(part[k], constant(magic)));
        hn::Store(hn::Sub(bits, hn::BitCast(Integers{}, constant(magic))), Integers{}, parts);
        parts += lanes();
      }
    }
  }
}

struct Strides {
  Index x;
  Index y;
};

/// Adds the parts of one particle, of every lanes()-th element, from its first cell on.
template <int order>
HWY_INLINE void add_parts(const Index* from, const Strides& stride, Index* to) {
  for (int i = 0; i < order; ++i) {
    Index* row = to + i * stride.x;
    for (int j = 0; j < order; ++j, row += stride.y) {
      for (int k = 0; k < order; ++k, from += lanes()) row[k] += *from;
    }
  }
}

/// Where the sums of the first cells of a vector of particles are. Those of odd ones mean nothing.
HWY_INLINE void find_offsets(const AssignmentBlock& block, int at, const SumsView& view,
                             const Strides& strides, std::int32_t* offset) {
  const Index stride[3] = {strides.x, strides.y, 1};
  auto sum = hn::Zero(Narrow{});
  for (int a = 0; a < 3; ++a) {
    const auto first = hn::Set(Narrow{}, static_cast<std::int32_t>(view.first[a]));
    sum = hn::Add(sum, hn::Mul(hn::Sub(hn::Load(Narrow{}, block.first[a] + at), first),
                               hn::Set(Narrow{}, static_cast<std::int32_t>(stride[a]))));
  }
  hn::Store(sum, Narrow{}, offset);
}

template <int order>
HWY_INLINE void deposit_vectors(const AssignmentBlock& block, const SumsView& view,
                                const Strides& strides) {
  HWY_ALIGN Index parts[static_cast<std::size_t>(order * order * order) * 8];
  HWY_ALIGN std::int32_t offset[8];
  for (int at = 0; at < block.num; at += lanes()) {
    divide<order>(block, at, parts);
    find_offsets(block, at, view, strides, offset);
    const int num = std::min(lanes(), block.num - at);
    for (int lane = 0; lane < num; ++lane) {
      if (block.has_odd && block.is_odd[at + lane]) continue;
      add_parts<order>(parts + lane, strides, view.sums + offset[lane]);
    }
  }
}

/// Inlined twice: the compiler knows the strides of a tile with sums of its own.
template <int order>
void deposit_of(const AssignmentBlock& block, const SumsView& view) {
  constexpr Index pitch = tile_pitch(order);
  if (view.stride[0] == pitch * pitch && view.stride[1] == pitch)
    return deposit_vectors<order>(block, view, {pitch * pitch, pitch});
  deposit_vectors<order>(block, view, {view.stride[0], view.stride[1]});
}

/// ReadoutPoint of kernels/common/mesh/paint.hpp, a vector of particles at a time.
template <int order, class T>
void readout_vectors(const AssignmentBlock& block, const ReadoutRows<T>& rows, double* values) {
  constexpr int num_rows = order * order;
  HWY_ALIGN double gathered[static_cast<std::size_t>(num_rows * order) * 8] = {};
  for (int at = 0; at < block.num; at += lanes()) {
    for (int lane = 0; lane < lanes() && at + lane < block.num; ++lane) {
      const int p = at + lane;
      if (block.is_odd[p]) continue;
      const T* from = rows.cells + (block.first[0][p] - rows.first[0]) * rows.stride[0] +
                      (block.first[1][p] - rows.first[1]) * rows.stride[1] +
                      (block.first[2][p] - rows.first[2]);
      double* to = gathered + lane;
      for (int i = 0; i < num_rows; ++i) {
        const T* row = from + (i / order) * rows.stride[0] + (i % order) * rows.stride[1];
        for (int k = 0; k < order; ++k, to += lanes()) *to = static_cast<double>(row[k]);
      }
    }
    const Weights<order> weight(block, at);
    const double* value = gathered;
    Double sum = constant(0);
    for (int i = 0; i < order; ++i) {
      Double plane = constant(0);
      for (int j = 0; j < order; ++j) {
        Double row = constant(0);
        for (int k = 0; k < order; ++k, value += lanes())
          row = hn::Add(row, hn::Mul(weight.of[2][k], hn::Load(Doubles{}, value)));
        plane = hn::Add(plane, hn::Mul(weight.of[1][j], row));
      }
      sum = hn::Add(sum, hn::Mul(weight.of[0][i], plane));
    }
    hn::Store(sum, Doubles{}, values + at);
  }
}

}  // namespace

void locate_dispatched(const MeshCells& cells, AssignmentBlock& block) {
  switch (cells.order) {
    case 1: return locate<1>(cells, block);
    case 2: return locate<2>(cells, block);
    case 3: return locate<3>(cells, block);
    default: return locate<4>(cells, block);
  }
}
void add_numbers_dispatched(const AssignmentBlock& block, const CellNumbers& numbers,
                            LocalIndex* sums) {
  const hn::RebindToUnsigned<Narrow> number;
  for (int at = 0; at < block.num; at += lanes()) {
    auto sum = hn::Zero(number);
    for (int a = 0; a < 3; ++a) {
      auto cell = hn::Load(Narrow{}, block.first[a] + at);
      if (numbers.nearest)
        cell = hn::Add(
            cell, hn::DemoteTo(Narrow{},
                               hn::Add(hn::Load(Doubles{}, block.behind[a] + at), constant(0.5))));
      cell = hn::Sub(hn::Min(cell, hn::Set(Narrow{}, numbers.last[a])),
                     hn::Set(Narrow{}, numbers.first[a]));
      sum = hn::Add(sum, hn::GatherIndex(number, numbers.of[a], cell));
    }
    hn::Store(sum, number, sums + at);
  }
}
void deposit_dispatched(const AssignmentBlock& block, int order, const SumsView& view) {
  switch (order) {
    case 1: return deposit_of<1>(block, view);
    case 2: return deposit_of<2>(block, view);
    case 3: return deposit_of<3>(block, view);
    default: return deposit_of<4>(block, view);
  }
}
template <class T>
void readout_of(const AssignmentBlock& block, int order, const ReadoutRows<T>& rows,
                double* values) {
  switch (order) {
    case 1: return readout_vectors<1>(block, rows, values);
    case 2: return readout_vectors<2>(block, rows, values);
    case 3: return readout_vectors<3>(block, rows, values);
    default: return readout_vectors<4>(block, rows, values);
  }
}
ZHALO_TARGET_REALS(append);
ZHALO_TARGET_REALS(readout_of);

}  // namespace zhalo::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace zhalo::kernels {

HWY_EXPORT(locate_dispatched);
ZHALO_EXPORT_REALS(append);
HWY_EXPORT(add_numbers_dispatched);
HWY_EXPORT(deposit_dispatched);
ZHALO_EXPORT_REALS(readout_of);

template <class Real>
void append_positions(const Strided<Real> (&pos)[3], Index row, Index num, AssignmentBlock& block) {
  ZHALO_BEST_TARGET(append, Real)(pos, row, static_cast<int>(num), block);
}
void locate_assignments(const MeshCells& cells, AssignmentBlock& block) {
  HWY_DYNAMIC_DISPATCH(locate_dispatched)(cells, block);
}
void add_numbers(const AssignmentBlock& block, const CellNumbers& numbers, LocalIndex* sums) {
  HWY_DYNAMIC_DISPATCH(add_numbers_dispatched)(block, numbers, sums);
}
void deposit_blocks(const AssignmentBlock& block, int order, const SumsView& view) {
  HWY_DYNAMIC_DISPATCH(deposit_dispatched)(block, order, view);
}
template <class T>
void readout_blocks(const AssignmentBlock& block, int order, const ReadoutRows<T>& rows,
                    double* values) {
  ZHALO_BEST_TARGET(readout_of, T)(block, order, rows, values);
}

ZHALO_INSTANTIATE_OF_REALS(append_positions);
ZHALO_INSTANTIATE_OF_REALS(readout_blocks);

}  // namespace zhalo::kernels
#endif
