/// zhalo.h with particles and results in memory of a device: the same as with those of the host.
#include <cstdint>
#include <vector>

#include <catch2/catch.hpp>

#include "tests/mpi/device/find_device.hpp"
#include "tests/support/over_ranks.hpp"
#include "tests/support/point_sets.hpp"
#include "zhalo/zhalo.h"

namespace {

using namespace zhalo;
using namespace zhalo::testing;

/// Labels and neighbours of points, copied to `labels` and `indices`.
struct Results {
  std::int64_t* labels;
  std::int64_t* indices;
};

constexpr int k = 4;

void search(const zhalo_context* context, const float* rows, const zhalo_particles& like,
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
  zhalo_neighbours_destroy(neighbours);
  zhalo_groups_destroy(groups);
  zhalo_domain_destroy(domain);
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
  search(context, rows.data(), particles, {labels.data(), indices.data()});

  const Buffer<float> rows_there = to_exec(own.exec, Span<const float>(rows), "positions");
  Buffer<Index> labels_there(own.exec, part.count, "labels");
  Buffer<Index> indices_there(own.exec, k * part.count, "neighbours");
  particles.is_on_device = 1;
  search(context, rows_there.data(), particles, {labels_there.data(), indices_there.data()});
  CHECK(to_host(own.exec, labels_there) == labels);
  CHECK(to_host(own.exec, indices_there) == indices);

  // An address of the host is not taken for one of the device.
  zhalo_domain* domain = nullptr;
  const zhalo_box box = {{0, 0, 0}, {1, 1, 1}, {1, 1, 1}};
  float at_host[3] = {0, 0, 0};
  particles.num = 1;
  REQUIRE(zhalo_set_rows(particles.position, at_host, ZHALO_FLOAT, 3) == ZHALO_OK);
  CHECK(zhalo_domain_create(context, &particles, 1, &box, nullptr, &domain) == ZHALO_INPUT_ERROR);
  CHECK(domain == nullptr);
  zhalo_context_destroy(context);
}
