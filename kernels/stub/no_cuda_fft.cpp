// Fourier transforms in a build without CUDA.
#include "kernels/fft.hpp"
#include "zhalo/core/error.hpp"

namespace zhalo::kernels {

template <class Real>
std::unique_ptr<PlanePlan<Real>> plan_planes(const Cuda&, const PlaneSteps&) {
  throw DeviceError("zhalo was built without CUDA");
}
template std::unique_ptr<PlanePlan<float>> plan_planes(const Cuda&, const PlaneSteps&);
template std::unique_ptr<PlanePlan<double>> plan_planes(const Cuda&, const PlaneSteps&);

}  // namespace zhalo::kernels
