/// Several arrays of an Exec's memory that come to the host with one wait.
#pragma once

#include <cstddef>
#include <cstring>
#include <variant>
#include <vector>

#include "zhalo/core/buffer.hpp"

namespace zhalo {

/// On a device the arrays are put one behind the other there, and copied as one: each copy to the
/// host would be a wait of its own.
class HostCopies {
 public:
  explicit HostCopies(const Exec& exec) : exec_(exec) {}

  /// The elements are in `to` when wait() returns. Both must live until then.
  template <class T>
  void add(Span<const T> from, T* to) {
    const std::size_t bytes = static_cast<std::size_t>(from.size()) * sizeof(T);
    if (bytes > 0) parts_.push_back({from.data(), to, bytes});
  }
  template <class T>
  void add(const Buffer<T>& from, std::vector<T>& to) {
    to.resize(static_cast<std::size_t>(from.size()));
    add(from.span(), to.data());
  }

  void wait() {
    if (std::holds_alternative<Host>(exec_) || parts_.size() == 1) {
      for (const Part& part : parts_) copy_bytes(exec_, part.to, part.from, part.bytes);
    } else if (!parts_.empty()) {
      copy_as_one();
    }
    parts_.clear();
  }

 private:
  struct Part {
    const void* from;
    void* to;
    std::size_t bytes;

    std::size_t room() const { return (bytes + 15) / 16 * 16; }
  };

  void copy_as_one() const {
    std::size_t room = 0;
    for (const Part& part : parts_) room += part.room();
    Buffer<std::byte> joined(exec_, static_cast<Index>(room), "results on their way to the host");
    std::size_t at = 0;
    for (const Part& part : parts_) {
      queue_copy(exec_, joined.data() + at, part.from, part.bytes);
      at += part.room();
    }
    const std::vector<std::byte> on_host = to_host(exec_, joined);
    at = 0;
    for (const Part& part : parts_) {
      std::memcpy(part.to, on_host.data() + at, part.bytes);
      at += part.room();
    }
  }

  const Exec& exec_;
  std::vector<Part> parts_;
};

}  // namespace zhalo
