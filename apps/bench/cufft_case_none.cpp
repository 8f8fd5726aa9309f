// In place of cufft_case.cu where zhalo is built without CUDA.
#include "apps/bench/cases.hpp"
#include "zhalo/core/error.hpp"

namespace zhalo::bench {

void run_cufft(benchmark::State& /*state*/, const TransformCase& /*transform_case*/) {
  throw InputError("cuFFT is missing: this program is built without CUDA");
}

}  // namespace zhalo::bench
