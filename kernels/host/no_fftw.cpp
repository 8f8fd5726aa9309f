// Fourier transforms on the host in a build without FFTW.
#include "kernels/fft.hpp"
#include "zhalo/core/error.hpp"

namespace zhalo::kernels {

template <class Real>
PlanePlans<Real> plan_planes(const Host&, const std::vector<PlaneSteps>&) {
  throw InputError(
      "zhalo was built without FFTW, so there are no Fourier transforms on the host; configure "
      "with -DZHALO_FFTW=ON, or use a device");
}
template PlanePlans<float> plan_planes(const Host&, const std::vector<PlaneSteps>&);
template PlanePlans<double> plan_planes(const Host&, const std::vector<PlaneSteps>&);

}  // namespace zhalo::kernels
