#include "src/comm/thread_group.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <cstring>
#include <functional>
#include <thread>
#include <utility>
#include <vector>

#include "kernels/memory.hpp"
#include "kernels/on.hpp"
#include "zhalo/core/error.hpp"

namespace zhalo {

// What threads share (thread_group.hpp).

void Mailbox::put(const LetterName& name, const std::shared_ptr<Letter>& letter) {
  const std::lock_guard lock(mutex_);
  letters_[name] = letter;
}

std::shared_ptr<Letter> Mailbox::take(const LetterName& name) {
  const std::lock_guard lock(mutex_);
  const auto found = letters_.find(name);
  if (found == letters_.end()) return nullptr;
  std::shared_ptr<Letter> letter = std::move(found->second);
  letters_.erase(found);
  letter->stage = Letter::Stage::is_copied;
  return letter;
}

void Mailbox::confirm(Letter& letter) {
  {
    const std::lock_guard lock(mutex_);
    letter.stage = Letter::Stage::is_taken;
  }
  changed_.notify_all();
}

bool Mailbox::is_taken(const Letter& letter) const {
  const std::lock_guard lock(mutex_);
  return letter.stage == Letter::Stage::is_taken;
}

void Mailbox::withdraw(const LetterName& name, const Letter& letter) {
  std::unique_lock lock(mutex_);
  if (letter.stage == Letter::Stage::waits) letters_.erase(name);
  changed_.wait(lock, [&] { return letter.stage != Letter::Stage::is_copied; });
}

std::optional<int> Mailbox::find(int tag, const LetterCounts& received) const {
  const auto is_new = [&](const LetterName& name) {
    const auto next = received.find({name.from, tag});
    return name.tag == tag && (next == received.end() || name.number >= next->second);
  };
  const std::lock_guard lock(mutex_);
  const auto found = std::find_if(letters_.begin(), letters_.end(),
                                  [&](const auto& letter) { return is_new(letter.first); });
  return found == letters_.end() ? std::nullopt : std::optional<int>(found->first.from);
}

std::shared_ptr<Round> ThreadGroup::join(Index number, int rank, std::vector<char> bytes) {
  const std::lock_guard lock(mutex_);
  std::shared_ptr<Round>& slot = rounds_[number];
  if (slot == nullptr) slot = std::make_shared<Round>(size_);
  std::shared_ptr<Round> round = slot;
  round->brought[static_cast<std::size_t>(rank)] = std::move(bytes);
  // What was brought is written before a rank can see that it is the last.
  if (round->num_missing.fetch_sub(1, std::memory_order_acq_rel) == 1) rounds_.erase(number);
  return round;
}

std::shared_ptr<ThreadGroup> ThreadGroup::part(Index number, int colour, int size) {
  const std::lock_guard lock(mutex_);
  Part& part = parts_[{number, colour}];
  if (part.group == nullptr) part.group = std::make_shared<ThreadGroup>(size, shared_from_this());
  std::shared_ptr<ThreadGroup> group = part.group;
  if (++part.num_asked == size) parts_.erase({number, colour});
  return group;
}

void ThreadGroup::give_up(const std::string& why) noexcept {
  const std::lock_guard lock(mutex_);
  if (is_given_up_.load(std::memory_order_relaxed)) return;
  try {
    why_given_up_ = why;
  } catch (const std::bad_alloc&) {
    why_given_up_.clear();
  }
  is_given_up_.store(true, std::memory_order_release);
}

std::string ThreadGroup::why_given_up() const {
  const std::lock_guard lock(mutex_);
  const bool is_of_whole = !is_given_up_.load(std::memory_order_relaxed) && whole_ != nullptr;
  return is_of_whole ? whole_->why_given_up() : why_given_up_;
}

void ThreadGroup::check() const {
  if (!is_given_up()) return;
  const std::string why = why_given_up();
  throw CommunicationError(why.empty() ? "another rank has given up" : why);
}

// The network.

namespace {

bool is_on_device(const Exec* exec) {
  return exec != nullptr && std::holds_alternative<Cuda>(*exec);
}

/// Copies and waits, on the receiver's thread. Both sides may be of different devices. Lengths that
/// differ are no failure of a device, after which the other messages would go on.
void copy(const Parcel& to, const Parcel& from) {
  if (to.bytes != from.bytes)
    throw CommunicationError(
        fmt::format("rank {} sends {} bytes where {} are received", to.peer, from.bytes, to.bytes));
  if (to.bytes == 0) return;
  const Exec* exec = is_on_device(to.exec) ? to.exec : from.exec;
  if (!is_on_device(exec)) {
    std::memcpy(to.data, from.data, to.bytes);
    return;
  }
  kernels::on(*exec, [&](const auto& e) {
    kernels::copy_from_any_device(e, to.data, from.data, to.bytes);
  });
}

class Sending final : public NetworkRequest {
 public:
  Sending(std::shared_ptr<ThreadGroup> group, const LetterName& name, const Parcel& parcel)
      : group_(std::move(group)),
        name_(name),
        mailbox_(group_->mailbox(parcel.peer)),
        letter_(std::make_shared<Letter>(Letter{parcel})) {
    mailbox_.put(name_, letter_);
  }
  ~Sending() override { mailbox_.withdraw(name_, *letter_); }
  Sending(const Sending&) = delete;
  Sending& operator=(const Sending&) = delete;

  bool is_done() override {
    if (mailbox_.is_taken(*letter_)) return true;
    group_->check();
    return false;
  }

 private:
  std::shared_ptr<ThreadGroup> group_;
  LetterName name_;
  Mailbox& mailbox_;
  std::shared_ptr<Letter> letter_;
};

class Receiving final : public NetworkRequest {
 public:
  Receiving(std::shared_ptr<ThreadGroup> group, int rank, const LetterName& name,
            const Parcel& parcel)
      : group_(std::move(group)), mailbox_(group_->mailbox(rank)), name_(name), parcel_(parcel) {}

  bool is_done() override {
    const std::shared_ptr<Letter> letter = mailbox_.take(name_);
    if (letter == nullptr) {
      group_->check();
      return false;
    }
    try {
      copy(parcel_, letter->parcel);
    } catch (...) {
      mailbox_.confirm(*letter);
      throw;
    }
    mailbox_.confirm(*letter);
    return true;
  }

 private:
  std::shared_ptr<ThreadGroup> group_;
  Mailbox& mailbox_;
  LetterName name_;
  Parcel parcel_;
};

/// What all ranks have brought, in their order.
using Brought = std::vector<std::vector<char>>;

/// Ranks that are in the same operation bring as many bytes each.
CommunicationError different_operations() {
  return CommunicationError(
      "ranks are in different operations, or give them different numbers of values; all must make "
      "the same calls in the same order");
}

/// Waits for a round, then makes this rank's result of it.
class Gathering final : public NetworkRequest {
 public:
  using Finish = std::function<void(const Brought&)>;

  Gathering(std::shared_ptr<ThreadGroup> group, std::shared_ptr<Round> round, Finish finish)
      : group_(std::move(group)), round_(std::move(round)), finish_(std::move(finish)) {}

  bool is_done() override {
    if (!round_->is_complete()) {
      group_->check();
      return false;
    }
    finish_(round_->brought);
    return true;
  }

 private:
  std::shared_ptr<ThreadGroup> group_;
  std::shared_ptr<Round> round_;
  Finish finish_;
};

template <class T>
std::vector<char> bytes_of(Span<T> values) {
  const auto* begin = reinterpret_cast<const char*>(values.data());
  return {begin, begin + static_cast<std::size_t>(values.size()) * sizeof(T)};
}

template <class T>
T value_in(const std::vector<char>& bytes, std::size_t number) {
  T value;
  std::memcpy(&value, bytes.data() + number * sizeof(T), sizeof(T));
  return value;
}

template <class T>
T combined(T a, T b, RankReduction reduction) {
  switch (reduction) {
    case RankReduction::sum: return a + b;
    case RankReduction::min: return std::min(a, b);
    case RankReduction::max: break;
  }
  return std::max(a, b);
}

class ThreadNetwork final : public Network {
 public:
  ThreadNetwork(std::shared_ptr<ThreadGroup> group, int rank, std::vector<int> ranks_in_whole)
      : group_(std::move(group)), ranks_in_whole_(std::move(ranks_in_whole)) {
    set_layout({rank, group_->size(), rank, group_->size()});
  }

  bool keeps_memory() const override { return false; }
  bool is_of_threads() const override { return true; }

  std::unique_ptr<NetworkRequest> send(const Parcel& parcel) override {
    const Index number = sent_[{parcel.peer, parcel.tag}]++;
    return std::make_unique<Sending>(group_, LetterName{layout().rank, parcel.tag, number}, parcel);
  }
  std::unique_ptr<NetworkRequest> send_synchronously(const Parcel& parcel) override {
    return send(parcel);
  }
  std::unique_ptr<NetworkRequest> receive(const Parcel& parcel) override {
    const Index number = received_[{parcel.peer, parcel.tag}]++;
    return std::make_unique<Receiving>(group_, layout().rank,
                                       LetterName{parcel.peer, parcel.tag, number}, parcel);
  }
  std::optional<int> find_arrived(int tag) override {
    return group_->mailbox(layout().rank).find(tag, received_);
  }

  std::unique_ptr<NetworkRequest> barrier() override {
    return gathering({}, [](const Brought&) {});
  }
  std::unique_ptr<NetworkRequest> reduce(Span<Index> in_place, RankReduction reduction) override {
    return reduction_of(in_place, reduction);
  }
  std::unique_ptr<NetworkRequest> reduce(Span<double> in_place, RankReduction reduction) override {
    return reduction_of(in_place, reduction);
  }
  std::unique_ptr<NetworkRequest> exclusive_sum(Span<Index> in_place, Span<Index>) override {
    const auto rank = static_cast<std::size_t>(layout().rank);
    return gathering(bytes_of(in_place), [in_place, rank](const Brought& all) {
      for (Index i = 0; i < in_place.size(); ++i) {
        in_place[i] = 0;
        for (std::size_t r = 0; r < rank; ++r)
          in_place[i] += value_in<Index>(all[r], static_cast<std::size_t>(i));
      }
    });
  }
  std::unique_ptr<NetworkRequest> broadcast(Span<char> bytes, int root) override {
    std::vector<char> own;
    if (layout().rank == root) own = bytes_of(bytes);
    return start(std::move(own), [bytes, root](const Brought& all) {
      const std::vector<char>& text = all[static_cast<std::size_t>(root)];
      if (static_cast<Index>(text.size()) != bytes.size()) throw different_operations();
      std::copy(text.begin(), text.end(), bytes.begin());
    });
  }
  std::unique_ptr<NetworkRequest> all_gather(Span<const char> record, Span<char> all) override {
    return gathering(bytes_of(record), [all](const Brought& brought) {
      char* to = all.begin();
      for (const std::vector<char>& one : brought) to = std::copy(one.begin(), one.end(), to);
    });
  }
  std::unique_ptr<NetworkRequest> all_to_all(Span<const Index> sent,
                                             Span<Index> received) override {
    const auto rank = static_cast<std::size_t>(layout().rank);
    return gathering(bytes_of(sent), [received, rank](const Brought& all) {
      for (Index r = 0; r < received.size(); ++r)
        received[r] = value_in<Index>(all[static_cast<std::size_t>(r)], rank);
    });
  }

  std::unique_ptr<Network> split(int colour) override {
    const Index number = num_rounds_;
    std::vector<int> members;
    int own = 0;
    const Span<const int> mine(&colour, 1);
    const auto request = gathering(bytes_of(mine), [&](const Brought& all) {
      for (std::size_t r = 0; r < all.size(); ++r) {
        if (value_in<int>(all[r], 0) != colour) continue;
        if (static_cast<int>(r) == layout().rank) own = static_cast<int>(members.size());
        members.push_back(static_cast<int>(r));
      }
    });
    while (!request->is_done()) std::this_thread::yield();
    const int size = static_cast<int>(members.size());
    return std::make_unique<ThreadNetwork>(group_->part(number, colour, size), own,
                                           std::move(members));
  }
  std::unique_ptr<Network> split_by_machine() override { return split(0); }
  std::vector<int> ranks_of(const Network& part) const override {
    return dynamic_cast<const ThreadNetwork&>(part).ranks_in_whole_;
  }

  void give_up(const std::string& why) noexcept override { group_->give_up(why); }

 private:
  std::unique_ptr<NetworkRequest> start(std::vector<char> own, Gathering::Finish finish) {
    return std::make_unique<Gathering>(
        group_, group_->join(num_rounds_++, layout().rank, std::move(own)), std::move(finish));
  }
  /// Of operations to which all ranks bring as many bytes.
  std::unique_ptr<NetworkRequest> gathering(std::vector<char> own, Gathering::Finish finish) {
    return start(std::move(own), [finish = std::move(finish)](const Brought& all) {
      for (const std::vector<char>& one : all)
        if (one.size() != all.front().size()) throw different_operations();
      finish(all);
    });
  }
  /// From rank 0 upwards: the same on all ranks, also for floating numbers.
  template <class T>
  std::unique_ptr<NetworkRequest> reduction_of(Span<T> in_place, RankReduction reduction) {
    return gathering(bytes_of(in_place), [in_place, reduction](const Brought& all) {
      for (Index i = 0; i < in_place.size(); ++i) {
        const auto at = static_cast<std::size_t>(i);
        T value = value_in<T>(all[0], at);
        for (std::size_t r = 1; r < all.size(); ++r)
          value = combined(value, value_in<T>(all[r], at), reduction);
        in_place[i] = value;
      }
    });
  }

  std::shared_ptr<ThreadGroup> group_;
  std::vector<int> ranks_in_whole_;
  LetterCounts sent_;
  LetterCounts received_;
  Index num_rounds_ = 0;
};

}  // namespace

std::unique_ptr<Network> make_thread_network(std::shared_ptr<ThreadGroup> group, int rank) {
  return std::make_unique<ThreadNetwork>(std::move(group), rank, std::vector<int>{});
}

}  // namespace zhalo
