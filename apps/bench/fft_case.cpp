#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <cstdint>
#include <memory>

#include "apps/bench/fft_bench.hpp"
#include "apps/bench/footprint.hpp"
#include "zhalo/core/buffer.hpp"

namespace zhalo::bench {
namespace {

/// The finaliser of splitmix64: every bit depends on the whole index.
std::uint64_t mixed(std::uint64_t index) {
  std::uint64_t bits = index + 0x9e3779b97f4a7c15U;
  bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9U;
  bits = (bits ^ (bits >> 27)) * 0x94d049bb133111ebU;
  return bits ^ (bits >> 31);
}

std::uint64_t element_of(const GridIndex& index, Index num) {
  return static_cast<std::uint64_t>((index[0] * num + index[1]) * num + index[2]);
}

/// Exact in float: 24 bits.
double value_at(const GridIndex& cell, Index num) {
  return static_cast<double>(mixed(element_of(cell, num)) >> 40) * 0x1p-24 - 0.5;
}

/// Calls work(index, offset) for all elements of an index box.
template <class Work>
void for_all(const BoxLayout& layout, const Work& work) {
  const IndexBox& index_box = layout.index_box;
  for (Index x = index_box.lo[0]; x < index_box.hi[0]; ++x) {
    for (Index y = index_box.lo[1]; y < index_box.hi[1]; ++y) {
      const Index row = layout.offset({{x, y, index_box.lo[2]}});
      for (Index z = index_box.lo[2]; z < index_box.hi[2]; ++z)
        work(GridIndex{{x, y, z}}, row + (z - index_box.lo[2]) * layout.stride[2]);
    }
  }
}

/// Sets the cells to pseudo-random numbers in [-1/2, 1/2) that depend on their index only, all else
/// in the memory to 0.
template <class T>
void fill(RealTransform<T>& transform, Index num) {
  T* field = transform.field().data();
  std::fill_n(field, transform.field().size(), T{0});
  for_all(transform.cells(), [&](const GridIndex& cell, Index offset) {
    field[offset] = static_cast<T>(value_at(cell, num));
  });
}

/// Multiplies all that is in the memory.
template <class T>
void scale(RealTransform<T>& transform, double factor) {
  const Span<T> field = transform.field();
  std::transform(field.data(), field.data() + field.size(), field.data(),
                 [f = static_cast<T>(factor)](T value) { return f * value; });
}

/// After fill(), forward() and backward(): root of the squared differences to num^3 times what was
/// filled in, over that of the squares.
template <class T>
double round_trip_error(const Communicator& comm, RealTransform<T>& transform, Index num) {
  const T* field = transform.field().data();
  const double factor = 1 / static_cast<double>(num * num * num);
  double squares = 0;
  double differences = 0;
  for_all(transform.cells(), [&](const GridIndex& cell, Index offset) {
    const double value = value_at(cell, num);
    squares += value * value;
    differences += std::pow(static_cast<double>(field[offset]) * factor - value, 2);
  });
  return std::sqrt(comm.sum(differences) / comm.sum(squares));
}

/// After forward().
template <class T>
SpectrumMark mark_of(const Communicator& comm, RealTransform<T>& transform, Index num) {
  const auto* modes = reinterpret_cast<const std::complex<T>*>(transform.field().data());
  // The mean is far larger than other modes: in double, sums in another order would differ.
  std::array<long double, 3> sums{};
  for_all(transform.modes(), [&](const GridIndex& mode, Index offset) {
    const std::complex<double> value(modes[offset]);
    const double sign = (mixed(element_of(mode, num)) & 1) != 0 ? 1 : -1;
    sums[0] += sign * value.real();
    sums[1] += sign * value.imag();
    sums[2] += std::norm(value);
  });
  const auto over_ranks = [&](int i) {
    return comm.sum(static_cast<double>(sums[static_cast<std::size_t>(i)]));
  };
  return {over_ranks(0), over_ranks(1), over_ranks(2)};
}

}  // namespace

double difference(const SpectrumMark& a, const SpectrumMark& b) {
  return std::hypot(a.real - b.real, a.imaginary - b.imaginary) /
         std::sqrt(std::max(a.power, b.power));
}

namespace {

template <class T>
class ZhaloTransform : public RealTransform<T> {
 public:
  ZhaloTransform(const Context& context, const Decomposition& decomposition,
                 const FftOptions& options)
      : fft_(context, decomposition, options),
        field_(context.exec, fft_.in_place_size(), "field") {}

  Span<T> field() override { return field_.span(); }
  const BoxLayout& cells() const override { return fft_.cells_in_place(); }
  const BoxLayout& modes() const override { return fft_.modes(); }
  void forward() override { fft_.forward_in_place(field_.span()); }
  void backward() override { fft_.backward_in_place(field_.span()); }
  std::optional<FftReport> report() const override { return fft_.report(); }
  std::string describe() const override { return fft_.describe(); }

 private:
  Fft<T> fft_;
  Buffer<T> field_;
};

/// A library's transform, ready to be timed, and what is known of it.
template <class T>
struct Contestant {
  std::unique_ptr<RealTransform<T>> transform;
  FftSide side;
};

template <class T>
using Maker = std::function<std::unique_ptr<RealTransform<T>>()>;

/// One forward and backward, not timed, and whether they are right.
template <class T>
void try_once(const Communicator& comm, Index num, Contestant<T>& contestant) {
  fill(*contestant.transform, num);
  contestant.transform->forward();
  contestant.side.mark = mark_of(comm, *contestant.transform, num);
  contestant.transform->backward();
  contestant.side.round_trip_error = round_trip_error(comm, *contestant.transform, num);
  scale(*contestant.transform, 1 / static_cast<double>(num * num * num));
}

template <class T>
Contestant<T> prepare(const Context& context, Index num, const Maker<T>& make) {
  const Communicator& comm = context.comm;
  MemoryPool& pool = *memory(context.exec);
  pool.release();
  Contestant<T> contestant;
  FftSide& side = contestant.side;
  const auto excess_before = static_cast<double>(shared_resident_excess());
  const Footprint footprint = footprint_of(pool, [&] {
    side.plan_seconds = seconds_of(comm, [&] { contestant.transform = make(); });
    try_once(comm, num, contestant);
  });
  side.describe = contestant.transform->describe();
  side.array_bytes =
      comm.sum(static_cast<double>(contestant.transform->field().size()) * sizeof(T));
  const bool known = comm.min(Index{footprint.resident_set ? 1 : 0}) == 1;
  const double excess = static_cast<double>(shared_resident_excess()) - excess_before;
  if (known) side.peak_resident_bytes = comm.sum(footprint.resident_set.value_or(0) - excess);
  return contestant;
}

template <class T>
void time_once(const Communicator& comm, Index num, Contestant<T>& contestant) {
  RealTransform<T>& transform = *contestant.transform;
  contestant.side.forward_seconds.push_back(seconds_of(comm, [&] { transform.forward(); }));
  contestant.side.backward_seconds.push_back(seconds_of(comm, [&] { transform.backward(); }));
  scale(transform, 1 / static_cast<double>(num * num * num));
}

/// Adds what the library says of the transforms since `before`.
template <class T>
void add_report(const Communicator& comm, const std::optional<FftReport>& before,
                Contestant<T>& contestant) {
  const std::optional<FftReport> after = contestant.transform->report();
  if (!before || !after) return;
  const auto transforms = static_cast<double>(after->num_transforms - before->num_transforms);
  FftSide& side = contestant.side;
  side.workspace_bytes = comm.sum(static_cast<double>(after->workspace_bytes));
  side.shared_bytes = comm.sum(static_cast<double>(after->shared_bytes));
  side.bytes_sent =
      comm.sum(static_cast<double>(after->bytes_sent - before->bytes_sent) / transforms);
  side.exchange_seconds =
      comm.max((after->exchange_seconds - before->exchange_seconds) / transforms);
}

const char* word_of(NodeExchange way) {
  switch (way) {
    case NodeExchange::shared_memory: return "shared_memory";
    case NodeExchange::messages: return "messages";
    default: return "automatic";
  }
}

/// What all cases of a size and a type share.
template <class T>
class Series {
 public:
  Series(const Context& context, const FftBenchOptions& options, Index num)
      : context_(context), options_(options), num_(num) {
    bytes_ = static_cast<double>(num * num * num) * sizeof(T) / context.comm.size();
    bandwidths_ = measure_bandwidths(context, static_cast<Index>(bytes_));
    if (!options.peer || !peer_name()) return;
    peer_ = prepare<T>(context, num, [&] {
      return make_peer<T>(context.comm, {num, options.effort, options.threads});
    });
  }

  FftCaseResult run(const Decomposition& decomposition, NodeExchange way) {
    const Communicator& comm = context_.comm;
    FftOptions fft_options;
    fft_options.norm = Norm::none;
    fft_options.effort = options_.effort;
    fft_options.node_exchange = way;
    Contestant<T> zhalo = prepare<T>(context_, num_, [&] {
      return std::make_unique<ZhaloTransform<T>>(context_, decomposition, fft_options);
    });
    const std::optional<FftReport> before = zhalo.transform->report();
    forget_times();
    for (int repetition = 0; repetition < options_.repetitions; ++repetition) {
      time_once(comm, num_, zhalo);
      if (peer_) time_once(comm, num_, *peer_);
    }
    add_report(comm, before, zhalo);
    return result_of(decomposition, way, zhalo.side);
  }

 private:
  /// The peer's of the case before.
  void forget_times() {
    if (!peer_) return;
    peer_->side.forward_seconds.clear();
    peer_->side.backward_seconds.clear();
  }

  FftCaseResult result_of(const Decomposition& decomposition, NodeExchange way,
                          const FftSide& zhalo) const {
    FftCaseResult result;
    result.num = num_;
    result.type = sizeof(T) == sizeof(float) ? "float" : "double";
    result.decomposition = decomposition.describe();
    result.shape = decomposition.shape();
    result.way = decomposition.num_ranks() > 1 ? word_of(way) : "none";
    result.bandwidths = bandwidths_;
    result.limit = limit_of(bandwidths_, bytes_, decomposition.shape());
    result.peer_limit = limit_of(bandwidths_, bytes_, {decomposition.num_ranks(), 1});
    result.zhalo = zhalo;
    if (peer_) result.peer = peer_->side;
    return result;
  }

  const Context& context_;
  const FftBenchOptions& options_;
  Index num_ = 0;
  double bytes_ = 0;
  Bandwidths bandwidths_;
  std::optional<Contestant<T>> peer_;
};

/// Those that differ: two ranks have no pencils.
std::vector<Decomposition> decompositions_of(const FftBenchOptions& options, Index num,
                                             int num_ranks) {
  std::vector<Decomposition> different;
  for (const Split split : options.splits) {
    DecompositionOptions wanted;
    wanted.split = split;
    const Decomposition one(Grid::cube(num), num_ranks, wanted);
    if (std::find(different.begin(), different.end(), one) == different.end())
      different.push_back(one);
  }
  return different;
}

template <class T>
void run_series(const Context& context, const FftBenchOptions& options, Index num,
                const std::function<void(const FftCaseResult&)>& tell) {
  Series<T> series(context, options, num);
  std::vector<NodeExchange> ways = options.ways;
  if (context.comm.size() == 1) ways = {NodeExchange::automatic};
  for (const Decomposition& decomposition : decompositions_of(options, num, context.comm.size())) {
    for (const NodeExchange way : ways) tell(series.run(decomposition, way));
  }
}

}  // namespace

std::vector<double> FftSide::both_seconds() const {
  std::vector<double> both(forward_seconds.size());
  std::transform(forward_seconds.begin(), forward_seconds.end(), backward_seconds.begin(),
                 both.begin(), std::plus<>());
  return both;
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

double min_of(const std::vector<double>& values) {
  return *std::min_element(values.begin(), values.end());
}

double seconds_of(const Communicator& comm, const std::function<void()>& work) {
  comm.barrier();
  const Clock::time_point start = Clock::now();
  work();
  return comm.max(seconds_since(start));
}

void run_cases(const Context& context, const FftBenchOptions& options, Index num,
               Precision precision, const std::function<void(const FftCaseResult&)>& tell) {
  if (precision == Precision::single_precision) {
    run_series<float>(context, options, num, tell);
  } else {
    run_series<double>(context, options, num, tell);
  }
}

}  // namespace zhalo::bench
