/// Memory per rank when particles and ranks grow together: counted, in pools and by operator new.
#include <catch2/catch.hpp>

#include <malloc.h>

#include <atomic>
#include <cmath>
#include <cstdlib>
#include <new>

#include "tests/support/clouds.hpp"
#include "tests/support/over_ranks.hpp"
#include "zhalo/catalogue/catalogue.hpp"

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

/// Most bytes that a search and a catalogue take on any of these ranks, beyond their particles.
double bytes_per_rank(const Communicator& ranks, Index num_per_rank) {
  Context context;
  context.comm = ranks.split(0);
  context.exec = host_exec(1);
  const Index total = num_per_rank * ranks.size();
  Cloud<float> cloud;  // this rank's own
  cloud.box = Box::periodic_cube(1);
  cloud.linking_length = 0.2 / std::cbrt(static_cast<double>(total));
  Random random(static_cast<std::uint64_t>(ranks.rank()) + 1);
  for (Index i = 0; i < 3 * num_per_rank; ++i) cloud.pos.push_back(static_cast<float>(random.uniform()));
  Particles<float> particles;
  particles.segments.push_back(ParticleSegment<float>::interleaved(cloud.pos.data(), num_per_rank));
  const long before = in_use;
  peak = before;
  FofResult found = friends_of_friends(context, particles, cloud.box, {cloud.linking_length});
  CatalogueOptions options;
  options.min_members = 2;
  const Catalogue catalogue = make_catalogue(context, particles, cloud.box, found.label.span(), options);
  CHECK(catalogue.num_groups_total > total / 100);
  const auto on_heap = static_cast<double>(peak - before);
  return ranks.max(on_heap + static_cast<double>(memory(context.exec)->peak_bytes()));
}

}  // namespace

TEST_CASE("memory per rank stays when ranks and particles grow together") {
  const Communicator world(MPI_COMM_WORLD);
  constexpr Index num_per_rank = 40000;
  double of_two = 0;
  for (int size = 2; size <= world.size(); size *= 2) {
    const bool takes_part = world.rank() < size;
    const Communicator part = world.split(takes_part ? 0 : 1);
    const double bytes = world.max(takes_part ? bytes_per_rank(part, num_per_rank) : 0.0);
    INFO(size << " ranks, " << bytes / static_cast<double>(num_per_rank) << " bytes per particle");
    if (size == 2) of_two = bytes;
    CHECK(bytes <= 1.3 * of_two);
    // One rank alone keeps its particles where they are, and needs less.
    CHECK(bytes / static_cast<double>(num_per_rank) < 100);
  }
}
