/// Exceptions on their way from rank to rank.
#pragma once

#include <string>

namespace zhalo {

/// Error types that survive the way to other ranks.
enum class FailureKind : int {
  none,
  input,
  file,
  memory,
  device,
  communication,
  interrupted,
  contract,
  other
};

struct Failure {
  FailureKind kind = FailureKind::none;
  std::string message;
  bool names_rank = false;  ///< the message says which rank failed
};

/// Of the exception that is being handled.
Failure describe_current_exception();

/// Mark of an exception that all ranks of a communicator throw: it needs no agreement again.
struct Agreed {
  const void* among = nullptr;
  bool names_rank = false;
};

/// Throws the error that the failure describes, marked.
[[noreturn]] void throw_agreed(const Failure& failure, const void* among);

}  // namespace zhalo
