/// Vec, Box, Span, strided columns, contracts, errors, timers.
#include <catch2/catch.hpp>
#include <limits>
#include <thread>

#include "zhalo/core/buffer.hpp"
#include "zhalo/core/error.hpp"
#include "zhalo/core/span.hpp"
#include "zhalo/core/timers.hpp"
#include "zhalo/core/types.hpp"

namespace {

using namespace zhalo;
using Catch::Contains;

/// A checked build refuses, another one does not look.
template <class Work>
void check_contract(const Work& work) {
  if (ZHALO_CHECKED) CHECK_THROWS_AS(work(), ContractViolation);
}

}  // namespace

TEST_CASE("Vec: arithmetic by component") {
  const Vec3d a{{1, 2, 3}};
  const Vec3d b{{10, 20, 30}};
  CHECK(a + b == Vec3d{{11, 22, 33}});
  CHECK(b - a == Vec3d{{9, 18, 27}});
  CHECK(a * 2 == Vec3d{{2, 4, 6}});
  CHECK_FALSE(a == b);
  Vec3d c = a;
  c += b;
  c -= a;
  c *= 0.5;
  CHECK(c == Vec3d{{5, 10, 15}});
  CHECK(Vec<int, 2>{} == Vec<int, 2>{{0, 0}});
  static_assert((Vec<int, 2>{{1, 2}} + Vec<int, 2>{{3, 4}})[1] == 6);
}

TEST_CASE("Box: cubes, unbounded, volume") {
  const Box cube = Box::periodic_cube(2);
  CHECK(cube.volume() == 8);
  CHECK(cube.any_periodic());
  CHECK(cube.lo == Vec3d{});
  const Box square = Box::periodic_cube(3, 2);
  CHECK(square.volume() == 9);
  CHECK(square.dimensions == 2);
  CHECK_FALSE(square.periodic[2]);
  const Box all = Box::unbounded(2);
  CHECK(all.volume() == 0);
  CHECK(all.dimensions == 2);
  CHECK_FALSE(all.any_periodic());
  CHECK(cube == Box::periodic_cube(2));
  CHECK_FALSE(cube == Box::periodic_cube(2.5));
}

TEST_CASE("Span: views, parts, bounds") {
  std::vector<int> values{1, 2, 3, 4, 5};
  const Span<int> span(values);
  const Span<const int> view = span;
  CHECK(span.size() == 5);
  CHECK(view.data() == values.data());
  CHECK_FALSE(view.empty());
  CHECK(Span<int>().empty());
  CHECK(Span<int>().begin() == Span<int>().end());
  span[2] = 30;
  CHECK(values[2] == 30);
  int sum = 0;
  for (const int v : view) sum += v;
  CHECK(sum == 42);

  const Span<const int> part = view.subspan(1, 3);
  CHECK(part.size() == 3);
  CHECK(part[0] == 2);
  CHECK(view.subspan(5, 0).empty());

  check_contract([&] { return span[-1]; });
  check_contract([&] { return span[5]; });
  check_contract([&] { return Span<int>()[0]; });
  check_contract([&] { return view.subspan(3, 3); });
  check_contract([&] { return view.subspan(-1, 1); });
  check_contract([&] { return view.subspan(0, -1); });
  check_contract([&] { return view.subspan(1, std::numeric_limits<Index>::max()); });
}

TEST_CASE("Strided: members of structs, backwards, none") {
  struct Row {
    std::int8_t kind;
    float pos[3];
    double mass;
  };
  const Row rows[] = {{1, {1, 2, 3}, 0.5}, {2, {4, 5, 6}, 0.25}};
  const Strided<float> y{&rows[0].pos[1], sizeof(Row)};
  CHECK(y[0] == 2);
  CHECK(y[1] == 5);
  CHECK(static_cast<bool>(y));
  const Strided<float> backwards{&rows[1].pos[2], -static_cast<Index>(sizeof(Row))};
  CHECK(backwards[0] == 6);
  CHECK(backwards[1] == 3);
  CHECK_FALSE(static_cast<bool>(Strided<float>{}));
  const float plain[] = {7, 8};
  CHECK(Strided<float>{plain}[1] == 8);
}

TEST_CASE("RealColumn: float or double read as double") {
  const float singles[] = {0.1F, 2, 3, 4};
  const double doubles[] = {0.1, 2, 3};
  CHECK(RealColumn(singles)[0] == static_cast<double>(0.1F));
  CHECK(RealColumn(singles)[3] == 4);
  CHECK(RealColumn(doubles)[0] == 0.1);
  CHECK(RealColumn(singles, 2 * sizeof(float))[1] == 3);
  CHECK(RealColumn(doubles, 2 * sizeof(double))[1] == 3);
  CHECK(static_cast<bool>(RealColumn(doubles)));
  CHECK_FALSE(static_cast<bool>(RealColumn()));
}

TEST_CASE("contracts name the condition and the line") {
  CHECK_THROWS_AS(contract_failed("a < b", "file.cpp", 12), ContractViolation);
  CHECK_THROWS_WITH(contract_failed("a < b", "file.cpp", 12),
                    Contains("a < b") && Contains("file.cpp:12") && Contains("bug"));
  check_contract([] { ZHALO_EXPECT(1 > 2); });
  CHECK_NOTHROW([] { ZHALO_EXPECT(2 > 1); }());
}

TEMPLATE_TEST_CASE("errors are all zhalo::Error, and std::runtime_error", "", InputError, FileError,
                   OutOfMemory, DeviceError, CommunicationError, ContractViolation) {
  const auto fail = [] { throw TestType("words"); };
  CHECK_THROWS_AS(fail(), Error);
  CHECK_THROWS_AS(fail(), std::runtime_error);
  CHECK_THROWS_WITH(fail(), "words");
}

TEST_CASE(
    "ScopedTimer: adds what passed, also when an exception ends the scope, and needs no Timers") {
  Timers timers;
  {
    const ScopedTimer timer(&timers, "sleep");
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    CHECK(timer.seconds() >= 0.005);
    CHECK(timers.phases().empty());
  }
  REQUIRE(timers.phases().size() == 1);
  CHECK(timers.phases()[0].seconds >= 0.005);
  try {
    const ScopedTimer timer(&timers, "thrown");
    throw InputError("x");
  } catch (const InputError&) {
  }
  CHECK(timers.phases().size() == 2);
  CHECK_NOTHROW(ScopedTimer(nullptr, "nothing"));
}
