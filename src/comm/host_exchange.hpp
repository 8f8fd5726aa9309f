/// Exchanges of what ranks have in memory of the host.
#pragma once

#include <cstddef>
#include <iterator>
#include <utility>
#include <vector>

#include "zhalo/comm/communicator.hpp"
#include "zhalo/core/buffer.hpp"
#include "zhalo/core/exec.hpp"
#include "zhalo/core/span.hpp"

namespace zhalo {

/// What this rank receives by the plan. Collective.
template <class T>
std::vector<T> exchanged(const Communicator& comm, const ExchangePlan& plan,
                         const std::vector<T>& sent) {
  // Not from and to the vectors: MPI may use the memory after a wait that was given up.
  const Exec exec = host_exec(1);
  const Buffer<T> to_send = to_exec(exec, Span<const T>(sent), "records for other ranks");
  Buffer<T> received(exec, plan.num_received(), "records of other ranks");
  comm.exchange(exec, plan, to_send.span(), received.span());
  return to_host(exec, received);
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
