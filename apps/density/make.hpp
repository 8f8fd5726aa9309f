/// From particles to the field and its modes.
#pragma once

#include <optional>

#include "apps/density/plan.hpp"
#include "zhalo/mesh/density.hpp"

namespace zhalo::density_app {

/// What the run needs of both.
struct Made {
  std::optional<Field<float>> field;  ///< in units of the mean
  std::optional<Modes<float>>
      modes;  ///< of the overdensity (mode 0 may be anything), not compensated
  PaintReport painted;
};

/// Collective.
template <class Real>
Made paint_density(const Context& context, const Particles<Real>& particles, const Plan& plan);

/// Makes of the painted field, or of the modes, what else is needed. Collective.
void transform_density(const Context& context, const Plan& plan, Made& made);

/// Over all ranks. Collective.
FieldNumbers numbers_of(const Context& context, const Field<float>& field);

}  // namespace zhalo::density_app
