#include "src/knn/row_search.hpp"

#include <algorithm>
#include <utility>

namespace zhalo {

template <class Real>
Chunks::Chunks(const Exec& exec, const kernels::TreeView<Real>& queries) : queries_before_{0} {
  const auto begin =
      to_host(exec, Span<const LocalIndex>(queries.leaf_begin, queries.level_size[0]));
  const auto end = to_host(exec, Span<const LocalIndex>(queries.leaf_end, queries.level_size[0]));
  for (std::size_t leaf = 0; leaf < begin.size(); ++leaf)
    queries_before_.push_back(queries_before_.back() + Index{end[leaf] - begin[leaf]});
}

Chunk Chunks::until(Index end) const {
  const Index before = queries_before_[static_cast<std::size_t>(leaf_)];
  return {leaf_, end - leaf_, before, queries_before_[static_cast<std::size_t>(end)] - before};
}

Chunk Chunks::peek(Index max_queries) const {
  const auto leaf = queries_before_.begin() + leaf_;
  const Index before = *leaf;
  // The last place before which there are not too many; then, if that is none, the leaf that has
  // some.
  auto end = std::upper_bound(leaf, queries_before_.end(), before + max_queries) - 1;
  if (*end == before && end + 1 != queries_before_.end()) ++end;
  return until(end - queries_before_.begin());
}

Chunk Chunks::shorten(const Chunk& chunk, const std::vector<Index>& before, Index most) const {
  Index end = chunk.first_leaf;
  const auto neighbours_before = [&](Index leaf) {
    return before[static_cast<std::size_t>(queries_before_[static_cast<std::size_t>(leaf)] -
                                           chunk.first_query)];
  };
  while (end < chunk.first_leaf + chunk.num_leaves &&
         (neighbours_before(end + 1) <= most || until(end).num_queries == 0))
    ++end;
  return until(end);
}

template Chunks::Chunks(const Exec&, const kernels::TreeView<float>&);
template Chunks::Chunks(const Exec&, const kernels::TreeView<double>&);

namespace {

/// Columns of the caller's, in the order of the domain.
template <class Real>
void bring_columns(const Context& context, const std::vector<ColumnView>& columns,
                   SearchInput<Real>& input) {
  const Distribution<Real>& particles = input.particles();
  std::vector<Redistribution::Move> moves;
  for (const ColumnView& column : columns) {
    const Index size = column.element_size;
    input.columns_of_ours.emplace_back(context.exec, particles.num() * size, "columns in Z-order");
    void* const to = input.columns_of_ours.back().data();
    moves.push_back({column, to});
    input.columns.push_back({to, particles.num(), size, 0});
  }
  if (!moves.empty()) particles.redistribution.forward(context, moves);
}

template <class Real>
void number_particles(SearchInput<Real>& input) {
  ensure_global_index(*input.domain, input.species.targets);
  ensure_global_index(*input.domain, input.species.queries);
}

}  // namespace

template <class Real>
SearchInput<Real> make_search_input(const Context& context, const KnnTargets<Real>& targets,
                                    const Box& box, const std::vector<ColumnView>& columns) {
  SearchInput<Real> input;
  input.species = targets.species;
  if (targets.domain != nullptr) {
    input.domain = targets.domain->state();
    input.columns = columns;
    number_particles(input);
    return input;
  }
  std::vector<SpeciesInput<Real>> species{{*targets.particles}};
  if (targets.queries != nullptr) {
    species.push_back({*targets.queries, {"queries", "query"}, true});
    input.species.queries = 1;
  }
  input.domain = make_domain(context, species, box, {});
  number_particles(input);
  bring_columns(context, columns, input);
  return input;
}

template SearchInput<float> make_search_input(const Context&, const KnnTargets<float>&, const Box&,
                                              const std::vector<ColumnView>&);
template SearchInput<double> make_search_input(const Context&, const KnnTargets<double>&,
                                               const Box&, const std::vector<ColumnView>&);

}  // namespace zhalo
