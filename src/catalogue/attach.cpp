#include "zhalo/catalogue/attach.hpp"

#include "kernels/catalogue.hpp"
#include "kernels/on.hpp"
#include "src/core/validate.hpp"
#include "zhalo/knn/knn.hpp"

namespace zhalo {

namespace {

/// `find` gives the nearest linked particle of each, with its label, for these options.
template <class Find>
AttachResult attach(const Context& context, Span<const Index> label, double radius,
                    const Find& find) {
  validate(radius >= 0,
           "the radius within which particles are attached is {} (must not be negative)", radius);
  validate_memory(context.exec, label, "labels");
  KnnOptions nearest;
  nearest.k = 1;
  nearest.max_radius = radius;
  KnnOutput wanted;
  wanted.distances = false;
  wanted.columns = {column_view(label)};
  const auto found = find(nearest, wanted);

  AttachResult result;
  result.num_wrapped = found.statistics.num_wrapped;
  result.label = Buffer<Index>(context.exec, found.num_rows, "labels of attached particles");
  const auto candidate = found.template column<Index>(0);
  kernels::on(context.exec, [&](const auto& e) {
    kernels::take_labels(e, found.index.span(), candidate, result.label.span());
  });
  synchronise(context.exec);
  return result;
}

void validate_labels(Span<const Index> label, Index num_linked) {
  validate(label.size() == num_linked, "there are {} labels for {} linked particles", label.size(),
           num_linked);
}

}  // namespace

template <class Real>
AttachResult attach_particles(const Context& context, const LabelledParticles<Real>& linked,
                              const Particles<Real>& others, const Box& box, double radius) {
  return together(context.comm, [&] {
    validate_labels(linked.label, linked.particles.num());
    return attach(context, linked.label, radius,
                  [&](const KnnOptions& nearest, const auto& wanted) {
                    return knn(context, Queries{others, linked.particles}, box, nearest, wanted);
                  });
  });
}

template <class Real>
AttachResult attach_particles(const Domain<Real>& domain, Span<const Index> label, double radius,
                              const KnnSpecies& species) {
  return together(domain.context().comm, [&] {
    validate_labels(label, domain.num(species.targets));
    return attach(domain.context(), label, radius,
                  [&](const KnnOptions& nearest, const KnnOutput& wanted) {
                    return knn(domain, nearest, wanted, species);
                  });
  });
}

template AttachResult attach_particles(const Domain<float>&, Span<const Index>, double,
                                       const KnnSpecies&);
template AttachResult attach_particles(const Domain<double>&, Span<const Index>, double,
                                       const KnnSpecies&);
template AttachResult attach_particles(const Context&, const LabelledParticles<float>&,
                                       const Particles<float>&, const Box&, double);
template AttachResult attach_particles(const Context&, const LabelledParticles<double>&,
                                       const Particles<double>&, const Box&, double);

}  // namespace zhalo
