#include "src/comm/failure.hpp"

#include <fmt/format.h>

#include <exception>
#include <new>

#include "zhalo/core/error.hpp"
#include "zhalo/core/memory.hpp"

namespace zhalo {
namespace {

template <class E>
struct AgreedError : E, Agreed {
  AgreedError(const Failure& failure, const void* ranks)
      : E(failure.message), Agreed{ranks, failure.names_rank} {}
};

}  // namespace

Failure describe_current_exception() {
  try {
    throw;
  } catch (const InputError& e) {
    return {FailureKind::input, e.what()};
  } catch (const FileError& e) {
    return {FailureKind::file, e.what()};
  } catch (const OutOfMemory& e) {
    return {FailureKind::memory, e.what()};
  } catch (const std::bad_alloc&) {
    return {FailureKind::memory, fmt::format("out of host memory in a small allocation{}; use more "
                                             "ranks or a machine with more memory",
                                             describe_memory_limit())};
  } catch (const DeviceError& e) {
    return {FailureKind::device, e.what()};
  } catch (const CommunicationError& e) {
    return {FailureKind::communication, e.what()};
  } catch (const Interrupted& e) {
    return {FailureKind::interrupted, e.what()};
  } catch (const ContractViolation& e) {
    return {FailureKind::contract, e.what()};
  } catch (const std::exception& e) {
    return {FailureKind::other, e.what()};
  } catch (...) {
    return {FailureKind::other, "unknown exception"};
  }
}

void throw_agreed(const Failure& failure, const void* among) {
  switch (failure.kind) {
    case FailureKind::input: throw AgreedError<InputError>(failure, among);
    case FailureKind::file: throw AgreedError<FileError>(failure, among);
    case FailureKind::memory: throw AgreedError<OutOfMemory>(failure, among);
    case FailureKind::device: throw AgreedError<DeviceError>(failure, among);
    case FailureKind::communication: throw AgreedError<CommunicationError>(failure, among);
    case FailureKind::interrupted: throw AgreedError<Interrupted>(failure, among);
    case FailureKind::contract: throw AgreedError<ContractViolation>(failure, among);
    case FailureKind::none:
    case FailureKind::other: break;
  }
  throw AgreedError<Error>(failure, among);
}

}  // namespace zhalo
