/// To be preloaded into ranks: the rank FAULTY_RANK, or each one if that is "all", has the FAULT
///   wait    MPI_Test throws when a message has been sent: so an exchange ends without other
///           ranks' knowledge, as when a device fails with messages under way
///   fsync, rename, MPI_Finalize
///           the rank stops where it first calls this: when its results are written, when they
///           take their names, or at the very end
///   files=NUM, bytes=NUM, addresses=NUM
///           after MPI_Init it can open so many more files; its files end at so many bytes; it can
///           have so many more bytes of addresses. (MPI itself would fail with earlier limits.)
#include <dirent.h>
#include <dlfcn.h>
#include <mpi.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>

namespace {

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

/// What stands behind `fault` in FAULT, if this rank has it; else null.
const char* find_fault(const std::string& fault) {
  const std::string rank = variable("FAULTY_RANK");
  if (rank != "all" && rank != variable("OMPI_COMM_WORLD_RANK")) return nullptr;
  const char* chosen = std::getenv("FAULT");
  return chosen != nullptr && std::string(chosen).rfind(fault, 0) == 0 ? chosen + fault.size()
                                                                       : nullptr;
}

void stop_in(const char* call) {
  if (find_fault(call) != nullptr) std::raise(SIGSTOP);
}

bool sending = false;  // NOLINT(cppcoreguidelines-avoid-non-const-global-variables)

rlim_t open_files() {
  rlim_t num = 0;
  DIR* folder = ::opendir("/proc/self/fd");
  while (::readdir(folder) != nullptr) ++num;
  ::closedir(folder);
  return num - 3;  // "." and "..", and the folder itself
}

rlim_t bytes_of_addresses() {
  unsigned long pages = 0;
  std::FILE* file = std::fopen("/proc/self/statm", "r");
  if (file == nullptr || std::fscanf(file, "%lu", &pages) != 1) std::abort();
  std::fclose(file);
  return pages * static_cast<rlim_t>(::sysconf(_SC_PAGESIZE));
}

template <class Resource>
void limit(Resource resource, rlim_t max) {
  rlimit both{max, max};
  if (::setrlimit(resource, &both) != 0) std::abort();
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

extern "C" int MPI_Isend(const void* data, int count, MPI_Datatype type, int to, int tag,
                         MPI_Comm comm, MPI_Request* request) {
  sending = true;
  return PMPI_Isend(data, count, type, to, tag, comm, request);
}

extern "C" int MPI_Test(MPI_Request* request, int* done, MPI_Status* status) {
  if (sending && find_fault("wait") != nullptr) throw std::runtime_error("thrown in a wait");
  return PMPI_Test(request, done, status);
}

extern "C" int MPI_Init_thread(int* argc, char*** argv, int required, int* provided) {
  const int status = PMPI_Init_thread(argc, argv, required, provided);
  if (const char* num = find_fault("files="))
    limit(RLIMIT_NOFILE, open_files() + std::strtoul(num, nullptr, 10));
  if (const char* num = find_fault("bytes=")) limit(RLIMIT_FSIZE, std::strtoul(num, nullptr, 10));
  if (const char* num = find_fault("addresses="))
    limit(RLIMIT_AS, bytes_of_addresses() + std::strtoul(num, nullptr, 10));
  return status;
}

extern "C" int MPI_Finalize() {
  stop_in("MPI_Finalize");
  return PMPI_Finalize();
}
