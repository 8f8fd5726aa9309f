/// The points of the timed cases.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "zhalo/core/buffer.hpp"
#include "zhalo/domain/particles.hpp"

namespace zhalo::bench {

/// Float positions, (num, 3), in a periodic cube.
struct PointSet {
  std::vector<float> pos;
  double box_length = 1;

  Index num() const { return static_cast<Index>(pos.size() / 3); }
  double mean_separation() const;
};

/// Raw little-endian float32, (N, 3). FileError if the file cannot be read or has another size.
PointSet read_points(const std::string& path, double box_length);

/// Makes or reads a points when its first case runs.
struct PointSource {
  std::string key;
  std::function<PointSet()> make;
};

/// Keeps the points that was used last, so that consecutive cases share it and memory holds one.
class PointStore {
 public:
  const PointSet& get(const PointSource& source);

 private:
  std::string key_;
  PointSet points_;
};

/// A points as particles in the memory of an Exec: on the host the points's own, which must outlive
/// this; on a device a copy.
class BoundPoints {
 public:
  BoundPoints(const Exec& exec, const PointSet& points);

  const Particles<float>& particles() const { return particles_; }

 private:
  Buffer<float> on_device_;
  Particles<float> particles_;
};

}  // namespace zhalo::bench
