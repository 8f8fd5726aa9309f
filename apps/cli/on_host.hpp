/// Columns and records where the writers can see them.
#pragma once

#include <variant>
#include <vector>

#include "zhalo/comm/communicator.hpp"
#include "zhalo/core/buffer.hpp"

namespace zhalo::app {

/// A copy of device memory, or the host memory itself.
template <class T>
class OnHost {
 public:
  OnHost(const Exec& exec, Span<const T> column) : view_(column) {
    if (std::holds_alternative<Host>(exec)) return;
    copy_ = to_host(exec, column);
    view_ = copy_;
  }
  OnHost(const Exec& exec, const Buffer<T>& column) : OnHost(exec, column.span()) {}
  Span<const T> view() const { return view_; }

 private:
  std::vector<T> copy_;
  Span<const T> view_;
};

/// What all ranks have, in their order, on rank 0; empty on others. Collective.
template <class T>
std::vector<T> on_rank_0(const Communicator& comm, const std::vector<T>& own) {
  std::vector<Index> counts(static_cast<std::size_t>(comm.size()));
  counts[0] = static_cast<Index>(own.size());
  const ExchangePlan plan = comm.plan_exchange(counts);
  // Not from and to vectors: MPI may use the memory after a wait that was given up.
  const Exec exec = host_exec(1);
  const Buffer<T> sent = to_exec(exec, Span<const T>(own), "records for rank 0");
  Buffer<T> received(exec, plan.num_received(), "records of all ranks");
  comm.exchange(exec, plan, sent.span(), received.span());
  return to_host(exec, received);
}

}  // namespace zhalo::app
