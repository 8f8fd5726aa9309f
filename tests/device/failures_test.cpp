// Each call of a device fails once: the library says so, or does without, but never returns
// anything that is wrong.
#include <complex>

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

}  // namespace

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
