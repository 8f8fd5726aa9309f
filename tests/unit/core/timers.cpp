#include "zhalo/core/timers.hpp"

#include <catch2/catch.hpp>
#include <stdexcept>

using namespace zhalo;

TEST_CASE("phases keep the order of their first run and add up") {
  Timers timers;
  timers.add("b", 1);
  timers.add("a", 2);
  timers.add("b", 0.5);
  REQUIRE(timers.phases().size() == 2);
  CHECK(timers.phases()[0].name == "b");
  CHECK(timers.phases()[0].seconds == 1.5);
  CHECK(timers.phases()[1].name == "a");
}

namespace {

void wait(const ScopedTimer& timer) {
  while (timer.seconds() < 0.01) {
  }
}

}  // namespace

TEST_CASE("phases of a copy are not within those of the original") {
  Timers timers;
  {
    const ScopedTimer outer(&timers, "outer");
    Timers copy = timers;
    Timers assigned;
    assigned = timers;
    for (Timers* other : {&copy, &assigned}) {
      const ScopedTimer elsewhere(other, "elsewhere");
      wait(elsewhere);
    }
    CHECK(copy.phases().size() == 1);
    CHECK(assigned.phases().size() == 1);
  }
  REQUIRE(timers.phases().size() == 1);
  CHECK(timers.phases()[0].seconds >= 0.02);
}

TEST_CASE("a phase within a phase counts for itself only, so that phases add up") {
  Timers timers;
  double passed = 0;
  {
    const ScopedTimer all(nullptr, "all of it");
    {
      const ScopedTimer outer(&timers, "outer");
      wait(outer);
      for (int time = 0; time < 2; ++time) {
        const ScopedTimer inner(&timers, "inner");
        wait(inner);
        const ScopedTimer innermost(&timers, "innermost");
        wait(innermost);
      }
    }
    {
      const ScopedTimer after(&timers, "after");
      wait(after);
    }
    passed = all.seconds();
  }
  REQUIRE(timers.phases().size() == 4);
  const std::vector<std::string> names{"innermost", "inner", "outer", "after"};
  for (std::size_t i = 0; i < 4; ++i) CHECK(timers.phases()[i].name == names[i]);
  CHECK(timers.phases()[0].seconds >= 0.02);
  CHECK(timers.phases()[1].seconds >= 0.02);
  CHECK(timers.phases()[2].seconds >= 0.01);
  CHECK(timers.phases()[3].seconds >= 0.01);
  double total = 0;
  for (const Phase& phase : timers.phases()) total += phase.seconds;
  CHECK(total <= passed);
}

TEST_CASE("the observer hears of a phase when it begins, and may stop it") {
  Timers timers;
  std::vector<std::string> heard;
  timers.observe([&](const std::string& name) {
    heard.push_back(name);
    if (name == "stop") throw std::runtime_error("stopped");
  });
  {
    const ScopedTimer timer(&timers, "first");
    CHECK(heard == std::vector<std::string>{"first"});
    CHECK(timers.phases().empty());
  }
  CHECK_THROWS_AS(ScopedTimer(&timers, "stop"), std::runtime_error);
  CHECK(heard.size() == 2);
  CHECK(timers.phases().size() == 1);
}

TEST_CASE("without timers nothing is noted") {
  CHECK(ScopedTimer(nullptr, "nowhere").seconds() >= 0);
}
