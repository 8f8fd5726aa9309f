#include "tests/mpi/device/device_mpi.hpp"

#include <mpi.h>

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "tests/device/runtime/memory.hpp"

namespace {

using namespace zhalo::testing;

struct Received {
  std::vector<char> bytes;
  void* to = nullptr;
  int device = 0;
};

std::map<MPI_Request, Received> received;
std::map<MPI_Request, std::vector<char>> sent;
std::vector<Received> abandoned;  // into which MPI may still write

void copy_of_device(void* to, const void* from, int num, int device) {
  const zhalo::emulated::AccessScope scope(device);
  std::copy_n(static_cast<const char*>(from), num, static_cast<char*>(to));
}

bool never_ends(MPI_Request request) {
  return device_mpi == DeviceMpi::hangs && received.contains(request);
}

}  // namespace

extern "C" int MPI_Isend(const void* data, int count, MPI_Datatype type, int to, int tag,
                         MPI_Comm comm, MPI_Request* request) {
  const int device = zhalo::emulated::device_of(data);
  if (device < 0) return PMPI_Isend(data, count, type, to, tag, comm, request);
  ++calls_with_device;
  if (device_mpi == DeviceMpi::fails) return MPI_ERR_BUFFER;
  int size = 0;
  PMPI_Type_size(type, &size);
  std::vector<char> bytes(static_cast<std::size_t>(count * size));
  copy_of_device(bytes.data(), data, count * size, device);
  const int status = PMPI_Isend(bytes.data(), count, type, to, tag, comm, request);
  sent[*request] = std::move(bytes);
  return status;
}

extern "C" int MPI_Irecv(void* data, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm,
                         MPI_Request* request) {
  const int device = zhalo::emulated::device_of(data);
  if (device < 0) return PMPI_Irecv(data, count, type, from, tag, comm, request);
  ++calls_with_device;
  if (device_mpi == DeviceMpi::fails) return MPI_ERR_BUFFER;
  int size = 0;
  PMPI_Type_size(type, &size);
  Received one{std::vector<char>(static_cast<std::size_t>(count * size)), data, device};
  char* const room = one.bytes.data();
  const int status = PMPI_Irecv(room, count, type, from, tag, comm, request);
  received[*request] = std::move(one);
  return status;
}

extern "C" int MPI_Test(MPI_Request* request, int* done, MPI_Status* status) {
  const MPI_Request before = *request;
  if (never_ends(before)) {
    *done = 0;
    return MPI_SUCCESS;
  }
  const int code = PMPI_Test(request, done, status);
  if (*done != 0) sent.erase(before);
  const auto found = received.find(before);
  if (*done == 0 || found == received.end()) return code;
  const Received one = std::move(found->second);
  received.erase(found);
  if (device_mpi != DeviceMpi::is_right) return code;  // it never arrives
  const zhalo::emulated::AccessScope scope(one.device);
  std::copy(one.bytes.begin(), one.bytes.end(), static_cast<char*>(one.to));
  return code;
}

extern "C" int MPI_Wait(MPI_Request* request, MPI_Status* status) {
  if (never_ends(*request)) PMPI_Abort(MPI_COMM_WORLD, 1);  // rather than to hang
  return PMPI_Wait(request, status);
}

extern "C" int MPI_Cancel(MPI_Request* request) {
  return never_ends(*request) ? MPI_SUCCESS : PMPI_Cancel(request);
}

extern "C" int MPI_Request_free(MPI_Request* request) {
  if (const auto found = received.find(*request); found != received.end()) {
    addresses_of_abandoned.push_back(found->second.to);
    abandoned.push_back(std::move(found->second));
    received.erase(found);  // the next request may have the same handle
  }
  return PMPI_Request_free(request);
}
