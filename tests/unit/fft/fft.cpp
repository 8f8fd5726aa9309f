/// Transforms on one rank, without MPI, by several threads: small enough for ThreadSanitizer.
#include <fftw3.h>

#include <cstdlib>
#include <memory>
#include <set>
#include <sstream>
#include <string>

#include "tests/support/run_fft.hpp"

namespace {

using namespace zhalo;
using namespace zhalo::testing;

/// What FFTW's planner has learnt, in lines that come in any order.
std::multiset<std::string> wisdom() {
  const std::unique_ptr<char, decltype(&std::free)> text(fftw_export_wisdom_to_string(),
                                                         &std::free);
  std::multiset<std::string> lines;
  std::istringstream all(text.get());
  std::string line;
  while (std::getline(all, line)) lines.insert(line);
  return lines;
}

/// Of FFTW's planner, as a code sets it that lets FFTW use threads.
int planned_threads = 1;
std::vector<int> all_planned_threads;
std::multiset<std::string> wisdom_when_planned;

}  // namespace

// In place of those of FFTW's libraries with threads.
extern "C" int fftw_planner_nthreads() { return planned_threads; }
extern "C" void fftw_plan_with_nthreads(int num) {
  planned_threads = num;
  all_planned_threads.push_back(num);
  wisdom_when_planned = wisdom();
}

namespace {

Context context_of(int threads) {
  Context context;
  context.exec = host_exec(threads);
  return context;
}

}  // namespace

TEST_CASE("fft on threads: sizes of every kind") {
  const Context context = context_of(GENERATE(1, 2, 3));
  const std::vector<FftOptions> options = option_mix();
  std::size_t next = 0;
  for (const GridIndex& num :
       {GridIndex{{1, 1, 1}}, GridIndex{{2, 2, 2}}, GridIndex{{5, 7, 16}}, GridIndex{{1, 1, 9}},
        GridIndex{{17, 1, 2}}, GridIndex{{3, 5, 40}}}) {
    const AllSignals signals(num, 3);
    for (int i = 0; i < 3; ++i) signals.check_all(context, {}, options[next++ % options.size()]);
  }
}

TEST_CASE("fft on threads: plans are for one thread, whatever the caller has told FFTW") {
  planned_threads = 8;
  all_planned_threads.clear();
  const Context context = context_of(2);
  const Fft<double> transforms(context, Decomposition(Grid::cube(8), 1));
  CHECK(planned_threads == 8);
  CHECK(all_planned_threads.size() >= 2);
  for (std::size_t i = 0; i < all_planned_threads.size(); ++i)
    CHECK(all_planned_threads[i] == (i % 2 == 0 ? 1 : 8));
  planned_threads = 1;
}

TEST_CASE("fft on threads: plans that are not measured do not depend on those that were") {
  planned_threads = 8;  // so that planning ends with a call of ours
  const Context context = context_of(1);
  const Decomposition decomposition(Grid::cube(30), 1);
  const auto plan_with = [&](PlanEffort effort) {
    const Fft<double> transforms(context, decomposition, {.effort = effort});
    return wisdom_when_planned;
  };
  fftw_forget_wisdom();
  const auto nothing = wisdom();
  const auto estimated = plan_with(PlanEffort::estimate);
  CHECK(estimated.size() > nothing.size());
  CHECK(wisdom() == nothing);  // no trace is left
  const auto measured = plan_with(PlanEffort::measure);
  REQUIRE(measured.size() > nothing.size());
  CHECK(wisdom() == measured);
  // With what was measured, FFTW would not have to estimate anything.
  CHECK(plan_with(PlanEffort::estimate) == estimated);
  CHECK(wisdom() == measured);
  fftw_forget_wisdom();
  planned_threads = 1;
}

TEST_CASE("fft on threads: every option") {
  const Context context = context_of(GENERATE(2, 3));
  const AllSignals signals({{9, 10, 12}}, 3);
  for (const FftOptions& options : option_mix()) signals.check_all(context, {}, options);
}

TEST_CASE("fft on threads: two plans of a context in turn, and two contexts") {
  const Context context = context_of(2);
  const Context other = context_of(3);
  const Signals signals({{12, 10, 8}}, Signals::Kind::real);
  const Decomposition decomposition(Grid{signals.num()}, 1);
  FftRun<double> a(context, decomposition);
  FftRun<float> b(context, decomposition, {.restore_order = true});
  FftRun<double> c(other, decomposition);
  for (int again = 0; again < 2; ++again) {
    check_transforms(a, signals);
    check_transforms(b, signals);
    check_transforms(c, signals);
  }
}
