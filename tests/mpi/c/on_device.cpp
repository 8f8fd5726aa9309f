/// zhalo.h with particles and results in memory of a device: the same as with those of the host.
#include <cstdint>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "tests/mpi/device/find_device.hpp"
#include "tests/support/over_ranks.hpp"
#include "tests/support/point_sets.hpp"
#include "zhalo/zhalo.h"

namespace {

using namespace zhalo;
using namespace zhalo::testing;

/// Labels, neighbours and power spectrum of points, copied to these arrays.
struct Results {
  std::int64_t* labels;
  std::int64_t* indices;
  zhalo_power_bin* bins;
};

constexpr int k = 4;
constexpr int num_bins = 4;

/// Returns the number of bins of the spectrum.
std::size_t search(const zhalo_context* context, const float* rows, const zhalo_particles& like,
                   const Results& results) {
  zhalo_particles particles = like;
  const zhalo_box box = {{0, 0, 0}, {1, 1, 1}, {1, 1, 1}};
  zhalo_domain* domain = nullptr;
  zhalo_groups* groups = nullptr;
  zhalo_neighbours* neighbours = nullptr;
  REQUIRE(zhalo_set_rows(particles.position, rows, ZHALO_FLOAT, 3) == ZHALO_OK);
  REQUIRE(zhalo_domain_create(context, &particles, 1, &box, nullptr, &domain) == ZHALO_OK);
  REQUIRE(zhalo_find_groups(domain, 0.05, &groups) == ZHALO_OK);
  REQUIRE(zhalo_groups_get_labels(groups, 0, results.labels, particles.num) == ZHALO_OK);
  zhalo_neighbour_options options{};
  options.k = k;
  options.exclude_self = 1;
  REQUIRE(zhalo_find_neighbours(domain, &options, &neighbours) == ZHALO_OK);
  REQUIRE(zhalo_neighbours_get_indices(neighbours, results.indices, k * particles.num) == ZHALO_OK);
  zhalo_power_options measured{};
  for (int64_t& cells : measured.num) cells = 2 * num_bins;
  zhalo_power_report report{};
  REQUIRE(zhalo_power_spectrum(domain, &measured, results.bins, num_bins, &report) == ZHALO_OK);
  zhalo_neighbours_destroy(neighbours);
  zhalo_groups_destroy(groups);
  zhalo_domain_destroy(domain);
  return static_cast<std::size_t>(report.num_bins);
}

}  // namespace

TEST_CASE("c: particles and results in memory of a device") {
  Context own;
  if (!find_device(own)) return;
  PointSet<float> points;
  points.box = Box::periodic_cube(1);
  Random random(4);
  fill(points, random, Shape::uniform, 3000);
  const Share part = part_of(points.num(), Cut::uneven, own.comm.rank(), own.comm.size());
  const std::vector<float> rows = rows_of(points, part);

  zhalo_context* context = nullptr;
  zhalo_context_options options{};
  options.processor = ZHALO_CUDA;
  REQUIRE(zhalo_context_create(MPI_COMM_WORLD, &options, &context) == ZHALO_OK);
  const auto num = static_cast<std::size_t>(part.count);
  std::vector<Index> labels(num), indices(k * num);
  zhalo_particles particles{};
  particles.num = part.count;
  std::vector<zhalo_power_bin> bins(num_bins);
  const std::size_t num_made =
      search(context, rows.data(), particles, {labels.data(), indices.data(), bins.data()});
  REQUIRE(num_made > 1);

  const Buffer<float> rows_there = to_exec(own.exec, Span<const float>(rows), "positions");
  Buffer<Index> labels_there(own.exec, part.count, "labels");
  Buffer<Index> indices_there(own.exec, k * part.count, "neighbours");
  Buffer<zhalo_power_bin> bins_there(own.exec, num_bins, "bins");
  particles.is_on_device = 1;
  REQUIRE(search(context, rows_there.data(), particles,
                 {labels_there.data(), indices_there.data(), bins_there.data()}) == num_made);
  CHECK(to_host(own.exec, labels_there) == labels);
  CHECK(to_host(own.exec, indices_there) == indices);
  const std::vector<zhalo_power_bin> copied = to_host(own.exec, bins_there);
  for (std::size_t bin = 0; bin < num_made; ++bin) {
    CHECK(copied[bin].num_modes == bins[bin].num_modes);
    CHECK(copied[bin].power == Approx(bins[bin].power));
  }
  zhalo_context_destroy(context);
}

TEST_CASE("c: an address that the device cannot use as it is given is an error") {
  Context own;
  if (!find_device(own)) return;
  zhalo_context* context = nullptr;
  zhalo_context_options options{};
  options.processor = ZHALO_CUDA;
  REQUIRE(zhalo_context_create(MPI_COMM_WORLD, &options, &context) == ZHALO_OK);
  const auto is_refused = [&](const void* rows, int is_on_device, const char* why) {
    zhalo_particles particles{};
    particles.num = 1;
    particles.is_on_device = is_on_device;
    const zhalo_box box = {{0, 0, 0}, {1, 1, 1}, {1, 1, 1}};
    zhalo_domain* domain = nullptr;
    REQUIRE(zhalo_set_rows(particles.position, rows, ZHALO_FLOAT, 3) == ZHALO_OK);
    CHECK(zhalo_domain_create(context, &particles, 1, &box, nullptr, &domain) == ZHALO_INPUT_ERROR);
    CHECK(domain == nullptr);
    CHECK_THAT(std::string(zhalo_last_error()), Catch::Contains(why));
  };
  const std::vector<float> at_host(4);
  const Buffer<float> there = to_exec(own.exec, Span<const float>(at_host), "positions");
  is_refused(at_host.data(), 1, "the memory is the host's");
  is_refused(there.data(), 0, "positions are in memory of a device (set is_on_device to 1)");
  is_refused(reinterpret_cast<const char*>(there.data()) + 2, 1, "must be multiples of 4");
  zhalo_context_destroy(context);
}
