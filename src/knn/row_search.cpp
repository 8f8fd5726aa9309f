#include "src/knn/row_search.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "kernels/knn.hpp"
#include "kernels/on.hpp"
#include "kernels/particles.hpp"
#include "src/core/validate.hpp"

namespace zhalo {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// The largest squared distance whose root, as it is reported, is not above the reach.
template <class Real>
Real squared(double reach) {
  constexpr Real endless = std::numeric_limits<Real>::infinity();
  if (reach * reach > static_cast<double>(std::numeric_limits<Real>::max())) return endless;
  const auto is_within = [&](Real r2) { return static_cast<double>(std::sqrt(r2)) <= reach; };
  Real r2 = static_cast<Real>(reach * reach);
  while (r2 > 0 && !is_within(r2)) r2 = std::nextafter(r2, Real{0});
  while (is_within(std::nextafter(r2, endless))) r2 = std::nextafter(r2, endless);
  return r2;
}

/// Chunks that are cut with one wait for a device.
constexpr Index chunks_ahead = 63;

constexpr Index default_chunk_bytes(const Host&) { return Index{16} << 20; }
[[maybe_unused]] constexpr Index default_chunk_bytes(const Cuda&) { return Index{512} << 20; }

}  // namespace

template <class Real>
RowSearch<Real>::RowSearch(const Context& context, SearchInput<Real> input,
                           const NeighbourSearch& options)
    : context_(context), options_(options), input_(std::move(input)) {
  const TreeOptions leaves{options.leaf_size, false};
  tree_ = query_tree_ = tree_of(*input_.domain, input_.species.targets, leaves);
  if (!input_.queries_are_particles())
    query_tree_ = tree_of(*input_.domain, input_.species.queries, leaves);
  if (options_.chunk_bytes == 0)
    options_.chunk_bytes =
        kernels::on(context.exec, [](const auto& e) { return default_chunk_bytes(e); });
  set_space();
  prepare();
}

template <class Real>
void RowSearch<Real>::set_space() {
  const Box& box = input_.domain->box;
  const double scale = input_.domain->key_frame.frame.scale;
  for (int axis = 0; axis < 3; ++axis) {
    const bool periodic = axis < box.dimensions && box.periodic[axis];
    const double length = box.length[axis] * scale;
    const double lo = box.lo[axis] * scale;
    const double margin =
        1e-6 * (std::abs(lo) + length);  // coordinates are rounded in proportion to their size
    search_.period[axis] = static_cast<Real>(periodic ? length : infinity);
    search_.edge_lo[axis] = static_cast<Real>(periodic ? lo + margin : -infinity);
    search_.edge_hi[axis] = static_cast<Real>(periodic ? lo + length - margin : infinity);
    view_.period[axis] = periodic ? length : infinity;
  }
  search_.reach2 = squared<Real>(options_.max_radius * scale);
  view_.unit = 1 / scale;
}

template <class Real>
void RowSearch<Real>::prepare() {
  const Exec& exec = context_.exec;
  Distribution<Real>& particles = input_.particles();
  search_.tree = tree_->view();
  search_.queries = query_tree_->view();
  search_.queries_are_particles = input_.queries_are_particles();
  search_.leave_out_self = search_.queries_are_particles && !options_.include_self;
  search_.global_index = {particles.global_index.data(), nullptr,
                          static_cast<LocalIndex>(particles.num())};
  const kernels::TreeView<Real>& tree = search_.tree;
  smallest_ = Buffer<Index>(
      exec, tree.level_first[tree.num_levels - 1] + tree.level_size[tree.num_levels - 1],
      "indices of nodes");
  kernels::on(exec,
              [&](const auto& e) { kernels::find_smallest_indices(e, search_, smallest_.span()); });
  search_.smallest_index = smallest_.span();
  const std::vector<kernels::SearchWork> none(1);
  work_ = to_exec(exec, Span<const kernels::SearchWork>(none), "work of a search");
  search_.work = work_.data();
  if (context_.comm.size() > 1) fetcher_.emplace(context_, particles, search_, input_.columns);
  chunks_.emplace(exec, search_.queries);
  const auto& [queries, targets] = input_.species;
  statistics_.num_wrapped = input_.of(targets).extent.num_wrapped;
  if (queries != targets) statistics_.num_wrapped += input_.of(queries).extent.num_wrapped;
  statistics_.num_particles = input_.of(targets).extent.range.total;
  statistics_.num_queries = input_.of(queries).extent.range.total;
}

template <class Real>
Index RowSearch<Real>::max_neighbours_listed() const {
  return std::max<Index>(
      1, options_.chunk_bytes / static_cast<Index>(sizeof(Real) + sizeof(LocalIndex)));
}

/// Within a radius nobody knows before counting: as many queries as the last chunk says, but not
/// many more than that had.
template <class Real>
Index RowSearch<Real>::max_queries() const {
  if (options_.k > 0) return std::max<Index>(1, max_neighbours_listed() / options_.k);
  return options_.counts_only ? max_neighbours_listed() : queries_within_;
}

template <class Real>
kernels::SearchView<Real> RowSearch<Real>::search_of_chunk() const {
  kernels::SearchView<Real> search = search_;
  search.first_leaf = chunk_.first_leaf;
  search.first_query = static_cast<LocalIndex>(chunk_.first_query);
  search.global_index = view_.global_index;
  return search;
}

template <class Real>
std::optional<kernels::SearchView<Real>> RowSearch<Real>::search_of_fetched() const {
  if (!fetched_ || fetched_->num() == 0) return std::nullopt;
  kernels::SearchView<Real> search = search_of_chunk();
  search.tree = fetched_->tree->view();
  search.first_local_index = static_cast<LocalIndex>(input_.particles().num());
  search.queries_are_particles = false;
  search.leave_out_self = false;
  search.smallest_index = smallest_fetched_.span();
  return search;
}

/// Brings a batch of what the balls touch on other ranks, and shows it behind this rank's own
/// particles.
template <class Real>
void RowSearch<Real>::fetch(const AskedBalls<Real>& asked, Index batch) {
  fetched_.reset();
  fetched_.emplace(fetcher_->fetch(asked, batch, options_.leaf_size));
  statistics_.fetched += fetched_->num();
  view_.global_index.fetched = fetched_->global_index.data();
  for (int axis = 0; axis < 3; ++axis) view_.pos[axis].fetched = fetched_->pos[axis].data();
  if (fetched_->num() == 0) return;
  const Exec& exec = context_.exec;
  validate(input_.particles().num() + fetched_->num() <= max_local_particles,
           "a rank would hold {} particles and fetched ones, the most is {}; use more ranks",
           input_.particles().num() + fetched_->num(), max_local_particles);
  const kernels::TreeView<Real>& tree = fetched_->tree->view();
  smallest_fetched_ = Buffer<Index>(
      exec, tree.level_first[tree.num_levels - 1] + tree.level_size[tree.num_levels - 1],
      "indices of nodes");
  const auto search = search_of_fetched();
  kernels::on(exec, [&](const auto& e) {
    kernels::find_smallest_indices(e, *search, smallest_fetched_.span());
  });
}

/// Brings the first batch, which may be all.
template <class Real>
AskedBalls<Real> RowSearch<Real>::fetch_first(const std::vector<Ball<Real>>& balls,
                                              Index max_at_once) {
  fetched_.reset();
  const PhaseTimer timer(context_, "fetch");
  AskedBalls<Real> asked = fetcher_->ask(balls, max_at_once);
  fetch(asked, 0);
  return asked;
}

template <class Real>
void RowSearch<Real>::make_room(Index num_neighbours) {
  if (local_index_.size() >= num_neighbours) return;  // it is made last
  distance2_ = {};
  local_index_ = {};
  distance2_ = Buffer<Real>(context_.exec, num_neighbours, "lists of neighbours");
  local_index_ = Buffer<LocalIndex>(context_.exec, num_neighbours, "lists of neighbours");
}

template <class Real>
void RowSearch<Real>::clear_counts() {
  kernels::on(context_.exec, [&](const auto& e) {
    kernels::fill(e, count_.span().subspan(0, chunk_.num_queries), LocalIndex{0});
  });
}

template <class Real>
void RowSearch<Real>::find_nearest() {
  const Exec& exec = context_.exec;
  make_room(chunk_.num_queries * options_.k);
  kernels::BestRows<Real> rows{options_.k, distance2_.data(), local_index_.data(), count_.data(),
                               false};
  const auto search = [&](const kernels::SearchView<Real>& view) {
    const PhaseTimer timer(context_, "search");
    kernels::on(exec,
                [&](const auto& e) { kernels::find_nearest(e, view, chunk_.num_leaves, rows); });
  };
  if (input_.particles().num() > 0) {
    search(search_of_chunk());
  } else {
    clear_counts();
  }
  if (!fetcher_) return;
  std::vector<Ball<Real>> balls = fetcher_->balls_of(search_of_chunk(), chunk_, rows);
  const Index needed = options_.k + (search_.leave_out_self ? 1 : 0);
  fetcher_->tighten(balls, {options_.k, options_.leaf_size, needed});
  fetch_first(balls, AskedBalls<Real>::all_at_once);
  rows.resume = true;
  if (const auto elsewhere = search_of_fetched()) search(*elsewhere);
}

/// Of the lists of the chunk, which gets shorter if they are too long for it. Returns how many
/// neighbours are listed.
template <class Real>
Index RowSearch<Real>::make_offsets() {
  const Exec& exec = context_.exec;
  offset_ = {};
  offset_ = Buffer<Index>(exec, chunk_.num_queries + 1, "offsets of lists");
  const kernels::ChunkCounts<Real> counts{search_.queries, chunk_,
                                          Span<const LocalIndex>(count_.data(), chunk_.num_queries),
                                          offset_.span()};
  const kernels::ListedChunk listed = kernels::on(
      exec, [&](const auto& e) { return kernels::list_chunk(e, counts, max_neighbours_listed()); });
  chunk_ = listed.chunk;
  offset_.shrink(chunk_.num_queries + 1);
  const Index mean = listed.num_neighbours / std::max<Index>(1, chunk_.num_queries);
  queries_within_ =
      std::clamp<Index>(max_neighbours_listed() / std::max<Index>(1, mean), 1, 2 * queries_within_);
  return listed.num_neighbours;
}

template <class Real>
void RowSearch<Real>::search_fetched(const kernels::WithinRows<Real>& rows) {
  const auto elsewhere = search_of_fetched();
  if (!elsewhere) return;
  kernels::on(context_.exec,
              [&](const auto& e) { kernels::find_within(e, *elsewhere, chunk_.num_leaves, rows); });
}

/// Counts neighbours among this rank's particles and those that are fetched, or lists them.
template <class Real>
void RowSearch<Real>::search_within(const kernels::WithinRows<Real>& rows) {
  const PhaseTimer timer(context_, "search");
  clear_counts();
  if (input_.particles().num() > 0)
    kernels::on(context_.exec, [&](const auto& e) {
      kernels::find_within(e, search_of_chunk(), chunk_.num_leaves, rows);
    });
  search_fetched(rows);
}

template <class Real>
std::vector<Ball<Real>> RowSearch<Real>::balls_within() const {
  return fetcher_->balls_of(search_of_chunk(), chunk_, kernels::BestRows<Real>{});
}

/// Particles of other ranks are counted batch by batch: no rank holds all of them at once, even if
/// the radius is as long as the box.
template <class Real>
void RowSearch<Real>::count_within() {
  const kernels::WithinRows<Real> rows{count_.data(), nullptr, nullptr, nullptr};
  if (num_within_.size() < chunk_.num_queries)
    num_within_ = Buffer<Index>(context_.exec, chunk_.num_queries, "counts of neighbours");
  const Span<Index> total = num_within_.span().subspan(0, chunk_.num_queries);
  kernels::on(context_.exec, [&](const auto& e) { kernels::fill(e, total, Index{0}); });
  const auto add = [&] {
    const Span<const LocalIndex> count(count_.data(), chunk_.num_queries);
    kernels::on(context_.exec, [&](const auto& e) { kernels::add_counts(e, count, total); });
  };
  AskedBalls<Real> asked;  // nothing, in one batch
  if (fetcher_) asked = fetch_first(balls_within(), max_neighbours_listed());
  search_within(rows);
  add();
  for (Index batch = 1; batch < asked.num_batches; ++batch) {
    {
      const PhaseTimer timer(context_, "fetch");
      fetch(asked, batch);
    }
    const PhaseTimer timer(context_, "search");
    clear_counts();
    search_fetched(rows);
    add();
  }
}

template <class Real>
void RowSearch<Real>::list_within() {
  if (fetcher_) fetch_first(balls_within(), AskedBalls<Real>::all_at_once);
  kernels::WithinRows<Real> rows{count_.data(), nullptr, nullptr, nullptr};
  search_within(rows);
  make_room(make_offsets());
  rows = {count_.data(), offset_.data(), distance2_.data(), local_index_.data()};
  search_within(rows);
  kernels::on(context_.exec, [&](const auto& e) {
    kernels::sort_rows(e, offset_.span(), rows, view_.global_index);
  });
}

template <class Real>
void RowSearch<Real>::show() {
  const Distribution<Real>& of = queries();
  view_.num = chunk_.num_queries;
  view_.k = options_.k;
  view_.row_offset = offset_.span();
  view_.count = count_.span();
  view_.num_within = num_within_.span().subspan(0, options_.counts_only ? chunk_.num_queries : 0);
  view_.distance2 = distance2_.data();
  view_.local_index = local_index_.data();
  for (std::size_t axis = 0; axis < 3; ++axis)
    view_.query_pos[axis] = of.sorted.pos[axis].data() + chunk_.first_query;
  view_.query_index = of.global_index.data() + chunk_.first_query;
  view_.queries_are_particles = search_.queries_are_particles;
  view_.first_query_local_index = static_cast<LocalIndex>(chunk_.first_query);
}

template <class Real>
bool RowSearch<Real>::queue_next() {
  fetched_.reset();
  if (context_.comm.max(Index{chunks_->is_at_end() ? 0 : 1}) == 0) {
    note_work();
    return false;
  }
  const Index sent_before = context_.comm.bytes_sent();
  const bool are_alike = options_.k > 0 || options_.counts_only;
  chunk_ = chunks_->peek(max_queries(), are_alike ? chunks_ahead : 0);
  const Distribution<Real>& particles = input_.particles();
  view_.global_index = search_.global_index;
  for (std::size_t axis = 0; axis < 3; ++axis)
    view_.pos[axis] = {particles.sorted.pos[axis].data(), nullptr,
                       static_cast<LocalIndex>(particles.num())};
  if (count_.size() < chunk_.num_queries)
    count_ = Buffer<LocalIndex>(context_.exec, chunk_.num_queries, "counts of neighbours");
  if (options_.k > 0) {
    find_nearest();
  } else if (options_.counts_only) {
    count_within();
  } else {
    list_within();
  }
  show();
  statistics_.bytes_sent += context_.comm.bytes_sent() - sent_before;
  return true;
}

template <class Real>
void RowSearch<Real>::note_work() {
  const kernels::SearchWork work = to_host(context_.exec, work_).front();
  statistics_.leaves_visited = work.leaves;
  statistics_.pairs_tested = work.pairs;
}

template <class Real>
SearchColumnView RowSearch<Real>::column(int i) const {
  const std::vector<ColumnView>& columns = input_.columns;
  const auto at = static_cast<std::size_t>(i);
  validate(i >= 0 && at < columns.size(), "there is no column {} (there are {})", i,
           columns.size());
  const Index size = columns[at].element_size;
  SearchColumnView column{{columns[at].data, input_.particles().num(), size}, {nullptr, 0, size}};
  if (fetched_) column.fetched = {fetched_->columns[at].data(), fetched_->num(), size};
  return column;
}

template class RowSearch<float>;
template class RowSearch<double>;

}  // namespace zhalo
