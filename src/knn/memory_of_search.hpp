/// The memory of a device during a search of neighbours.
#pragma once

#include <fmt/format.h>

#include <type_traits>

#include "zhalo/comm/device_memory.hpp"
#include "zhalo/core/memory_need.hpp"
#include "zhalo/knn/neighbour_lists.hpp"

namespace zhalo {

/// `need`: of a search in particles that are in no domain yet. Collective.
template <class Real>
DeviceMemoryScope look_after_memory(const Context& context, const KnnTargets<Real>& targets,
                                    const KnnOptions& options,
                                    MemoryNeed (*need)(const SearchSize&, const NeighbourSize&)) {
  const bool in_domain = targets.domain != nullptr;
  const Index num = context.comm.sum(targets.num_particles());
  // Ranks that do not agree on whether there are queries find out later.
  const Index queries = context.comm.sum(targets.has_queries() ? targets.num_queries() : 0);
  const NeighbourSize search{queries, options.k, options.chunk_bytes};
  return {context, fmt::format("{} neighbours among {} particles", options.k, num), [=](int ranks) {
            const SearchSize size{num, ranks, std::is_same_v<Real, double>};
            return need(size, search).peak - (in_domain ? domain_need(size).kept : 0);
          }};
}

}  // namespace zhalo
