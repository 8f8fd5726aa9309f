#include "cloud.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cmath>
#include <cstring>
#include <fstream>

#include "zhalo/core/error.hpp"

namespace zhalo::bench {

double Cloud::mean_separation() const { return box_length / std::cbrt(static_cast<double>(num())); }

Cloud read_points(const std::string& path, double box_length) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  if (!file) throw FileError(fmt::format("cannot open '{}': {}", path, std::strerror(errno)));
  const std::streamoff bytes = file.tellg();
  if (bytes % 12 != 0) {
    throw FileError(
        fmt::format("'{}' has {} bytes, not a multiple of 12 (must hold raw float32 positions, 3 per particle)", path, bytes));
  }
  Cloud cloud{std::vector<float>(static_cast<std::size_t>(bytes) / sizeof(float)), box_length};
  file.seekg(0);
  file.read(reinterpret_cast<char*>(cloud.pos.data()), bytes);
  if (!file) throw FileError(fmt::format("cannot read '{}'", path));
  return cloud;
}

const Cloud& CloudStore::get(const CloudSource& source) {
  if (key_ != source.key) {
    cloud_ = Cloud{};  // gives the old one back before the new one is made
    cloud_ = source.make();
    key_ = source.key;
  }
  return cloud_;
}

PlacedCloud::PlacedCloud(const Exec& exec, const Cloud& cloud) {
  const float* pos = cloud.pos.data();
  if (std::holds_alternative<Cuda>(exec)) {
    on_device_ = to_exec(exec, Span<const float>(cloud.pos), "benchmark positions");
    pos = on_device_.data();
  }
  particles_.segments = {ParticleSegment<float>::interleaved(pos, cloud.num())};
}

}  // namespace zhalo::bench
