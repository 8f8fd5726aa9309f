/// Transforms over ranks of grids that are too large for direct sums: against FFTW's on one core.
#include "tests/mpi/fft/fft_case.hpp"
#include "tests/support/fftw_dft.hpp"

namespace {

using namespace zhalo;
using namespace zhalo::testing;

}  // namespace

TEST_CASE("fft: a cube, every shape") {
  const Context context = make_context();
  constexpr Index side = ZHALO_CHECKED ? 24 : 48;
  const AllSignals signals({{side, side, side}}, 1, fftw_dft);
  const std::vector<FftOptions> options = {
      {}, {.node_exchange = NodeExchange::messages}, {.restore_order = true}};
  std::size_t next = 0;
  for (const DecompositionOptions& split : shapes(context.comm.size()))
    signals.check_all(context, split, options[next++ % options.size()]);
}

TEST_CASE("fft: a cube in parts of 64 kB") {
  const Context context = make_context();
  constexpr Index side = ZHALO_CHECKED ? 40 : 64;
  const Signals signals({{side, side, side}}, Signals::Kind::real, 1, fftw_dft);
  check_fft<double>(context, signals, {.split = Split::slab},
                    {.node_exchange = NodeExchange::messages, .chunk_bytes = 1 << 16});
  check_fft<float>(context, signals, {.split = Split::pencil},
                   {.node_exchange = NodeExchange::shared_memory, .chunk_bytes = 1 << 16});
}

TEST_CASE("fft: 96 x 80 x 90") {
  if (ZHALO_CHECKED) return;
  const Context context = make_context();
  const Signals signals({{96, 80, 90}}, Signals::Kind::real, 1, fftw_dft);
  check_fft<float>(context, signals, {.split = Split::slab});
  check_fft<double>(context, signals, {.split = Split::pencil}, {.restore_order = true});
}
