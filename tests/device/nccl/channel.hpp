/// Memory that the ranks of a stand-in of NCCL share: who is there, and a ring of bytes for each
/// ordered pair of ranks. For ranks of one machine, as processes or as threads.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>

namespace zhalo::nccl_stand_in {

/// Bytes from one rank to another, in order.
class Ring {
 public:
  /// Takes as many of the bytes as there is room for; returns how many.
  std::size_t write(const char* from, std::size_t bytes) {
    const std::uint64_t begin = written_.load(std::memory_order_relaxed);
    const std::uint64_t used = begin - read_.load(std::memory_order_acquire);
    const std::size_t num = std::min<std::size_t>(bytes, capacity - used);
    for (std::size_t i = 0; i < num; ++i) bytes_[(begin + i) % capacity] = from[i];
    written_.store(begin + num, std::memory_order_release);
    return num;
  }
  std::size_t read(char* to, std::size_t bytes) {
    const std::uint64_t begin = read_.load(std::memory_order_relaxed);
    const std::uint64_t there = written_.load(std::memory_order_acquire) - begin;
    const std::size_t num = std::min<std::size_t>(bytes, there);
    for (std::size_t i = 0; i < num; ++i) to[i] = bytes_[(begin + i) % capacity];
    read_.store(begin + num, std::memory_order_release);
    return num;
  }

 private:
  static constexpr std::size_t capacity = 16384;
  std::atomic<std::uint64_t> written_;
  std::atomic<std::uint64_t> read_;
  char bytes_[capacity];
};

constexpr int max_ranks = 64;

/// Fresh shared memory is all 0, which is how it begins.
struct Header {
  std::atomic<int> num_attached;
  std::atomic<int> device_of[max_ranks];  ///< 1 + its number
};

/// This rank's view of the shared memory of a communicator.
class Channel {
 public:
  Channel(std::string name, int rank, int size, int device);
  ~Channel();
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;

  int rank() const { return rank_; }
  int size() const { return size_; }
  bool is_complete() const { return header_->num_attached.load() == size_; }
  /// Whether two ranks have one device.
  bool shares_device() const;
  Ring& ring(int from, int to) const { return rings_[from * size_ + to]; }

 private:
  std::size_t bytes() const;

  std::string name_;
  int rank_;
  int size_;
  Header* header_;
  Ring* rings_;
};

}  // namespace zhalo::nccl_stand_in
