/// The memory of a device during a search of neighbours.
#pragma once

#include <fmt/format.h>

#include <type_traits>

#include "zhalo/comm/device_memory.hpp"
#include "zhalo/core/memory_need.hpp"
#include "zhalo/knn/neighbour_lists.hpp"
#include "zhalo/knn/reduce.hpp"

namespace zhalo {

/// Bytes per particle of the columns that the quantities need, as double.
inline double bytes_of_columns(const std::vector<QuantityOptions>& quantities) {
  QuantityNeeds needs;
  for (const QuantityOptions& wanted : quantities) {
    needs.masses = needs.masses || needs_of(wanted.quantity).masses;
    needs.velocities = needs.velocities || needs_of(wanted.quantity).velocities;
  }
  return (needs.masses ? 8.0 : 0.0) + (needs.velocities ? 24.0 : 0.0);
}

/// Whether anything is wanted of each neighbour.
inline bool has_lists(const KnnOutput& output) {
  return output.distances || output.indices || output.locations || !output.columns.empty();
}

/// Collective.
template <class Real>
DeviceMemoryScope look_after_memory(const Context& context, const KnnTargets<Real>& targets,
                                    const KnnOptions& options, const KnnOutput& output) {
  const bool in_domain = targets.domain != nullptr;
  const Index num = context.comm.sum(targets.num_particles());
  // Ranks that do not agree on whether there are queries find out later.
  const Index queries = context.comm.sum(targets.has_queries() ? targets.num_queries() : 0);
  const NeighbourSize search{.num_queries = queries,
                             .k = options.k,
                             .chunk_bytes = options.chunk_bytes,
                             .bytes_per_column = bytes_of_columns(output.quantities),
                             .lists = has_lists(output),
                             .num_quantities = static_cast<int>(output.quantities.size())};
  return {context, fmt::format("{} neighbours among {} particles", options.k, num), [=](int ranks) {
            const SearchSize size{num, ranks, std::is_same_v<Real, double>};
            return knn_need(size, search).peak - (in_domain ? domain_need(size).kept : 0);
          }};
}

}  // namespace zhalo
