/// Messages between ranks, cut into pieces of a bounded size.
#pragma once

#include <algorithm>
#include <array>
#include <deque>
#include <exception>
#include <memory>
#include <utility>
#include <vector>

#include "kernels/memory.hpp"
#include "kernels/nccl.hpp"
#include "kernels/on.hpp"
#include "src/comm/state.hpp"
#include "zhalo/core/buffer.hpp"
#include "zhalo/core/error.hpp"

namespace zhalo {

inline constexpr const char* data_operation = "exchange of data";
inline constexpr int data_tag = 2;
inline constexpr int part_tag = 3;

/// One message, or its part: bytes at an address, to or from a rank.
struct Piece {
  int peer = 0;
  char* data = nullptr;
  std::size_t bytes = 0;
};

/// Messages of one direction, in the order in which both sides of each pair think of them: the
/// first piece of each message, then the second of each that has one. With all pieces of a message
/// one after the other, a long message would keep those behind it waiting for its receiver, which
/// may itself wait for others: up to P/2 times as long on P ranks (counted in a model, where each
/// rank sends half of its data to each of two others).
class Pieces {
 public:
  Pieces(std::vector<kernels::Message> messages, Index max_bytes) {
    const auto max = static_cast<std::size_t>(max_bytes);
    for (std::size_t first = 0; !messages.empty(); first += max) {
      const auto is_through = [&](const kernels::Message& message) {
        return static_cast<std::size_t>(message.bytes) <= first;
      };
      messages.erase(std::remove_if(messages.begin(), messages.end(), is_through), messages.end());
      for (const kernels::Message& message : messages) {
        const std::size_t left = static_cast<std::size_t>(message.bytes) - first;
        all_.push_back(
            {message.peer, static_cast<char*>(message.data) + first, std::min(max, left)});
      }
    }
  }
  const std::vector<Piece>& all() const { return all_; }
  std::size_t longest() const {
    std::size_t bytes = 0;
    for (const Piece& piece : all_) bytes = std::max(bytes, piece.bytes);
    return bytes;
  }

 private:
  std::vector<Piece> all_;
};

inline constexpr int max_under_way = 16;  ///< messages, a direction

/// Room for the messages under way, where they do not travel from and to their arrays directly;
/// else none. As a Wire it is never freed when a wait was given up, because MPI may still use it.
class Staging {
 public:
  template <class S>
  Staging(S& state, const Exec& exec, std::size_t slot_bytes)
      : pool_(state.staging_for(exec)), is_lost_(state.memory_is_lost), slot_bytes_(slot_bytes) {
    if (pool_)
      block_ =
          static_cast<char*>(pool_->allocate(max_under_way * slot_bytes_, "staging of messages"));
  }
  ~Staging() {
    if (pool_ && !is_lost_) pool_->deallocate(block_);
  }
  Staging(const Staging&) = delete;
  Staging& operator=(const Staging&) = delete;

  bool is_used() const { return pool_ != nullptr; }
  std::size_t slot_bytes() const { return slot_bytes_; }
  void* slot(int s) const { return block_ + static_cast<std::size_t>(s) * slot_bytes_; }

 private:
  std::shared_ptr<MemoryPool> pool_;
  const bool& is_lost_;
  std::size_t slot_bytes_;
  char* block_ = nullptr;
};

/// Where messages go.
struct Channel {
  Network* network = nullptr;
  int tag = 0;
};

/// One direction of an exchange, which may grow while it goes on. At most `max_under_way` messages
/// are under way, started in order: the earliest unfinished message of all ranks is under way on
/// both of its sides, so the exchange ends. So it does where a copy to or from the staging fails,
/// as on a device that is broken: then the messages travel with anything in them, and failure() is
/// to be told to all ranks in the end.
///
/// Copies to and from the staging go on while other messages travel.
class MessageStream {
 public:
  enum class Direction { send, receive };

  MessageStream(Direction direction, const Channel& channel, const Staging& staging,
                const Exec& exec)
      : direction_(direction), channel_(channel), staging_(staging), exec_(exec) {
    if (!staging_.is_used()) return;
    copies_ =
        kernels::on(exec, [](const auto& e) { return kernels::make_copy_queue(e, max_under_way); });
  }
  ~MessageStream() = default;
  MessageStream(const MessageStream&) = delete;
  MessageStream& operator=(const MessageStream&) = delete;

  /// Of arrays that all work on the Exec so far may still use.
  void add(const Pieces& pieces) {
    if (copies_) unless_failed([&] { copies_->follow(); });
    pieces_.insert(pieces_.end(), pieces.all().begin(), pieces.all().end());
    is_done_.resize(pieces_.size(), false);
  }
  void advance() {
    for (Slot& slot : slots_) {
      look_after(slot);
      if (slot.stage == Stage::free && next_ < pieces_.size()) start(slot);
    }
    send_copied();
    while (done_before_ < pieces_.size() && is_done_[done_before_]) ++done_before_;
  }
  std::size_t num_added() const { return pieces_.size(); }
  std::size_t num_done() const { return done_; }
  bool is_done() const { return done_ == pieces_.size(); }
  /// Of the first copy that failed; null: none did.
  const std::exception_ptr& failure() const { return failure_; }
  /// Whether the first `num` messages are through.
  bool is_done(std::size_t num) const { return done_before_ >= num; }

 private:
  enum class Stage { free, is_copied_here, travels, is_copied_away };

  /// A message under way.
  struct Slot {
    Stage stage = Stage::free;
    std::size_t piece = 0;
    std::unique_ptr<NetworkRequest> request;
    Index copy = 0;  ///< its number
  };

  template <class Work>
  void unless_failed(const Work& work) {
    if (failure_) return;
    try {
      work();
    } catch (const CommunicationError&) {
      throw;
    } catch (...) {
      failure_ = std::current_exception();
    }
  }

  void* staged(const Slot& slot) const {
    return staging_.slot(static_cast<int>(&slot - &slots_[0]));
  }

  void copy(Slot& slot, void* to, const void* from) {
    unless_failed([&] { slot.copy = copies_->begin(to, from, pieces_[slot.piece].bytes); });
  }
  bool is_copied(const Slot& slot) {
    bool is_done = false;
    unless_failed([&] { is_done = copies_->is_done(slot.copy); });
    return is_done || failure_ != nullptr;
  }

  void start(Slot& slot) {
    slot.piece = next_++;
    const Piece& piece = pieces_[slot.piece];
    ZHALO_EXPECT(!staging_.is_used() || piece.bytes <= staging_.slot_bytes());
    if (direction_ == Direction::send && staging_.is_used()) {
      slot.stage = Stage::is_copied_here;
      copy(slot, staged(slot), piece.data);
      copied_here_.push_back(&slot);
    } else {
      let_travel(slot);
    }
  }

  /// Messages of a pair of ranks match in their order: those behind a copy wait for it.
  void send_copied() {
    while (!copied_here_.empty() && is_copied(*copied_here_.front())) {
      let_travel(*copied_here_.front());
      copied_here_.pop_front();
    }
  }

  void let_travel(Slot& slot) {
    const Piece& piece = pieces_[slot.piece];
    Parcel parcel{piece.data, piece.bytes, piece.peer, channel_.tag, &exec_};
    if (staging_.is_used()) {
      parcel.data = staged(slot);
      parcel.exec = nullptr;
    }
    slot.request = direction_ == Direction::send ? channel_.network->send(parcel)
                                                 : channel_.network->receive(parcel);
    slot.stage = Stage::travels;
  }

  void look_after(Slot& slot) {
    if (slot.stage == Stage::travels && is_through(*slot.request)) {
      slot.request.reset();
      if (direction_ == Direction::send || !staging_.is_used()) return finish(slot);
      copy(slot, pieces_[slot.piece].data, staged(slot));
      slot.stage = Stage::is_copied_away;
    }
    if (slot.stage == Stage::is_copied_away && is_copied(slot)) finish(slot);
  }

  /// A device that fails keeps no message from being through.
  bool is_through(NetworkRequest& request) {
    try {
      return request.is_done();
    } catch (const CommunicationError&) {
      throw;
    } catch (const Error&) {
      if (!failure_) failure_ = std::current_exception();
      return true;
    }
  }

  void finish(Slot& slot) {
    slot.stage = Stage::free;
    is_done_[slot.piece] = true;
    ++done_;
  }

  Direction direction_;
  Channel channel_;
  const Staging& staging_;
  const Exec& exec_;
  std::vector<Piece> pieces_;
  std::vector<bool> is_done_;
  std::array<Slot, max_under_way> slots_;
  std::deque<Slot*> copied_here_;  ///< in the order of their messages
  std::size_t next_ = 0;
  std::size_t done_ = 0;
  std::size_t done_before_ = 0;  ///< all messages before this one are through
  std::exception_ptr failure_;
  std::unique_ptr<kernels::CopyQueue> copies_;  ///< with staging
};

/// Throws what failed in one of the streams.
inline void rethrow_failure(const MessageStream& a, const MessageStream& b) {
  for (const MessageStream* stream : {&a, &b})
    if (stream->failure()) std::rethrow_exception(stream->failure());
}

}  // namespace zhalo
