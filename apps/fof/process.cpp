#include "apps/fof/process.hpp"

#include <mpi.h>

#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <string>

#include "zhalo/core/error.hpp"

namespace zhalo::fof_app {
namespace {

/// Tasks of the Slurm step that this process is in; srun sets it, a batch script alone does not.
int slurm_tasks() {
  const char* text = std::getenv("SLURM_STEP_NUM_TASKS");
  return text == nullptr ? 1 : std::atoi(text);
}

/// Open MPI, MPICH and its relatives, PMIx launchers, Slurm with several tasks.
bool started_by_launcher() {
  constexpr std::array names{"OMPI_COMM_WORLD_SIZE", "PMI_RANK", "PMI_SIZE", "PMIX_RANK", "MPI_LOCALRANKID"};
  return std::any_of(names.begin(), names.end(), [](const char* name) { return std::getenv(name) != nullptr; }) ||
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

Communicator MpiSession::communicator() const {
  Communicator comm = active_ ? Communicator(MPI_COMM_WORLD) : Communicator();
  if (comm.size() == 1 && slurm_tasks() > 1) {
    throw InputError(
        fmt::format("srun started {} tasks, but MPI sees one: all would do the same work; "
                    "use srun --mpi=pmix (or pmi2), or mpirun",
                    slurm_tasks()));
  }
  return comm;
}

std::size_t peak_resident_bytes() {
  std::ifstream file("/proc/self/status");
  std::string key;
  while (file >> key) {
    std::size_t kibibytes = 0;
    if (key == "VmHWM:" && file >> kibibytes) return kibibytes * 1024;
    file.ignore(std::numeric_limits<std::streamsize>::max(), '\n');
  }
  return 0;
}

}  // namespace zhalo::fof_app
