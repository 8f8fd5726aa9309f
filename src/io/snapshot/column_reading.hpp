/// Columns of particles on their way from files to memory.
#pragma once

#include <algorithm>
#include <exception>
#include <functional>
#include <memory>
#include <stop_token>
#include <system_error>
#include <thread>
#include <variant>
#include <vector>

#include "zhalo/core/buffer.hpp"

namespace zhalo::io {

/// Reads columns in the order in which they are added: each at once, or all of them in a thread of
/// its own. Files are read into memory of the host. What belongs on a device is copied there by the
/// thread that calls finish().
class ColumnReading {
 public:
  enum class When { at_once, in_background };

  explicit ColumnReading(When when) : when_(when) {}

  /// `rows` of `components` elements each.
  struct Size {
    Index rows = 0;
    int components = 1;
  };

  /// Room in the memory of `exec`. `read(first row, rows of the column)` fills parts of it.
  template <class T, class Read>
  Buffer<T> add(const Exec& exec, Size size, const char* purpose, const Read& read) {
    Buffer<T> column(exec, size.rows * size.components, purpose);
    Span<T> target = column.span();
    if (!std::holds_alternative<Host>(exec)) {
      const auto staging = std::make_shared<Buffer<T>>(host_exec(), target.size(), purpose);
      copies_.push_back([exec, staging, to = target.data()] {
        const auto bytes = static_cast<std::size_t>(staging->size()) * sizeof(T);
        copy_bytes(exec, to, staging->data(), bytes);
      });
      target = staging->span();
    }
    reads_.push_back([size, target, read](const std::stop_token& stop) {
      for (Index row = 0; row < size.rows && !stop.stop_requested(); row += block) {
        const Index num = std::min(block, size.rows - row);
        read(row, target.subspan(row * size.components, num * size.components));
      }
    });
    if (when_ == When::at_once) finish();
    return column;
  }

  /// Begins to read in the background what is not there yet. If the system has no room for a
  /// thread, finish() reads. The columns must stay where they are until finish(), or until this
  /// object is gone.
  void start();

  /// No further parts are read in the background. So it is also when this object is destroyed.
  void give_up() { thread_.request_stop(); }

  /// Returns when all columns are there. Throws what reading threw, each time. Not collective.
  void finish();

 private:
  /// Rows read by one call. If the caller gives up, it waits for such a part only.
  static constexpr Index block = Index{1} << 24;

  void read_all(const std::stop_token& stop);

  When when_;
  std::vector<std::function<void(const std::stop_token&)>> reads_;
  std::vector<std::function<void()>> copies_;
  std::exception_ptr error_;
  std::jthread thread_;  ///< the last member: it ends before the others do
};

inline void ColumnReading::read_all(const std::stop_token& stop) {
  try {
    for (const auto& read : reads_) read(stop);
  } catch (...) {
    error_ = std::current_exception();
  }
}

inline void ColumnReading::start() {
  if (reads_.empty()) return;
  try {
    thread_ = std::jthread([this](const std::stop_token& stop) { read_all(stop); });
  } catch (const std::system_error&) {
    // The system has no room for a thread: finish() reads.
  }
}

inline void ColumnReading::finish() {
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
