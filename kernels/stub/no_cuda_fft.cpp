// Fourier transforms in a build without CUDA.
#include "kernels/fft.hpp"
#include "kernels/stub/refuse.hpp"

namespace zhalo::kernels {

template <class Real>
std::unique_ptr<PlanePlan<Real>> plan_planes(const Cuda&, const PlaneSteps&) {
  refuse();
}
template std::unique_ptr<PlanePlan<float>> plan_planes(const Cuda&, const PlaneSteps&);
template std::unique_ptr<PlanePlan<double>> plan_planes(const Cuda&, const PlaneSteps&);

}  // namespace zhalo::kernels
