#include "apps/cli/process.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <mpi.h>
#include <unistd.h>
#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <limits>
#include <mutex>
#include <optional>
#include <string>
#include <system_error>
#include <thread>
#include <utility>

#include "apps/report/report.hpp"
#include "zhalo/core/error.hpp"
#include "zhalo/core/memory.hpp"
#include "zhalo/core/timers.hpp"

namespace zhalo::app {

Progress::Progress(ProgressOptions options)
    : options_(std::move(options)),
      stream_(options_.to_errors ? stderr : stdout),
      shown_(options_.speaks && !options_.quiet),
      terminal_(!options_.launched && ::isatty(::fileno(stream_)) == 1) {}

void Progress::begin(const std::string& phase) {
  if (!shown_ || phase == current_) return;
  current_ = phase;
  if (terminal_) {
    put(fmt::format("\r\033[K{:7.1f} s  {} ...", seconds(), phase), stream_);
    line_open_ = true;
  } else if (std::find(told_.begin(), told_.end(), phase) == told_.end()) {
    told_.push_back(phase);
    put(fmt::format("{:7.1f} s  {}\n", seconds(), phase), stream_);
  }
}

void Progress::clear() {
  if (line_open_) put("\r\033[K", stream_);
  line_open_ = false;
}

void Progress::say(const std::string& text) {
  clear();
  if (shown_) put(text, stream_);
}

void Progress::warn(const std::string& sentence) {
  clear();
  if (options_.speaks)
    put(fmt::format("{}: warning: {}\n", options_.command, in_one_line(sentence)), stderr);
}

double Progress::seconds() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
}

std::string in_one_line(const std::string& message) {
  std::string line;
  for (const char c : message) {
    const bool is_control = (c >= 0 && c < ' ') || c == '\x7f';
    line += is_control ? fmt::format("\\x{:02x}", static_cast<int>(c)) : std::string(1, c);
  }
  return line;
}

std::string in_ascii(const std::string& message) {
  std::string text;
  for (const char c : in_one_line(message)) {
    const auto byte = static_cast<unsigned char>(c);
    text += byte >= 0x80 ? fmt::format("\\x{:02x}", byte) : std::string(1, c);
  }
  return text;
}

void put(const std::string& text, std::FILE* stream) {
  std::fwrite(text.data(), 1, text.size(), stream);
  std::fflush(stream);
}

// Signals.

namespace {

// A signal handler can reach nothing else.
// NOLINTBEGIN(cppcoreguidelines-avoid-non-const-global-variables)
std::atomic<bool> interrupted = false;
std::atomic<bool> too_late = false;  // ranks may be threads
static_assert(std::atomic<bool>::is_always_lock_free);
// NOLINTEND(cppcoreguidelines-avoid-non-const-global-variables)

// Of users, closed terminals, and batch systems that announce the end of a job's time.
constexpr std::array caught{SIGINT, SIGTERM, SIGHUP, SIGXCPU, SIGUSR1, SIGUSR2};

// By number of the signal: when it came first, in nanoseconds; 0: never.
std::array<std::atomic<long long>, 65>
    first_times{};  // NOLINT(cppcoreguidelines-avoid-non-const-global-variables)
static_assert(std::atomic<long long>::is_always_lock_free);

long long nanoseconds_now() {
  timespec time{};
  ::clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1'000'000'000LL + time.tv_nsec;
}

/// Slurm sends SIGTERM twice within a moment when the time of a job is over, and launchers hand a
/// signal on to processes that have it from the terminal already: that is still the first.
void note(int signal) {
  constexpr long long moment = 2'000'000'000;
  const long long now = nanoseconds_now();
  long long first = 0;
  if (!first_times.at(static_cast<std::size_t>(signal)).compare_exchange_strong(first, now) &&
      now - first > moment) {
    std::signal(signal, SIG_DFL);
    std::raise(signal);
  }
  interrupted = true;
}

bool is_ignored(int signal) {
  struct sigaction action {};
  return sigaction(signal, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

}  // namespace

void keep_standard_streams() {
  for (int stream = 0; stream <= 2; ++stream) {
    if (::fcntl(stream, F_GETFD) >= 0) continue;
    if (::open("/dev/null", O_RDONLY) != stream) return;  // it cannot be helped
  }
}

void take_failed_writes_as_errors() {
  std::signal(SIGXFSZ, SIG_IGN);
  std::signal(SIGPIPE, SIG_IGN);
}

void catch_interrupts() {
  struct sigaction action {};
  action.sa_handler = note;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  for (const int signal : caught) {
    if (is_ignored(signal)) continue;  // nohup, and trap '' in a script
    sigaction(signal, &action, nullptr);
  }
}

void check_interrupted() {
  if (interrupted && !too_late) throw Interrupted("interrupted");
}

void release_interrupts() {
  for (const int signal : caught)
    if (!is_ignored(signal)) std::signal(signal, SIG_DFL);
}

void finish_without_interrupts() { too_late = true; }

// MPI.

namespace {

int number_from_environment(const char* name, int otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::atoi(text);
}

/// From a line such as "VmHWM: 1024 kB".
std::optional<std::size_t> bytes_in(const char* path, const std::string& wanted) {
  std::ifstream file(path);
  std::string key;
  while (file >> key) {
    std::size_t kibibytes = 0;
    if (key == wanted && file >> kibibytes) return kibibytes * 1024;
    file.ignore(std::numeric_limits<std::streamsize>::max(), '\n');
  }
  return std::nullopt;
}

/// Tasks of the Slurm step that this process is in; srun sets it, a batch script alone does not.
int slurm_tasks() { return number_from_environment("SLURM_STEP_NUM_TASKS", 1); }

/// Open MPI, MPICH and its relatives (MVAPICH, Cray's with PALS), PMIx launchers, Flux, Slurm with
/// several tasks.
bool started_by_launcher() {
  constexpr std::array names{
      "OMPI_COMM_WORLD_SIZE", "PMI_RANK",    "PMI_SIZE",      "PMIX_RANK", "MPI_LOCALRANKID",
      "MV2_COMM_WORLD_SIZE",  "PALS_RANKID", "FLUX_TASK_RANK"};
  return std::any_of(names.begin(), names.end(),
                     [](const char* name) { return std::getenv(name) != nullptr; }) ||
         slurm_tasks() > 1;
}

}  // namespace

MpiSession::MpiSession(int* argc, char*** argv) {
  if (!started_by_launcher()) return;
  int provided = 0;
  active_ = MPI_Init_thread(argc, argv, MPI_THREAD_FUNNELED, &provided) == MPI_SUCCESS;
}

MpiSession::~MpiSession() {
  if (active_) MPI_Finalize();
}

// What ends the process, and whether its memory will do.

namespace {

/// Ends the process when the others do not end, with its own status if that says what went wrong.
/// The lowest rank that waits speaks first, and launchers end the others then.
class Watch {
 public:
  Watch(const char* command, int rank, int status)
      : command_(command), rank_(rank), status_(status) {
    try {
      thread_.emplace([this](const std::stop_token& stop) { wait(stop); });
    } catch (const std::system_error&) {
      thread_.reset();  // no room for a thread: the others are waited for without a limit
    }
  }

 private:
  static int patience() {  // seconds
    constexpr double longest = 300;
    const char* text = std::getenv("ZHALO_TIMEOUT");
    const double timeout = text == nullptr ? longest : std::strtod(text, nullptr);
    return static_cast<int>(timeout > 0 ? std::clamp(timeout, 1.0, longest) : longest);
  }

  void wait(const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    constexpr auto look = std::chrono::milliseconds(100);
    const int limit = patience() + 2 * std::min(rank_, 3);
    WaitedTime waited;
    while (waited.look() < limit) {
      done_.wait_for(lock, stop, look, [] { return false; });
      if (stop.stop_requested()) return;
    }
    put(fmt::format("{}: error: other ranks did not end within {} s{}; look for a node that failed "
                    "or hangs\n",
                    command_, patience(),
                    status_ == 0 ? " after the results were in place: these are whole" : ""),
        stderr);
    std::_Exit(status_ == 0 ? exit_ranks_lost : status_);
  }

  const char* command_;
  int rank_;
  int status_;
  std::mutex mutex_;
  std::condition_variable_any done_;
  std::optional<std::jthread> thread_;
};

/// "12 GiB on a machine that has 8 GiB available", if that is so for what each rank on the host
/// needs. A rank on a device needs nothing here, and has enough of everything. Collective.
std::optional<std::string> lack_of_memory(const Context& context, double bytes_per_rank) {
  constexpr double unlimited = std::numeric_limits<double>::infinity();
  const Communicator& comm = context.comm;
  const bool on_host = std::holds_alternative<Host>(context.exec);
  const auto if_on_host = [&](std::size_t bytes) {
    return on_host ? static_cast<double>(bytes) : unlimited;
  };
  const double needed = on_host ? bytes_per_rank : 0;
  const auto sum_of_machine = [&] {
    const Communicator machine = comm.split_by_machine();
    // An error of one rank must first reach those that wait for it on this machine.
    return together(machine, [&] { return machine.sum(needed); });
  };
  const double on_machine = comm.max(sum_of_machine());
  const double of_machine = comm.min(if_on_host(available_machine_bytes()));
  if (on_machine > of_machine)
    return fmt::format("{} on a machine that has {} available", bytes_text(on_machine),
                       bytes_text(of_machine));
  const double in_process = comm.max(needed * (comm.is_of_threads() ? comm.size() : 1));
  const double own = if_on_host(available_host_bytes());
  const double of_process = comm.min(own);
  if (in_process <= of_process) return std::nullopt;
  const Index poorest = comm.min(own == of_process ? Index{comm.rank()} : Index{comm.size()});
  return fmt::format("{} in a process that has {} available{}", bytes_text(in_process),
                     bytes_text(of_process),
                     comm.broadcast(describe_memory_limit(), static_cast<int>(poorest)));
}

}  // namespace

void MpiSession::finish(const char* command, Communicator comm, int status) {
  if (!active_) return;
  const Watch watch(command, rank(), status);
  comm = {};
  active_ = false;
  MPI_Finalize();
}

int MpiSession::rank() const {
  int rank = 0;
  int size = 1;
  if (active_) {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
  }
  return size == 1 && slurm_tasks() > 1 ? number_from_environment("SLURM_PROCID", 0) : rank;
}

void MpiSession::end_all(int status) const {
  if (!active_) return;
  int size = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (size > 1) MPI_Abort(MPI_COMM_WORLD, status);
}

Communicator MpiSession::communicator(const CommunicatorOptions& options) const {
  Communicator comm = active_ ? Communicator(MPI_COMM_WORLD, options) : Communicator();
  if (comm.size() == 1 && slurm_tasks() > 1) {
    throw InputError(
        fmt::format("srun started {} tasks, but MPI sees one: all would do the same work; "
                    "use srun --mpi=pmix (or pmi2), or mpirun",
                    slurm_tasks()));
  }
  return comm;
}

std::size_t peak_resident_bytes() { return bytes_in("/proc/self/status", "VmHWM:").value_or(0); }

std::string machine_name() {
  std::array<char, 256> name{};
  if (::gethostname(name.data(), name.size() - 1) != 0) return "unknown";
  return name.data();
}

void check_memory(const Context& context, const HostNeed& need, bool is_dry_run,
                  std::vector<std::string>& warnings) {
  const auto lack = lack_of_memory(context, need.bytes_per_rank);
  if (!lack) return;
  const std::string problem = fmt::format("{} need {} ({})", need.work, *lack, need.remedy);
  if (!is_dry_run) throw InputError(problem);
  warnings.push_back(problem);
}

void warn_of_memory(const Context& context, const HostNeed& need,
                    std::vector<std::string>& warnings) {
  const auto lack = lack_of_memory(context, need.bytes_per_rank);
  if (lack) warnings.push_back(fmt::format("{} may need {} ({})", need.work, *lack, need.remedy));
}

}  // namespace zhalo::app
