#include "apps/bench/cases.hpp"

#include <algorithm>

#include "apps/bench/footprint.hpp"
#include "zhalo/core/error.hpp"
#include "zhalo/core/timers.hpp"
#include "zhalo/knn/knn.hpp"
#include "zhalo/knn/reduce.hpp"

namespace zhalo::bench {
namespace {

/// What one call needs and what it notes.
class Setup {
 public:
  Setup(const KnnCase& knn_case, const PointSet& particles, const PointSet* queries)
      : box_(Box::periodic_cube(particles.box_length)),
        options_{.k = knn_case.k},
        reduce_(knn_case.reduce),
        context_{.comm = {}, .exec = knn_case.make_exec(), .timers = &timers_},
        particles_(context_.exec, particles) {
    if (queries != nullptr) queries_.emplace(context_.exec, *queries);
  }
  Setup(const Setup&) = delete;
  Setup& operator=(const Setup&) = delete;

  /// Lists, or one number per query. Only one of the two is filled.
  struct Result {
    KnnResult<float> lists;
    Buffer<double> reduced;

    double bytes() const {
      return static_cast<double>(lists.distance.size()) * sizeof(float) +
             static_cast<double>(lists.index.size()) * sizeof(Index) +
             static_cast<double>(reduced.size()) * sizeof(double);
    }
  };

  /// Returns when the result is there: a copy of one of its elements waits for the device.
  Result find() {
    Result result;
    if (reduce_) {
      result.reduced = neighbour_quantity(context_, particles_.particles(), box_, options_,
                                          {Quantity::kth_radius});
      wait_for(result.reduced.span());
    } else {
      const Particles<float>& particles = particles_.particles();
      result.lists = queries_
                         ? knn(context_, Queries{queries_->particles(), particles}, box_, options_)
                         : knn(context_, particles, box_, options_);
      wait_for(result.lists.index.span());
    }
    return result;
  }

  const Exec& exec() const { return context_.exec; }
  MemoryPool& pool() const { return *memory(context_.exec); }
  Timers& timers() { return timers_; }

 private:
  template <class T>
  void wait_for(Span<T> values) const {
    to_host(context_.exec, Span<const T>(values.subspan(0, std::min<Index>(1, values.size()))));
  }

  Box box_;
  KnnOptions options_;
  bool reduce_;
  Timers timers_;
  Context context_;
  BoundPoints particles_;
  std::optional<BoundPoints> queries_;
};

/// The first call of a fresh context: its memory is new, so its time and footprint are those of a
/// program that searches once.
void first_call(benchmark::State& state, Setup& setup, double num) {
  Setup::Result result;
  const Clock::time_point start = Clock::now();
  const Footprint search = footprint_of(setup.pool(), [&] { result = setup.find(); });
  state.counters["ns_per_query_first"] = seconds_since(start) * 1e9 / num;
  state.counters["bytes_per_query"] = (search.pool - result.bytes()) / num;
  if (result.reduced.empty()) {  // reductions do not tell their work: it is that of the lists
    state.counters["leaves_per_query"] =
        static_cast<double>(result.lists.statistics.leaves_visited) / num;
    state.counters["pairs_per_query"] =
        static_cast<double>(result.lists.statistics.pairs_tested) / num;
  }
}

void measure(benchmark::State& state, Setup& setup, double num) {
  first_call(state, setup, num);
  setup.timers() = Timers{};
  double seconds = 0;
  for ([[maybe_unused]] auto _ : state) {
    const Clock::time_point start = Clock::now();
    const Setup::Result result = setup.find();
    seconds += seconds_since(start);
    benchmark::DoNotOptimize(result.lists.distance.data());
  }
  const double to_ns = 1e9 / (num * static_cast<double>(state.iterations()));
  for (const Phase& phase : setup.timers().phases())
    state.counters[phase.name] = phase.seconds * to_ns;
  state.counters["ns_per_query"] = seconds * to_ns;
}

}  // namespace

void run(benchmark::State& state, const KnnCase& knn_case, KnnPoints& point_sets) {
  const PointSet& particles = point_sets.particles.get(knn_case.particles);
  const PointSet* queries = knn_case.queries ? &point_sets.queries.get(*knn_case.queries) : nullptr;
  try {
    Setup setup(knn_case, particles, queries);
    measure(state, setup, static_cast<double>((queries != nullptr ? *queries : particles).num()));
  } catch (const OutOfMemory&
               error) {  // lists of 1e7 times 64 do not fit everywhere; the other cases do
    state.SkipWithError(error.what());
  }
}

NeighbourTable neighbours(const KnnCase& knn_case, const PointSet& points) {
  Setup setup(knn_case, points, nullptr);
  const KnnResult<float> lists = setup.find().lists;
  return {to_host(setup.exec(), lists.distance), to_host(setup.exec(), lists.index)};
}

}  // namespace zhalo::bench
