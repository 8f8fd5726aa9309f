/// The exceptions that zhalo throws. Each message says what is wrong, where, and what to do.
#pragma once

#include <stdexcept>
#include <string>

#include "zhalo/core/config.hpp"

namespace zhalo {

/// Base class of all exceptions that zhalo throws. The library never ends the process.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The caller's values, files or options cannot be used as given.
class InputError : public Error {
 public:
  using Error::Error;
};

/// Reading or writing a file failed.
class FileError : public Error {
 public:
  using Error::Error;
};

/// There is not enough memory. The message says how much was needed, for what, and how much was
/// available.
class OutOfMemory : public Error {
 public:
  using Error::Error;
};

/// A device is missing or failed.
class DeviceError : public Error {
 public:
  using Error::Error;
};

/// Communication between ranks failed.
class CommunicationError : public Error {
 public:
  using Error::Error;
};

/// A caller's observer asked to stop (Timers::observe, CommunicatorOptions::observer).
class Interrupted : public Error {
 public:
  using Error::Error;
};

/// A contract inside zhalo is broken (found in Debug builds only). Please report it.
class ContractViolation : public Error {
 public:
  using Error::Error;
};

/// ZHALO_EXPECT(condition) calls this on the host if the condition is false. Throws
/// ContractViolation with the file and the line.
[[noreturn]] inline void contract_failed(const char* condition, const char* file, int line) {
  throw ContractViolation(std::string("contract violated: ") + condition + " at " + file + ":" +
                          std::to_string(line) + "; please report this as a bug of zhalo");
}

// Exceptions where none can pass: to other ranks, to C, to a shell.

/// The classes above; `other` are all that are of none of these.
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
