/// To be preloaded into a rank. On the rank FAILING_WAIT_RANK MPI_Test throws when a message has been sent: so an exchange ends without
/// other ranks' knowledge, as when a device fails with messages under way. The rank STOPPING_RANK stops in MPI_Finalize.
#include <mpi.h>

#include <csignal>
#include <cstdlib>
#include <stdexcept>
#include <string>

namespace {

bool is_chosen(const char* variable) {
  const char* chosen = std::getenv(variable);
  const char* own = std::getenv("OMPI_COMM_WORLD_RANK");
  return chosen != nullptr && own != nullptr && std::string(chosen) == own;
}

bool sending = false;  // NOLINT(cppcoreguidelines-avoid-non-const-global-variables)

}  // namespace

extern "C" int MPI_Isend(const void* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm, MPI_Request* request) {
  sending = true;
  return PMPI_Isend(data, count, type, to, tag, comm, request);
}

extern "C" int MPI_Test(MPI_Request* request, int* done, MPI_Status* status) {
  if (sending && is_chosen("FAILING_WAIT_RANK")) throw std::runtime_error("thrown in a wait");
  return PMPI_Test(request, done, status);
}

extern "C" int MPI_Finalize() {
  if (is_chosen("STOPPING_RANK")) std::raise(SIGSTOP);
  return PMPI_Finalize();
}
