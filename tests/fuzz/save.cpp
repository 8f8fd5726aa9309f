// What zhalo read, as raw numbers beside the files that it read.
#include <fmt/format.h>

#include <filesystem>
#include <fstream>

#include "tests/fuzz/trial.hpp"

namespace zhalo::fuzz {

namespace fs = std::filesystem;

namespace {

template <class T>
void save_numbers(const std::string& path, const std::vector<T>& numbers) {
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char*>(numbers.data()),
             static_cast<std::streamsize>(numbers.size() * sizeof(T)));
}

/// All columns but the positions.
template <class Real>
void save_columns(const std::string& stem, const io::LoadedParticles<Real>& loaded) {
  const auto& segment = loaded.particles.segments.front();
  std::vector<double> velocity, mass;
  for (Index i = 0; i < segment.num; ++i) {
    if (loaded.has_velocities)
      for (const RealColumn& axis : segment.velocity) velocity.push_back(axis[i]);
    if (segment.mass) mass.push_back(segment.mass[i]);
  }
  save_numbers(stem + ".velocity", velocity);
  save_numbers(stem + ".mass", mass);
  const auto ids = loaded.id.span();
  save_numbers(stem + ".id", std::vector<std::uint64_t>(ids.begin(), ids.end()));
}

void save_positions(const std::string& stem, const io::LoadedParticles<double>& loaded) {
  const auto& segment = loaded.particles.segments.front();
  std::vector<double> pos;
  for (Index i = 0; i < segment.num; ++i)
    for (const auto& axis : segment.pos) pos.push_back(axis[i]);
  save_numbers(stem + ".pos", pos);
}

}  // namespace

void save_success(const Trial& trial, const std::string& folder) {
  fs::create_directories(folder);
  fs::copy(".", folder, fs::copy_options::recursive | fs::copy_options::copy_symlinks);
  const io::SnapshotInfo& info = trial.snapshot.info;
  std::ofstream words(folder + "/reading");
  for (const std::string& file : info.files) words << "file " << file << '\n';
  words << fmt::format("velocity_factor {:.17g}\n", info.velocity_factor);
  if (info.box_length)
    words << fmt::format("box {:.17g} {:.17g} {:.17g}\n", (*info.box_length)[0],
                         (*info.box_length)[1], (*info.box_length)[2]);
  for (const auto& [type, reading] : trial.snapshot.types) {
    if (!reading.succeeded() || reading.wide.particles.segments.empty()) continue;
    words << "type " << type << '\n';
    const std::string stem = fmt::format("{}/read.{}", folder, type);
    save_positions(stem, reading.wide);
    if (trial.snapshot.columns == Precision::single) {
      save_columns(stem, reading.single);
    } else {
      save_columns(stem, reading.wide);
    }
  }
}

}  // namespace zhalo::fuzz
