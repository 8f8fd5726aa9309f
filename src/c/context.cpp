#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <string_view>

#include "src/c/handles.hpp"
#include "src/comm/network.hpp"
#include "zhalo/core/error.hpp"

namespace zhalo::c {
namespace {

/// An array, because a string may need memory that is gone.
using Message = std::array<char, 4096>;
Message& last_message() {
  thread_local Message message{};
  return message;
}

int keep(std::string_view text, int status) {
  Message& message = last_message();
  std::size_t length = std::min(text.size(), message.size() - 1);
  const auto continues = [&](std::size_t at) { return (text[at] & 0xc0) == 0x80; };  // in UTF-8
  while (length > 0 && length < text.size() && continues(length)) --length;
  *std::copy_n(text.begin(), length, message.begin()) = '\0';
  return status;
}

int status_of_kind(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::input: return ZHALO_INPUT_ERROR;
    case ErrorKind::file: return ZHALO_FILE_ERROR;
    case ErrorKind::memory: return ZHALO_OUT_OF_MEMORY;
    case ErrorKind::device: return ZHALO_DEVICE_ERROR;
    case ErrorKind::communication: return ZHALO_COMMUNICATION_ERROR;
    default: return ZHALO_OTHER_ERROR;
  }
}

ExecRequest exec_request(const zhalo_context_options& options) {
  validate(!std::isnan(options.timeout_seconds), "the timeout is not a number of seconds");
  constexpr Processor processors[] = {Processor::automatic, Processor::host, Processor::cuda};
  ExecRequest request;
  request.processor = processors[one_of(options.processor, 2, "processor")];
  validate(options.threads >= 0, "{} threads are asked for (0 is the default)", options.threads);
  if (options.threads > 0) request.threads = options.threads;
  if (options.device != nullptr) {
    request.device = *options.device;
    validate(request.device >= 0, "the number of the device is {} (must be at least 0)",
             request.device);
  }
  validate(options.stream == nullptr || options.device != nullptr,
           "a CUDA stream is given without its device; give the number of the device, too");
  return request;
}

/// Where the context computes, on the stream of the caller if there is one. Collective.
Exec exec_of(const Communicator& comm, const zhalo_context_options& options) {
  Exec exec = choose_exec(comm, exec_request(options));
  // A stream has its device, so that the Exec is one.
  if (options.stream != nullptr)
    std::get<Cuda>(exec).stream = static_cast<CUstream_st*>(options.stream);
  return exec;
}

CommunicatorOptions communicator_options(const zhalo_context_options& options) {
  CommunicatorOptions chosen;
  if (options.timeout_seconds < 0) chosen.timeout_seconds = 0;  // there: no limit
  if (options.timeout_seconds > 0) chosen.timeout_seconds = options.timeout_seconds;
  return chosen;
}

/// Throws the error of a caller, as the exception that has its status.
[[noreturn]] void throw_error(int status, const char* error) {
  switch (status) {
    case ZHALO_INPUT_ERROR: throw InputError(error);
    case ZHALO_OUT_OF_MEMORY: throw OutOfMemory(error);
    case ZHALO_DEVICE_ERROR: throw DeviceError(error);
    case ZHALO_COMMUNICATION_ERROR: throw CommunicationError(error);
    case ZHALO_FILE_ERROR: throw FileError(error);
    case ZHALO_OTHER_ERROR: throw Error(error);
    default: break;
  }
  throw InputError(fmt::format("an error has the status {} (must be 1 to {}, see zhalo.h): {}",
                               status, static_cast<int>(ZHALO_OTHER_ERROR), error));
}

/// Bytes as a signed number: the largest one where there is no limit.
Index whole(std::size_t bytes) {
  constexpr Index largest = std::numeric_limits<Index>::max();
  return bytes < static_cast<std::size_t>(largest) ? static_cast<Index>(bytes) : largest;
}

/// `connect` makes the communicator from its options. Collective.
template <class Connect>
int create_context(const zhalo_context_options* options, zhalo_context** context,
                   const Connect& connect) {
  if (context != nullptr) *context = nullptr;
  return status_of([&] {
    const zhalo_context_options chosen = options_or_default(options);
    const auto shared =
        std::make_shared<Context>(Context{.comm = connect(communicator_options(chosen))});
    make_handle(shared, context, [&] {
      shared->exec = exec_of(shared->comm, chosen);
      return zhalo_context{shared};
    });
  });
}

}  // namespace

int keep_error() noexcept {
  const CaughtError caught = caught_error();
  return keep(caught.text, status_of_kind(caught.kind));
}

void forget_error() noexcept { last_message().front() = '\0'; }

extern "C" {

const char* zhalo_last_error() { return last_message().data(); }

int zhalo_context_create(MPI_Comm comm, const zhalo_context_options* options,
                         zhalo_context** context) {
  return create_context(options, context, [&](const CommunicatorOptions& of_communicator) {
    return Communicator(comm, of_communicator);
  });
}

int zhalo_context_create_f(MPI_Fint comm, const zhalo_context_options* options,
                           zhalo_context** context) {
  return create_context(options, context, [&](const CommunicatorOptions& of_communicator) {
    validate_mpi_runs();  // before it is asked for anything
    return Communicator(MPI_Comm_f2c(comm), of_communicator);
  });
}

int zhalo_context_create_alone(const zhalo_context_options* options, zhalo_context** context) {
  return create_context(options, context,
                        [](const CommunicatorOptions&) { return Communicator(); });
}

int zhalo_context_agree(const zhalo_context* context, int status, const char* error) {
  return status_of([&] {
    at(context, "context").shared->comm.together([&] {
      if (error != nullptr) throw_error(status, error);
    });
  });
}

void zhalo_get_version(int* major, int* minor, int* patch) {
  if (major != nullptr) *major = ZHALO_VERSION_MAJOR;
  if (minor != nullptr) *minor = ZHALO_VERSION_MINOR;
  if (patch != nullptr) *patch = ZHALO_VERSION_PATCH;
}

int zhalo_context_share(const zhalo_context* context, const char* text, char* shared,
                        int64_t room) {
  return status_of([&] {
    const Communicator& comm = at(context, "context").shared->comm;
    comm.together([&] {
      const Index owner = comm.min(Index{text != nullptr ? comm.rank() : comm.size()});
      std::string found;
      if (owner < comm.size())
        found = comm.broadcast(text != nullptr ? text : "", static_cast<int>(owner));
      const auto needed = static_cast<Index>(found.size()) + 1;
      validate_room(shared, room, needed);
      std::copy_n(found.c_str(), needed, shared);
    });
  });
}

int zhalo_context_is_on_device(const zhalo_context* context, int* is_on_device) {
  return status_of([&] {
    const Exec& exec = at(context, "context").shared->exec;
    at(is_on_device, "answer") = std::holds_alternative<Cuda>(exec) ? 1 : 0;
  });
}

int zhalo_context_get_memory(const zhalo_context* context, zhalo_memory_counts* counts) {
  return status_of([&] {
    const MemoryPool& pool = *memory(at(context, "context").shared->exec);
    at(counts, "counts") = {whole(pool.bytes_in_use()), whole(pool.peak_bytes()),
                            whole(pool.bytes_held()), whole(pool.peak_held()),
                            whole(pool.available_bytes())};
  });
}

int zhalo_context_reset_peak_memory(const zhalo_context* context) {
  return status_of([&] { memory(at(context, "context").shared->exec)->reset_peak(); });
}

int zhalo_context_release_memory(const zhalo_context* context) {
  return status_of([&] { memory(at(context, "context").shared->exec)->release(); });
}

void zhalo_context_destroy(zhalo_context* context) { delete context; }

}  // extern "C"

}  // namespace zhalo::c
