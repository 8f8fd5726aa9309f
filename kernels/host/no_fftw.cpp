// Fourier transforms on the host in a build without FFTW.
#include "kernels/fft.hpp"
#include "zhalo/core/error.hpp"

namespace zhalo::kernels {

template <class Real>
std::unique_ptr<PlanePlan<Real>> plan_planes(const Host&, const PlaneSteps&) {
  throw InputError(
      "zhalo was built without FFTW, so there are no Fourier transforms on the host; configure "
      "with -DZHALO_FFTW=ON, or use a device");
}
template std::unique_ptr<PlanePlan<float>> plan_planes(const Host&, const PlaneSteps&);
template std::unique_ptr<PlanePlan<double>> plan_planes(const Host&, const PlaneSteps&);

}  // namespace zhalo::kernels
