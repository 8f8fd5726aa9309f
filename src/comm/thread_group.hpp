/// Ranks that are threads of one process, and what they share: mailboxes for messages, and rounds
/// of collective operations.
#pragma once

#include <atomic>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "src/comm/network.hpp"

namespace zhalo {

/// A message that waits for its receiver, who copies it from where it lies.
struct Letter {
  enum class Stage { waits, is_copied, is_taken };

  Parcel parcel;
  Stage stage = Stage::waits;  ///< guarded by the mailbox
};

/// Tells a message from all others to the same rank.
struct LetterName {
  int from = 0;
  int tag = 0;
  Index number = 0;  ///< among those of this rank and tag

  bool operator<(const LetterName& other) const {
    return std::tie(from, tag, number) < std::tie(other.from, other.tag, other.number);
  }
};

/// Numbers of the next messages, by rank and tag.
using LetterCounts = std::map<std::pair<int, int>, Index>;

/// The letters to one rank.
class Mailbox {
 public:
  void put(const LetterName& name, const std::shared_ptr<Letter>& letter);
  /// The letter, to be copied and then confirmed; null if it is not there yet.
  std::shared_ptr<Letter> take(const LetterName& name);
  void confirm(Letter& letter);
  bool is_taken(const Letter& letter) const;
  /// It is not copied from now on: nobody has seen it, or it is taken.
  void withdraw(const LetterName& name, const Letter& letter);
  /// The sender of a letter with this tag for which no receiver is there: `received` counts those
  /// that are.
  std::optional<int> find(int tag, const LetterCounts& received) const;

 private:
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::map<LetterName, std::shared_ptr<Letter>> letters_;
};

/// A collective operation: what each rank brings.
struct Round {
  explicit Round(int num_ranks)
      : brought(static_cast<std::size_t>(num_ranks)), num_missing(num_ranks) {}

  bool is_complete() const { return num_missing.load(std::memory_order_acquire) == 0; }

  std::vector<std::vector<char>> brought;  ///< whole, and not changed, when it is complete
  std::atomic<int> num_missing;
};

class ThreadGroup : public std::enable_shared_from_this<ThreadGroup> {
 public:
  /// `whole`: the group of which it is a part.
  explicit ThreadGroup(int num_ranks, std::shared_ptr<const ThreadGroup> whole = nullptr)
      : size_(num_ranks),
        whole_(std::move(whole)),
        mailboxes_(static_cast<std::size_t>(num_ranks)) {}

  int size() const { return size_; }
  Mailbox& mailbox(int rank) { return mailboxes_[static_cast<std::size_t>(rank)]; }

  /// Brings a rank's bytes to the round with this number.
  std::shared_ptr<Round> join(Index number, int rank, std::vector<char> bytes);
  /// The group of `size` of these ranks, which all ask for it once with the same number and colour.
  std::shared_ptr<ThreadGroup> part(Index number, int colour, int size);

  /// From now on all ranks that wait, or begin to wait, throw a CommunicationError with the first
  /// `why`. So do those of its parts.
  void give_up(const std::string& why) noexcept;
  bool is_given_up() const {
    return is_given_up_.load(std::memory_order_acquire) ||
           (whole_ != nullptr && whole_->is_given_up());
  }
  /// The first `why`; empty: none.
  std::string why_given_up() const;
  /// CommunicationError if some rank has given up.
  void check() const;

 private:
  struct Part {
    std::shared_ptr<ThreadGroup> group;
    int num_asked = 0;
  };

  int size_;
  std::shared_ptr<const ThreadGroup> whole_;
  std::vector<Mailbox> mailboxes_;
  mutable std::mutex mutex_;  // of what follows
  std::map<Index, std::shared_ptr<Round>> rounds_;
  std::map<std::pair<Index, int>, Part> parts_;
  std::string why_given_up_;
  std::atomic<bool> is_given_up_{false};
};

/// The end of one rank, for the thread that is this rank.
std::unique_ptr<Network> make_thread_network(std::shared_ptr<ThreadGroup> group, int rank);

}  // namespace zhalo
