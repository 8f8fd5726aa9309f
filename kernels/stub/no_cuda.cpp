// In place of kernels/cuda where there is no CUDA toolkit: every Cuda overload throws.
#include "kernels/kernels.hpp"
#include "kernels/stub/refuse.hpp"

namespace zhalo::kernels {

void copy_bytes(const Cuda&, void*, const void*, std::size_t) { refuse(); }
void wait(const Cuda&) noexcept {}
void synchronise(const Cuda&) { refuse(); }
MemoryPool::Source device_memory(int) { refuse(); }
MemoryPool::Source pinned_memory(int) { refuse(); }
MemoryOwner owner_of(const Cuda&, const void*) { refuse(); }
DeviceInUse::DeviceInUse(const Exec&) {}
DeviceReport query_devices() { return {false, 0, "", no_cuda}; }
void select_device(int) { refuse(); }
std::string device_name(int) { refuse(); }
void sort_pairs(const Cuda&, const SortPairs&, int) { refuse(); }

template <class E, class Real>
PositionSummary summarize_positions(const E&, const ParticlesView<Real>&, const Box&) {
  refuse();
}
template <class E, class Real>
void make_keys(const E&, const ParticlesView<Real>&, const KeyFrame&, Span<std::uint64_t>,
               Span<LocalIndex>) {
  refuse();
}
template <class E, class Real>
void gather_positions(const E&, const ParticlesView<Real>&, const KeyFrame&, Span<const LocalIndex>,
                      const SortedPositions<Real>&) {
  refuse();
}
template <class E>
void weigh_below(const E&, const KeyWeights&, Span<const std::uint64_t>, Span<Index>) {
  refuse();
}
template <class E>
void find_weights(const E&, Span<const Index>, Span<const Index>, Span<Index>) {
  refuse();
}
template <class E>
Index accumulate_weights(const E&, const Strided<std::uint32_t>&, Span<const LocalIndex>,
                         Span<Index>) {
  refuse();
}
template <class E>
void find_global(const E&, const SourcesView&, Span<const LocalIndex>, Span<const LocalIndex>,
                 Span<Index>) {
  refuse();
}
template <class E, class Real>
void clear(const E&, Span<Real>) {
  refuse();
}
template <class E>
void number(const E&, Span<LocalIndex>) {
  refuse();
}
template <class E>
void gather(const E&, const MovedColumn&, Span<const LocalIndex>) {
  refuse();
}
template <class E>
void scatter(const E&, const MovedColumn&, Span<const LocalIndex>) {
  refuse();
}
template <class E, class Real>
Buffer<LocalIndex> select_ghosts(const E&, const GhostSearch<Real>&) {
  refuse();
}
template <class E>
void find_roots(const E&, const DisjointSets&, Span<const LocalIndex>, Span<LocalIndex>) {
  refuse();
}
template <class E>
void find_edges(const E&, const DisjointSets&, const GhostsView&, Span<GhostEdge>) {
  refuse();
}
template <class E>
void write_even_leaves(const E&, const EvenLeaves&) {
  refuse();
}
template <class E>
void find_smallest(const E&, const DisjointSets&, Span<const Index>, Span<Index>) {
  refuse();
}
template <class E>
void write_set_labels(const E&, const DisjointSets&, Span<const LocalIndex>, Span<const Index>,
                      Span<Index>) {
  refuse();
}
template <class E>
Buffer<LocalIndex> cut_cells(const E&, const CellCut&) {
  refuse();
}
template <class E>
void gather_keys(const E&, Span<const std::uint64_t>, Span<const LocalIndex>, Span<std::uint64_t>) {
  refuse();
}
template <class E>
void write_leaves(const E&, const LeafRanges&) {
  refuse();
}
template <class E, class Real>
void leaf_boxes(const E&, const TreeView<Real>&) {
  refuse();
}
template <class E, class Real>
void level_boxes(const E&, const TreeView<Real>&, int) {
  refuse();
}
template <class E, class Real>
void link_inside(const E&, const FofView<Real>&) {
  refuse();
}
template <class E, class Real>
void link_between(const E&, const FofView<Real>&) {
  refuse();
}
template <class E>
void write_labels(const E&, const DisjointSets&, Span<const LocalIndex>, Span<LocalIndex>,
                  const LabelTarget&) {
  refuse();
}

template <class E, class Real>
ColumnSummary summarize_columns(const E&, const ParticlesView<Real>&, int) {
  refuse();
}
template <class E>
Index count_bad_labels(const E&, Span<const Index>, Index) {
  refuse();
}
template <class E, class Real>
void mark_types(const E&, const ParticlesView<Real>&, const TypeSet&, Span<LocalIndex>) {
  refuse();
}
template <class E>
void take_labels(const E&, Span<const Index>, Span<const Index>, Span<Index>) {
  refuse();
}
template <class E>
void count_labels(const E&, const LabelsView&, Span<LocalIndex>) {
  refuse();
}
template <class E>
void count_marked_labels(const E&, const LabelsView&, Span<const LocalIndex>, Span<LocalIndex>) {
  refuse();
}
template <class E>
Buffer<LocalIndex> select_groups(const E&, Span<const LocalIndex>, Index) {
  refuse();
}
template <class E>
void make_size_keys(const E&, Span<const LocalIndex>, Span<const LocalIndex>, Span<std::uint64_t>) {
  refuse();
}
template <class E>
void number_rows(const E&, Span<const LocalIndex>, Span<LocalIndex>, Span<Index>) {
  refuse();
}
template <class E>
void assign_groups(const E&, const LabelsView&, Span<const LocalIndex>, Span<Index>) {
  refuse();
}
template <class E>
Buffer<LocalIndex> select_members(const E&, Span<const Index>) {
  refuse();
}
template <class E>
void make_member_keys(const E&, Span<const Index>, Span<const LocalIndex>, Span<std::uint64_t>) {
  refuse();
}
template <class E>
void make_global(const E&, Span<const LocalIndex>, Index, Span<Index>) {
  refuse();
}
template <class E>
void gather_elements(const E&, const ElementsView&, Span<const Index>, void*) {
  refuse();
}
template <class E>
Buffer<LocalIndex> select_run_starts(const E&, Span<const std::uint64_t>) {
  refuse();
}
template <class E>
void count_runs(const E&, const RunsView&, Span<LocalIndex>) {
  refuse();
}
template <class E>
void weigh_runs(const E&, const RunsView&, Span<const Index>, Span<LocalIndex>) {
  refuse();
}
template <class E>
void sum_runs(const E&, const RunsView&, Span<const LocalIndex>, Span<Index>) {
  refuse();
}
template <class E>
void spread_runs(const E&, const RunsView&, Span<const Index>, Span<Index>) {
  refuse();
}
template <class E>
Buffer<LocalIndex> select_long(const E&, Span<const Index>, Index) {
  refuse();
}
template <class E>
void make_length_keys(const E&, Span<const Index>, Index, Span<std::uint64_t>) {
  refuse();
}
template <class E>
void fill(const E&, Span<Index>, Index) {
  refuse();
}
template <class E>
void scatter_numbers(const E&, Span<const LocalIndex>, Index, Span<Index>) {
  refuse();
}
template <class E, class Real>
void pack_particles(const E&, const ParticlesView<Real>&, Span<const LocalIndex>,
                    const PackedColumns<Real>&) {
  refuse();
}
template <class E>
void find_rows(const E&, Span<const std::uint64_t>, Span<Index>) {
  refuse();
}
template <class E>
GroupBlocks make_blocks(const E&, Span<const Index>) {
  refuse();
}
template <class E, class Real>
void first_positions(const E&, const MembersView<Real>&, Span<Vec3d>) {
  refuse();
}
template <class E, class Real>
void sum_moments(const E&, const MembersView<Real>&, Span<const Vec3d>, Span<Moments>) {
  refuse();
}
template <class E>
void finish_moments(const E&, const KeyFrame&, Span<const Vec3d>, Span<const Moments>,
                    Span<GroupRow>) {
  refuse();
}
template <class E, class Real>
void sum_spreads(const E&, const MembersView<Real>&, Span<const GroupRow>, Span<Spreads>) {
  refuse();
}
template <class E>
void finish_spreads(const E&, Span<const Spreads>, int, Span<GroupRow>) {
  refuse();
}
template <class E, class Real>
void sum_types(const E&, const MembersView<Real>&, const TypeSums&) {
  refuse();
}

}  // namespace zhalo::kernels

// One list of instantiations serves all Execs: see there.
#define ZHALO_EXEC Cuda
#include "kernels/common/instantiate.inl.hpp"
#include "kernels/common/instantiate_groups.inl.hpp"

namespace zhalo::kernels {

template PositionSummary summarize_positions(const Cuda&, const ParticlesView<float>&, const Box&);
template PositionSummary summarize_positions(const Cuda&, const ParticlesView<double>&, const Box&);

}  // namespace zhalo::kernels
