#include "src/knn/way_back.hpp"
#include "kernels/on.hpp"
#include "src/core/synchronise.hpp"

#include <cstddef>
#include <vector>

namespace zhalo {
namespace {

/// The queries' places, and themselves, in the order of the ranks that they came from.
struct Routes {
  std::vector<Index> counts;
  std::vector<LocalIndex> order;
  std::vector<LocalIndex> indices;
};

Routes sort_by_rank(const std::vector<ParticleLocation>& origins, int num_ranks) {
  Routes routes{std::vector<Index>(static_cast<std::size_t>(num_ranks)),
                std::vector<LocalIndex>(origins.size()), std::vector<LocalIndex>(origins.size())};
  for (const ParticleLocation& origin : origins)
    ++routes.counts[static_cast<std::size_t>(origin.rank)];
  std::vector<std::size_t> next(routes.counts.size());
  for (std::size_t r = 1; r < next.size(); ++r)
    next[r] = next[r - 1] + static_cast<std::size_t>(routes.counts[r - 1]);
  for (std::size_t i = 0; i < origins.size(); ++i) {
    const std::size_t at = next[static_cast<std::size_t>(origins[i].rank)]++;
    routes.order[at] = static_cast<LocalIndex>(i);
    routes.indices[at] = origins[i].index;
  }
  return routes;
}

}  // namespace

template <class Real>
WayBack<Real>::WayBack(const Context& context, const PlacedParticles<Real>& queries, Index first,
                       Index num)
    : context_(context), alone_(context.comm.size() == 1) {
  const Exec& exec = context.exec;
  if (alone_) {
    indices_ =
        to_exec(exec, Span<const LocalIndex>(queries.sorted.order.span()).subspan(first, num),
                "places of queries");
    return;
  }
  Buffer<ParticleLocation> origins(exec, num, "origins of queries");
  find_origins(exec, queries, first, origins.span());
  const Routes routes = sort_by_rank(to_host(exec, origins), context.comm.size());
  plan_ = context.comm.plan_exchange(routes.counts);
  order_ = to_exec(exec, Span<const LocalIndex>(routes.order), "order of results");
  const auto sent = to_exec(exec, Span<const LocalIndex>(routes.indices), "places of results");
  indices_ = Buffer<LocalIndex>(exec, plan_.num_received(), "places of results");
  context.comm.exchange(exec, plan_, Span<const LocalIndex>(sent.span()), indices_.span());
}

template <class Real>
void WayBack<Real>::put(const void* values, Index element_size, void* result) const {
  const Exec& exec = context_.exec;
  const auto scatter = [&](const void* from) {
    const kernels::MovedColumn moved{from, result, element_size};
    kernels::on(exec, [&](const auto& e) {
      kernels::scatter(e, moved, Span<const LocalIndex>(indices_.span()));
    });
  };
  if (alone_) {
    scatter(values);
    return synchronise(exec);
  }
  Buffer<std::byte> sent(exec, order_.size() * element_size, "results to send");
  Buffer<std::byte> received(exec, indices_.size() * element_size, "results received");
  const kernels::MovedColumn moved{values, sent.data(), element_size};
  kernels::on(exec, [&](const auto& e) {
    kernels::gather(e, moved, Span<const LocalIndex>(order_.span()));
  });
  context_.comm.exchange(exec, plan_, {{sent.data(), received.data(), element_size}});
  scatter(received.data());
  synchronise(exec);
}

template class WayBack<float>;
template class WayBack<double>;

}  // namespace zhalo
