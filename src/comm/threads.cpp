#include "zhalo/comm/threads.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <memory>
#include <mutex>
#include <numeric>
#include <string>
#include <thread>
#include <utility>

#include "kernels/memory.hpp"
#include "kernels/on.hpp"
#include "src/comm/state.hpp"
#include "src/comm/thread_group.hpp"
#include "zhalo/core/buffer.hpp"
#include "zhalo/core/error.hpp"
#include "zhalo/core/timers.hpp"

namespace zhalo {
namespace {

constexpr int max_ranks = 1024;
/// When one rank has given up, those that are still at work need so long to notice.
constexpr double longest_to_leave = 5;

std::string words_of(const std::exception_ptr& error) {
  try {
    if (error != nullptr) std::rethrow_exception(error);
  } catch (const std::exception& e) {
    return e.what();
  }
  return {};
}

/// What the threads share, and their caller as long as it waits. A thread that hangs keeps it.
class Team {
 public:
  using Work = std::function<void(int rank, std::unique_ptr<Network> network)>;

  Team(int num_ranks, Work work)
      : group_(std::make_shared<ThreadGroup>(num_ranks)),
        work_(std::move(work)),
        states_(static_cast<std::size_t>(num_ranks)) {}

  void run(int rank) {
    std::exception_ptr error;
    try {
      work_(rank, make_thread_network(group_, rank));
    } catch (const std::exception& e) {
      error = std::current_exception();
      if (!is_agreed(e)) group_->give_up(e.what());
    } catch (...) {  // what together() could not agree on
      constexpr const char* unknown = "unknown exception";
      error = std::make_exception_ptr(Error(unknown));
      group_->give_up(unknown);
    }
    const std::lock_guard lock(mutex_);
    ThreadState& state = states_[static_cast<std::size_t>(rank)];
    state.error = error;
    state.has_ended = true;
    changed_.notify_all();
  }

  /// For a thread that could not be started: the others need not wait for it.
  void leave_out(int first_rank, const std::string& why) {
    group_->give_up(why);
    const std::lock_guard lock(mutex_);
    for (auto rank = static_cast<std::size_t>(first_rank); rank < states_.size(); ++rank)
      states_[rank].has_ended = true;
  }

  /// Waits for all; once one of them has given up, only so long. Returns which have ended.
  std::vector<bool> wait(double seconds_to_leave) {
    constexpr auto look = std::chrono::milliseconds(20);
    std::optional<WaitedTime> since_given_up;
    std::unique_lock lock(mutex_);
    while (!changed_.wait_for(lock, look, [&] { return have_all_ended(); })) {
      if (since_given_up && since_given_up->look() > seconds_to_leave) break;
      if (!since_given_up && group_->is_given_up()) since_given_up.emplace();
    }
    std::vector<bool> have_ended;
    for (const ThreadState& state : states_) have_ended.push_back(state.has_ended);
    return have_ended;
  }

  /// Of the lowest rank that has more to say than why all gave up; else of the lowest rank; null:
  /// none.
  std::exception_ptr error() {
    const std::string why = group_->why_given_up();
    const std::lock_guard lock(mutex_);
    std::exception_ptr first;
    for (const ThreadState& state : states_) {
      if (state.error == nullptr) continue;
      if (words_of(state.error) != why) return state.error;
      if (first == nullptr) first = state.error;
    }
    return first;
  }

 private:
  struct ThreadState {
    bool has_ended = false;
    std::exception_ptr error;
  };

  bool have_all_ended() const {
    return std::all_of(states_.begin(), states_.end(),
                       [](const ThreadState& state) { return state.has_ended; });
  }

  std::shared_ptr<ThreadGroup> group_;
  Work work_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<ThreadState> states_;
};

/// Starts a thread for each rank; those that cannot be started count as ended.
std::vector<std::thread> start(const std::shared_ptr<Team>& team, int num_ranks) {
  std::vector<std::thread> threads;
  threads.reserve(static_cast<std::size_t>(num_ranks));  // no thread is lost for want of memory
  try {
    for (int rank = 0; rank < num_ranks; ++rank)
      threads.emplace_back([team, rank] { team->run(rank); });
  } catch (const std::exception& error) {
    team->leave_out(
        static_cast<int>(threads.size()),
        fmt::format("the thread of rank {} cannot be started: {}", threads.size(), error.what()));
  }
  return threads;
}

void run_team(int num_ranks, const Team::Work& work, double timeout_seconds) {
  const auto team = std::make_shared<Team>(num_ranks, work);
  std::vector<std::thread> threads = start(team, num_ranks);
  const double patience =
      timeout_seconds > 0 ? std::min(longest_to_leave, timeout_seconds) : longest_to_leave;
  const std::vector<bool> have_ended = team->wait(patience);
  int hanging = -1;
  for (std::size_t rank = 0; rank < threads.size(); ++rank) {
    if (have_ended[rank]) {
      threads[rank].join();
    } else {
      threads[rank].detach();
      if (hanging < 0) hanging = static_cast<int>(rank);
    }
  }
  const std::exception_ptr error = team->error();
  if (hanging >= 0)
    throw CommunicationError(fmt::format(
        "the thread of rank {} hangs and is left behind, so this process should end: {}", hanging,
        words_of(error)));
  if (error != nullptr) std::rethrow_exception(error);
  if (static_cast<int>(threads.size()) < num_ranks)
    throw Error(fmt::format("only {} of {} threads could be started", threads.size(), num_ranks));
}

using ChooseExec = std::function<Exec(const Context& context)>;

/// Runs `work` as one rank, on the Exec that choose() gives it. Errors are those of all ranks.
Team::Work rank_of(const std::function<void(Context&)>& work, const CommunicatorOptions& options,
                   const ChooseExec& choose) {
  return [=](int, std::unique_ptr<Network> network) {
    Context context;
    context.comm = make_communicator(std::move(network), options);
    context.comm.together([&] {
      context.exec = together(context.comm, [&] { return choose(context); });
      const kernels::DeviceInUse device(context.exec);
      work(context);
    });
  };
}

/// Whether what devices copy from each other arrives. Where an IOMMU translates the addresses of a
/// machine without virtualisation, copies may be lost, and the driver says nothing.
bool copies_arrive(const std::vector<int>& devices) {
  constexpr Index num = 1 << 13;  // more than a page
  const char* purpose = "a probe of copies between devices";
  const std::vector<Index> zeros(num);
  std::vector<Exec> execs;
  std::vector<Buffer<Index>> sources;
  for (const int device : devices) {
    execs.push_back(cuda_exec(device));
    std::vector<Index> values(num);
    std::iota(values.begin(), values.end(), 1 + device * num);
    sources.push_back(to_exec(execs.back(), Span<const Index>(values), purpose));
    synchronise(execs.back());
  }
  for (std::size_t to = 0; to < devices.size(); ++to) {
    for (std::size_t from = 0; from < devices.size(); ++from) {
      if (devices[to] == devices[from]) continue;
      Buffer<Index> target = to_exec(execs[to], Span<const Index>(zeros), purpose);
      kernels::on(execs[to], [&](const auto& e) {
        kernels::copy_from_any_device(e, target.data(), sources[from].data(), num * sizeof(Index));
      });
      if (to_host(execs[to], target) != to_host(execs[from], sources[from])) return false;
    }
  }
  return true;
}

/// Connects devices whose ranks are threads, and says how arrays then travel between them.
Transport connect(const std::vector<int>& devices, Transport wanted) {
  if (wanted == Transport::nccl) return wanted;  // it connects them in its own way
  kernels::connect_devices(devices);
  if (wanted == Transport::staged || copies_arrive(devices)) return wanted;
  kernels::disconnect_devices(devices);
  if (copies_arrive(devices)) return wanted;
  if (wanted == Transport::gpu_aware)
    throw DeviceError(
        "copies between devices do not arrive (an IOMMU may be in the way: boot Linux with "
        "iommu=pt); leave the transport to zhalo, or choose staged");
  return Transport::staged;
}

}  // namespace

void run_on_devices(const std::vector<int>& devices, const std::function<void(Context&)>& work,
                    const CommunicatorOptions& options) {
  if (devices.empty() || static_cast<int>(devices.size()) > max_ranks)
    throw InputError(
        fmt::format("{} devices are named (must be 1 to {})", devices.size(), max_ranks));
  for (const int device : devices) static_cast<void>(cuda_exec(device));
  CommunicatorOptions connected = options;
  connected.transport = connect(devices, chosen_transport(options.transport));
  const auto choose = [devices](const Context& context) {
    return cuda_exec(devices[static_cast<std::size_t>(context.comm.rank())]);
  };
  run_team(static_cast<int>(devices.size()), rank_of(work, connected, choose), timeout_of(options));
}

void run_on_threads(int num_ranks, const std::function<void(Context&)>& work,
                    const CommunicatorOptions& options) {
  if (num_ranks < 1 || num_ranks > max_ranks)
    throw InputError(fmt::format("number of ranks is {} (must be 1 to {})", num_ranks, max_ranks));
  const auto choose = [](const Context& context) { return host_exec(fair_threads(context.comm)); };
  run_team(num_ranks, rank_of(work, options, choose), timeout_of(options));
}

std::vector<int> all_devices() {
  const DeviceReport report = query_devices();
  if (report.num_devices == 0)
    throw DeviceError(fmt::format("no CUDA device can be used: {}", report.reason));
  std::vector<int> devices(static_cast<std::size_t>(report.num_devices));
  std::iota(devices.begin(), devices.end(), 0);
  return devices;
}

}  // namespace zhalo
