/// zhalo.h on a CUDA stream of the caller's: its work begins behind what the caller has queued
/// there. On emulated devices, where queued work does not run before something waits for it.
#include <mpi.h>

#include <catch2/catch.hpp>

#include "tests/device/include/cuda_runtime_api.h"
#include "tests/mpi/c/compare.hpp"
#include "tests/mpi/c/species.hpp"

namespace zhalo::testing {
namespace {

/// Ranks have devices of their own if there are enough.
int device_of_rank() {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank % query_devices().num_devices;
}

/// A stream of the rank's device that waits for no other.
class Stream {
 public:
  Stream() {
    REQUIRE(cudaSetDevice(device_of_rank()) == cudaSuccess);
    REQUIRE(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking) == cudaSuccess);
  }
  ~Stream() { static_cast<void>(cudaStreamDestroy(stream_)); }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  cudaStream_t get() const { return stream_; }

 private:
  cudaStream_t stream_ = nullptr;
};

zhalo_context* make_context(const Stream& stream) {
  const int device = device_of_rank();
  zhalo_context_options options{};
  options.device = &device;
  options.stream = stream.get();
  zhalo_context* context = nullptr;
  const int status = zhalo_context_create(MPI_COMM_WORLD, &options, &context);
  INFO(zhalo_last_error());
  REQUIRE(status == ZHALO_OK);
  return context;
}

/// The labels of rows that a copy on `stream` has yet to bring, by a context; or the status.
int find_labels(const zhalo_context* context, const Stream& stream, const Buffer<float>& rows,
                std::vector<Index>& labels) {
  const Exec exec = cuda_exec(device_of_rank(), stream.get());
  const Index num = rows.size() / 3;
  Buffer<float> late(exec, rows.size(), "test");
  REQUIRE(cudaMemcpyAsync(late.data(), rows.data(),
                          static_cast<std::size_t>(rows.size()) * sizeof(float), cudaMemcpyDefault,
                          stream.get()) == cudaSuccess);
  zhalo_particles particles{};
  particles.num = num;
  particles.is_on_device = 1;
  zhalo_set_rows(particles.position, late.data(), ZHALO_FLOAT, 3);
  zhalo_domain* domain = nullptr;
  zhalo_groups* groups = nullptr;
  const zhalo_box box = box_in_c(Box::periodic_cube(1));
  const int status = zhalo_domain_create(context, &particles, 1, &box, nullptr, &domain);
  labels.assign(static_cast<std::size_t>(num), -77);
  if (status == ZHALO_OK) {
    CHECK(zhalo_find_groups(domain, 0.02, &groups) == ZHALO_OK);
    CHECK(zhalo_groups_get_labels(groups, 0, labels.data(), num) == ZHALO_OK);
  }
  zhalo_groups_destroy(groups);
  zhalo_domain_destroy(domain);
  REQUIRE(cudaStreamSynchronize(stream.get()) == cudaSuccess);
  return status;
}

}  // namespace

TEST_CASE("c: work is queued on the stream of the caller") {
  const Stream stream, another;
  Context own{.comm = Communicator(MPI_COMM_WORLD), .exec = cuda_exec(device_of_rank())};
  const Species<float> dark(own.comm, Box::periodic_cube(1), 500, 0);
  const Buffer<float> rows = to_exec(own.exec, Span<const float>(dark.position), "test");
  wait(own.exec);
  const Domain<float> domain(
      own, {.segments = {ParticleSegment<float>::interleaved(rows.data(), rows.size() / 3)}},
      Box::periodic_cube(1));
  const Buffer<Index> wanted =
      domain.to_caller_order(friends_of_friends(domain, {.linking_length = 0.02}).label);

  std::vector<Index> labels;
  zhalo_context* context = make_context(stream);
  CHECK(find_labels(context, stream, rows, labels) == ZHALO_OK);
  CHECK(labels == to_host(own.exec, wanted));
  zhalo_context_destroy(context);

  // On another stream the rows are not there yet: fresh memory is full of NaN.
  context = make_context(another);
  CHECK(find_labels(context, stream, rows, labels) == ZHALO_INPUT_ERROR);
  CHECK_THAT(zhalo_last_error(), Catch::Contains("not finite"));
  zhalo_context_destroy(context);
}

TEST_CASE("c: all results on a stream are those of C++ on the host") {
  const Stream stream;
  const Context in_cpp{.comm = Communicator(MPI_COMM_WORLD), .exec = host_exec(1)};
  zhalo_context* in_c = make_context(stream);
  compare_c_and_cpp(in_c, in_cpp);
  zhalo_context_destroy(in_c);
}

}  // namespace zhalo::testing
