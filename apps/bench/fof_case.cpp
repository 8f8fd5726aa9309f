#include "apps/bench/cases.hpp"

#include <algorithm>
#include <optional>

#include "apps/bench/footprint.hpp"
#include "zhalo/catalogue/catalogue.hpp"
#include "zhalo/core/buffer.hpp"
#include "zhalo/core/timers.hpp"
#include "zhalo/fof/fof.hpp"

namespace zhalo::bench {
namespace {

/// What one call needs and what it notes.
class Setup {
 public:
  Setup(const FofCase& fof_case, const PointSet& points)
      : box_(Box::periodic_cube(points.box_length)),
        options_{.linking_length = fof_case.length_for(points)},
        context_{.comm = {}, .exec = fof_case.make_exec(), .timers = &timers_},
        points_(context_.exec, points) {}
  Setup(const Setup&) = delete;
  Setup& operator=(const Setup&) = delete;

  /// Returns when the labels are there: a copy of one of them waits for the device.
  FofResult find() {
    FofResult result = friends_of_friends(context_, points_.particles(), box_, options_);
    const Span<const Index> label = result.label.span();
    to_host(context_.exec, label.subspan(0, std::min<Index>(1, label.size())));
    return result;
  }
  /// The groups of a domain: a catalogue finds the particles sorted.
  void group_in_domain() {
    domain_.emplace(context_, points_.particles(), box_,
                    DomainOptions{.min_length = options_.linking_length});
    groups_ = friends_of_friends(*domain_, options_);
  }
  Catalogue tabulate() const { return make_catalogue(*domain_, groups_, CatalogueOptions{}); }
  /// From the caller's unsorted positions to a catalogue, in one go.
  void find_and_tabulate() {
    group_in_domain();
    benchmark::DoNotOptimize(tabulate().num_groups_total);
  }
  void forget_domain() {
    groups_ = {};
    domain_.reset();
  }

  const Exec& exec() const { return context_.exec; }
  MemoryPool& pool() const { return *memory(context_.exec); }
  Timers& timers() { return timers_; }

 private:
  Box box_;
  FofOptions options_;
  Timers timers_;
  Context context_;
  BoundPoints points_;
  std::optional<Domain<float>> domain_;
  FofResult groups_;
};

/// The first call of a fresh context: its memory is new, so its time and footprint are those of a
/// program that searches once.
void first_call(benchmark::State& state, Setup& setup, double num) {
  std::optional<FofResult> groups;
  const Clock::time_point start = Clock::now();
  const Footprint search = footprint_of(setup.pool(), [&] { groups = setup.find(); });
  state.counters["ns_per_particle_first"] = seconds_since(start) * 1e9 / num;
  state.counters["bytes_per_particle"] = search.pool / num;
  if (search.resident_set)
    state.counters["resident_bytes_per_particle"] = *search.resident_set / num;

  setup.group_in_domain();
  Index num_haloes = 0;
  const Footprint table =
      footprint_of(setup.pool(), [&] { num_haloes = setup.tabulate().num_groups_total; });
  state.counters["bytes_per_particle_catalogue"] = table.pool / num;
  setup.forget_domain();

  const std::vector<Index> label = to_host(setup.exec(), groups->label);
  Index num_groups = 0;
  for (std::size_t i = 0; i < label.size(); ++i)
    num_groups += label[i] == static_cast<Index>(i) ? 1 : 0;
  state.counters["groups"] = static_cast<double>(num_groups);
  state.counters["haloes"] = static_cast<double>(num_haloes);
}

}  // namespace

void run(benchmark::State& state, const FofCase& fof_case, PointStore& point_sets) {
  const PointSet& points = point_sets.get(fof_case.source);
  const double num = static_cast<double>(points.num());
  Setup setup(fof_case, points);
  first_call(state, setup, num);
  setup.timers() = Timers{};

  double search_seconds = 0;
  double catalogue_seconds = 0;
  for ([[maybe_unused]] auto _ : state) {
    const Clock::time_point start = Clock::now();
    const FofResult groups = setup.find();
    search_seconds += seconds_since(start);
    benchmark::DoNotOptimize(groups.num_total);
  }
  const std::vector<Phase> phases = setup.timers().phases();
  double both_seconds = 0;
  for (Index i = 0; i < state.iterations(); ++i) {
    const Clock::time_point start = Clock::now();
    setup.find_and_tabulate();
    both_seconds += seconds_since(start);
    setup.forget_domain();
  }
  setup.group_in_domain();
  for (Index i = 0; i < state.iterations(); ++i) {
    const Clock::time_point start = Clock::now();
    benchmark::DoNotOptimize(setup.tabulate().num_groups_total);
    catalogue_seconds += seconds_since(start);
  }
  const double to_ns = 1e9 / (num * static_cast<double>(state.iterations()));
  for (const Phase& phase : phases) state.counters[phase.name] = phase.seconds * to_ns;
  state.counters["ns_per_particle"] = search_seconds * to_ns;
  state.counters["catalogue"] = catalogue_seconds * to_ns;
  state.counters["with_catalogue"] = both_seconds * to_ns;
  state.counters["total"] = (search_seconds + catalogue_seconds) * to_ns;
}

std::vector<Index> labels(const FofCase& fof_case, const PointSet& points) {
  Setup setup(fof_case, points);
  const FofResult groups = setup.find();
  return to_host(setup.exec(), groups.label);
}

}  // namespace zhalo::bench
