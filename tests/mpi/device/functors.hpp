/// Searches with functors of the caller, in a translation unit that is compiled for devices.
#pragma once

#include <vector>

#include "tests/support/reductions.hpp"
#include "zhalo/comm/context.hpp"
#include "zhalo/domain/particles.hpp"
#include "zhalo/knn/within.hpp"

namespace zhalo::testing {

/// Digests of the k nearest neighbours, in the caller's order. Columns are in memory of the Exec.
template <class Real>
std::vector<DigestOfList> digest_nearest(const Context& context, const Particles<Real>& particles,
                                         const Box& box, const KnnOptions& options,
                                         Span<const double> weight);

/// Of all neighbours within a radius.
template <class Real>
std::vector<DigestOfList> digest_within(const Context& context, const Particles<Real>& particles,
                                        const Box& box, const WithinOptions& options,
                                        Span<const double> weight);

/// 1 where particle i of all ranks met its neighbour j within the radius: [i * num + j].
template <class Real>
std::vector<char> mark_pairs(const Context& context, const Particles<Real>& particles,
                             const Box& box, const WithinOptions& options, Index num);

}  // namespace zhalo::testing
