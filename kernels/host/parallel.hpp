/// Loops over the host's threads: for_each, transform_reduce, exclusive_scan, select.
#pragma once

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <numeric>
#include <thread>
#include <type_traits>
#include <vector>

#include "kernels/common/backend.hpp"
#include "zhalo/core/buffer.hpp"
#include "zhalo/core/exec.hpp"
#include "zhalo/core/span.hpp"

namespace zhalo::kernels {

/// Elements that one thread takes at a time where the work per element is even.
inline constexpr Index host_block = 1 << 14;

/// Grain of loops that go through a chunk of elements in order.
inline Index chunk_of_loop(const Host&) { return host_block; }

/// Items of for_each_with_lanes that should be there, for few large ones to pay.
inline Index items_at_once(const Host&) { return 0; }

inline int threads_of(const Host& exec) {
  return exec.threads > 0 ? exec.threads : available_threads();
}

/// Keeps the first exception of a parallel region, in which none may escape.
class FirstError {
 public:
  template <class F>
  void guard(const F& f) noexcept {
    try {
      f();
    } catch (...) {
      const std::lock_guard lock(mutex_);
      if (!error_) error_ = std::current_exception();
    }
  }
  void rethrow() const {
    if (error_) std::rethrow_exception(error_);
  }

 private:
  std::mutex mutex_;
  std::exception_ptr error_;
};

/// Runs task(0) to task(num_tasks - 1), each once, on the threads of `exec`, in any order.
template <class F>
void run_tasks(const Host& exec, Index num_tasks, const F& task) {
  FirstError error;
#if defined(ZHALO_STD_THREADS)
  // ThreadSanitizer knows std::thread, but not the OpenMP runtimes.
  std::atomic<Index> next{0};
  const auto work = [&] {
    for (Index t = next++; t < num_tasks; t = next++) error.guard([&] { task(t); });
  };
  std::vector<std::thread> threads;
  const Index extra = std::min<Index>(threads_of(exec), num_tasks) - 1;
  for (Index t = 0; t < extra; ++t) threads.emplace_back(work);
  work();
  for (std::thread& thread : threads) thread.join();
#else
  const int threads = static_cast<int>(std::clamp<Index>(num_tasks, 1, threads_of(exec)));
#pragma omp parallel for schedule(dynamic, 1) num_threads(threads) if (threads > 1)
  for (Index t = 0; t < num_tasks; ++t) error.guard([&] { task(t); });
#endif
  error.rethrow();
}

/// Runs body(first, last) for consecutive blocks of [0, n).
template <class F>
void for_each_block(const Host& exec, Index n, Index block, const F& body) {
  run_tasks(exec, (n + block - 1) / block,
            [&](Index b) { body(b * block, std::min(n, (b + 1) * block)); });
}

inline bool has_one_thread(const Host& exec) { return threads_of(exec) == 1; }

/// [0, n) in at most as many parts as there are threads. By run_tasks() one thread goes through a
/// part in order.
class OrderedParts {
 public:
  OrderedParts(const Host& exec, Index n)
      : n_(n), num_(std::clamp<Index>(n / host_block, 1, threads_of(exec))) {}

  Index num() const { return num_; }
  Index first(Index part) const { return n_ * part / num_; }
  Index end(Index part) const { return first(part + 1); }
  /// The part that has element i.
  Index of(Index i) const { return ((i + 1) * num_ - 1) / n_; }

 private:
  Index n_;
  Index num_;
};

/// Runs body(part, first, last) for blocks of elements of one part each.
template <class F>
void for_each_block(const Host& exec, const OrderedParts& parts, const F& body) {
  for_each_block(exec, parts.end(parts.num() - 1), host_block, [&](Index first, Index last) {
    for (Index end = last; first < last; first = end) {
      const Index part = parts.of(first);
      end = std::min(last, parts.end(part));
      body(part, first, end);
    }
  });
}

/// Elements that are worth waking a thread for: those of a functor with `long_elements` are loops
/// of their own, others are cheap.
template <class F>
constexpr Index smallest_block() {
  if constexpr (requires { F::long_elements; }) return 1;
  return 4096;
}

/// Runs f(i) for every i in [0, n), in any order. f is a value: what a device could run as well.
template <class F>
void for_each(const Host& exec, Index n, F f) {
  static_assert(std::is_trivially_copyable_v<F> && std::is_copy_constructible_v<F>,
                "values and pointers only");
  const Index block =
      std::clamp<Index>(n / (Index{threads_of(exec)} * 8), smallest_block<F>(), host_block);
  for_each_block(exec, n, block, [&](Index first, Index last) {
    Index i = first;
    if constexpr (requires { f.prefetch(Index{}); }) {
      for (; i < last - prefetch_distance; ++i) {
        f.prefetch(i + prefetch_distance);
        f(i);
      }
    }
    for (; i < last; ++i) f(i);
  });
}

/// Combines what reduce(first, last) gives for blocks of [0, n), from left to right: equal results
/// for any number of threads.
template <class T, class Reduce, class Combine>
T reduce_blocks(const Host& exec, Index n, T init, const Reduce& reduce, Combine combine) {
  std::vector<T> partial(static_cast<std::size_t>((n + host_block - 1) / host_block), init);
  for_each_block(exec, n, host_block, [&](Index first, Index last) {
    partial[static_cast<std::size_t>(first / host_block)] = reduce(first, last);
  });
  for (const T& sum : partial) init = combine(init, sum);
  return init;
}

/// Combines map(0) .. map(n - 1), from left to right within and over blocks: equal results for any
/// number of threads.
template <class T, class Map, class Combine>
T transform_reduce(const Host& exec, Index n, T init, Map map, Combine combine) {
  const auto reduce = [&](Index first, Index last) {
    T sum = init;
    for (Index i = first; i < last; ++i) sum = combine(sum, map(i));
    return sum;
  };
  return reduce_blocks(exec, n, init, reduce, combine);
}

template <class T, class Map, class Combine>
void queue_reduce(const Host& exec, Index n, const MapReduce<T, Map, Combine>& what, T* result) {
  *result = transform_reduce(exec, n, what.init, what.map, what.combine);
}

/// Replaces each element by the sum of those before it; returns the sum of all.
inline Index exclusive_scan(const Host& exec, Span<Index> values) {
  const Index num_blocks = (values.size() + host_block - 1) / host_block;
  std::vector<Index> before(static_cast<std::size_t>(num_blocks) + 1);
  const auto sum_before = [&](Index first) -> Index& {
    return before[static_cast<std::size_t>(first / host_block)];
  };
  for_each_block(exec, values.size(), host_block, [&](Index first, Index last) {
    sum_before(first) = std::accumulate(&values[first], values.data() + last, Index{0});
  });
  std::exclusive_scan(before.begin(), before.end(), before.begin(), Index{0});
  for_each_block(exec, values.size(), host_block, [&](Index first, Index last) {
    std::exclusive_scan(&values[first], values.data() + last, &values[first], sum_before(first));
  });
  return before.back();
}

inline void queue_scan(const Host& exec, Span<Index> values) {
  static_cast<void>(exclusive_scan(exec, values));
}

/// Counts (or, with `selected`, writes) the indices of one block that fulfil the condition.
template <class Condition>
struct SelectBlock {
  static constexpr bool long_elements = true;
  Condition condition;
  Index num = 0;
  Span<Index> counts;              ///< per block; after a scan, offsets
  LocalIndex* selected = nullptr;  ///< none: count

  void operator()(Index block) const {
    const Index last = std::min(num, (block + 1) * host_block);
    Index found = 0;
    for (Index i = block * host_block; i < last; ++i) {
      if (!condition(i)) continue;
      if (selected != nullptr) selected[counts[block] + found] = static_cast<LocalIndex>(i);
      ++found;
    }
    if (selected == nullptr) counts[block] = found;
  }
};

/// The i in [0, n) with condition(i), ascending, in the room that room_for(number of them) gives.
template <class Condition, class RoomFor>
void select_blocks(const Host& exec, Index n, Condition condition, const RoomFor& room_for) {
  const Index num_blocks = (n + host_block - 1) / host_block;
  std::vector<Index> counts(static_cast<std::size_t>(num_blocks));
  SelectBlock<Condition> select{condition, n, Span<Index>(counts)};
  for_each(exec, num_blocks, select);
  const Index num_selected = exclusive_scan(exec, Span<Index>(counts));
  select.selected = room_for(num_selected);
  if (num_selected > 0) for_each(exec, num_blocks, select);
}

template <class Condition>
Buffer<LocalIndex> select(const Host& exec, Index n, Condition condition) {
  Buffer<LocalIndex> selected;
  select_blocks(exec, n, condition, [&](Index num) {
    selected = Buffer<LocalIndex>(exec, num, "a selection");
    return selected.data();
  });
  return selected;
}

template <class Condition>
void queue_select(const Host& exec, Index n, Condition condition, LocalIndex* selected,
                  Index* num) {
  select_blocks(exec, n, condition, [&](Index num_selected) {
    *num = num_selected;
    return selected;
  });
}

}  // namespace zhalo::kernels
