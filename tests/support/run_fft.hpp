/// The library's transforms of fields that every rank knows, with all that must hold of the arrays
/// on the way.
#pragma once

#include <catch2/catch.hpp>
#include <cstring>
#include <functional>
#include <limits>
#include <vector>

#include "tests/support/direct_dft.hpp"
#include "tests/support/guarded_memory.hpp"
#include "tests/support/random.hpp"
#include "zhalo/fft/fft.hpp"

namespace zhalo::testing {

template <class T>
inline constexpr bool is_real = std::is_floating_point_v<T>;

/// A value at an index of field number `field` of a batch: a cell or a mode.
using ValueAt = std::function<std::complex<double>(Index field, const GridIndex& at)>;

/// Of the relative error in the L2 norm.
template <class T>
double error_bound(const GridIndex& num) {
  using Real = typename Fft<T>::Real;
  const auto cells = static_cast<double>(std::max<Index>(2, num[0] * num[1] * num[2]));
  return 5 * static_cast<double>(std::numeric_limits<Real>::epsilon()) * std::log2(cells);
}

/// The norms by their definition.
inline double forward_factor(Norm norm, const GridIndex& num) {
  const auto cells = static_cast<double>(num[0] * num[1] * num[2]);
  return norm == Norm::forward ? 1 / cells : norm == Norm::orthonormal ? 1 / std::sqrt(cells) : 1;
}
inline double backward_factor(Norm norm, const GridIndex& num) {
  return norm == Norm::orthonormal ? forward_factor(norm, num) : 1;
}

/// How a rank's part of the fields of a batch lies: each takes field_size elements.
struct Placement {
  BoxLayout layout;
  Index field_size = 0;
  Index batch = 1;

  Index size() const { return field_size * batch; }
  /// visit(field, index on the grid, element)
  template <class Visit>
  void for_each(const Visit& visit) const {
    const IndexBox& index_box = layout.index_box;
    for (Index field = 0; field < batch; ++field) {
      GridIndex at;
      for (at[0] = index_box.lo[0]; at[0] < index_box.hi[0]; ++at[0])
        for (at[1] = index_box.lo[1]; at[1] < index_box.hi[1]; ++at[1])
          for (at[2] = index_box.lo[2]; at[2] < index_box.hi[2]; ++at[2])
            visit(field, at, static_cast<std::size_t>(field * field_size + layout.offset(at)));
    }
  }
};

/// The values as they lie, NaN in the gaps.
template <class Element>
std::vector<Element> arranged(const Placement& placement, const ValueAt& value_at) {
  using Real = typename Fft<Element>::Real;
  std::vector<Element> values(static_cast<std::size_t>(placement.size()),
                              Element(std::numeric_limits<Real>::quiet_NaN()));
  placement.for_each([&](Index field, const GridIndex& at, std::size_t element) {
    const std::complex<double> value = value_at(field, at);
    if constexpr (is_real<Element>)
      values[element] = static_cast<Real>(value.real());
    else
      values[element] = {static_cast<Real>(value.real()), static_cast<Real>(value.imag())};
  });
  return values;
}

/// |found - wanted| / |wanted| of the L2 norms over all ranks and fields; without the division
/// where all that is wanted is 0.
template <class Element>
double relative_error(const Communicator& comm, const std::vector<Element>& found,
                      const Placement& placement, const ValueAt& wanted) {
  double difference = 0;
  double norm = 0;
  placement.for_each([&](Index field, const GridIndex& at, std::size_t element) {
    const std::complex<double> value = wanted(field, at);
    difference += std::norm(std::complex<double>(found.at(element)) - value);
    norm += std::norm(value);
  });
  difference = comm.sum(difference);
  norm = comm.sum(norm);
  return std::sqrt(norm > 0 ? difference / norm : difference);
}

template <class Element>
bool equal_bytes(const std::vector<Element>& a, const std::vector<Element>& b) {
  return a.size() == b.size() &&
         (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(Element)) == 0);
}

/// A plan, and its transforms of values that are given as functions of the index. Each checks that
/// nothing else is written than what may be.
template <class T>
class FftRun {
 public:
  using Complex = typename Fft<T>::Complex;

  FftRun(const Context& context, const Decomposition& decomposition, const FftOptions& options = {})
      : context_(&context), options_(options), fft_(context, decomposition, options) {}

  /// From now on arrays are aligned as whole complex numbers, all of them.
  void align() { alignment_ = static_cast<Index>(sizeof(Complex)); }

  Fft<T>& fft() { return fft_; }
  const Context& context() const { return *context_; }
  const GridIndex& num() const { return fft_.decomposition().grid().num; }
  double forward_factor() const { return testing::forward_factor(options_.norm, num()); }
  double backward_factor() const { return testing::backward_factor(options_.norm, num()); }

  Placement cells() const { return {fft_.cells(), fft_.cells().size, options_.batch}; }
  Placement modes() const { return {fft_.modes(), fft_.modes().size, options_.batch}; }
  Placement cells_in_place() const {
    return {fft_.cells_in_place(), fft_.in_place_size(), options_.batch};
  }
  Placement modes_in_place() const {
    return {
        fft_.modes(),
        fft_.in_place_size() * static_cast<Index>(sizeof(T)) / static_cast<Index>(sizeof(Complex)),
        options_.batch};
  }

  std::vector<Complex> forward(const ValueAt& cell) {
    const std::vector<T> values = arranged<T>(cells(), cell);
    GuardedArray<T> from(exec(), values, alignment_);
    GuardedArray<Complex> to(exec(), modes().size(), alignment_);
    fft_.forward(from.span(), to.span());
    CHECK(equal_bytes(from.values(), values));
    CHECK((from.guards_intact() && to.guards_intact()));
    return to.values();
  }

  std::vector<T> backward(const ValueAt& mode) {
    const std::vector<Complex> values = arranged<Complex>(modes(), mode);
    GuardedArray<Complex> from(exec(), values, alignment_);
    GuardedArray<T> to(exec(), cells().size(), alignment_);
    fft_.backward(from.span(), to.span());
    CHECK(equal_bytes(from.values(), values));
    CHECK((from.guards_intact() && to.guards_intact()));
    return to.values();
  }

  std::vector<T> backward_overwriting(const ValueAt& mode) {
    GuardedArray<Complex> from(exec(), arranged<Complex>(modes(), mode), alignment_);
    GuardedArray<T> to(exec(), cells().size(), alignment_);
    fft_.backward_overwriting(from.span(), to.span());
    CHECK((from.guards_intact() && to.guards_intact()));
    return to.values();
  }

  std::vector<Complex> forward_in_place(const ValueAt& cell) {
    GuardedArray<T> field(exec(), arranged<T>(cells_in_place(), cell), mode_alignment());
    fft_.forward_in_place(field.span());
    CHECK(field.guards_intact());
    return field.template values_as<Complex>();
  }

  std::vector<T> backward_in_place(const ValueAt& mode) {
    GuardedArray<T> field(exec(), arranged<Complex>(modes_in_place(), mode), mode_alignment());
    fft_.backward_in_place(field.span());
    CHECK(field.guards_intact());
    return field.values();
  }

 private:
  /// A field in place is aligned as its modes, also where these are a real field's.
  Index mode_alignment() const {
    return is_real<T> ? static_cast<Index>(sizeof(Complex)) : alignment_;
  }

  const Exec& exec() const { return context_->exec; }

  const Context* context_;
  FftOptions options_;
  Fft<T> fft_;
  Index alignment_ = static_cast<Index>(alignof(T));
};

/// Fields of random cells, all of them floats, and their modes without any norm, by a transform
/// that is not zhalo's.
class Signals {
 public:
  using Dft = ComplexValues (*)(const GridIndex& num, const ComplexValues& values, int sign);
  enum class Kind { real, complex };

  Signals(const GridIndex& num, Kind kind, Index batch = 1, Dft dft = direct_dft) : num_(num) {
    Random random(static_cast<std::uint64_t>(num[0] + 1000 * num[1] + 1000000 * num[2]));
    const auto next = [&] {
      return static_cast<double>(static_cast<float>(random.uniform(-1, 1)));
    };
    for (Index field = 0; field < batch; ++field) {
      ComplexValues cells;
      for (Index i = 0; i < num[0] * num[1] * num[2]; ++i) {
        const double real = next();
        cells.emplace_back(real, kind == Kind::complex ? next() : 0);
      }
      modes_.push_back(dft(num, cells, -1));
      cells_.push_back(std::move(cells));
    }
  }

  const GridIndex& num() const { return num_; }
  ValueAt cell(double factor = 1) const { return values(cells_, factor); }
  ValueAt mode(double factor = 1) const { return values(modes_, factor); }

 private:
  ValueAt values(const std::vector<ComplexValues>& fields, double factor) const {
    return [num = num_, fields = &fields, factor](Index field, const GridIndex& at) {
      return factor * fields->at(static_cast<std::size_t>(field))[index_on(num, at)];
    };
  }

  GridIndex num_;
  std::vector<ComplexValues> cells_;
  std::vector<ComplexValues> modes_;
};

/// That the layouts are those of the decomposition, and that a field in place has room for both.
template <class T>
void check_layouts(const FftRun<T>& run, const Fft<T>& fft, ModeOrder order) {
  const int rank = run.context().comm.rank();
  const Decomposition& decomposition = fft.decomposition();
  CHECK(fft.cells() == decomposition.cells_layout(rank));
  CHECK(fft.modes() == decomposition.modes_layout(rank, Fft<T>::spectrum, order));
  const Index row = is_real<T> ? 2 * (run.num()[2] / 2 + 1) : run.num()[2];
  CHECK(fft.cells_in_place() == layout_of(decomposition.cells(rank), natural_order, row));
  const Index reals_per_mode = is_real<T> ? 2 : 1;
  CHECK(fft.in_place_size() >= fft.cells_in_place().size);
  CHECK(fft.in_place_size() >= reals_per_mode * fft.modes().size);
}

/// Forward and backward, out of place and in place, against the signals.
template <class T>
void check_transforms(FftRun<T>& run, const Signals& signals) {
  const Communicator& comm = run.context().comm;
  const double bound = error_bound<T>(signals.num());
  const auto cells = static_cast<double>(signals.num()[0] * signals.num()[1] * signals.num()[2]);
  const ValueAt modes = signals.mode(run.forward_factor());
  CHECK(relative_error(comm, run.forward(signals.cell()), run.modes(), modes) <= bound);
  CHECK(relative_error(comm, run.forward_in_place(signals.cell()), run.modes_in_place(), modes) <=
        bound);
  const ValueAt back = signals.cell(cells * run.backward_factor());
  const std::vector<T> apart = run.backward(signals.mode());
  CHECK(relative_error(comm, apart, run.cells(), back) <= bound);
  // Parts of another size may be other algorithms of cuFFT, with another rounding.
  const std::vector<T> overwriting = run.backward_overwriting(signals.mode());
  if (std::holds_alternative<Cuda>(run.context().exec)) {
    CHECK(relative_error(comm, overwriting, run.cells(), back) <= bound);
  } else {
    CHECK(equal_bytes(overwriting, apart));
  }
  CHECK(relative_error(comm, run.backward_in_place(signals.mode()), run.cells_in_place(), back) <=
        bound);
}

/// The same in memory of the caller, which is full of NaN each time.
template <class T>
void check_in_workspace(FftRun<T>& run, const Signals& signals) {
  GuardedBytes workspace(run.context().exec, run.fft().workspace_bytes());
  run.fft().use_workspace({workspace.data(), workspace.size()});
  for (int again = 0; again < 3; ++again) {
    workspace.poison();
    check_transforms(run, signals);
    CHECK(workspace.guards_intact());
  }
}

template <class T>
void check_fft(const Context& context, const Signals& signals, const DecompositionOptions& split,
               const FftOptions& options = {}) {
  const Decomposition decomposition(Grid{signals.num()}, context.comm.size(), split);
  FftRun<T> run(context, decomposition, options);
  INFO(run.fft().describe());
  check_layouts(run, run.fft(), options.restore_order ? ModeOrder::natural : ModeOrder::transposed);
  check_transforms(run, signals);
}

/// Real and complex signals on a grid, for all types.
struct AllSignals {
  Signals real;
  Signals complex;

  explicit AllSignals(const GridIndex& num, Index batch = 1, Signals::Dft dft = direct_dft)
      : real(num, Signals::Kind::real, batch, dft),
        complex(num, Signals::Kind::complex, batch, dft) {}

  void check_all(const Context& context, const DecompositionOptions& split,
                 const FftOptions& options = {}) const {
    check_fft<float>(context, real, split, options);
    check_fft<double>(context, real, split, options);
    check_fft<std::complex<float>>(context, complex, split, options);
    check_fft<std::complex<double>>(context, complex, split, options);
  }
};

/// The options that need not meet each other in all combinations: each with each decomposition, in
/// one of these.
inline std::vector<FftOptions> option_mix(const Exec& exec = Host{}) {
  constexpr auto shared = NodeExchange::shared_memory;
  constexpr auto messages = NodeExchange::messages;
  std::vector<FftOptions> mix = {
      {},
      {.norm = Norm::none, .restore_order = true},
      {.norm = Norm::orthonormal, .batch = 3},
      {.norm = Norm::orthonormal, .node_exchange = shared, .chunk_bytes = 300},
      {.norm = Norm::none, .node_exchange = messages, .chunk_bytes = 300},
      {.restore_order = true, .batch = 3, .node_exchange = messages},
      {.restore_order = true, .batch = 3, .node_exchange = shared, .chunk_bytes = 1000},
      {.norm = Norm::orthonormal,
       .restore_order = true,
       .node_exchange = messages,
       .chunk_bytes = 1000}};
  // Ranks do not share the memory of a device.
  if (std::holds_alternative<Cuda>(exec))
    std::erase_if(mix, [](const FftOptions& o) { return o.node_exchange == shared; });
  return mix;
}

}  // namespace zhalo::testing
