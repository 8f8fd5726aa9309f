/// The particles that all seeds hold.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "tests/support/random.hpp"

namespace zhalo::fuzz {

constexpr std::size_t num_particles = 500;
constexpr double box_length = 50;
constexpr double particle_mass = 4.06;
constexpr double hubble = 0.678;

/// No number is 0: zeros that a reader returns were not in the file.
struct FuzzPoints {
  std::vector<float> pos;
  std::vector<float> velocity;
  std::vector<std::uint64_t> id;
};

inline FuzzPoints make_points(std::size_t num, std::uint64_t seed = 1) {
  testing::Random random(seed);
  FuzzPoints points;
  for (std::size_t i = 0; i < 3 * num; ++i) {
    points.pos.push_back(static_cast<float>(random.uniform(0.01, box_length)));
    points.velocity.push_back(static_cast<float>(random.uniform(1, 1000)));
  }
  for (std::size_t i = 0; i < num; ++i) points.id.push_back(1 + 7 * i);
  return points;
}

/// Particles [first, first + num).
inline FuzzPoints part_of(const FuzzPoints& points, std::size_t first, std::size_t num) {
  const auto cut = [](const auto& from, std::size_t begin, std::size_t count) {
    const auto at = from.begin() + static_cast<std::ptrdiff_t>(begin);
    return std::decay_t<decltype(from)>(at, at + static_cast<std::ptrdiff_t>(count));
  };
  return {cut(points.pos, 3 * first, 3 * num), cut(points.velocity, 3 * first, 3 * num),
          cut(points.id, first, num)};
}

template <class To, class From>
std::vector<To> converted(const std::vector<From>& from, double factor = 1) {
  std::vector<To> to;
  for (const From value : from) to.push_back(static_cast<To>(static_cast<double>(value) * factor));
  return to;
}

}  // namespace zhalo::fuzz
