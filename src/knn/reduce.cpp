#include "zhalo/knn/reduce.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "kernels/on.hpp"
#include "kernels/particles.hpp"
#include "src/comm/agreement.hpp"
#include "src/core/instantiate.hpp"
#include "src/core/validate.hpp"
#include "src/domain/domain_state.hpp"
#include "src/knn/row_search.hpp"

namespace zhalo {
namespace {

void validate_search(const NeighbourSearch& search) {
  validate(search.k >= search.min_k && search.k <= max_neighbours, "k is {} (must be 1 to {})",
           search.k, max_neighbours);
  validate(search.max_radius >= 0, "the radius is {} (must not be negative)", search.max_radius);
  validate(search.k > 0 || std::isfinite(search.max_radius), "the radius is {} (must be finite)",
           search.max_radius);
  validate(search.leaf_size >= 1 && search.leaf_size <= kernels::max_leaf_size,
           "leaf size is {} (must be 1 to {})", search.leaf_size, kernels::max_leaf_size);
  validate(search.chunk_bytes >= 0, "chunk_bytes is {} (must not be negative)", search.chunk_bytes);
}

/// What ranks that search together must have in common.
void validate_agreement(const Communicator& comm, const NeighbourSearch& search, const Box& box,
                        const KnnSpecies& species) {
  struct Request {
    Box box;
    double max_radius;
    Index num_columns;
    std::uint64_t sizes;  ///< of elements, as a number that depends on all of them
    int k;
    bool include_self;
    KnnSpecies species;
  };
  Request mine{box,    search.max_radius, static_cast<Index>(search.columns.size()),
               0,      search.k,          search.include_self,
               species};
  for (const ColumnView& column : search.columns)
    mine.sizes = mine.sizes * 65599U + static_cast<std::uint64_t>(column.element_size);
  for (const Request& other : comm.all_gather(mine)) {
    validate_same("k", mine.k, other.k);
    validate_same("the radius", mine.max_radius, other.max_radius);
    validate_same("include_self", mine.include_self, other.include_self);
    validate_same(box, other.box);
    validate(other.species.queries == species.queries && other.species.targets == species.targets,
             "the queries or the targets are not the same on all ranks: species {} among species "
             "{} here, {} among {} elsewhere (query points are species 1); give all ranks the same",
             species.queries, species.targets, other.species.queries, other.species.targets);
    validate(other.num_columns == mine.num_columns && other.sizes == mine.sizes,
             "the ranks do not give the same columns ({} here, {} elsewhere, or other sizes); "
             "ranks without particles must give them too",
             mine.num_columns, other.num_columns);
  }
}

}  // namespace

template <class Real>
struct NeighbourLists<Real>::State {
  const Context& context;
  RowSearch<Real> rows;
  std::optional<Redistribution> redistribution;  ///< of the chunk
  bool stays_in_domain = false;                  ///< results are wanted in the domain's order
};

namespace {

/// The species of a domain, or as numbers: particles 0, and query points 1.
template <class Real>
KnnSpecies kinds_of(const KnnTargets<Real>& targets) {
  if (targets.domain != nullptr) return targets.species;
  return {.queries = targets.has_queries() ? 1 : 0, .targets = 0};
}

template <class Real>
void validate_targets(const KnnTargets<Real>& targets, const Box& box) {
  if (targets.domain != nullptr) {
    for (const int species : {targets.species.queries, targets.species.targets})
      validate_species(species, targets.domain->num_species());
    return;
  }
  validate_box(box, targets.particles->dimensions);
  if (targets.queries != nullptr)
    validate(targets.queries->dimensions == box.dimensions,
             "the queries have {} dimensions, the box and the particles have {}",
             targets.queries->dimensions, box.dimensions);
  validate_box_fits<Real>(box);
}

}  // namespace

template <class Real>
NeighbourLists<Real>::NeighbourLists(const Context& context, const KnnTargets<Real>& targets,
                                     const Box& box, const NeighbourSearch& search) {
  together(context, [&] {
    validate_targets(targets, box);
    validate_search(search);
    for (const ColumnView& column : search.columns)
      validate_column(context.exec, column, targets.num_particles());
    validate_agreement(context.comm, search, box, kinds_of(targets));
    SearchInput<Real> input = make_search_input(context, targets, box, search.columns);
    state_ = std::make_shared<State>(State{context,
                                           RowSearch<Real>(context, std::move(input), search),
                                           {},
                                           targets.domain != nullptr});
  });
}

template <class Real>
bool NeighbourLists<Real>::queue_next() {
  const bool is_there = together(state_->context, [&] {
    state_->redistribution.reset();
    return state_->rows.queue_next();
  });
  if (is_there) state_->rows.accept();  // no rank has failed
  return is_there;
}

template <class Real>
bool NeighbourLists<Real>::next() {
  return finish_together(state_->context, [&] { return queue_next(); });
}

template <class Real>
const NeighbourRows<Real>& NeighbourLists<Real>::rows() const {
  return state_->rows.view();
}

template <class Real>
SearchColumnView NeighbourLists<Real>::column_view(int i, Index element_size) const {
  const SearchColumnView column = state_->rows.column(i);
  validate(column.own.element_size == element_size, "column {} has elements of {} bytes, not {}", i,
           column.own.element_size, element_size);
  return column;
}

template <class Real>
void NeighbourLists<Real>::put(const void* values, Index element_size, void* result) {
  const Context& context = state_->context;
  together(context, [&] {
    const Chunk& chunk = state_->rows.chunk();
    const auto array = [](const void* data, Index num) {
      return Span<const std::byte>(static_cast<const std::byte*>(data), num);
    };
    validate_memory(context.exec, array(values, chunk.num_queries),
                    "the values of NeighbourLists::put");
    validate_memory(context.exec, array(result, num_queries()),
                    "the result of NeighbourLists::put");
    const Distribution<Real>& queries = state_->rows.queries();
    if (state_->stays_in_domain) {
      std::byte* const to = static_cast<std::byte*>(result) + chunk.first_query * element_size;
      queue_copy(context.exec, to, values,
                 static_cast<std::size_t>(chunk.num_queries * element_size));
      return;
    }
    if (!state_->redistribution)
      state_->redistribution.emplace(
          redistribution_of(context, queries, chunk.first_query, chunk.num_queries));
    state_->redistribution->backward(context,
                                     {{values, chunk.num_queries, element_size, 0}, result});
  });
}

template <class Real>
Span<const LocalIndex> NeighbourLists<Real>::result_rows() const {
  if (state_->context.comm.size() > 1 || state_->stays_in_domain) return {};
  const Chunk& chunk = state_->rows.chunk();
  return state_->rows.queries().redistribution.sent().subspan(chunk.first_query, chunk.num_queries);
}

template <class Real>
Index NeighbourLists<Real>::num_queries() const {
  const Distribution<Real>& queries = state_->rows.queries();
  return state_->stays_in_domain ? queries.num() : queries.num_brought;
}
template <class Real>
Index NeighbourLists<Real>::num_searched() const {
  return state_->rows.queries().num();
}

template <class Real>
const KnnStatistics& NeighbourLists<Real>::statistics() const {
  return state_->rows.statistics();
}

template class NeighbourLists<float>;
template class NeighbourLists<double>;

void validate_column(std::string_view name, const ColumnView& column, Index num_particles) {
  validate_column_size(column, num_particles, name);
  validate(column.num == 0 || column.data != nullptr, "{} has no memory: give its elements", name);
  validate(column.num == 0 || column.stride_bytes != 0,
           "{} has a stride of 0 bytes, which is one number for all particles: give an element for "
           "each",
           name);
}

// Quantities.

namespace {

template <class Real>
void validate_velocities(const Particles<Real>& particles) {
  for (std::size_t s = 0; s < particles.segments.size(); ++s) {
    const ParticleSegment<Real>& segment = particles.segments[s];
    for (std::size_t axis = 0;
         segment.num > 0 && axis < static_cast<std::size_t>(particles.dimensions); ++axis)
      validate(static_cast<bool>(segment.velocity[axis]),
               "segment {} has no velocities on axis {}, which this quantity needs", s, axis);
  }
}

/// Zero, too: such a neighbour adds nothing.
bool is_weight(double mass) { return std::isfinite(mass) && mass >= 0; }

}  // namespace

template <class Real>
std::optional<kernels::EqualMasses> equal_masses_of(const Context& context,
                                                    const Particles<Real>& particles) {
  context.comm.together([&] { SegmentTable<Real>(context.exec, particles, false); });  // validates
  const ColumnTraits traits =
      agree_on_columns(context, std::vector<Particles<Real>>{particles}).front();
  if (!traits.has_one_mass()) return std::nullopt;
  // Without any particles there is no mass.
  if (!traits.some_lack_mass()) return kernels::EqualMasses{particles.uniform_mass};
  const double mass = traits.max_uniform_mass;
  validate(is_weight(mass),
           "all particles have a mass of {} (must be finite and not negative); give masses, or "
           "repair the snapshot",
           mass);
  return kernels::EqualMasses{mass};
}

template <class Real>
QuantityInput<Real>::QuantityInput(const Context& context, const Particles<Real>& particles,
                                   const std::optional<kernels::EqualMasses>& equal_masses,
                                   const QuantityNeeds& needs)
    : dimensions_(particles.dimensions), equal_masses_(equal_masses) {
  const Index num = particles.num();
  if (needs.masses) {
    mass_ = Buffer<double>(context.exec, num, "masses");
    columns_.push_back(column_view(mass_));
  }
  if (needs.velocities) {
    validate_velocities(particles);
    velocity_ = Buffer<double>(context.exec, num * dimensions_, "velocities");
    columns_.push_back({velocity_.data(), num, static_cast<Index>(sizeof(double)) * dimensions_});
  }
  if (!columns_.empty()) pack(context, particles);
}

template <class Real>
void QuantityInput<Real>::pack(const Context& context, const Particles<Real>& particles) {
  constexpr int any_type = 256;
  const SegmentTable<Real> on_exec(context.exec, particles, false);
  Buffer<kernels::ColumnSummary> summary(context.exec, 1, "masses");
  kernels::PackedColumns<Real> to;
  to.mass = mass_.span();
  to.velocity = velocity_.span();
  kernels::on(context.exec, [&](const auto& e) {
    kernels::pack_all(e, on_exec.view(), to);
    if (!mass_.empty()) kernels::summarize_columns(e, on_exec.view(), {}, any_type, summary.data());
  });
  if (mass_.empty()) return synchronise(context.exec);
  all_masses_positive_ = to_host(context.exec, summary).front().num_bad_mass == 0;
}

template <class Real>
void QuantityInput<Real>::validate_masses(const Context& context,
                                          const KnnTargets<Real>& targets) const {
  const Communicator& comm = context.comm;
  if (comm.min(Index{all_masses_positive_}) == 1) return;
  const std::vector<double> mass = to_host(context.exec, mass_);
  const Index first_of_rank = global_range(comm, mass_.size()).first;
  std::vector<Index> global_index;
  if (targets.domain != nullptr)
    global_index = to_host(context.exec, targets.domain->global_index(targets.species.targets));
  Index num_bad = 0, first_bad = std::numeric_limits<Index>::max();
  for (std::size_t i = 0; i < mass.size(); ++i) {
    if (is_weight(mass[i])) continue;
    ++num_bad;
    first_bad = std::min(
        first_bad, global_index.empty() ? first_of_rank + static_cast<Index>(i) : global_index[i]);
  }
  const NumAndFirst bad = bad_of_ranks(comm, num_bad, first_bad);
  validate(bad.num == 0,
           "{} of {} particles have a mass that is negative or not finite (NaN or infinite), the "
           "first is particle {}; give masses, or repair the snapshot",
           bad.num, comm.sum(mass_.size()), bad.first);
}

template <class Real>
void QuantityInput<Real>::release() {
  mass_ = Buffer<double>();
  velocity_ = Buffer<double>();
}

template <class Real>
kernels::QuantityColumns QuantityInput<Real>::at_neighbours(const NeighbourLists<Real>& lists,
                                                            int first) const {
  kernels::QuantityColumns at_neighbours;
  at_neighbours.dimensions = dimensions_;
  at_neighbours.equal_masses = equal_masses_;
  std::size_t next = 0;
  if (!equal_masses_ && !columns_.empty()) {
    at_neighbours.mass = lists.template column<double>(first);
    ++next;
  }
  if (next < columns_.size()) {
    const int number = first + static_cast<int>(next);
    at_neighbours.velocity =
        lists.column_view(number, columns_[next].element_size).template as<double>();
  }
  return at_neighbours;
}

ZHALO_FOR_REALS(equal_masses_of);
template class QuantityInput<float>;
template class QuantityInput<double>;

QuantityNeeds needs_of(Quantity quantity) {
  validate_enumerator(quantity, Quantity::velocity_dispersion, "a quantity of neighbours");
  const int num = kernels::num_columns({quantity});
  return {num > 0, num > 1};
}

QuantityNeeds needs_of(const std::vector<QuantityOptions>& quantities) {
  QuantityNeeds all;
  for (const QuantityOptions& wanted : quantities) {
    const QuantityNeeds needs = needs_of(wanted.quantity);
    all.masses = all.masses || needs.masses;
    all.velocities = all.velocities || needs.velocities;
  }
  return all;
}

}  // namespace zhalo
