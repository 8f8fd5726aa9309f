#include "src/comm/thread_group.hpp"

#include <algorithm>

#include "zhalo/core/error.hpp"

namespace zhalo {

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

}  // namespace zhalo
