/// Ranks that work together.
#pragma once

#include <mpi.h>

#include <functional>
#include <string>
#include <vector>

#include "zhalo/core/span.hpp"
#include "zhalo/core/types.hpp"

namespace zhalo {

/// A private duplicate of the caller's MPI communicator: messages of the caller and of zhalo cannot meet, and errors return as
/// CommunicationError. Default constructed it is a communicator of one rank, needs no MPI_Init, and makes no MPI call.
/// Movable; the duplicate is freed with it. Every member function but rank() and size() is collective.
class Communicator {
 public:
  /// One rank, without MPI.
  Communicator() = default;
  /// Collective over `parent`. MPI must be initialised by the caller; zhalo never calls MPI_Init. InputError if it is not, or if
  /// `parent` is MPI_COMM_NULL.
  explicit Communicator(MPI_Comm parent);
  ~Communicator();
  Communicator(Communicator&& other) noexcept;
  Communicator& operator=(Communicator&& other) noexcept;
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;

  int rank() const { return rank_; }
  int size() const { return size_; }

  void barrier() const;
  Index sum(Index value) const;
  double sum(double value) const;
  Index min(Index value) const;
  double min(double value) const;
  Index max(Index value) const;
  double max(double value) const;
  /// Sum over the lower ranks; 0 on rank 0.
  Index exclusive_sum(Index value) const;
  /// Element-wise sum over ranks, in place.
  void sum_in_place(Span<Index> values) const;
  /// Copies rank `root`'s text to all.
  std::string broadcast(const std::string& text, int root = 0) const;

  /// Runs `work`; if it throws on any rank, all ranks throw the same error: the one of the lowest rank that failed, with that
  /// rank's number when there are several. Errors keep their type.
  void together(const std::function<void()>& work) const;

 private:
  void release() noexcept;

  MPI_Comm comm_ = MPI_COMM_NULL;
  int rank_ = 0;
  int size_ = 1;
};

/// The contiguous share [first, first + count) of `total` items that falls to a rank; shares differ by at most one.
struct Share {
  Index first = 0;
  Index count = 0;
};
Share share_of(Index total, int rank, int size);

}  // namespace zhalo
