// Each call of a device fails once: the library says so, or does without, but never returns
// anything that is wrong.
#include <algorithm>
#include <complex>
#include <string>

#include "tests/device/runtime/calls.hpp"
#include "tests/device/runtime/streams.hpp"
#include "tests/parity/backends.hpp"
#include "tests/support/point_sets.hpp"
#include "tests/support/run_knn.hpp"
#include "zhalo/catalogue/catalogue.hpp"
#include "zhalo/core/error.hpp"
#include "zhalo/fof/fof.hpp"
#include "zhalo/knn/reduce.hpp"
#include "zhalo/mesh/modes.hpp"
#include "zhalo/mesh/paint.hpp"

namespace zhalo::testing {
namespace {

using emulated::Event;

constexpr Event all_kinds[] = {Event::malloc, Event::copy, Event::launch, Event::synchronise,
                               Event::load};

PointSet<float> small_points() {
  PointSet<float> points{{}, Box::periodic_cube(1), 0.1};
  Random random(3);
  fill(points, random, Shape::blobs, 300);
  return points;
}

/// Positions in the memory of `exec`.
Particles<float> view_of(const Buffer<float>& rows) {
  Particles<float> particles;
  particles.segments = {ParticleSegment<float>::interleaved(rows.data(), rows.size() / 3, 3)};
  return particles;
}

struct Groups {
  std::vector<Index> label;
  std::vector<Index> length;
  std::uint64_t checksum;

  friend bool operator==(const Groups&, const Groups&) = default;
};

Groups find_groups(const Exec& exec) {
  const PointSet<float> points = small_points();
  Context context;
  context.exec = exec;
  const Buffer<float> rows = upload(exec, points.pos);
  const FofResult fof = friends_of_friends(context, view_of(rows), points.box,
                                           {.linking_length = points.linking_length});
  const Catalogue table =
      make_catalogue(context, view_of(rows), points.box, fof.label.span(), {.min_members = 2});
  return {to_host(exec, fof.label), table.length, table.checksum};
}

NeighbourTable<float> find_neighbours(const Exec& exec) {
  const PointSet<float> points = small_points();
  Context context;
  context.exec = exec;
  const Buffer<float> rows = upload(exec, points.pos);
  return table_of(exec, knn(context, view_of(rows), points.box, {.k = 5}));
}

std::vector<double> find_densities(const Exec& exec) {
  const PointSet<float> points = small_points();
  Context context;
  context.exec = exec;
  const Buffer<float> rows = upload(exec, points.pos);
  return to_host(exec, neighbour_quantity(context, view_of(rows), points.box, {.k = 8},
                                          {.quantity = Quantity::density}));
}

/// Paints and transforms.
std::vector<std::complex<double>> find_modes(const Exec& exec) {
  const PointSet<float> points = small_points();
  Context context;
  context.exec = exec;
  const Buffer<float> rows = upload(exec, points.pos);
  Field<double> field(context, Decomposition(Grid{{{6, 5, 8}}, points.box}, 1));
  paint(context, view_of(rows), field);
  const Modes<double> modes = to_modes(context, field);
  return to_host(exec, modes.span());
}

std::int64_t calls_of(Event event) {
  return emulated::counts().at(static_cast<std::size_t>(event));
}

/// How the n-th call of a kind, from now on, that fails once ends: as an error, or as if nothing
/// had happened. The caller's arrays may be gone after an error, so nothing may be left to do then.
template <class Solve, class Answer>
std::string end_of(Event event, std::int64_t n, const Solve& solve, const Answer& expected) {
  const Exec exec = cuda_exec();
  const auto end_as = [](const char* end) { return emulated::is_idle(0) ? end : "still at work"; };
  emulated::fail_call(event, n);
  try {
    return solve(exec) == expected ? "right" : "wrong";
  } catch (const OutOfMemory&) {
    return end_as(event == Event::malloc ? "error" : "out of memory");
  } catch (const DeviceError&) {
    return end_as("error");
  }
}

/// All calls in turn, until there is none that could fail.
template <class Solve>
void check_all_failures(Event event, const Solve& solve) {
  const auto expected = solve(cuda_exec());
  const std::int64_t before = calls_of(event);
  CHECK(solve(cuda_exec()) == expected);
  const std::int64_t num_calls = calls_of(event) - before;
  CHECK(num_calls > 0);
  for (std::int64_t n = 1; n <= num_calls; ++n) {
    INFO("kind " << static_cast<int>(event) << ", call " << n << " of " << num_calls);
    const std::string end = end_of(event, n, solve, expected);
    // Memory may be had at the second try. That of a kernel's code is had when the pool has given
    // back what it held unused.
    const bool may_be_error = event != Event::load;
    const bool may_be_right = event == Event::malloc || event == Event::load;
    CHECK(((may_be_error && end == "error") || (may_be_right && end == "right")));
  }
}

using Complexes = std::vector<std::complex<double>>;

bool are_near(const Complexes& a, const Complexes& b) {
  double largest = 0;
  double apart = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    largest = std::max(largest, std::abs(b[i]));
    apart = std::max(apart, std::abs(a[i] - b[i]));
  }
  return a.size() == b.size() && apart <= 1e-12 * largest;
}

/// The n-th call of a kind and some behind it fail. Returns what is said then; empty: nothing, and
/// the modes are right.
std::string modes_without(Event event, std::int64_t n, int num_calls) {
  const Exec exec = cuda_exec();
  for (int i = 0; i < num_calls; ++i) emulated::fail_call(event, n + i);
  std::string said;
  try {
    const Complexes modes = find_modes(exec);
    CHECK(are_near(modes, find_modes(host_exec(1))));
  } catch (const OutOfMemory& error) {
    said = error.what();
  }
  emulated::fail_no_call();
  return said;
}

std::int64_t calls_for_modes(Event event) {
  const std::int64_t before = calls_of(event);
  static_cast<void>(find_modes(cuda_exec()));
  return calls_of(event) - before;
}

}  // namespace

TEST_CASE("memory that a pool holds unused is given back for the code of a kernel") {
  const Exec exec = cuda_exec();
  constexpr std::size_t size = std::size_t{64} << 20;
  { const Buffer<std::byte> first(exec, Index{size}, "test"), second(exec, Index{size}, "test"); }
  const std::size_t held = memory(exec)->bytes_held();
  if (held < 2 * size) return;  // each Buffer is an allocation of its own
  CHECK(find_neighbours(exec) == find_neighbours(host_exec(1)));
  CHECK(memory(exec)->bytes_held() >= held);
  emulated::fail_call(Event::load, 1);
  CHECK(find_neighbours(exec) == find_neighbours(host_exec(1)));
  CHECK(memory(exec)->bytes_held() + size <= held);
}

TEST_CASE("an error that a caller has not asked for stops nothing") {
  emulated::leave_error();
  CHECK(find_groups(cuda_exec()) == find_groups(host_exec(1)));
  CHECK(!emulated::is_error_left());
}

TEST_CASE("a whole grid without memory for its plan or its work area is transformed by planes") {
  const std::int64_t num_plans = calls_for_modes(Event::plan);
  REQUIRE(num_plans > 0);
  int num_right = 0;
  for (std::int64_t n = 1; n <= num_plans; ++n) {
    CHECK(modes_without(Event::plan, n, 1).empty());
    num_right += modes_without(Event::plan, n, 2).empty() ? 1 : 0;
  }
  CHECK(num_right > 0);
  const std::int64_t num_mallocs = calls_for_modes(Event::malloc);
  for (std::int64_t n = 1; n <= num_mallocs; ++n) {
    const std::string said = modes_without(Event::malloc, n, 2);
    INFO(said);
    CHECK(said.find("workspace of a Fourier transform") == std::string::npos);
  }
}

TEST_CASE("calls that fail while groups are found") {
  CHECK(find_groups(cuda_exec()) == find_groups(host_exec(1)));
  for (const Event event : all_kinds) check_all_failures(event, find_groups);
}

TEST_CASE("calls that fail while neighbours are found") {
  CHECK(find_neighbours(cuda_exec()) == find_neighbours(host_exec(1)));
  CHECK(find_densities(cuda_exec()) == find_densities(host_exec(1)));
  for (const Event event : all_kinds) check_all_failures(event, find_neighbours);
  for (const Event event : all_kinds) check_all_failures(event, find_densities);
}

TEST_CASE("calls that fail while a mesh is painted and transformed") {
  for (const Event event : all_kinds) check_all_failures(event, find_modes);
}

}  // namespace zhalo::testing
