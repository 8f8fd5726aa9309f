#include "src/comm/exchange.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <random>

#include "src/comm/agreement.hpp"
#include "zhalo/core/error.hpp"

namespace zhalo {
namespace {

/// A part's name in the machine's shared memory; empty if it could not be made.
struct Name {
  std::array<char, 48> text{};
  int rank = 0;
  Index bytes = 0;
};

[[noreturn]] void fail(const char* call, int error) {
  throw Error(fmt::format("{} failed for shared memory: {}", call, std::strerror(error)));
}

/// Within it no signal reaches this thread: a call that takes long would end with EINTR.
class WithoutSignals {
 public:
  WithoutSignals() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~WithoutSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  WithoutSignals(const WithoutSignals&) = delete;
  WithoutSignals& operator=(const WithoutSignals&) = delete;

 private:
  sigset_t before_{};
};

/// Beyond it the system sends SIGXFSZ, which would end the process.
void check_file_limit(std::size_t bytes) {
  rlimit limit{};
  if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && bytes > limit.rlim_cur)
    throw Error(
        fmt::format("shared memory of {} bytes is a file, and files of this process have at most "
                    "{} bytes (ulimit -f)",
                    bytes, limit.rlim_cur));
}

class File {
 public:
  File(const char* name, int flags) : descriptor_(shm_open(name, flags, S_IRUSR | S_IWUSR)) {
    if (descriptor_ < 0) fail("shm_open", errno);
  }
  ~File() { close(descriptor_); }
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  /// All of it really exists: touching it later cannot fail for want of room. In pieces, so that
  /// signals need not wait long.
  void reserve(std::size_t bytes) const {
    constexpr std::size_t piece = std::size_t{16} << 20;
    check_file_limit(bytes);
    for (std::size_t first = 0; first < bytes; first += piece)
      reserve(first, std::min(piece, bytes - first));
  }
  std::shared_ptr<std::byte> map(std::size_t bytes,
                                 const std::shared_ptr<const bool>& is_abandoned) const {
    void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor_, 0);
    if (memory == MAP_FAILED) fail("mmap", errno);
    return {static_cast<std::byte*>(memory), [bytes, is_abandoned](std::byte* mapped) {
              if (!*is_abandoned) munmap(mapped, bytes);
            }};
  }

 private:
  void reserve(std::size_t first, std::size_t bytes) const {
    const WithoutSignals without;
    int error = EINTR;
    while (error == EINTR)  // SIGSTOP and debuggers come through
      error = posix_fallocate(descriptor_, static_cast<off_t>(first), static_cast<off_t>(bytes));
    if (error != 0) fail("posix_fallocate", error);
  }

  int descriptor_;
};

/// Mapped sizes are never 0, so that every part has an address.
std::size_t mapped_bytes(Index bytes) {
  return static_cast<std::size_t>(std::max<Index>(bytes, 1));
}

/// Takes a name away when it is no longer needed, or nothing came of it: what is mapped stays.
class NamedFile {
 public:
  explicit NamedFile(const char* name) : name_(name), file_(name, O_CREAT | O_EXCL | O_RDWR) {}
  ~NamedFile() { shm_unlink(name_); }
  NamedFile(const NamedFile&) = delete;
  NamedFile& operator=(const NamedFile&) = delete;

  const File* operator->() const { return &file_; }

 private:
  const char* name_;
  File file_;
};

auto new_name() {
  decltype(Name::text) name{};
  std::random_device random;
  const std::string text = fmt::format("/zhalo-{}-{:08x}{:08x}", getpid(), random(), random());
  std::copy(text.begin(), text.end(), name.begin());
  return name;
}

}  // namespace

SharedMemory::SharedMemory(const Communicator& comm, Index bytes) {
  const Communicator& machine = machine_of(comm);
  Name mine{{}, comm.rank(), bytes};
  std::vector<Part> parts;
  Attempt attempt;
  std::unique_ptr<NamedFile> file;
  attempt.try_to([&] {
    is_abandoned_ = std::make_shared<bool>(false);
    mine.text = new_name();
    file = std::make_unique<NamedFile>(mine.text.data());
    (*file)->reserve(mapped_bytes(bytes));
    parts.push_back({comm.rank(), (*file)->map(mapped_bytes(bytes), is_abandoned_)});
  });
  const std::vector<Name> names = together(machine, [&] { return machine.all_gather(mine); });
  // A part that could not be made is missing for its own rank as well: the others may find a torso,
  // which all give up together.
  attempt.try_to([&] {
    for (const Name& name : names) {
      if (name.rank != comm.rank())
        parts.push_back(
            {name.rank,
             File(name.text.data(), O_RDWR).map(mapped_bytes(name.bytes), is_abandoned_)});
    }
  });
  const bool is_made = attempt.error.empty();
  const bool all = comm.min(Index{is_made ? 1 : 0}) == 1;
  file.reset();
  if (all) {
    parts_ = std::move(parts);
    return;
  }
  const int culprit = static_cast<int>(comm.min(Index{is_made ? comm.size() : comm.rank()}));
  why_not_ = fmt::format("rank {}: {}", culprit, comm.broadcast(attempt.error, culprit));
}

std::byte* SharedMemory::part(int rank) const {
  const auto is_of_rank = [rank](const Part& part) { return part.rank == rank; };
  const auto found = std::find_if(parts_.begin(), parts_.end(), is_of_rank);
  return found == parts_.end() ? nullptr : found->memory.get();
}

}  // namespace zhalo
