#include "zhalo/core/caught_error.hpp"

#include <fmt/format.h>

#include <exception>
#include <new>

#include "zhalo/core/error.hpp"
#include "zhalo/core/memory.hpp"

namespace zhalo {

std::string CaughtError::message() const {
  if (!is_bad_alloc) return text;
  return fmt::format("{}{}; use more ranks or a machine with more memory", text,
                     describe_memory_limit());
}

// The exception is thrown again, not copied: its text outlives these clauses.
CaughtError caught_error() noexcept {
  try {
    throw;
  } catch (const InputError& error) {
    return {ErrorKind::input, error.what()};
  } catch (const FileError& error) {
    return {ErrorKind::file, error.what()};
  } catch (const OutOfMemory& error) {
    return {ErrorKind::memory, error.what()};
  } catch (const std::bad_alloc&) {
    return {ErrorKind::memory, "out of host memory in a small allocation", true};
  } catch (const DeviceError& error) {
    return {ErrorKind::device, error.what()};
  } catch (const CommunicationError& error) {
    return {ErrorKind::communication, error.what()};
  } catch (const Interrupted& error) {
    return {ErrorKind::interrupted, error.what()};
  } catch (const ContractViolation& error) {
    return {ErrorKind::contract, error.what()};
  } catch (const std::exception& error) {
    return {ErrorKind::other, error.what()};
  } catch (...) {
    return {ErrorKind::other, "unknown exception"};
  }
}

}  // namespace zhalo
