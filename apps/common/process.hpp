/// This process: how it was started and what it used.
#pragma once

#include <cstddef>

#include "zhalo/comm/communicator.hpp"

namespace zhalo::app {

/// MPI for as long as this object lives, if a launcher started the process (mpirun, srun); else no MPI call is made, which saves
/// the third of a second that Open MPI takes to start alone.
class MpiSession {
 public:
  MpiSession(int* argc, char*** argv);
  ~MpiSession();
  MpiSession(const MpiSession&) = delete;
  MpiSession& operator=(const MpiSession&) = delete;

  bool is_active() const { return active_; }

  /// Among the processes that the launcher started, also where MPI does not know of them.
  int rank() const;

  /// All processes of the launcher. Throws InputError if the launcher started several, but MPI sees only one.
  Communicator communicator(const CommunicatorOptions& options) const;

  /// Ends all processes at once if there are several: for when some of them are gone, and MPI_Finalize would wait for them.
  void end_all(int status) const;

 private:
  bool active_ = false;
};

/// Most memory that the process ever had (VmHWM); 0 if the system does not say.
std::size_t peak_resident_bytes();

/// Memory that the machine can still give (MemAvailable); the largest number if the system does not say.
std::size_t available_bytes();

/// The machine's name.
std::string machine_name();

}  // namespace zhalo::app
