/// Where the parity tests run: the host with one and with two threads, and a CUDA device if there
/// is one.
///
///   TEMPLATE_TEST_CASE("...", "[parity]", ON_EVERY_EXEC) {
///     const auto exec = TestType::exec();
///     if (!exec) return;  // has said so
///
/// Without a device the CUDA case prints a line that begins with "SKIPPED: no CUDA device"; with
/// ZHALO_REQUIRE_GPU=1 it fails instead, and on an emulated device (tests/device), too.
#pragma once

#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <vector>

#include "kernels/on.hpp"
#include "zhalo/core/buffer.hpp"
#include "zhalo/core/exec.hpp"
#include "zhalo/core/span.hpp"

namespace zhalo::testing {

struct HostOne {
  static std::optional<Exec> exec() { return host_exec(1); }
};

struct HostTwo {
  static std::optional<Exec> exec() { return host_exec(2); }
};

struct OnCuda {
  static std::optional<Exec> exec() {
    const DeviceReport report = query_devices();
    const char* required = std::getenv("ZHALO_REQUIRE_GPU");
    const bool must_be_real = required != nullptr && std::strcmp(required, "1") == 0;
    if (must_be_real && report.name == "emulated device")
      FAIL("ZHALO_REQUIRE_GPU is 1, but the device is emulated");
    if (report.num_devices > 0) return cuda_exec();
    if (must_be_real) FAIL("ZHALO_REQUIRE_GPU is 1, but: " << report.reason);
    fmt::print("SKIPPED: no CUDA device ({})\n", report.reason);
    std::fflush(stdout);
    return std::nullopt;
  }
};

#define ON_EVERY_EXEC zhalo::testing::HostOne, zhalo::testing::HostTwo, zhalo::testing::OnCuda

/// A copy of a vector in the memory of `exec`.
template <class T>
Buffer<T> upload(const Exec& exec, const std::vector<T>& from) {
  return to_exec(exec, Span<const T>(from), "test");
}

/// What is behind a pointer to the memory of `exec`.
template <class T>
std::vector<T> download(const Exec& exec, const T* from, Index num) {
  return to_host(exec, Span<const T>(from, num));
}

using kernels::on;

}  // namespace zhalo::testing
