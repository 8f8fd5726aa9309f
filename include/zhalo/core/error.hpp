/// The exceptions that zhalo throws. Each message says what is wrong, where, and what to do.
#pragma once

#include <stdexcept>
#include <string>

#include "zhalo/core/config.hpp"

namespace zhalo {

/// Base of everything that zhalo throws. Nothing in the library ends the process.
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

/// Memory is really gone: the message says how much was needed, for what, and how much there was.
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

/// A contract of zhalo's own code is broken (Debug builds): please report it.
class ContractViolation : public Error {
 public:
  using Error::Error;
};

/// What ZHALO_EXPECT(condition) calls on the host when the condition is false: throws
/// ContractViolation with the place.
[[noreturn]] inline void contract_failed(const char* condition, const char* file, int line) {
  throw ContractViolation(std::string("contract violated: ") + condition + " at " + file + ":" +
                          std::to_string(line) + "; please report this as a bug of zhalo");
}

}  // namespace zhalo
