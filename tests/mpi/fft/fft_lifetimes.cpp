/// Transforms over ranks: how long plans live, and whose memory they work in.
#include <cfenv>
#include <optional>

#include <fmt/format.h>

#include "tests/mpi/fft/fft_case.hpp"

namespace {

using namespace zhalo;
using namespace zhalo::testing;
using Catch::Contains;

const GridIndex small_grid = {{10, 12, 9}};

/// A plan with the signals that it is asked to transform.
template <class T>
struct Tried {
  Signals signals;
  FftRun<T> run;

  Tried(const Context& context, const GridIndex& num, const FftOptions& options = {},
        const DecompositionOptions& split = {})
      : signals(num, is_real<T> ? Signals::Kind::real : Signals::Kind::complex, options.batch),
        run(context, Decomposition(Grid{num}, context.comm.size(), split), options) {}

  void check() { check_transforms(run, signals); }
};

/// The ranks that give memory of their own; the others work in the context's.
enum class Giver { all, even_ranks };

template <class T>
void check_in_own_workspace(const Context& context, const FftOptions& options,
                            const DecompositionOptions& split, Giver giver) {
  Tried<T> tried(context, small_grid, options, split);
  Fft<T>& fft = tried.run.fft();
  INFO(fft.describe());
  GuardedBytes workspace(context.exec, fft.workspace_bytes());
  const bool gives = giver == Giver::all || context.comm.rank() % 2 == 0;
  if (gives) fft.use_workspace({workspace.data(), workspace.size()});
  for (int again = 0; again < 2; ++again) {
    workspace.poison();
    tried.check();
  }
  CHECK(workspace.guards_intact());
  // Back to the context's memory: the workspace is left alone.
  fft.use_workspace({});
  workspace.poison();
  tried.check();
  std::vector<unsigned char> bytes(static_cast<std::size_t>(workspace.size()));
  workspace.load(bytes.data(), workspace.size());
  CHECK(bytes == std::vector<unsigned char>(bytes.size(), 0xff));
}

}  // namespace

TEST_CASE("fft: two plans at once, used in turn") {
  const Context context = make_context();
  Tried<double> a(context, small_grid);
  Tried<float> b(context, {{7, 8, 6}},
                 {.restore_order = true, .batch = 2, .node_exchange = NodeExchange::messages},
                 {.split = Split::pencil});
  Tried<std::complex<float>> c(context, small_grid, {.norm = Norm::none});
  for (int again = 0; again < 3; ++again) {
    a.check();
    b.check();
    c.check();
  }
}

TEST_CASE("fft: two plans at once, one between the two halves of the other's round trip") {
  const Context context = make_context();
  Tried<double> outer(context, small_grid);
  Tried<double> inner(context, small_grid, {.chunk_bytes = 700});
  GuardedArray<double> cells(
      context.exec, arranged<double>(outer.run.cells_in_place(), outer.signals.cell()), 16);
  outer.run.fft().forward_in_place(cells.span());
  inner.check();
  outer.run.fft().backward_in_place(cells.span());
  CHECK(relative_error(context.comm, cells.values(), outer.run.cells_in_place(),
                       outer.signals.cell()) <= 2 * error_bound<double>(small_grid));
}

TEST_CASE("fft: plans are destroyed in any order") {
  const Context context = make_context();
  std::vector<int> order = {0, 1, 2};
  do {
    std::vector<std::optional<Tried<float>>> plans(3);
    plans[0].emplace(context, small_grid);
    plans[1].emplace(context, GridIndex{{4, 6, 8}},
                     FftOptions{.node_exchange = NodeExchange::messages});
    plans[2].emplace(context, small_grid, FftOptions{.restore_order = true});
    for (const int next : order) {
      plans[static_cast<std::size_t>(next)].reset();
      for (auto& plan : plans)
        if (plan) plan->check();
    }
  } while (std::next_permutation(order.begin(), order.end()));
}

TEST_CASE("fft: a plan that was moved is the plan") {
  const Context context = make_context();
  Tried<double> a(context, small_grid);
  Tried<double> b(context, {{5, 4, 6}});
  std::vector<Tried<double>> plans;
  plans.push_back(std::move(a));
  plans.push_back(std::move(b));
  for (auto& plan : plans) plan.check();
  const std::string described = plans[0].run.fft().describe();
  Fft<double> taken = std::move(plans[0].run.fft());
  plans[0].run.fft() = std::move(plans[1].run.fft());
  plans[1].run.fft() = std::move(taken);
  CHECK(plans[1].run.fft().describe() == described);
  std::swap(plans[0].signals, plans[1].signals);
  for (auto& plan : plans) plan.check();
}

TEST_CASE("fft: a context ends, plans of another go on") {
  const Context lasting = make_context();
  Tried<double> plan(lasting, small_grid);
  {
    const Context passing = make_context();
    Tried<double> other(passing, small_grid);
    Tried<float> third(passing, small_grid);
    other.check();
    plan.check();
  }
  plan.check();
  Tried<double> later(lasting, small_grid);
  later.check();
}

TEST_CASE("fft: a part of the ranks has a plan of its own") {
  const Context world = make_context();
  Context half;
  half.exec = host_exec(1);
  half.comm = world.comm.split(world.comm.rank() % 2);
  Tried<double> plan(half, small_grid);
  plan.check();
  Tried<double> of_all(world, small_grid);
  of_all.check();
  plan.check();
}

TEMPLATE_TEST_CASE("fft: the caller's workspace is enough and the only one, whatever is in it", "",
                   float, std::complex<double>) {
  const Context context = make_context();
  for (const FftOptions& options : option_mix())
    check_in_own_workspace<TestType>(context, options, {}, Giver::all);
  for (const DecompositionOptions& split : shapes(context.comm.size())) {
    check_in_own_workspace<TestType>(context, {.restore_order = true}, split, Giver::even_ranks);
    check_in_own_workspace<TestType>(context, {.node_exchange = NodeExchange::messages}, split,
                                     Giver::even_ranks);
  }
}

/// A code that calls zhalo may have exceptions end it.
TEST_CASE("fft: what is in the workspace raises no floating-point exception") {
  Context context = make_context();
  context.exec = host_exec(1);
  for (const GridIndex& num : {small_grid, GridIndex{{3, 131, 9}}, GridIndex{{131, 2, 9}}}) {
    Tried<float> tried(context, num, {.node_exchange = NodeExchange::messages});
    GuardedBytes workspace(context.exec, tried.run.fft().workspace_bytes());
    tried.run.fft().use_workspace({workspace.data(), workspace.size()});
    const std::vector<unsigned char> large(static_cast<std::size_t>(workspace.size()), 0x7f);
    workspace.store(large.data(), workspace.size());
    std::feclearexcept(FE_ALL_EXCEPT);
    tried.check();
    CHECK(std::fetestexcept(FE_INVALID | FE_OVERFLOW | FE_DIVBYZERO) == 0);
  }
}

TEST_CASE("fft: a workspace that is one byte short is an error that names both sizes") {
  const Context context = make_context();
  Tried<double> tried(context, small_grid, {.batch = 2, .node_exchange = NodeExchange::messages},
                      {.split = Split::pencil});
  Fft<double>& fft = tried.run.fft();
  // (An empty one is none; where none is needed, there is nothing too small.)
  const Index needed = fft.workspace_bytes();
  if (needed > 1) {
    GuardedBytes workspace(context.exec, needed);
    CHECK_THROWS_AS(fft.use_workspace({workspace.data(), needed - 1}), InputError);
    CHECK_THROWS_WITH(
        fft.use_workspace({workspace.data(), needed - 1}),
        Contains(fmt::format("{}", needed)) && Contains(fmt::format("{}", needed - 1)));
  }
  tried.check();
}

TEST_CASE("fft: a workspace that is too small on one rank is an error on all in together()") {
  const Context context = make_context();
  Tried<double> tried(context, small_grid, {.node_exchange = NodeExchange::messages});
  Fft<double>& fft = tried.run.fft();
  // The rank that needs most: where none needs any, there is nothing too small.
  const Index max_bytes = context.comm.max(fft.workspace_bytes());
  if (max_bytes < 2) return;
  const Index holder =
      fft.workspace_bytes() == max_bytes ? context.comm.rank() : context.comm.size();
  const bool is_culprit = context.comm.min(holder) == context.comm.rank();
  GuardedBytes workspace(context.exec, fft.workspace_bytes());
  const Index given = is_culprit ? max_bytes - 1 : fft.workspace_bytes();
  const std::string message = input_error_of(context, [&] {
    context.comm.together([&] { fft.use_workspace({workspace.data(), given}); });
  });
  CHECK_THAT(message,
             Contains(fmt::format("{}", max_bytes)) && Contains(fmt::format("{}", max_bytes - 1)));
  tried.check();
}

TEST_CASE(
    "fft: a call takes no more of the context's memory than it says, and nothing where the caller "
    "gave some") {
  const Context context = make_context();
  MemoryPool& pool = *memory(context.exec);
  for (const FftOptions& options : option_mix()) {
    Tried<float> tried(context, small_grid, options);
    Fft<float>& fft = tried.run.fft();
    GuardedArray<float> cells(context.exec,
                              arranged<float>(tried.run.cells_in_place(), tried.signals.cell()), 8);
    GuardedBytes workspace(context.exec, fft.workspace_bytes());
    const auto taken = [&] {
      const std::size_t before = pool.bytes_in_use();
      pool.reset_peak();
      fft.forward_in_place(cells.span());
      fft.backward_in_place(cells.span());
      CHECK(pool.bytes_in_use() == before);
      return static_cast<Index>(pool.peak_bytes() - before);
    };
    // A Buffer is a little larger than what it is asked for.
    constexpr Index little = 4096;
    CHECK(taken() <= fft.workspace_bytes() + little);
    fft.use_workspace({workspace.data(), workspace.size()});
    if (fft.workspace_bytes() > 0) CHECK(taken() <= little);
  }
}
