// Explicit instantiations of the templates of kernels.hpp for the Exec that ZHALO_EXEC names, but
// of summarize_positions(). No include guard.

namespace zhalo::kernels {

template void weigh_below(const ZHALO_EXEC&, const KeyWeights&, Span<const std::uint64_t>,
                          Span<Index>);
template void find_weights(const ZHALO_EXEC&, Span<const Index>, Span<const Index>, Span<Index>);
template Index accumulate_weights(const ZHALO_EXEC&, const Strided<std::uint32_t>&,
                                  Span<const LocalIndex>, Span<Index>);
template void find_global(const ZHALO_EXEC&, const SourcesView&, Span<const LocalIndex>,
                          Span<const LocalIndex>, Span<Index>);
template void clear(const ZHALO_EXEC&, Span<float>);
template void clear(const ZHALO_EXEC&, Span<double>);
template void clear(const ZHALO_EXEC&, Span<Index>);
template void number(const ZHALO_EXEC&, Span<LocalIndex>);
template void gather(const ZHALO_EXEC&, const MovedColumn&, Span<const LocalIndex>);
template void scatter(const ZHALO_EXEC&, const MovedColumn&, Span<const LocalIndex>);

template Buffer<LocalIndex> select_ghosts(const ZHALO_EXEC&, const GhostSearch<float>&);
template Buffer<LocalIndex> select_ghosts(const ZHALO_EXEC&, const GhostSearch<double>&);
template void find_roots(const ZHALO_EXEC&, const DisjointSets&, Span<const LocalIndex>,
                         Span<LocalIndex>);
template void find_edges(const ZHALO_EXEC&, const DisjointSets&, const GhostsView&,
                         Span<GhostEdge>);
template void write_even_leaves(const ZHALO_EXEC&, const EvenLeaves&);
template void find_smallest(const ZHALO_EXEC&, const DisjointSets&, Span<const Index>, Span<Index>);
template void write_set_labels(const ZHALO_EXEC&, const DisjointSets&, Span<const LocalIndex>,
                               Span<const Index>, Span<Index>);

template Buffer<LocalIndex> cut_cells(const ZHALO_EXEC&, const CellCut&);
template void gather_keys(const ZHALO_EXEC&, Span<const std::uint64_t>, Span<const LocalIndex>,
                          Span<std::uint64_t>);
template void write_leaves(const ZHALO_EXEC&, const LeafRanges&);
template void write_labels(const ZHALO_EXEC&, const DisjointSets&, Span<const LocalIndex>,
                           Span<LocalIndex>, const LabelTarget&);

template void make_keys(const ZHALO_EXEC&, const ParticlesView<float>&, const KeyFrame&,
                        Span<std::uint64_t>, Span<LocalIndex>);
template void make_keys(const ZHALO_EXEC&, const ParticlesView<double>&, const KeyFrame&,
                        Span<std::uint64_t>, Span<LocalIndex>);
template void gather_positions(const ZHALO_EXEC&, const ParticlesView<float>&, const KeyFrame&,
                               Span<const LocalIndex>, const SortedPositions<float>&);
template void gather_positions(const ZHALO_EXEC&, const ParticlesView<double>&, const KeyFrame&,
                               Span<const LocalIndex>, const SortedPositions<double>&);

template Index count_bad_labels(const ZHALO_EXEC&, Span<const Index>, Index);
template void mark_types(const ZHALO_EXEC&, const ParticlesView<float>&, const TypeSet&,
                         Span<LocalIndex>);
template void mark_types(const ZHALO_EXEC&, const ParticlesView<double>&, const TypeSet&,
                         Span<LocalIndex>);
template void take_labels(const ZHALO_EXEC&, Span<const Index>, Span<const Index>, Span<Index>);
template void count_labels(const ZHALO_EXEC&, const LabelsView&, Span<LocalIndex>);
template void count_marked_labels(const ZHALO_EXEC&, const LabelsView&, Span<const LocalIndex>,
                                  Span<LocalIndex>);
template Buffer<LocalIndex> select_groups(const ZHALO_EXEC&, Span<const LocalIndex>, Index);
template void make_size_keys(const ZHALO_EXEC&, Span<const LocalIndex>, Span<const LocalIndex>,
                             Span<std::uint64_t>);
template void number_rows(const ZHALO_EXEC&, Span<const LocalIndex>, Span<LocalIndex>, Span<Index>);
template void assign_groups(const ZHALO_EXEC&, const LabelsView&, Span<const LocalIndex>,
                            Span<Index>);
template Buffer<LocalIndex> select_members(const ZHALO_EXEC&, Span<const Index>);
template void make_member_keys(const ZHALO_EXEC&, Span<const Index>, Span<const LocalIndex>,
                               Span<std::uint64_t>);
template void make_global(const ZHALO_EXEC&, Span<const LocalIndex>, Index, Span<Index>);
template void gather_elements(const ZHALO_EXEC&, const ElementsView&, Span<const Index>, void*);

template ColumnSummary summarize_columns(const ZHALO_EXEC&, const ParticlesView<float>&, int);
template ColumnSummary summarize_columns(const ZHALO_EXEC&, const ParticlesView<double>&, int);
template Buffer<LocalIndex> select_run_starts(const ZHALO_EXEC&, Span<const std::uint64_t>);
template void count_runs(const ZHALO_EXEC&, const RunsView&, Span<LocalIndex>);
template void weigh_runs(const ZHALO_EXEC&, const RunsView&, Span<const Index>, Span<LocalIndex>);
template void sum_runs(const ZHALO_EXEC&, const RunsView&, Span<const LocalIndex>, Span<Index>);
template void spread_runs(const ZHALO_EXEC&, const RunsView&, Span<const Index>, Span<Index>);
template Buffer<LocalIndex> select_long(const ZHALO_EXEC&, Span<const Index>, Index);
template void make_length_keys(const ZHALO_EXEC&, Span<const Index>, Index, Span<std::uint64_t>);
template void fill(const ZHALO_EXEC&, Span<Index>, Index);
template void scatter_numbers(const ZHALO_EXEC&, Span<const LocalIndex>, Index, Span<Index>);
template void pack_particles(const ZHALO_EXEC&, const ParticlesView<float>&, Span<const LocalIndex>,
                             const PackedColumns<float>&);
template void pack_particles(const ZHALO_EXEC&, const ParticlesView<double>&,
                             Span<const LocalIndex>, const PackedColumns<double>&);
template void find_rows(const ZHALO_EXEC&, Span<const std::uint64_t>, Span<Index>);
template GroupBlocks make_blocks(const ZHALO_EXEC&, Span<const Index>);
template void first_positions(const ZHALO_EXEC&, const MembersView<float>&, Span<Vec3d>);
template void first_positions(const ZHALO_EXEC&, const MembersView<double>&, Span<Vec3d>);
template void sum_moments(const ZHALO_EXEC&, const MembersView<float>&, Span<const Vec3d>,
                          Span<Moments>);
template void sum_moments(const ZHALO_EXEC&, const MembersView<double>&, Span<const Vec3d>,
                          Span<Moments>);
template void finish_moments(const ZHALO_EXEC&, const KeyFrame&, Span<const Vec3d>,
                             Span<const Moments>, Span<GroupRow>);
template void sum_spreads(const ZHALO_EXEC&, const MembersView<float>&, Span<const GroupRow>,
                          Span<Spreads>);
template void sum_spreads(const ZHALO_EXEC&, const MembersView<double>&, Span<const GroupRow>,
                          Span<Spreads>);
template void finish_spreads(const ZHALO_EXEC&, Span<const Spreads>, int, Span<GroupRow>);
template void sum_types(const ZHALO_EXEC&, const MembersView<float>&, const TypeSums&);
template void sum_types(const ZHALO_EXEC&, const MembersView<double>&, const TypeSums&);

}  // namespace zhalo::kernels
