/// Choosing how to transform by trying: the same choice everywhere, made once.
#include "zhalo/fft/fft.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "tests/mpi/comm/failing_context.hpp"
#include "tests/mpi/fft/fft_case.hpp"

namespace {

using namespace zhalo;
using namespace zhalo::testing;
using Catch::Contains;

const Grid some_grid{{{12, 10, 8}}};

struct Setting {
  Context context = make_context();
  std::vector<std::string> printed;
  FftTuner tuner{context, {.repetitions = 1, .print = [this](const std::string& table) {
                             printed.push_back(table);
                           }}};
};

bool same_shape(const FftTrial& trial, const DecompositionOptions& shape) {
  return trial.decomposition.shape() == shape.shape;
}

/// What a trial was, without its seconds.
std::string named(const FftTrial& trial) {
  return fmt::format("{}, {}, {}", trial.decomposition.describe(),
                     static_cast<int>(trial.options.node_exchange), trial.options.chunk_bytes);
}

}  // namespace

TEST_CASE("fft tuner: the choice is the fastest trial, the same on all ranks") {
  Setting s;
  const FftChoice& choice = s.tuner.choose<double>(some_grid);
  REQUIRE(!choice.trials.empty());
  CHECK(choice.decomposition == choice.trials.front().decomposition);
  CHECK(choice.decomposition.grid() == some_grid);
  CHECK(choice.decomposition.num_ranks() == s.context.comm.size());
  CHECK(choice.options.node_exchange == choice.trials.front().options.node_exchange);
  CHECK(choice.options.chunk_bytes == choice.trials.front().options.chunk_bytes);
  const auto faster = [](const FftTrial& a, const FftTrial& b) { return a.seconds < b.seconds; };
  CHECK(std::is_sorted(choice.trials.begin(), choice.trials.end(), faster));
  for (const FftTrial& trial : choice.trials) CHECK((trial.seconds > 0 && trial.plan_seconds >= 0));
  const std::string mine = choice.describe() + named({choice.decomposition, choice.options});
  CHECK(s.context.comm.broadcast(mine) == mine);
  // No way is tried twice.
  std::vector<std::string> names;
  for (const FftTrial& trial : choice.trials) names.push_back(named(trial));
  std::sort(names.begin(), names.end());
  CHECK(std::adjacent_find(names.begin(), names.end()) == names.end());
}

TEST_CASE("fft tuner: slabs and pencils are tried where there are any") {
  Setting s;
  const FftChoice& choice = s.tuner.choose<float>(Grid{{{16, 16, 16}}});
  const auto tried = [&](const DecompositionOptions& shape) {
    return std::any_of(choice.trials.begin(), choice.trials.end(),
                       [&](const FftTrial& t) { return same_shape(t, shape); });
  };
  const int size = s.context.comm.size();
  CHECK(tried({.shape = {size, 1}}));
  if (size == 6 || size == 8)
    CHECK((tried({.shape = {size / 2, 2}}) || tried({.shape = {2, size / 2}})));
}

TEST_CASE("fft tuner: the table is printed once, on rank 0, and names every trial") {
  Setting s;
  const FftChoice& choice = s.tuner.choose<double>(some_grid, {.restore_order = true, .batch = 2});
  const std::size_t expected = s.context.comm.rank() == 0 ? 1 : 0;
  REQUIRE(s.printed.size() == expected);
  const std::string table = choice.describe();
  if (expected == 1) CHECK_THAT(s.printed.front(), Contains(table));
  for (const FftTrial& trial : choice.trials) {
    const auto shape = trial.decomposition.shape();
    CHECK_THAT(table, Contains(fmt::format("{} x {}", shape[0], shape[1])));
  }
  CHECK(static_cast<std::size_t>(std::count(table.begin(), table.end(), '\n')) >=
        choice.trials.size());

  const FftChoice& again = s.tuner.choose<double>(some_grid, {.restore_order = true, .batch = 2});
  CHECK(&again == &choice);
  CHECK(s.printed.size() == expected);
}

TEST_CASE("fft tuner: another grid, type or wish is another choice; earlier ones stay") {
  Setting s;
  const FftChoice& first = s.tuner.choose<double>(some_grid);
  const std::string described = first.describe();
  const FftChoice* others[] = {
      &s.tuner.choose<float>(some_grid),
      &s.tuner.choose<std::complex<double>>(some_grid),
      &s.tuner.choose<double>(Grid{{{8, 8, 8}}}),
      &s.tuner.choose<double>(some_grid, {.restore_order = true}),
      &s.tuner.choose<double>(some_grid, {.batch = 2}),
      &s.tuner.choose<double>(some_grid, {.node_exchange = NodeExchange::messages}),
  };
  for (const FftChoice* other : others) CHECK(other != &first);
  CHECK(&s.tuner.choose<double>(some_grid) == &first);
  CHECK(first.describe() == described);
  CHECK(s.printed.size() == (s.context.comm.rank() == 0 ? 7 : 0));
}

TEST_CASE("fft tuner: ranks that ask for different things are told so, also if all are known") {
  Setting s;
  const FftOptions options[] = {{.chunk_bytes = 900}, {.chunk_bytes = 1800}, {.batch = 2}};
  for (const FftOptions& known : options) s.tuner.choose<float>(some_grid, known);
  if (s.context.comm.size() == 1) return;
  const bool is_last = s.context.comm.rank() == s.context.comm.size() - 1;
  for (const std::size_t other : {std::size_t{1}, std::size_t{2}})
    CHECK_THROWS_WITH(s.tuner.choose<float>(some_grid, options[is_last ? 0 : other]),
                      Contains("ranks ask a tuner different questions"));
}

TEST_CASE("fft tuner: what is set stays set") {
  Setting s;
  for (const NodeExchange exchange : {NodeExchange::messages, NodeExchange::shared_memory}) {
    const FftOptions options{.norm = Norm::orthonormal,
                             .restore_order = true,
                             .batch = 2,
                             .node_exchange = exchange,
                             .chunk_bytes = 900};
    const FftChoice& choice = s.tuner.choose<float>(some_grid, options);
    for (const FftTrial& trial : choice.trials)
      CHECK((trial.options.node_exchange == exchange && trial.options.chunk_bytes == 900));
    CHECK((choice.options.node_exchange == exchange && choice.options.chunk_bytes == 900));
    CHECK((choice.options.norm == Norm::orthonormal && choice.options.restore_order &&
           choice.options.batch == 2));
  }
  const FftChoice& chunks = s.tuner.choose<float>(some_grid, {.chunk_bytes = 1234});
  for (const FftTrial& trial : chunks.trials) CHECK(trial.options.chunk_bytes == 1234);
}

TEST_CASE("fft tuner: transforms made from the choice are right") {
  Setting s;
  for (const FftOptions& wanted :
       {FftOptions{}, FftOptions{.norm = Norm::none, .restore_order = true, .batch = 3}}) {
    const Signals real(some_grid.num, Signals::Kind::real, wanted.batch);
    const FftChoice& choice = s.tuner.choose<double>(some_grid, wanted);
    FftRun<double> run(s.context, choice.decomposition, choice.options);
    check_transforms(run, real);
    const Signals complex(some_grid.num, Signals::Kind::complex, wanted.batch);
    const FftChoice& full = s.tuner.choose<std::complex<float>>(some_grid, wanted);
    FftRun<std::complex<float>> full_run(s.context, full.decomposition, full.options);
    check_transforms(full_run, complex);
  }
}

TEST_CASE("fft tuner: questions that differ between ranks, or make no sense, are errors on all") {
  Setting s;
  const auto message = [&](const FftOptions& options) {
    return input_error_of(s.context, [&] { s.tuner.choose<double>(some_grid, options); });
  };
  CHECK_THAT(message({.batch = -1}), Contains("batch"));
  if (s.context.comm.size() == 1) return;
  CHECK_THAT(message({.batch = s.context.comm.rank() == 0 ? 1 : 2}), Contains("ask for the same"));
  Grid other = some_grid;
  if (s.context.comm.rank() == 0) other.box.length[1] *= 2;
  CHECK_THAT(input_error_of(s.context, [&] { s.tuner.choose<double>(other); }),
             Contains("ask for the same"));
  CHECK(message({}) == "nothing was thrown");
  // One rank knows the answer to its question, the others must find theirs.
  CHECK_THAT(message({.norm = s.context.comm.rank() == 0 ? FftOptions{}.norm : Norm::none}),
             Contains("ask for the same"));
  CHECK(message({.norm = Norm::none}) == "nothing was thrown");
}

TEST_CASE("fft tuner: no repetitions are an error") {
  const Context context = make_context();
  CHECK_THROWS_WITH(FftTuner(context, {.repetitions = 0, .print = {}}), Contains("at least 1"));
}

TEST_CASE("fft tuner: a table that cannot be printed is an error on all, and the choice stays") {
  const Context context = make_context({.timeout_seconds = 60});
  int num_printed = 0;
  const auto print = [&](const std::string&) {
    if (++num_printed == 1) throw FileError("the disk is full");
  };
  FftTuner tuner(context, {.repetitions = 1, .print = print});
  CHECK_THROWS_WITH(tuner.choose<float>(some_grid), Contains("the disk is full"));
  const FftChoice& choice = tuner.choose<float>(some_grid);
  CHECK(!choice.trials.empty());
  CHECK(num_printed == (context.comm.rank() == 0 ? 1 : 0));
}

TEST_CASE("fft tuner: a trial for which one rank has no memory is left out on all") {
  FailingContext failing({.timeout_seconds = 60});
  const Context& context = failing.context();
  const auto choose = [&] {
    FftTuner tuner(context, {.repetitions = 1, .print = [](const std::string&) {}});
    return tuner.choose<float>(some_grid).trials.size();
  };
  const std::size_t num_all = failing.counted(choose);
  const int culprit = context.comm.size() - 1;
  const int num_calls = failing.num_made_by(culprit);
  REQUIRE(num_calls > 0);
  int num_left_out = 0;
  for (int at = 1; at <= num_calls; at += 1 + num_calls / 20) {
    std::size_t num_trials = 0;
    const std::string message = failing.message_at(culprit, at, [&] { num_trials = choose(); });
    const auto num = static_cast<Index>(num_trials);
    CHECK(context.comm.min(num) == context.comm.max(num));
    // Times decide which shape the later trials are of, and with it how often they exchange: the
    // last operations may never come.
    const bool was_reached = failing.num_made_by(culprit) >= at;
    if (!message.empty()) continue;  // before the trials, or after them
    CHECK(num_trials == num_all - (was_reached ? 1 : 0));
    if (was_reached) ++num_left_out;
  }
  CHECK((num_left_out > 0 || num_all == 1));  // the only one cannot be left out
}
