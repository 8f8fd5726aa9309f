/// A real transform over ranks as the benchmark sees it: zhalo's, or another library's.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "zhalo/fft/fft.hpp"

namespace zhalo::bench {

/// Forward and backward without any factor, in place, the spectrum in the order that is cheapest
/// for the library. All members are collective.
template <class T>
class RealTransform {
 public:
  virtual ~RealTransform() = default;

  /// This rank's cells, or modes after forward(): one memory for both.
  virtual Span<T> field() = 0;
  virtual const BoxLayout& cells() const = 0;
  /// In complex elements.
  virtual const BoxLayout& modes() const = 0;
  virtual void forward() = 0;
  virtual void backward() = 0;

  /// None of a library that does not tell.
  virtual std::optional<FftReport> report() const = 0;
  virtual std::string describe() const = 0;
};

/// What a library is asked for.
struct TransformRequest {
  Index num = 0;  ///< cells along each axis
  PlanEffort effort = PlanEffort::estimate;
  int threads = 1;
};

/// FFTW's own transform with threads on one rank, its MPI transform on slabs on several; empty if
/// it was not built in.
template <class T>
std::unique_ptr<RealTransform<T>> make_peer(const Communicator& comm,
                                            const TransformRequest& request);
extern template std::unique_ptr<RealTransform<float>> make_peer(const Communicator& comm,
                                                                const TransformRequest& request);
extern template std::unique_ptr<RealTransform<double>> make_peer(const Communicator& comm,
                                                                 const TransformRequest& request);

/// Name and version of the peer; none if it was not built in.
std::optional<std::string> peer_name();

}  // namespace zhalo::bench
