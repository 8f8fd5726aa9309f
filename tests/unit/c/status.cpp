/// The statuses and messages of zhalo.h: one for each exception, in each thread its own.
#include <new>
#include <stdexcept>
#include <string>
#include <thread>

#include <catch2/catch.hpp>

#include "src/c/handles.hpp"

namespace {

using namespace zhalo;

template <class Exception>
int status_after(const Exception& exception) {
  return c::status_of([&] { throw exception; });
}

std::string last_error() { return zhalo_last_error(); }

}  // namespace

TEST_CASE("c: every exception has its status") {
  CHECK(status_after(InputError("input")) == ZHALO_INPUT_ERROR);
  CHECK(last_error() == "input");
  CHECK(status_after(OutOfMemory("memory")) == ZHALO_OUT_OF_MEMORY);
  CHECK(status_after(std::bad_alloc()) == ZHALO_OUT_OF_MEMORY);
  CHECK(last_error().find("memory") != std::string::npos);
  CHECK(status_after(DeviceError("device")) == ZHALO_DEVICE_ERROR);
  CHECK(status_after(CommunicationError("ranks")) == ZHALO_COMMUNICATION_ERROR);
  CHECK(status_after(FileError("file")) == ZHALO_FILE_ERROR);
  CHECK(status_after(Interrupted("stop")) == ZHALO_OTHER_ERROR);
  CHECK(status_after(ContractViolation("bug")) == ZHALO_OTHER_ERROR);
  CHECK(status_after(std::runtime_error("runtime")) == ZHALO_OTHER_ERROR);
  CHECK(last_error() == "runtime");
  CHECK(status_after(7) == ZHALO_OTHER_ERROR);
  CHECK(last_error() == "unknown exception");
  CHECK(c::status_of([] {}) == ZHALO_OK);
  CHECK(last_error().empty());
}

TEST_CASE("c: a long message is cut") {
  CHECK(status_after(InputError(std::string(10000, 'x'))) == ZHALO_INPUT_ERROR);
  CHECK(last_error() == std::string(last_error().size(), 'x'));
  CHECK(last_error().size() > 1000);
}

TEST_CASE("c: each thread has its own message") {
  CHECK(status_after(InputError("of this thread")) == ZHALO_INPUT_ERROR);
  std::string before = "unset", after;
  std::thread other([&] {
    before = last_error();
    status_after(InputError("of the other thread"));
    after = last_error();
  });
  other.join();
  CHECK(before.empty());
  CHECK(after == "of the other thread");
  CHECK(last_error() == "of this thread");
}
