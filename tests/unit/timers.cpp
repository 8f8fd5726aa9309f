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
  CHECK(timers.total() == 3.5);
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
