#include "apps/bench/point_set.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cmath>
#include <cstring>
#include <fstream>

#include "zhalo/core/error.hpp"

namespace zhalo::bench {

double PointSet::mean_separation() const {
  return box_length / std::cbrt(static_cast<double>(num()));
}

PointSet read_points(const std::string& path, double box_length) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  if (!file) throw FileError(fmt::format("cannot open '{}': {}", path, std::strerror(errno)));
  const std::streamoff bytes = file.tellg();
  if (bytes % 12 != 0) {
    throw FileError(fmt::format(
        "'{}' has {} bytes, not a multiple of 12 (must hold raw float32 positions, 3 per particle)",
        path, bytes));
  }
  PointSet points{std::vector<float>(static_cast<std::size_t>(bytes) / sizeof(float)), box_length};
  file.seekg(0);
  file.read(reinterpret_cast<char*>(points.pos.data()), bytes);
  if (!file) throw FileError(fmt::format("cannot read '{}'", path));
  return points;
}

const PointSet& PointStore::get(const PointSource& source) {
  if (key_ != source.key) {
    points_ = PointSet{};  // gives the old one back before the new one is made
    points_ = source.make();
    key_ = source.key;
  }
  return points_;
}

BoundPoints::BoundPoints(const Exec& exec, const PointSet& points) {
  const float* pos = points.pos.data();
  if (std::holds_alternative<Cuda>(exec)) {
    on_device_ = to_exec(exec, Span<const float>(points.pos), "benchmark positions");
    pos = on_device_.data();
  }
  particles_.segments = {ParticleSegment<float>::interleaved(pos, points.num())};
}

}  // namespace zhalo::bench
