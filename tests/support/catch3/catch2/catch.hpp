// Catch2 3, by those names of Catch2 2 that the tests use.
#pragma once
#include <string>

#include <catch2/catch_all.hpp>

using Catch::Approx;

namespace Catch {

using Matchers::EndsWith;
using Matchers::Equals;
using Matchers::StartsWith;
using TestEventListenerBase = EventListenerBase;

inline auto Contains(const std::string& text) { return Matchers::ContainsSubstring(text); }

}  // namespace Catch
