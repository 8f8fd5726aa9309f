#include "apps/fof/attach.hpp"

#include <algorithm>
#include <utility>

#include "zhalo/catalogue/attach.hpp"

namespace zhalo::fof_app {
namespace {

bool is_linked(const Plan& plan, const io::TypeRange& range) {
  return std::count(plan.link_types.begin(), plan.link_types.end(), range.type) > 0;
}

/// Views of the loaded particles that are linked, or of those that are not.
template <class Real>
Particles<Real> part_of(const io::LoadedParticles<Real>& loaded, const Plan& plan, bool linked) {
  Particles<Real> part = loaded.particles;
  part.segments.clear();
  for (std::size_t i = 0; i < loaded.ranges.size(); ++i) {
    if (is_linked(plan, loaded.ranges[i]) == linked)
      part.segments.push_back(loaded.particles.segments[i]);
  }
  return part;
}

/// Labels of both kinds in the order of the loaded particles.
Buffer<Index> merge_labels(const Exec& exec, const std::vector<io::TypeRange>& ranges,
                           const Plan& plan, Span<const Index> linked, Span<const Index> others) {
  Buffer<Index> label(exec, linked.size() + others.size(), "labels");
  Index next_linked = 0, next_other = 0;
  for (const io::TypeRange& range : ranges) {
    const bool is_linker = is_linked(plan, range);
    Index& next = is_linker ? next_linked : next_other;
    const Span<const Index> from = (is_linker ? linked : others).subspan(next, range.count);
    copy_bytes(exec, label.data() + (next_linked + next_other), from.data(),
               static_cast<std::size_t>(range.count) * sizeof(Index));
    next += range.count;
  }
  return label;
}

}  // namespace

template <class Real>
Grouped link_and_attach(const Context& context, const io::LoadedParticles<Real>& loaded,
                        const Plan& plan) {
  const FofOptions options{.linking_length = plan.linking.length};
  const Particles<Real> linked = part_of(loaded, plan, true);
  FofResult fof = friends_of_friends(context, linked, plan.box, options);
  if (plan.attach.types.empty()) return {std::move(fof.label), fof.num_wrapped, fof.statistics};
  const double radius = plan.attach.radius * plan.linking.length;
  const AttachResult attached = attach_particles<Real>(
      context, {linked, fof.label.span()}, part_of(loaded, plan, false), plan.box, radius);
  return {merge_labels(context.exec, loaded.ranges, plan, fof.label.span(), attached.label.span()),
          attached.num_wrapped, fof.statistics};
}

template Grouped link_and_attach(const Context&, const io::LoadedParticles<float>&, const Plan&);
template Grouped link_and_attach(const Context&, const io::LoadedParticles<double>&, const Plan&);

}  // namespace zhalo::fof_app
