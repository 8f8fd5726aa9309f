/// Transforms over ranks against direct sums: all sizes, shapes and options.
#include "tests/mpi/fft/fft_case.hpp"

namespace {

using namespace zhalo;
using namespace zhalo::testing;

/// Each shape with some of the options, others for each grid; batches of at most `max_fields`.
void check_every_shape(const GridIndex& num, std::size_t first_options, Index max_fields = 3) {
  const Context context = make_context();
  const AllSignals signals(num, max_fields);
  const std::vector<FftOptions> mix = option_mix();
  std::size_t next = first_options;
  for (const DecompositionOptions& split : shapes_and_splits(context.comm.size())) {
    FftOptions options = mix[next++ % mix.size()];
    options.batch = std::min(options.batch, max_fields);
    signals.check_all(context, split, options);
  }
}

}  // namespace

TEST_CASE("fft: small cubes, also fewer planes than ranks", "[small]") {
  std::size_t next = 0;
  for (const Index n : {1, 2, 5, 7, 16}) check_every_shape({{n, n, n}}, next++);
}

TEST_CASE("fft: a cube of prime length") {
  constexpr Index side = ZHALO_CHECKED ? 13 : 31;
  check_every_shape({{side, side, side}}, 5, 1);
}

TEST_CASE("fft: sides of any length") {
  if (!ZHALO_CHECKED) check_every_shape({{30, 17, 44}}, 6, 1);
  check_every_shape({{3, 5, 100}}, 7);
  check_every_shape({{131, 3, 9}}, 6, 1);  // a host treats lines of more than 128 in another way
  check_every_shape({{4, 130, 7}}, 5, 1);
  check_every_shape({{17, 1, 2}}, 0);
  check_every_shape({{1, 19, 1}}, 1);
  check_every_shape({{1, 1, 12}}, 2);
  check_every_shape({{2, 11, 3}}, 3);
}

TEST_CASE("fft: every option under every shape", "[small]") {
  const Context context = make_context();
  const AllSignals signals({{9, 10, 12}}, 3);
  for (const FftOptions& options : option_mix())
    for (const DecompositionOptions& split : shapes(context.comm.size()))
      signals.check_all(context, split, options);
}

TEST_CASE("fft: parts of any size") {
  const Context context = make_context();
  const AllSignals signals({{8, 9, 10}}, 2);
  for (const Index chunk_bytes : {1, 17, 4096, 1 << 30})
    for (const NodeExchange exchange : {NodeExchange::shared_memory, NodeExchange::messages})
      signals.check_all(context, {.split = chunk_bytes == 17 ? Split::pencil : Split::automatic},
                        {.restore_order = chunk_bytes == 17,
                         .batch = 2,
                         .node_exchange = exchange,
                         .chunk_bytes = chunk_bytes});
}

TEST_CASE("fft: every transport, short messages, several threads") {
  CommunicatorOptions options;
  SECTION("staged") { options.transport = Transport::staged; }
  SECTION("direct") { options.transport = Transport::gpu_aware; }
  SECTION("short messages") { options.chunk_bytes = 1000; }
  SECTION("short messages, staged") {
    options.transport = Transport::staged;
    options.chunk_bytes = 1000;
  }
  Context context = make_context(options);
  const AllSignals signals(GridIndex{{14, 10, 18}});
  const std::vector<DecompositionOptions> all = shapes(context.comm.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    context.exec = host_exec(i % 2 == 0 ? 3 : 1);
    signals.check_all(context, all[i]);
    signals.check_all(
        context, all[i],
        {.restore_order = true, .node_exchange = NodeExchange::messages, .chunk_bytes = 2000});
  }
}

TEST_CASE("fft: staged messages that are longer to receive than to send") {
  CommunicatorOptions options;
  options.transport = Transport::staged;
  const Context context = make_context(options);
  for (const GridIndex& num :
       {GridIndex{{16, 1, 16}}, GridIndex{{16, 5, 64}}, GridIndex{{1, 16, 16}}}) {
    const AllSignals signals(num);
    for (const DecompositionOptions& split : shapes(context.comm.size()))
      signals.check_all(context, split, {.node_exchange = NodeExchange::messages});
  }
}

TEST_CASE("fft: three threads of each rank") {
  Context context = make_context();
  context.exec = host_exec(3);
  const AllSignals signals({{20, 21, 22}}, 3);
  const AllSignals of_long_lines(GridIndex{{133, 132, 2}});
  for (const DecompositionOptions& split : shapes(context.comm.size())) {
    of_long_lines.check_all(context, split);
    signals.check_all(context, split, {.batch = 3, .node_exchange = NodeExchange::messages});
    signals.check_all(
        context, split,
        {.restore_order = true, .node_exchange = NodeExchange::shared_memory, .chunk_bytes = 5000});
  }
}

TEST_CASE("fft: plans that are measured are right, too") {
  const Context context = make_context();
  const AllSignals signals(GridIndex{{12, 10, 8}});
  signals.check_all(context, {}, {.effort = PlanEffort::measure});
  signals.check_all(context, {.split = Split::pencil},
                    {.restore_order = true, .effort = PlanEffort::measure});
}
