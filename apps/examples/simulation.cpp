#include "apps/examples/simulation.hpp"

#include <cmath>
#include <cstddef>

namespace toy {
namespace {

constexpr int cells = 16;  // per axis
constexpr std::size_t num_cells = std::size_t{cells} * cells * cells;
constexpr int sweeps = 8;
constexpr int steps_between_exchanges = 5;
constexpr double time_step = 0.05;
constexpr double gravity = 1;

/// Even bits from any number (Steele, Lea & Flood 2014, OOPSLA, "Fast splittable pseudorandom
/// number generators").
std::uint64_t mixed(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

double between_zero_and_one(std::uint64_t id, std::uint64_t axis) {
  return static_cast<double>(mixed(3 * id + axis) >> 11) * 0x1p-53;
}

double inside(double x) { return x - std::floor(x); }

int cell_of(double x) { return static_cast<int>(inside(x) * cells) % cells; }

std::size_t cell_index(int i, int j, int k) {
  const auto next = [](int n) { return static_cast<std::size_t>((n + cells) % cells); };
  return (next(i) * cells + next(j)) * cells + next(k);
}

}  // namespace

Simulation::Simulation(MPI_Comm comm, std::uint64_t num_bodies)
    : comm_(comm), count_(num_cells), potential_(num_cells) {
  MPI_Comm_rank(comm, &rank_);
  MPI_Comm_size(comm, &size_);
  mean_count_ = static_cast<double>(num_bodies) / static_cast<double>(count_.size());
  const auto first = [&](int rank) {
    return num_bodies * static_cast<std::uint64_t>(rank) / static_cast<std::uint64_t>(size_);
  };
  for (std::uint64_t id = first(rank_); id < first(rank_ + 1); ++id) {
    Body body{};
    for (std::size_t axis = 0; axis < 3; ++axis)
      body.position[axis] = between_zero_and_one(id, axis);
    body.species = id % 5 == 0 ? 1 : 0;
    body.mass = body.species == 1 ? 0.5F : 2.0F;
    body.id = id;
    body.halo = -1;
    (body.species == 1 ? stars_ : dark_).push_back(body);
  }
  exchange(dark_);
  exchange(stars_);
}

void Simulation::step() {
  count_.assign(count_.size(), 0);
  count_bodies(dark_);
  count_bodies(stars_);
  MPI_Allreduce(MPI_IN_PLACE, count_.data(), static_cast<int>(count_.size()), MPI_INT64_T, MPI_SUM,
                comm_);
  relax();
  kick_and_drift(dark_);
  kick_and_drift(stars_);
  if (++num_steps_ % steps_between_exchanges != 0) return;
  exchange(dark_);
  exchange(stars_);
}

void Simulation::count_bodies(const std::vector<Body>& bodies) {
  for (const Body& body : bodies) {
    const auto& x = body.position;
    ++count_[cell_index(cell_of(x[0]), cell_of(x[1]), cell_of(x[2]))];
  }
}

/// Gauss-Seidel sweeps for: Laplacian of the potential = gravity (density / mean - 1), from the
/// potential of the step before.
void Simulation::relax() {
  const double h2 = 1.0 / (cells * cells);
  for (int sweep = 0; sweep < sweeps; ++sweep) {
    for (int i = 0; i < cells; ++i) {
      for (int jk = 0; jk < cells * cells; ++jk) {
        const int j = jk / cells;
        const int k = jk % cells;
        const double around =
            potential_[cell_index(i - 1, j, k)] + potential_[cell_index(i + 1, j, k)] +
            potential_[cell_index(i, j - 1, k)] + potential_[cell_index(i, j + 1, k)] +
            potential_[cell_index(i, j, k - 1)] + potential_[cell_index(i, j, k + 1)];
        const double contrast = static_cast<double>(count_[cell_index(i, j, k)]) / mean_count_ - 1;
        potential_[cell_index(i, j, k)] = (around - h2 * gravity * contrast) / 6;
      }
    }
  }
}

void Simulation::kick_and_drift(std::vector<Body>& bodies) const {
  const double slope = time_step * cells / 2;
  for (Body& body : bodies) {
    std::array<int, 3> at{};
    for (std::size_t axis = 0; axis < 3; ++axis) at[axis] = cell_of(body.position[axis]);
    for (std::size_t axis = 0; axis < 3; ++axis) {
      std::array<int, 3> up = at;
      std::array<int, 3> down = at;
      ++up[axis];
      --down[axis];
      const double difference = potential_[cell_index(up[0], up[1], up[2])] -
                                potential_[cell_index(down[0], down[1], down[2])];
      body.velocity[axis] -= static_cast<float>(slope * difference);
    }
    for (std::size_t axis = 0; axis < 3; ++axis)
      body.position[axis] += time_step * static_cast<double>(body.velocity[axis]);
  }
}

/// Each rank owns a slab of the first axis.
void Simulation::exchange(std::vector<Body>& bodies) const {
  std::vector<std::vector<Body>> leaving(static_cast<std::size_t>(size_));
  for (Body body : bodies) {
    for (double& x : body.position) x = inside(x);
    const auto owner =
        static_cast<std::size_t>(body.position[0] * size_) % static_cast<std::size_t>(size_);
    leaving[owner].push_back(body);
  }
  std::vector<Body> sent;
  std::vector<int> counts;
  for (const auto& part : leaving) {
    counts.push_back(static_cast<int>(part.size() * sizeof(Body)));
    sent.insert(sent.end(), part.begin(), part.end());
  }
  std::vector<int> received(counts.size());
  MPI_Alltoall(counts.data(), 1, MPI_INT, received.data(), 1, MPI_INT, comm_);
  const auto offsets_of = [](const std::vector<int>& numbers) {
    std::vector<int> offsets(1, 0);
    for (const int number : numbers) offsets.push_back(offsets.back() + number);
    return offsets;
  };
  const std::vector<int> from = offsets_of(counts);
  const std::vector<int> to = offsets_of(received);
  bodies.resize(static_cast<std::size_t>(to.back()) / sizeof(Body));
  MPI_Alltoallv(sent.data(), counts.data(), from.data(), MPI_BYTE, bodies.data(), received.data(),
                to.data(), MPI_BYTE, comm_);
}

}  // namespace toy
