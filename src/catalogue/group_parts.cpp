#include "src/catalogue/group_parts.hpp"

#include <algorithm>
#include <utility>

#include "kernels/particles.hpp"
#include "kernels/sort.hpp"
#include "src/core/synchronise.hpp"
#include "src/domain/balance.hpp"

namespace zhalo {
namespace {

/// Where runs of equal keys begin, and the end of the last.
Buffer<Index> offsets_of_runs(const Exec& exec, const Buffer<LocalIndex>& start, Index num_keys) {
  Buffer<Index> offset(exec, start.size() + 1, "parts of groups");
  kernels::on(exec, [&](const auto& e) {
    kernels::make_offsets(e, start.span(), num_keys, offset.span());
  });
  return offset;
}

Buffer<LocalIndex> starts_of_runs(const Exec& exec, Span<const std::uint64_t> keys) {
  return kernels::on(exec, [&](const auto& e) { return kernels::select_run_starts(e, keys); });
}

/// Parts by the rank that has their row. Keys ascend.
ExchangePlan plan_to_rows(const Context& context, const std::vector<std::uint64_t>& keys,
                          int num_species, Index num_groups) {
  const int size = context.comm.size();
  std::vector<Index> counts;
  auto at = keys.begin();
  for (int rank = 0; rank < size; ++rank) {
    const Share rows = share_of(num_groups, rank, size);
    const auto end = static_cast<std::uint64_t>((rows.first + rows.count) * num_species);
    const auto next = std::lower_bound(at, keys.end(), end);
    counts.push_back(next - at);
    at = next;
  }
  return context.comm.plan_exchange(counts);
}

}  // namespace

GroupParts::GroupParts(const Context& context, Span<const std::uint64_t> keys, int num_species,
                       Index num_groups_total)
    : context_(context), parts_are_rows_(context.comm.size() == 1 && num_species == 1) {
  const Exec& exec = context.exec;
  const Buffer<LocalIndex> start = starts_of_runs(exec, keys);
  offset_ = offsets_of_runs(exec, start, keys.size());
  Buffer<std::uint64_t> key(exec, start.size(), "parts of groups");
  kernels::on(exec,
              [&](const auto& e) { kernels::gather_keys(e, keys, start.span(), key.span()); });
  if (context.comm.size() > 1) {
    to_rows_ =
        Redistribution(plan_to_rows(context, to_host(exec, key), num_species, num_groups_total));
    key = to_rows_.forward(context, Span<const std::uint64_t>(key.span()), "parts of groups");
    // Of a row the first species comes first, and of that the lowest rank: the first in Z-order.
    to_rows_.set_arrived(sort_indices(exec, key.span(), bits_for(num_groups_total * num_species)));
  }
  if (num_species > 1) {
    kernels::on(exec, [&](const auto& e) { kernels::find_rows(e, num_species, key.span()); });
  }
  row_offset_ = offsets_of_runs(exec, starts_of_runs(exec, key.span()), key.size());
  synchronise(exec);
}

Buffer<kernels::HaloReference> GroupParts::references(Buffer<Vec3d> pos_of_parts,
                                                      const std::vector<Index>& length) const {
  const Buffer<Vec3d> pos = at_rows(std::move(pos_of_parts), 1);
  const auto lengths = to_exec(context_.exec, Span<const Index>(length), "group lengths");
  Buffer<kernels::HaloReference> references(context_.exec, num_rows(), "group centres");
  kernels::on(context_.exec, [&](const auto& e) {
    kernels::make_references(e, row_offset_.span(), pos.span(), lengths.span(), references.span());
  });
  synchronise(context_.exec);
  return references;
}

Buffer<kernels::HaloReference> GroupParts::spread(
    const Buffer<kernels::HaloReference>& of_rows) const {
  const bool alone = context_.comm.size() == 1;
  const Index num_here = alone ? num() : to_rows_.num_received();
  Buffer<kernels::HaloReference> here(context_.exec, num_here, "group centres");
  kernels::on(context_.exec, [&](const auto& e) {
    kernels::spread_references(e, row_offset_.span(), of_rows.span(), here.span());
  });
  if (alone) return here;
  Buffer<kernels::HaloReference> of_parts(context_.exec, num(), "group centres");
  to_rows_.backward(context_, {column_view(here), of_parts.data()});
  return of_parts;
}

}  // namespace zhalo
