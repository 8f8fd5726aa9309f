/// The process: what it shows of its progress, MPI, memory, streams and signals.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdio>
#include <string>
#include <vector>

#include "zhalo/comm/context.hpp"

namespace zhalo::app {

// What is being done right now: one line that changes on a terminal. In a log each phase has a
// line, when it first begins: some alternate hundreds of times.

struct ProgressOptions {
  std::string command;    ///< its name
  bool speaks = true;     ///< else nothing is ever printed, as on all ranks but 0
  bool quiet = false;     ///< only warnings
  bool launched = false;  ///< by mpirun or srun: some give rank 0 a terminal of its own, which says
                          ///< nothing about where the text ends up
  bool to_errors =
      false;  ///< the text goes to standard error, for a result goes to standard output
};

class Progress {
 public:
  explicit Progress(ProgressOptions options);
  ~Progress() { clear(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void begin(const std::string& phase);
  /// Takes the changing line away, so that other text can follow.
  void clear();
  /// Prints a text after what was printed so far.
  void say(const std::string& text);
  /// One sentence, to standard error, also if quiet.
  void warn(const std::string& sentence);
  /// Since this object was made.
  double seconds() const;

 private:
  ProgressOptions options_;
  std::FILE* stream_ = stdout;
  bool shown_ = false;
  bool terminal_ = false;
  bool line_open_ = false;
  std::string current_;
  std::vector<std::string> told_;  ///< phases, in a log
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

/// With escapes for line ends and whatever else a terminal would obey: names of files and words of
/// a damaged file may hold such bytes.
std::string in_one_line(const std::string& message);
/// Also with escapes for bytes that are not ASCII.
std::string in_ascii(const std::string& message);

/// Writes at once; what cannot be written (a closed pipe) is lost silently.
void put(const std::string& text, std::FILE* stream = stdout);

// MPI, and how a process ends that waits for others.

/// Status of a process that gave up waiting for others.
constexpr int exit_ranks_lost = 3;

/// MPI for as long as this object lives, if a launcher started the process (mpirun, srun); else no
/// MPI call is made, which saves the third of a second that Open MPI takes to start alone.
class MpiSession {
 public:
  MpiSession(int* argc, char*** argv);
  ~MpiSession();
  MpiSession(const MpiSession&) = delete;
  MpiSession& operator=(const MpiSession&) = delete;

  bool is_active() const { return active_; }

  /// Among the processes that the launcher started, also where MPI does not know of them.
  int rank() const;

  /// All processes of the launcher. Throws InputError if the launcher started several, but MPI sees
  /// only one.
  Communicator communicator(const CommunicatorOptions& options) const;

  /// Ends all processes at once if there are several: for when some of them are gone, and
  /// MPI_Finalize would wait for them.
  void end_all(int status) const;
  /// Frees the communicator and finalises MPI. If other ranks do not arrive within five minutes (or
  /// a shorter ZHALO_TIMEOUT), says so and exits with `status`, or with 3 if status is 0.
  void finish(const char* command, Communicator comm, int status);

 private:
  bool active_ = false;
};

// Memory, and the machine.

/// Most memory that the process ever had (VmHWM); 0 if the system does not say.
std::size_t peak_resident_bytes();

/// What a run on the host needs.
struct HostNeed {
  double bytes_per_rank = 0;  ///< this one's, if they differ
  std::string work;           ///< begins the message: "--num 64: 262144 particles"
  std::string remedy;         ///< ends it: "use fewer, or more machines"
};

/// InputError if machines or processes have less memory; for a dry run that is a warning. Linux
/// would grant the memory and kill the process when it is used. A device tells by itself.
/// Collective.
void check_memory(const Context& context, const HostNeed& need, bool is_dry_run,
                  std::vector<std::string>& warnings);
/// As check_memory, but always a warning: for a need that is a limit, which runs seldom reach.
void warn_of_memory(const Context& context, const HostNeed& need,
                    std::vector<std::string>& warnings);

/// The machine's name.
std::string machine_name();

// Streams and signals.

/// A file that is opened must not take the number of a standard stream that is closed: what is
/// printed would go there. Writing to what takes its place fails.
void keep_standard_streams();

/// From now on it is an error, not a signal that ends the process, to write what cannot be written:
/// a file that would grow beyond the limit of files (ulimit -f), a pipe that nobody reads any more.
void take_failed_writes_as_errors();

/// From now on the first SIGINT, SIGTERM, SIGHUP, SIGXCPU, SIGUSR1 or SIGUSR2 is only noted;
/// another of its kind, more than two seconds later, ends the process at once. Under nohup SIGHUP
/// stays without effect.
void catch_interrupts();

/// Throws Interrupted if a signal was noted.
void check_interrupted();

/// From now on check_interrupted never throws: the results are being put in place.
void finish_without_interrupts();

/// From now on signals end the process at once: there is nothing left to clean up.
void release_interrupts();

}  // namespace zhalo::app
