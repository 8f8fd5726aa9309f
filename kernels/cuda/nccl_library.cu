// Finds NCCL on this machine.
#include <dlfcn.h>

#include <cstdlib>
#include <cstring>

#include "kernels/cuda/nccl_library.hpp"

namespace zhalo::kernels {
namespace {

#if defined(ZHALO_NCCL_STAND_IN)
constexpr const char* default_name = ZHALO_NCCL_STAND_IN;
#else
constexpr const char* default_name = "libnccl.so.2";
#endif

template <class Function>
void find(void* handle, const char* name, Function& function, std::string& missing) {
  void* const address = dlsym(handle, name);
  if (address == nullptr && missing.empty()) missing = name;
  static_assert(sizeof function == sizeof address);
  std::memcpy(&function, &address, sizeof address);
}

std::string find_functions(void* handle, NcclLibrary& library) {
  std::string missing;
  find(handle, "ncclGetVersion", library.get_version, missing);
  find(handle, "ncclGetUniqueId", library.get_unique_id, missing);
  find(handle, "ncclCommInitRankConfig", library.init, missing);
  find(handle, "ncclCommGetAsyncError", library.get_async_error, missing);
  find(handle, "ncclCommCount", library.count, missing);
  find(handle, "ncclCommFinalize", library.finalize, missing);
  find(handle, "ncclCommDestroy", library.destroy, missing);
  find(handle, "ncclCommAbort", library.abandon, missing);
  find(handle, "ncclGroupStart", library.group_start, missing);
  find(handle, "ncclGroupEnd", library.group_end, missing);
  find(handle, "ncclSend", library.send, missing);
  find(handle, "ncclRecv", library.receive, missing);
  find(handle, "ncclGetErrorString", library.error_string, missing);
  find(handle, "ncclGetLastError", library.last_error, missing);
  return missing;
}

NcclLibrary load() {
  NcclLibrary library;
  const char* chosen = std::getenv("ZHALO_NCCL");
  const std::string name = chosen != nullptr ? chosen : default_name;
  void* const handle = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);  // never closed
  if (handle == nullptr) {
    const char* reason = dlerror();
    library.why_not = "NCCL is not found (" + std::string(reason != nullptr ? reason : name) +
                      "); ZHALO_NCCL may name its library";
    return library;
  }
  const std::string missing = find_functions(handle, library);
  if (!missing.empty()) {
    library.why_not = "'" + name + "' has no " + missing + ": NCCL must be 2.18 or newer";
  } else if (library.get_version(&library.version) != NcclResult::success ||
             library.version < min_nccl_version) {
    library.why_not = "'" + name + "' is " + library.name() + " (must be 2.18 or newer)";
  }
  return library;
}

}  // namespace

std::string NcclLibrary::name() const {
  return "NCCL " + std::to_string(version / 10000) + "." + std::to_string(version / 100 % 100) +
         "." + std::to_string(version % 100);
}

const NcclLibrary& nccl() {
  static const NcclLibrary loaded = load();
  return loaded;
}

}  // namespace zhalo::kernels
