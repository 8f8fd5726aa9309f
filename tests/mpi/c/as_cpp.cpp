/// zhalo.h gives the results of the C++ functions, bit for bit; and figures of memory.
#include <mpi.h>

#include <catch2/catch.hpp>

#include "tests/mpi/c/compare.hpp"
#include "tests/mpi/c/species.hpp"

namespace zhalo::testing {
namespace {

zhalo_memory_counts memory_of(const zhalo_context* context) {
  zhalo_memory_counts counts{};
  REQUIRE(zhalo_context_get_memory(context, &counts) == ZHALO_OK);
  return counts;
}

}  // namespace

TEST_CASE("c: all results are those of C++") {
  Context in_cpp{.comm = Communicator(MPI_COMM_WORLD), .exec = host_exec(2)};
  zhalo_context_options options{};
  options.processor = ZHALO_HOST;
  zhalo_context* in_c = nullptr;
  REQUIRE(zhalo_context_create(MPI_COMM_WORLD, &options, &in_c) == ZHALO_OK);
  compare_c_and_cpp(in_c, in_cpp);
  CHECK(memory_of(in_c).in_use == 0);
  zhalo_context_destroy(in_c);
}

TEST_CASE("c: memory is counted, and given back") {
  const Communicator comm(MPI_COMM_WORLD);
  zhalo_context_options options{};
  options.processor = ZHALO_HOST;
  zhalo_context* context = nullptr;
  zhalo_domain* domain = nullptr;
  REQUIRE(zhalo_context_create(MPI_COMM_WORLD, &options, &context) == ZHALO_OK);
  CHECK(memory_of(context).held == 0);
  const Box box = Box::periodic_cube(1);
  const Species<float> dark(comm, box, 5000, 0);
  const zhalo_particles particles = dark.in_c();
  const zhalo_box c_box = box_in_c(box);
  REQUIRE(zhalo_domain_create(context, &particles, 1, &c_box, nullptr, &domain) == ZHALO_OK);

  const zhalo_memory_counts with_domain = memory_of(context);
  const Index positions = 5000 / comm.size() * 12;
  CHECK(with_domain.in_use > positions);
  CHECK(with_domain.peak > with_domain.in_use);
  CHECK(with_domain.held >= with_domain.in_use);
  CHECK(with_domain.peak_held >= with_domain.held);
  CHECK(with_domain.available > 0);
  CHECK(zhalo_context_reset_peak_memory(context) == ZHALO_OK);
  CHECK(memory_of(context).peak == with_domain.in_use);

  zhalo_domain_destroy(domain);
  CHECK(memory_of(context).in_use == 0);
  CHECK(memory_of(context).held > 0);
  CHECK(zhalo_context_release_memory(context) == ZHALO_OK);
  CHECK(memory_of(context).held == 0);
  CHECK(memory_of(context).peak == with_domain.in_use);
  zhalo_context_destroy(context);
}

}  // namespace zhalo::testing
