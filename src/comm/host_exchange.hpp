/// Exchanges of what ranks have in memory of the host.
#pragma once

#include <cstddef>
#include <iterator>
#include <utility>
#include <vector>

#include "zhalo/comm/communicator.hpp"
#include "zhalo/core/exec.hpp"
#include "zhalo/core/span.hpp"

namespace zhalo {

/// What this rank receives by the plan. Collective.
template <class T>
std::vector<T> exchanged(const Communicator& comm, const ExchangePlan& plan,
                         const std::vector<T>& sent) {
  std::vector<T> received(static_cast<std::size_t>(plan.num_received()));
  comm.exchange(host_exec(1), plan, Span<const T>(sent), Span<T>(received));
  return received;
}

/// What the ranks have for this one, in their order.
template <class T>
struct Received {
  ExchangePlan plan;
  std::vector<T> elements;
};

/// Sends each rank what is for it. Collective.
template <class T>
Received<T> exchanged(const Communicator& comm, const std::vector<std::vector<T>>& for_ranks) {
  std::vector<T> sent;
  std::vector<Index> counts;
  for (const std::vector<T>& for_rank : for_ranks) {
    counts.push_back(std::ssize(for_rank));
    sent.insert(sent.end(), for_rank.begin(), for_rank.end());
  }
  ExchangePlan plan = comm.plan_exchange(counts);
  std::vector<T> elements = exchanged(comm, plan, sent);
  return {std::move(plan), std::move(elements)};
}

}  // namespace zhalo
