#include "zhalo/mesh/paint.hpp"

#include "kernels/on.hpp"
#include "src/comm/agreement.hpp"
#include "src/core/instantiate.hpp"
#include "src/mesh/painting.hpp"

namespace zhalo {

template <class T, class Real>
PaintReport paint(const Context& context, const Particles<Real>& particles, Field<T>& field,
                  const PaintOptions& options) {
  return together(context.comm, [&] {
    const Painting<Real> painting(context, field.decomposition(), particles, options);
    if (field.layout().size != field.cells().size())  // ghosts become 0
      kernels::on(context.exec, [&](const auto& e) { kernels::clear(e, field.span()); });
    painting.paint(own_cells(field), options.shift);
    return painting.report();
  });
}

#define ZHALO_PAINT(T, Real)                                                    \
  template PaintReport paint(const Context&, const Particles<Real>&, Field<T>&, \
                             const PaintOptions&);
ZHALO_FOR_REAL_PAIRS(ZHALO_PAINT)

}  // namespace zhalo
