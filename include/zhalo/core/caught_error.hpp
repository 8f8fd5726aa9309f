/// Exceptions where none can pass: to other ranks, to C, to a shell.
#pragma once

#include <string>

namespace zhalo {

/// The classes of error.hpp; `other` are all that are of none of these.
enum class ErrorKind : int {
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

/// An exception that is being handled.
struct CaughtError {
  ErrorKind kind = ErrorKind::none;
  const char* text = "";      ///< that of the exception: gone with it
  bool is_bad_alloc = false;  ///< thrown by `new`: the text cannot say how much memory there is

  /// The text. If `new` threw the exception, it also says how much memory there is and what to do.
  std::string message() const;
};

/// To be called in a catch clause.
CaughtError caught_error() noexcept;

}  // namespace zhalo
