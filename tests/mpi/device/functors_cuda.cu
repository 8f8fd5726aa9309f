#include "tests/mpi/device/functors.hpp"
#include "zhalo/core/buffer.hpp"
#include "zhalo/knn/reduce.hpp"

namespace zhalo::testing {
namespace {

struct MarkPair {
  char* marks;
  Index num;

  template <class Real>
  ZHALO_HD void operator()(const Neighbours<Real>& near, Index i) const {
    marks[near.query_index * num + near.index(i)] += 1;
  }
};

}  // namespace

template <class Real>
std::vector<DigestOfList> digest_nearest(const Context& context, const Particles<Real>& particles,
                                         const Box& box, const KnnOptions& options,
                                         Span<const double> weight) {
  return to_host(context.exec,
                 knn_reduce(context, particles, box, options,
                            reduction(Digest{}, ParticleColumn<double>("weight", weight))));
}

template <class Real>
std::vector<DigestOfList> digest_within(const Context& context, const Particles<Real>& particles,
                                        const Box& box, const WithinOptions& options,
                                        Span<const double> weight) {
  return to_host(context.exec,
                 reduce_within(context, particles, box, options,
                               reduction(Digest{}, ParticleColumn<double>("weight", weight))));
}

template <class Real>
std::vector<char> mark_pairs(const Context& context, const Particles<Real>& particles,
                             const Box& box, const WithinOptions& options, Index num) {
  const std::vector<char> none(static_cast<std::size_t>(num * num));
  Buffer<char> marks = to_exec(context.exec, Span<const char>(none), "marks");
  for_each_neighbour_within(context, particles, box, options, MarkPair{marks.data(), num});
  return to_host(context.exec, marks);
}

#define ZHALO_INSTANTIATE(Real)                                                                   \
  template std::vector<DigestOfList> digest_nearest(                                              \
      const Context&, const Particles<Real>&, const Box&, const KnnOptions&, Span<const double>); \
  template std::vector<DigestOfList> digest_within(const Context&, const Particles<Real>&,        \
                                                   const Box&, const WithinOptions&,              \
                                                   Span<const double>);                           \
  template std::vector<char> mark_pairs(const Context&, const Particles<Real>&, const Box&,       \
                                        const WithinOptions&, Index);
ZHALO_INSTANTIATE(float)
ZHALO_INSTANTIATE(double)

}  // namespace zhalo::testing
