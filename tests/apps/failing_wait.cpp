/// To be preloaded into a rank. On the rank FAILING_WAIT_RANK MPI_Test throws when a message has been sent: so an exchange ends without
/// other ranks' knowledge, as when a device fails with messages under way. The rank STOPPING_RANK stops where it first calls
/// STOPPING_CALL: fsync, when its results are written; rename, when they take their names; or MPI_Finalize.
#include <dlfcn.h>
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

void stop_in(const char* call) {
  const char* chosen = std::getenv("STOPPING_CALL");
  if (chosen != nullptr && std::string(chosen) == call && is_chosen("STOPPING_RANK")) std::raise(SIGSTOP);
}

/// The function of this name that is not ours.
template <class Function>
Function* next(const char* name) {
  return reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
}

}  // namespace

extern "C" int fsync(int file) {
  stop_in("fsync");
  return next<int(int)>("fsync")(file);
}

extern "C" int rename(const char* from, const char* to) noexcept {
  stop_in("rename");
  return next<int(const char*, const char*)>("rename")(from, to);
}

extern "C" int MPI_Isend(const void* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm, MPI_Request* request) {
  sending = true;
  return PMPI_Isend(data, count, type, to, tag, comm, request);
}

extern "C" int MPI_Test(MPI_Request* request, int* done, MPI_Status* status) {
  if (sending && is_chosen("FAILING_WAIT_RANK")) throw std::runtime_error("thrown in a wait");
  return PMPI_Test(request, done, status);
}

extern "C" int MPI_Finalize() {
  stop_in("MPI_Finalize");
  return PMPI_Finalize();
}
