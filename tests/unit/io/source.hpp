/// The particles that all snapshots of the fixture hold, as raw numbers written by another program.
#pragma once

#include <catch2/catch.hpp>
#include <cstdint>
#include <fstream>
#include <string>
#include <vector>

namespace source {

inline const std::string snapshots = ZHALO_SNAPSHOTS_DIR;
inline const std::string data = ZHALO_DATA_DIR;

/// Of a snapshot that can be read.
inline std::string good(const std::string& path) { return snapshots + "/good/" + path; }

template <class T>
std::vector<T> raw(const std::string& name) {
  std::ifstream file(snapshots + "/" + name, std::ios::binary | std::ios::ate);
  REQUIRE(file);
  std::vector<T> values(static_cast<std::size_t>(file.tellg()) / sizeof(T));
  file.seekg(0);
  file.read(reinterpret_cast<char*>(values.data()),
            static_cast<std::streamsize>(values.size() * sizeof(T)));
  REQUIRE(file);
  return values;
}

inline std::vector<float> positions() { return raw<float>("positions.f32"); }
inline std::vector<float> velocities() { return raw<float>("velocities.f32"); }
inline std::vector<std::uint32_t> ids() { return raw<std::uint32_t>("ids.u32"); }

constexpr int num = 262144;
constexpr double particle_mass = 4.07516160635844;
constexpr double hubble = 0.678;

}  // namespace source
