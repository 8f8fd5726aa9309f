/// A small simulation with its own data and its own decomposition, as a code is before it calls
/// zhalo: nothing of zhalo is included here.
///
/// Two species of bodies attract each other in a periodic box. Gravity comes from a mesh that every
/// rank holds: bodies are counted per cell, the counts are summed over the ranks, and a few sweeps
/// of relaxation solve for the potential. Counts are whole numbers, so the bodies move in the same
/// way, to the last bit, on any number of ranks.
#pragma once

#include <mpi.h>

#include <array>
#include <cstdint>
#include <vector>

namespace toy {

struct Body {
  std::array<double, 3> position;  ///< may have left the box since the last exchange
  std::array<float, 3> velocity;
  float mass;
  std::uint64_t id;
  std::int64_t halo;  ///< row of its halo when haloes were last looked for, or -1
  std::uint8_t species;
};

class Simulation {
 public:
  static constexpr double box_length = 1;

  /// Of the caller's communicator, which is not copied. The bodies start at positions that depend
  /// on their number only.
  Simulation(MPI_Comm comm, std::uint64_t num_bodies);

  /// Kick, drift, and every few steps bodies go to the rank whose slab of the box they are in.
  void step();

  int num_steps() const { return num_steps_; }
  /// This rank's bodies, an array per species.
  const std::vector<Body>& dark() const { return dark_; }
  const std::vector<Body>& stars() const { return stars_; }
  std::vector<Body>& dark() { return dark_; }
  std::vector<Body>& stars() { return stars_; }

 private:
  void count_bodies(const std::vector<Body>& bodies);
  void relax();
  void kick_and_drift(std::vector<Body>& bodies) const;
  void exchange(std::vector<Body>& bodies) const;

  MPI_Comm comm_;
  int rank_ = 0;
  int size_ = 1;
  int num_steps_ = 0;
  double mean_count_ = 0;
  std::vector<Body> dark_;
  std::vector<Body> stars_;
  std::vector<std::int64_t> count_;
  std::vector<double> potential_;
};

}  // namespace toy
