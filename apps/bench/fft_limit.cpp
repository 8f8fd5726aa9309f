#include "fft_limit.hpp"

#include <algorithm>
#include <functional>
#include <limits>
#include <vector>

#include "fft_case.hpp"
#include "zhalo/core/buffer.hpp"
#include "zhalo/core/for_each.hpp"

namespace zhalo::bench {
namespace {

constexpr int turns = 4;
constexpr Index piece = Index{1} << 14;

/// Reads and writes piece i of an array in place.
struct NegatePiece {
  float* values;
  Index size;

  void operator()(Index i) const {
    const Index end = std::min(size, (i + 1) * piece);
    for (Index k = i * piece; k < end; ++k) values[k] = -values[k];
  }
};

/// The least of some turns, the first one left out: it touches new pages.
double min_seconds(const Communicator& comm, const std::function<void()>& work) {
  double least = std::numeric_limits<double>::max();
  work();
  for (int turn = 0; turn < turns; ++turn) least = std::min(least, seconds_of(comm, work));
  return least;
}

double memory_bandwidth(const Context& context, Index size) {
  Buffer<float> array(context.exec, size, "array to measure the memory");
  std::fill_n(array.data(), size, 1.0F);
  const double seconds = min_seconds(context.comm, [&] {
    for_each(context.exec, (size + piece - 1) / piece, NegatePiece{array.data(), size});
  });
  return 2 * static_cast<double>(size * Index{sizeof(float)}) / seconds;
}

double link_bandwidth(const Context& context, Index size) {
  const Communicator& comm = context.comm;
  if (comm.size() == 1) return 0;
  const Index part = std::max<Index>(1, size / comm.size());
  std::vector<Index> counts(static_cast<std::size_t>(comm.size()), part);
  counts[static_cast<std::size_t>(comm.rank())] = 0;
  const ExchangePlan plan = comm.plan_exchange(counts);
  Buffer<float> sent(context.exec, plan.num_sent(), "array to send");
  Buffer<float> received(context.exec, plan.num_received(), "array to receive");
  std::fill_n(sent.data(), sent.size(), 1.0F);
  const double seconds = min_seconds(comm, [&] {
    comm.exchange(context.exec, plan, Span<const float>(sent.span()), received.span());
  });
  return static_cast<double>(plan.num_sent() * Index{sizeof(float)}) / seconds;
}

}  // namespace

Bandwidths measure_bandwidths(const Context& context, Index bytes) {
  const Index size = std::max<Index>(1, bytes / Index{sizeof(float)});
  return {memory_bandwidth(context, size), link_bandwidth(context, size)};
}

FftLimit limit_of(const Bandwidths& bandwidths, double bytes, const std::array<int, 2>& shape) {
  double passes = 6;
  double crossing = 0;
  for (const int ranks : shape) {
    if (ranks > 1) passes += 2;
    crossing += 1 - 1 / static_cast<double>(ranks);
  }
  return {passes * bytes / bandwidths.memory,
          crossing > 0 ? crossing * bytes / bandwidths.link : 0};
}

}  // namespace zhalo::bench
