#include "zhalo/catalogue/attach.hpp"

#include "kernels/catalogue.hpp"
#include "kernels/on.hpp"
#include "src/core/synchronise.hpp"
#include "src/core/validate_memory.hpp"
#include "zhalo/knn/knn.hpp"

namespace zhalo {

template <class Real>
AttachResult attach_particles(const Context& context, const LabelledParticles<Real>& linked,
                              const Particles<Real>& others, const Box& box, double radius) {
  return together(context.comm, [&] {
    validate(radius >= 0,
             "the radius within which particles are attached is {} (must not be negative)", radius);
    validate(linked.label.size() == linked.particles.num(),
             "there are {} labels for {} linked particles", linked.label.size(),
             linked.particles.num());
    validate_memory(context.exec, linked.label, "labels");
    KnnOptions nearest;
    nearest.k = 1;
    nearest.max_radius = radius;
    KnnOutput wanted;
    wanted.distances = false;
    wanted.columns = {column_view(linked.label)};
    const KnnResult<Real> found =
        knn(context, QueriesAmong{others, linked.particles}, box, nearest, wanted);

    AttachResult result;
    result.num_wrapped = found.statistics.num_wrapped;
    result.label = Buffer<Index>(context.exec, found.num_rows, "labels of attached particles");
    const auto candidate = found.template column<Index>(0);
    kernels::on(context.exec, [&](const auto& e) {
      kernels::take_labels(e, found.index.span(), candidate, result.label.span());
    });
    synchronise(context.exec);
    return result;
  });
}

template AttachResult attach_particles(const Context&, const LabelledParticles<float>&,
                                       const Particles<float>&, const Box&, double);
template AttachResult attach_particles(const Context&, const LabelledParticles<double>&,
                                       const Particles<double>&, const Box&, double);

}  // namespace zhalo
