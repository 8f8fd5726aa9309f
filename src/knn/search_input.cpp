#include "src/knn/row_search.hpp"

#include "kernels/on.hpp"
#include "src/core/instantiate.hpp"

namespace zhalo {

template <class Real>
Chunk Chunks<Real>::peek(Index max_queries, Index num_alike) {
  const Index rest = queries_.pos.num - next_.first_query;
  if (rest <= max_queries)
    return {next_.first_leaf, queries_.level_size[0] - next_.first_leaf, next_.first_query, rest};
  if (next_ahead_ == ahead_.size()) {
    Buffer<Chunk> chunks(exec_, 1 + num_alike, "chunks of queries");
    kernels::on(exec_, [&](const auto& e) {
      kernels::cut_queries(e, queries_, next_.first_leaf, max_queries, chunks.span());
    });
    ahead_ = to_host(exec_, chunks);
    next_ahead_ = 0;
  }
  return ahead_[next_ahead_++];
}

template class Chunks<float>;
template class Chunks<double>;

namespace {

/// Columns of the caller's, in the order of the domain.
template <class Real>
void add_columns(const Context& context, const std::vector<ColumnView>& columns,
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
    for (const ColumnView& column : columns) {
      Buffer<std::byte>& packed = input.columns_of_ours.emplace_back();
      input.columns.push_back(without_gaps(context.exec, column, packed));
    }
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
  add_columns(context, columns, input);
  return input;
}

ZHALO_FOR_REALS(make_search_input);

}  // namespace zhalo
