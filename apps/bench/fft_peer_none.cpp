// In place of fft_peer_fftw.cpp where FFTW's MPI libraries are missing.
#include "apps/bench/fft_bench.hpp"

namespace zhalo::bench {

template <class T>
std::unique_ptr<RealTransform<T>> make_peer(const Communicator&, const TransformRequest&) {
  return nullptr;
}
template std::unique_ptr<RealTransform<float>> make_peer(const Communicator& comm,
                                                         const TransformRequest& request);
template std::unique_ptr<RealTransform<double>> make_peer(const Communicator& comm,
                                                          const TransformRequest& request);

std::optional<std::string> peer_name() { return std::nullopt; }

}  // namespace zhalo::bench
