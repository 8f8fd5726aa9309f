/// One rank that fails at a collective: what all ranks say then.
#pragma once

#include <catch2/catch.hpp>
#include <string>

#include "tests/mpi/comm/late_context.hpp"
#include "zhalo/core/error.hpp"

namespace zhalo::testing {

/// A context that counts each rank's collectives, and in which one rank can be made to run out of
/// memory before any of them.
class FailingContext {
 public:
  explicit FailingContext(CommunicatorOptions options = {}) {
    options.observer = [this](const char* operation) {
      if (++calls_ == stop_at_) throw OutOfMemory(std::string("no room before ") + operation);
    };
    context_ = make_context(options);
  }
  FailingContext(const FailingContext&) = delete;
  FailingContext& operator=(const FailingContext&) = delete;

  const Context& context() const { return context_; }
  bool is(int rank) const { return context_.comm.rank() == rank; }

  /// Calls work() and counts, without a failure.
  template <class Work>
  auto counted(const Work& work) {
    calls_ = 0;
    auto result = work();
    num_made_ = calls_;
    return result;
  }

  /// What work() says if the rank `culprit` fails at its collective number `at`; empty if it does
  /// not come to that.
  template <class Work>
  std::string message_at(int culprit, int at, const Work& work) {
    calls_ = 0;
    stop_at_ = is(culprit) ? at : 0;
    std::string message;
    try {
      work();
    } catch (const OutOfMemory& error) {
      message = error.what();
    }
    stop_at_ = 0;
    num_made_ = calls_;
    return message;
  }

  /// Collectives of that rank in what was called last. Collective.
  int num_made_by(int rank) const {
    return static_cast<int>(context_.comm.max(is(rank) ? Index{num_made_} : 0));
  }

  /// The rank `culprit` fails at every `step`-th of its collectives up to `last`: each time all say
  /// the same.
  template <class Work>
  void check_failures(int culprit, int last, int step, const Work& work) {
    for (int at = 1; at <= last; at += step) {
      const std::string message = message_at(culprit, at, work);
      CHECK(message.find("no room before") != std::string::npos);
      CHECK(context_.comm.broadcast(message) == message);
    }
  }

 private:
  int calls_ = 0;
  int stop_at_ = 0;   ///< 0: never
  int num_made_ = 0;  ///< by this rank in the latest work
  Context context_;
};

}  // namespace zhalo::testing
