/// Memory per rank when particles and ranks grow together: counted, in pools and by operator new.
#include <catch2/catch.hpp>

#include <malloc.h>

#include <atomic>
#include <cmath>
#include <cstdlib>
#include <new>

#include "tests/support/random.hpp"
#include "zhalo/catalogue/catalogue.hpp"
#include "zhalo/fof/fof.hpp"
#include "zhalo/knn/reduce.hpp"
#include "zhalo/mesh/paint.hpp"

namespace {

std::atomic<long> in_use{0};
std::atomic<long> peak{0};

void* counted(std::size_t bytes) {
  void* block = std::malloc(bytes);
  if (block == nullptr) throw std::bad_alloc();
  const long now = in_use += static_cast<long>(malloc_usable_size(block));
  long seen = peak;
  while (now > seen && !peak.compare_exchange_weak(seen, now)) {
  }
  return block;
}

void forget(void* block) noexcept {
  if (block != nullptr) in_use -= static_cast<long>(malloc_usable_size(block));
  std::free(block);
}

}  // namespace

void* operator new(std::size_t bytes) { return counted(bytes); }
void* operator new[](std::size_t bytes) { return counted(bytes); }
void operator delete(void* block) noexcept { forget(block); }
void operator delete[](void* block) noexcept { forget(block); }
void operator delete(void* block, std::size_t) noexcept { forget(block); }
void operator delete[](void* block, std::size_t) noexcept { forget(block); }

namespace {

using namespace zhalo;
using namespace zhalo::testing;

/// What a rank of `fof` holds: positions, velocities, and ids of its particles.
struct Held {
  std::vector<float> pos;
  std::vector<float> velocity;
  std::vector<std::uint64_t> id;

  Held(Index num, std::uint64_t seed) {
    Random random(seed);
    pos.reserve(static_cast<std::size_t>(3 * num));
    for (Index i = 0; i < 3 * num; ++i) pos.push_back(static_cast<float>(random.uniform()));
    velocity.assign(static_cast<std::size_t>(3 * num), 1);
    id.assign(static_cast<std::size_t>(num), seed);
  }
};

/// Most bytes that any of these ranks needs for its particles, their search and their catalogue, as
/// `fof` does them.
double bytes_per_rank(const Communicator& ranks, Index num_per_rank) {
  Context context;
  context.comm = ranks.split(0);
  context.exec = host_exec(1);
  const long before = in_use;
  peak = before;
  Held held(num_per_rank, static_cast<std::uint64_t>(ranks.rank()) + 1);
  Particles<float> particles{
      .segments = {ParticleSegment<float>::interleaved(held.pos.data(), num_per_rank)}};
  const Index total = num_per_rank * ranks.size();
  const double length = 0.2 / std::cbrt(static_cast<double>(total));
  Domain<float> domain(context, particles, Box::periodic_cube(1), {.min_length = length});
  held.pos = {};
  FofResult found = friends_of_friends(domain, {length});
  particles.segments[0].pos.fill({nullptr});
  particles.segments[0].set_interleaved_velocity(held.velocity.data());
  domain.add_columns({particles});
  held.velocity = {};
  const Catalogue catalogue = make_catalogue(domain, found, {.min_members = 2});
  found = {};
  CHECK(catalogue.num_groups_total > total / 100);
  const auto ids = domain.to_domain_order(held.id);
  CHECK(in_group_order(context, catalogue, Span<const std::uint64_t>(ids.span())).size() ==
        catalogue.members.size());
  const auto on_heap = static_cast<double>(peak - before);
  return ranks.max(on_heap + static_cast<double>(memory(context.exec)->peak_bytes()));
}

}  // namespace

TEST_CASE("memory per rank stays when ranks and particles grow together") {
  const Communicator world(MPI_COMM_WORLD);
  constexpr Index num_per_rank = 40000;
  double of_one = 0, of_two = 0;
  for (int size = 1; size <= world.size(); size *= 2) {
    const bool takes_part = world.rank() < size;
    const Communicator part = world.split(takes_part ? 0 : 1);
    const double bytes = world.max(takes_part ? bytes_per_rank(part, num_per_rank) : 0.0);
    INFO(size << " ranks, " << bytes / static_cast<double>(num_per_rank) << " bytes per particle");
    if (size == 1) of_one = bytes;
    if (size <= 2) of_two = bytes;  // what is sent and received comes once
    CHECK(bytes <= 1.5 * of_one);
    CHECK(bytes <= 1.05 * of_two);
  }
}

/// Bytes per particle, beyond the particles and their field and the sums of its cells, that
/// painting takes at most.
double bytes_to_paint(Index num, int threads) {
  Context context;
  context.exec = host_exec(threads);
  const Held held(num, 3);
  const Particles<float> particles{
      .segments = {ParticleSegment<float>::interleaved(held.pos.data(), num)}};
  Field<float> field(context, Decomposition({{{64, 64, 64}}, Box::periodic_cube(1)}, 1));
  const long before = in_use;
  peak = before;
  paint(context, particles, field);
  const double in_pool =
      static_cast<double>(memory(context.exec)->peak_bytes()) - 64 * 64 * 64 * (4 + 8);
  return (static_cast<double>(peak - before) + in_pool) / static_cast<double>(num);
}

TEST_CASE("particles in random order are painted with as little memory as the header says") {
  const Communicator world(MPI_COMM_WORLD);
  world.barrier();
  if (world.rank() == 0) {
    // The tiles' lists and buffers do not grow with particles.
    CHECK(bytes_to_paint(1000000, 1) < 10);
    CHECK(bytes_to_paint(1000000, 3) < 10);
  }
  world.barrier();
}

/// Bytes per particle of the pool that a search of uniform particles takes at most, over these
/// ranks. The caller's particles are not counted, results are.
template <class Search>
double bytes_of_search(const Communicator& ranks, Index num_per_rank, const Search& search) {
  Context context;
  context.comm = ranks.split(0);
  context.exec = host_exec(1);
  const Held held(num_per_rank, static_cast<std::uint64_t>(ranks.rank()) + 7);
  const Particles<float> particles{
      .segments = {ParticleSegment<float>::interleaved(held.pos.data(), num_per_rank)}};
  search(context, particles);
  return ranks.max(static_cast<double>(memory(context.exec)->peak_bytes())) /
         static_cast<double>(num_per_rank);
}

TEST_CASE("friends-of-friends takes 48 bytes per particle at most, 60 on several ranks") {
  const Communicator world(MPI_COMM_WORLD);
  for (int size = 1; size <= world.size(); size *= 2) {
    const bool takes_part = world.rank() < size;
    const Communicator part = world.split(takes_part ? 0 : 1);
    // Of many ranks each has less, so that surfaces count more there than in use.
    const Index num = size == 1 ? 1000000 : 250000;
    double bytes = 0;
    if (takes_part) {
      bytes = bytes_of_search(part, num, [&](const Context& context, const auto& particles) {
        const double length = 0.2 / std::cbrt(static_cast<double>(num * size));
        friends_of_friends(context, particles, Box::periodic_cube(1), {length});
      });
    }
    bytes = world.max(bytes);
    INFO(size << " ranks, " << bytes << " bytes per particle");
    CHECK(bytes <= (size == 1 ? 48 : 60));
  }
}

TEST_CASE("a reduction of neighbours takes 60 bytes per particle at most") {
  const Communicator world(MPI_COMM_WORLD);
  world.barrier();
  if (world.rank() == 0) {
    for (const int k : {8, 32}) {
      const double bytes = bytes_of_search(
          Communicator(), 1000000, [&](const Context& context, const auto& particles) {
            neighbour_quantity(context, particles, Box::periodic_cube(1), {.k = k},
                               {Quantity::kth_radius});
          });
      INFO("k = " << k << ", " << bytes << " bytes per particle");
      CHECK(bytes <= 60);
    }
  }
  world.barrier();
}
