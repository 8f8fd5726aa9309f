#include "src/knn/search_input.hpp"

#include <utility>

namespace zhalo {
namespace {

/// Columns of the caller's, in the order of the domain.
template <class Real>
void bring_columns(const Context& context, const std::vector<ColumnView>& columns,
                   SearchInput<Real>& input) {
  const DistributedParticles<Real>& particles = input.particles();
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
