#include "zhalo/knn/within.hpp"

#include "kernels/kernels.hpp"
#include "src/core/synchronise.hpp"

namespace zhalo {
namespace {

template <class Real>
Buffer<Index> count(const Context& context, const KnnTargets<Real>& targets, const Box& box,
                    const WithinOptions& options) {
  return together(context.comm, [&] {
    NeighbourSearch search = options.search();
    search.counts_only = true;
    NeighbourLists<Real> lists(context, targets, box, search);
    Buffer<LocalIndex> counts(context.exec, lists.num_queries(), "counts of neighbours");
    while (lists.next())
      lists.put(lists.rows().count.data(), static_cast<Index>(sizeof(LocalIndex)), counts.data());
    Buffer<Index> result(context.exec, counts.size(), "counts of neighbours");
    kernels::on(context.exec, [&](const auto& e) {
      kernels::make_global(e, Span<const LocalIndex>(counts.span()), 0, result.span());
    });
    synchronise(context.exec);
    return result;
  });
}

}  // namespace

template <class Real>
Buffer<Index> count_within(const Context& context, const Particles<Real>& particles, const Box& box,
                           const WithinOptions& options) {
  return count<Real>(context, particles, box, options);
}

template <class Real>
Buffer<Index> count_within(const Context& context, const Queries<Real>& among, const Box& box,
                           const WithinOptions& options) {
  return count<Real>(context, among, box, options);
}

template <class Real>
Buffer<Index> count_within(const Domain<Real>& domain, const WithinOptions& options,
                           const KnnSpecies& species) {
  return count<Real>(domain.context(), {domain, species}, domain.box(), options);
}

template Buffer<Index> count_within(const Domain<float>&, const WithinOptions&, const KnnSpecies&);
template Buffer<Index> count_within(const Domain<double>&, const WithinOptions&, const KnnSpecies&);
template Buffer<Index> count_within(const Context&, const Particles<float>&, const Box&,
                                    const WithinOptions&);
template Buffer<Index> count_within(const Context&, const Particles<double>&, const Box&,
                                    const WithinOptions&);
template Buffer<Index> count_within(const Context&, const Queries<float>&, const Box&,
                                    const WithinOptions&);
template Buffer<Index> count_within(const Context&, const Queries<double>&, const Box&,
                                    const WithinOptions&);

}  // namespace zhalo
