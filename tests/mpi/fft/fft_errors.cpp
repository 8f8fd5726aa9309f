/// Transforms over ranks: what is wrong on one rank is the same error on all, and all can go on.
/// What a plan reports.
#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <optional>

#include "tests/mpi/comm/failing_context.hpp"
#include "tests/mpi/fft/fft_case.hpp"

namespace {

using namespace zhalo;
using namespace zhalo::testing;
using Catch::Contains;

const GridIndex some_grid = {{8, 10, 6}};

struct Setting {
  Context context = make_context({.timeout_seconds = 60});
  Decomposition decomposition{Grid{some_grid}, context.comm.size()};
  bool is_culprit = context.comm.rank() == context.comm.size() / 2;
  bool alone = context.comm.size() == 1;

  /// What making a plan says.
  std::string message(const FftOptions& options) const {
    return input_error_of(context, [&] { Fft<double>(context, decomposition, options); });
  }
  std::string message(const Decomposition& other) const {
    return input_error_of(context, [&] { Fft<double>(context, other); });
  }
};

/// One array of a call has another size on one rank: the message says which array, and both sizes.
struct WrongSize {
  const Setting* setting;
  const char* array;
  Index right;  ///< on this rank
  /// Calls with an array of that many elements.
  std::function<void(Index size)> call;

  void check() const {
    const Communicator& comm = setting->context.comm;
    const Index right_there = comm.sum(setting->is_culprit ? right : 0);
    for (const Index wrong_by : {-1, 1, 1000}) {
      const Index wrong = right_there + wrong_by;
      if (wrong < 0) continue;
      const std::string message =
          input_error_of(setting->context, [&] { call(setting->is_culprit ? wrong : right); });
      CHECK_THAT(message, Contains(array) && Contains(fmt::format("{}", wrong)) &&
                              Contains(fmt::format("{}", right_there)));
    }
    const std::string message = input_error_of(setting->context, [&] { call(right + 1); });
    CHECK_THAT(message, Contains(array));
  }
};

/// Names that this process has left in the machine's shared memory: it would stay there for ever.
int num_names_in_shared_memory() {
  const std::filesystem::path folder = "/dev/shm";
  if (!std::filesystem::exists(folder)) return 0;
  const std::string prefix = fmt::format("zhalo-{}-", getpid());
  int num = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    num += entry.path().filename().string().rfind(prefix, 0) == 0 ? 1 : 0;
  return num;
}

/// While it lives, this process can make no file longer than that, and no shared memory either.
class FileLimit {
 public:
  explicit FileLimit(Index bytes) : handler_(std::signal(SIGXFSZ, SIG_IGN)) {
    getrlimit(RLIMIT_FSIZE, &limit_);
    const rlimit lower{static_cast<rlim_t>(bytes), limit_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &lower);
  }
  ~FileLimit() {
    setrlimit(RLIMIT_FSIZE, &limit_);
    std::signal(SIGXFSZ, handler_);
  }
  FileLimit(const FileLimit&) = delete;
  FileLimit& operator=(const FileLimit&) = delete;

 private:
  void (*handler_)(int);
  rlimit limit_{};
};

}  // namespace

TEST_CASE("fft: options that make no sense on one rank") {
  const Setting s;
  const auto bad = [&](Index spoilt, Index fine) { return s.is_culprit ? spoilt : fine; };
  CHECK_THAT(s.message({.batch = bad(-1, 1)}), Contains("batch") && Contains("-1"));
  CHECK_THAT(s.message({.batch = bad(0, 1)}), Contains("batch") && Contains("0"));
  CHECK_THAT(s.message({.chunk_bytes = bad(-5, 0)}), Contains("-5 bytes"));
  const auto none = Contains("which is no enumerator");
  CHECK_THAT(s.message({.norm = static_cast<Norm>(bad(3, 1))}), Contains("norm") && none);
  CHECK_THAT(s.message({.effort = static_cast<PlanEffort>(bad(2, 0))}), Contains("effort") && none);
  CHECK_THAT(s.message({.node_exchange = static_cast<NodeExchange>(bad(-1, 2))}),
             Contains("node_exchange is number -1") && none);
  CHECK(s.message({}) == "nothing was thrown");
}

TEST_CASE("fft: options that make no sense on any rank") {
  const Setting s;
  CHECK_THAT(s.message({.batch = -1}), Contains("batch") && Contains("-1"));
  CHECK_THAT(s.message({.chunk_bytes = -1}), Contains("-1 bytes"));
}

TEST_CASE("fft: options and decompositions that differ between ranks") {
  const Setting s;
  if (s.alone) return;
  const auto differs = Contains("differ between ranks");
  CHECK_THAT(s.message({.norm = s.is_culprit ? Norm::none : Norm::forward}), differs);
  CHECK_THAT(s.message({.restore_order = s.is_culprit}), differs);
  CHECK_THAT(s.message({.batch = s.is_culprit ? 2 : 1}), differs);
  CHECK_THAT(s.message({.node_exchange =
                            s.is_culprit ? NodeExchange::messages : NodeExchange::shared_memory}),
             differs);
  CHECK_THAT(s.message({.chunk_bytes = s.is_culprit ? 1000 : 2000}), differs);
  CHECK_THAT(s.message(Decomposition(Grid{s.is_culprit ? GridIndex{{8, 10, 8}} : some_grid},
                                     s.context.comm.size())),
             differs);
  const int size = s.context.comm.size();
  const std::array<int, 2> shape =
      s.is_culprit ? std::array<int, 2>{size, 1} : std::array<int, 2>{1, size};
  CHECK_THAT(s.message(Decomposition(Grid{some_grid}, size, {.shape = shape})), differs);
  CHECK(s.message({}) == "nothing was thrown");
}

TEST_CASE("fft: a decomposition for another number of ranks, on all or on one") {
  const Setting s;
  const int size = s.context.comm.size();
  const auto right = Contains(fmt::format("{}", size));
  const auto wrong = Contains(fmt::format("{}", size + 1));
  CHECK_THAT(s.message(Decomposition(Grid{some_grid}, size + 1)), right && wrong);
  CHECK_THAT(s.message(Decomposition(Grid{some_grid}, s.is_culprit ? size + 1 : size)),
             right && wrong);
}

TEMPLATE_TEST_CASE("fft: arrays of wrong size", "", float, std::complex<double>) {
  using T = TestType;
  using Complex = typename Fft<T>::Complex;
  const Setting s;
  const Index batch = GENERATE(1, 3);
  FftRun<T> run(s.context, s.decomposition, {.batch = batch});
  Fft<T>& fft = run.fft();
  std::vector<T> cells(static_cast<std::size_t>(fft.cells().size * batch + 1000));
  std::vector<Complex> modes(static_cast<std::size_t>(fft.modes().size * batch + 1000));
  std::vector<T> field(static_cast<std::size_t>(fft.in_place_size() * batch + 1000));
  const Index num_cells = fft.cells().size * batch;
  const Index num_modes = fft.modes().size * batch;
  const Index num_field = fft.in_place_size() * batch;
  const auto forward = [&](Index c, Index m) {
    fft.forward(Span<const T>(cells.data(), c), {modes.data(), m});
  };
  const auto backward = [&](Index c, Index m) {
    fft.backward(Span<const Complex>(modes.data(), m), {cells.data(), c});
  };
  WrongSize{&s, "cells", num_cells, [&](Index size) { forward(size, num_modes); }}.check();
  WrongSize{&s, "modes", num_modes, [&](Index size) { forward(num_cells, size); }}.check();
  WrongSize{&s, "cells", num_cells, [&](Index size) { backward(size, num_modes); }}.check();
  WrongSize{&s, "modes", num_modes, [&](Index size) { backward(num_cells, size); }}.check();
  WrongSize{&s, "field", num_field,
            [&](Index size) {
              fft.forward_in_place({field.data(), size});
            }}
      .check();
  WrongSize{&s, "field", num_field,
            [&](Index size) {
              fft.backward_in_place({field.data(), size});
            }}
      .check();
  check_transforms(
      run, Signals(some_grid, is_real<T> ? Signals::Kind::real : Signals::Kind::complex, batch));
}

TEST_CASE("fft: cells and modes in one memory are refused where two arrays are needed") {
  const Context context = make_context();
  const Decomposition decomposition(Grid::cube(8), context.comm.size());
  using Complex = std::complex<double>;
  Fft<Complex> fft(context, decomposition);
  std::vector<Complex> field(
      static_cast<std::size_t>(std::max(fft.cells().size, fft.modes().size)) + 1);
  const auto at = [&](Index first, Index size) {
    return Span<Complex>(field.data() + first, size);
  };
  const bool is_culprit = context.comm.rank() == 0;
  std::vector<Complex> other = field;
  const Span<Complex> modes =
      is_culprit ? at(1, fft.modes().size) : Span<Complex>(other.data(), fft.modes().size);
  CHECK_THAT(input_error_of(context, [&] { fft.forward(at(0, fft.cells().size), modes); }),
             Contains("overlap"));
  CHECK_THAT(input_error_of(context, [&] { fft.backward(modes, at(0, fft.cells().size)); }),
             Contains("overlap"));
}

TEST_CASE("fft: a rank that fails at any collective ends all with its message, and all can go on") {
  FailingContext failing({.timeout_seconds = 60});
  const Context& context = failing.context();
  const NodeExchange exchange = GENERATE(NodeExchange::messages, NodeExchange::shared_memory);
  const DecompositionOptions split{.split = Split::pencil};
  const auto transform = [&] {
    FftRun<double> run(context, Decomposition(Grid{some_grid}, context.comm.size(), split),
                       {.restore_order = true, .node_exchange = exchange, .chunk_bytes = 500});
    return std::pair(run.forward(noise), run.backward(noise));
  };
  transform();  // the first one finds the ranks of the machine, too
  const auto expected = failing.counted(transform);
  const int culprit = context.comm.size() / 2;
  const int num_calls = failing.num_made_by(culprit);
  REQUIRE(num_calls > 0);
  failing.check_failures(culprit, num_calls, 1 + num_calls / 40, transform);
  CHECK(num_names_in_shared_memory() == 0);
  const auto again = transform();
  CHECK((equal_bytes(again.first, expected.first) && equal_bytes(again.second, expected.second)));
}

TEST_CASE("fft: a plan whose transform failed on one rank can be used again") {
  FailingContext failing({.timeout_seconds = 60});
  const Context& context = failing.context();
  const NodeExchange exchange = GENERATE(NodeExchange::messages, NodeExchange::shared_memory);
  using Run = FftRun<float>;
  const auto new_plan = [&] {
    return Run(context, Decomposition(Grid{some_grid}, context.comm.size()),
               {.node_exchange = exchange, .chunk_bytes = 500});
  };
  Run first = new_plan();
  const auto expected = failing.counted([&] { return first.forward(noise); });
  const int num_calls = failing.num_made_by(0);
  for (int at = 1; at <= num_calls; ++at) {
    Run run = new_plan();  // its first call may do more than later ones
    CHECK(!failing.message_at(0, at, [&] { run.forward(noise); }).empty());
    CHECK(equal_bytes(run.forward(noise), expected));
    CHECK(equal_bytes(run.forward_in_place(noise), first.forward_in_place(noise)));
  }
  CHECK(num_names_in_shared_memory() == 0);
}

TEST_CASE(
    "fft: too little shared memory on one rank: by messages where that is allowed, else an error "
    "on all") {
  const Context context = make_context({.timeout_seconds = 60});
  if (context.comm.node_size() == 1) return;
  const AllSignals signals(some_grid, 2);
  // 0: none at all. Others: enough for some of a plan's calls, or for all.
  const Index limit = GENERATE(0, 200, 500, 1000, 1500, 2000, 3000, 4000, 1000000);
  const bool is_culprit = context.comm.rank() == context.comm.size() / 2;
  std::optional<FileLimit> limited;
  if (is_culprit) limited.emplace(limit);
  INFO(limit);
  for (const DecompositionOptions& split : shapes(context.comm.size()))
    signals.check_all(context, split, {.batch = 2});
  if (limit == 0) {
    const std::string message = input_error_of(context, [&] {
      Fft<double>(context, Decomposition(Grid{some_grid}, context.comm.size()),
                  {.node_exchange = NodeExchange::shared_memory});
    });
    CHECK_THAT(message, Contains("shared memory") || Contains("share memory"));
  }
  CHECK(num_names_in_shared_memory() == 0);
}

TEST_CASE("fft: the report counts fields, bytes and seconds") {
  const Context context = make_context();
  const int size = context.comm.size();
  FftRun<double> run(context, Decomposition(Grid{some_grid}, size, {.split = Split::slab}),
                     {.batch = 3});
  const FftReport& report = run.fft().report();
  CHECK(report.workspace_bytes == run.fft().workspace_bytes());
  CHECK((report.plan_seconds >= 0));
  CHECK((report.num_transforms == 0 && report.bytes_sent == 0 && report.transform_seconds == 0 &&
         report.exchange_seconds == 0));
  run.forward(noise);
  CHECK(run.fft().report().num_transforms == 3);
  run.backward_in_place(noise);
  CHECK(run.fft().report().num_transforms == 6);
  CHECK(run.fft().report().transform_seconds > 0);
  CHECK(run.fft().report().exchange_seconds >= 0);
  CHECK(run.fft().report().exchange_seconds <= run.fft().report().transform_seconds);
  // From planes of x to planes of y and back: all modes but those that stay, three fields in both
  // directions.
  const Decomposition& decomposition = run.fft().decomposition();
  Index staying = 0;
  for (int rank = 0; rank < size; ++rank) {
    const IndexBox modes = decomposition.modes(rank, Spectrum::half);
    staying += decomposition.cells(rank).length(0) * modes.length(1) * modes.length(2);
  }
  const GridIndex num_modes = decomposition.num_modes(Spectrum::half);
  const Index moved = num_modes[0] * num_modes[1] * num_modes[2] - staying;
  CHECK(context.comm.sum(run.fft().report().bytes_sent) ==
        6 * moved * static_cast<Index>(sizeof(std::complex<double>)));
}

TEST_CASE("fft: a plan describes itself") {
  const Context context = make_context();
  const Fft<double> fft(context, Decomposition(Grid{some_grid}, context.comm.size()));
  CHECK_THAT(fft.describe(), Contains("r2c double") && Contains(fft.decomposition().describe()));
  const Fft<std::complex<float>> full(context, Decomposition(Grid{some_grid}, context.comm.size()));
  CHECK_THAT(full.describe(), Contains("c2c float") && Contains(full.decomposition().describe()));
  CHECK(context.comm.broadcast(fft.describe()) == fft.describe());
}
