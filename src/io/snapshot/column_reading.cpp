#include "src/io/snapshot/column_reading.hpp"

#include <system_error>

namespace zhalo::io {

void ColumnReading::read_all(const std::stop_token& stop) {
  try {
    for (const auto& read : reads_) read(stop);
  } catch (...) {
    error_ = std::current_exception();
  }
}

void ColumnReading::start() {
  if (reads_.empty()) return;
  try {
    thread_ = std::jthread([this](const std::stop_token& stop) { read_all(stop); });
  } catch (const std::system_error&) {
    // The system has no room for a thread: finish() reads.
  }
}

void ColumnReading::finish() {
  if (thread_.joinable()) {
    thread_.join();
  } else {
    read_all({});
  }
  reads_.clear();
  if (error_) std::rethrow_exception(error_);
  for (const auto& copy : copies_) copy();
  copies_.clear();
}

}  // namespace zhalo::io
