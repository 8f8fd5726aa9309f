/// The points of the timed cases.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "zhalo/core/buffer.hpp"
#include "zhalo/domain/particles.hpp"

namespace zhalo::bench {

/// Float positions, (num, 3), in a periodic cube.
struct Cloud {
  std::vector<float> pos;
  double box_length = 1;

  Index num() const { return static_cast<Index>(pos.size() / 3); }
  double mean_separation() const;
};

/// Raw little-endian float32, (N, 3). FileError if the file cannot be read or has another size.
Cloud read_points(const std::string& path, double box_length);

/// Makes or reads a cloud when its first case runs.
struct CloudSource {
  std::string key;
  std::function<Cloud()> make;
};

/// Keeps the cloud that was used last, so that consecutive cases share it and memory holds one.
class CloudStore {
 public:
  const Cloud& get(const CloudSource& source);

 private:
  std::string key_;
  Cloud cloud_;
};

/// A cloud as particles in the memory of an Exec: on the host the cloud's own, which must outlive this; on a device a copy.
class PlacedCloud {
 public:
  PlacedCloud(const Exec& exec, const Cloud& cloud);

  const Particles<float>& particles() const { return particles_; }

 private:
  Buffer<float> on_device_;
  Particles<float> particles_;
};

}  // namespace zhalo::bench
