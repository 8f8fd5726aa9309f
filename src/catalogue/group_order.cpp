// On one rank, labels are indices: members are counted in an array, and its entries become rows.
// The roots of groups that a search left are better indices: they lie near the members.
//
// On several, each rank makes (label, members) pairs, with how many of the members count for the
// smallest group. They are brought into one order by label, in even parts; so no rank has more
// pairs than its share of them, whichever labels are frequent. There the members are added up, the
// groups that are large enough are brought into one order by length, and their rows travel back
// both ways. Where the parts of groups are known, they are counted as on one rank, and only those
// that are large enough or go on elsewhere become pairs. Else labels are sorted.

#include "src/catalogue/members.hpp"

#include <algorithm>
#include <limits>
#include <type_traits>
#include <utility>

#include "kernels/catalogue.hpp"
#include "kernels/on.hpp"
#include "kernels/particles.hpp"
#include "kernels/sort.hpp"
#include "src/core/host_copies.hpp"
#include "src/domain/redistribution.hpp"

namespace zhalo {

namespace {

// ---------------------------------------------------------------- counts by root

template <class T>
Buffer<LocalIndex> count_by_root(const Exec& exec, Span<const T> root,
                                 Span<const LocalIndex> marks) {
  Buffer<LocalIndex> counts(exec, root.size(), "members of each group");
  kernels::on(exec, [&](const auto& e) { kernels::count_members(e, root, marks, counts.span()); });
  return counts;
}

/// Brings roots into the order of their labels, which are returned.
Buffer<std::uint64_t> sort_by_label(const Exec& exec, Span<const Index> label, Index num_labels,
                                    Buffer<LocalIndex>& roots) {
  Buffer<std::uint64_t> labels(exec, roots.size(), "labels");
  kernels::on(exec, [&](const auto& e) {
    kernels::gather(e, column_view(label), roots.span(), labels.data());
  });
  const Buffer<LocalIndex> order = sort_indices(exec, labels.span(), bits_for(num_labels));
  roots = gathered<LocalIndex>(exec, roots.span(), order.span());
  return labels;
}

// ---------------------------------------------------------------- one rank

/// Roots of the groups that are large enough.
template <class T>
Buffer<LocalIndex> select_roots(const Exec& exec, Span<const T> root, Span<const LocalIndex> marks,
                                Span<const LocalIndex> counts, const GroupLimits& limits) {
  Buffer<LocalIndex> marked;
  if (limits.only_marked) {
    marked = count_by_root(exec, root, marks);
    counts = marked.span();
  }
  return kernels::on(
      exec, [&](const auto& e) { return kernels::select_groups(e, counts, limits.min_members); });
}

/// Sorts groups, by root, from the largest on.
void sort_roots(const Exec& exec, Span<const LocalIndex> counts, Buffer<LocalIndex>& roots) {
  Buffer<std::uint64_t> keys(exec, roots.size(), "sorting of groups");
  Buffer<std::uint64_t> spare_keys(exec, roots.size(), "sorting of groups");
  Buffer<LocalIndex> spare_roots(exec, roots.size(), "sorting of groups");
  const kernels::SortPairs pairs{keys.span(), roots.span(), spare_keys.span(), spare_roots.span()};
  kernels::on(exec, [&](const auto& e) {
    kernels::make_size_keys(e, counts, roots.span(), keys.span());
    kernels::sort_pairs(e, pairs, bits_for(counts.size()));
  });
}

/// `root` is the labels, or that of the parts: these are whole groups here, and their roots lie
/// near their members.
template <class T>
GroupOrder order_alone(const Exec& exec, Span<const T> root, const LabelledMembers& particles,
                       const GroupLimits& limits) {
  constexpr bool are_labels = std::is_same_v<T, Index>;
  Buffer<LocalIndex> counts = count_by_root(exec, root, {});
  Buffer<LocalIndex> roots = select_roots(exec, root, particles.marks, counts.span(), limits);
  if (!are_labels) sort_by_label(exec, particles.label, limits.num_particles, roots);
  sort_roots(exec, counts.span(), roots);
  Buffer<Index> length(exec, roots.size(), "group lengths");
  Buffer<LocalIndex> marked(exec, kernels::words_of_bits(counts.size()), "rows of groups");
  const kernels::RowsView rows{counts.span(), marked.span()};
  GroupOrder order;
  order.group_of = Buffer<Index>(exec, root.size(), "group of each particle");
  kernels::on(exec, [&](const auto& e) {
    kernels::number_rows(e, roots.span(), rows, length.span());
    kernels::assign_groups(e, root, rows, order.group_of.span());
  });
  order.num_total = roots.size();
  std::vector<LocalIndex> roots_of_groups;
  Buffer<Index> labels;
  HostCopies copies(exec);
  copies.add(length, order.length);
  if (are_labels) {
    copies.add(roots, roots_of_groups);
  } else {
    labels = gathered<Index>(exec, particles.label, roots.span());
    copies.add(labels, order.label);
  }
  copies.wait();
  if (are_labels) order.label.assign(roots_of_groups.begin(), roots_of_groups.end());
  return order;
}

// ---------------------------------------------------------------- several ranks

/// Elements sorted by their labels.
struct LabelRuns {
  Buffer<LocalIndex> order;  ///< former index of each element
  Buffer<LocalIndex> start;  ///< first element of each run
  Buffer<std::uint64_t> label;

  kernels::RunsView view() const { return {order.span(), start.span()}; }
};

/// From sorted labels and the former index of each.
LabelRuns find_runs(const Exec& exec, const Buffer<std::uint64_t>& labels,
                    Buffer<LocalIndex> order) {
  LabelRuns runs;
  runs.order = std::move(order);
  runs.start = kernels::on(
      exec, [&](const auto& e) { return kernels::select_run_starts(e, labels.span()); });
  runs.label = Buffer<std::uint64_t>(exec, runs.start.size(), "labels");
  kernels::on(exec, [&](const auto& e) {
    kernels::gather(e, column_view(labels), runs.start.span(), runs.label.data());
  });
  return runs;
}

LabelRuns make_runs(const Exec& exec, Buffer<std::uint64_t> labels, int bits) {
  Buffer<LocalIndex> order = sort_indices(exec, labels.span(), bits);
  return find_runs(exec, labels, std::move(order));
}

/// Particles without a label are in no run.
LabelRuns make_local_runs(const Exec& exec, Span<const Index> label, Index num_labels) {
  SortedMembers members = sort_members(exec, label, {num_labels});
  return find_runs(exec, members.key, std::move(members.index));
}

SpanningRuns spanning_runs(const Context& context, const LabelRuns& runs) {
  const Index num = runs.label.size();
  if (num == 0) return {context, 0, 0, 0};
  const auto label = [&](Index run) {
    return static_cast<Index>(to_host(context.exec, runs.label.span().subspan(run, 1)).front());
  };
  return {context, num, label(0), label(num - 1)};
}

/// Members of each label of this rank. Those of a label that begins on a lower rank are counted
/// there: here it has none.
Buffer<Index> add_members(const Context& context, const LabelRuns& runs,
                          const SpanningRuns& spanning, Span<const LocalIndex> counts) {
  Buffer<Index> members(context.exec, runs.label.size(), "members of each label");
  kernels::on(context.exec,
              [&](const auto& e) { kernels::sum_runs(e, runs.view(), counts, members.span()); });
  spanning.sum(members.span());
  if (spanning.first_is_continued()) {
    const Index none = 0;
    queue_copy(context.exec, members.data(), &none, sizeof(Index));
  }
  return members;
}

/// Labels and lengths of groups.
struct Groups {
  Buffer<std::uint64_t> label;
  Buffer<Index> length;
};

/// Sorts by length, stably; returns the former index of each, and leaves the keys.
Buffer<LocalIndex> sort_by_length(const Exec& exec, Span<const Index> length, Index longest,
                                  Buffer<std::uint64_t>& keys) {
  keys = Buffer<std::uint64_t>(exec, length.size(), "sorting of groups");
  kernels::on(exec,
              [&](const auto& e) { kernels::make_length_keys(e, length, longest, keys.span()); });
  return sort_indices(exec, keys.span(), bits_for(longest));
}

/// Brings groups, whose labels ascend on each rank and over ranks, into their order; returns the
/// row of each.
Buffer<Index> number_groups(const Context& context, const Groups& groups, Index num_particles,
                            GroupOrder& order) {
  const Exec& exec = context.exec;
  Buffer<std::uint64_t> keys;
  Buffer<LocalIndex> sent = sort_by_length(exec, groups.length.span(), num_particles, keys);
  Redistribution redistribution(plan_even_parts(context, {keys.span(), bits_for(num_particles)}),
                                std::move(sent));
  const auto label = redistribution.forward(context, groups.label.span(), "labels of groups");
  const auto length = redistribution.forward(context, groups.length.span(), "group lengths");
  Buffer<LocalIndex> sorted = sort_by_length(exec, length.span(), num_particles, keys);
  for (const std::uint64_t value : to_host(exec, gathered(exec, label.span(), sorted.span())))
    order.label.push_back(static_cast<Index>(value));
  order.length = to_host(exec, gathered(exec, length.span(), sorted.span()));
  order.num_total = context.comm.sum(groups.label.size());

  const Index first_row = share_of(order.num_total, context.comm.rank(), context.comm.size()).first;
  Buffer<Index> rows(exec, sorted.size(), "rows of groups");
  kernels::on(exec, [&](const auto& e) {
    kernels::scatter_numbers(e, sorted.span(), first_row, rows.span());
  });
  Buffer<Index> result(exec, groups.label.size(), "rows of groups");
  redistribution.backward(context, {column_view(rows), result.data()});
  return result;
}

/// Labels of all ranks, in even parts, and the members of each; the row of each, once it is known.
struct SharedLabels {
  LabelRuns runs;
  SpanningRuns spanning;
  Buffer<Index> members;
  Buffer<Index> marked;  ///< members that count; empty if all do
};

/// Row of each label, no_group where it has too few members.
Buffer<Index> rows_of_labels(const Context& context, const SharedLabels& labels,
                             const GroupLimits& limits, GroupOrder& order) {
  const Exec& exec = context.exec;
  const Span<const Index> members = labels.members.span();
  const Span<const Index> counted = limits.only_marked ? labels.marked.span() : members;
  const auto selected = kernels::on(
      exec, [&](const auto& e) { return kernels::select_groups(e, counted, limits.min_members); });
  const Groups groups{gathered<std::uint64_t>(exec, labels.runs.label.span(), selected.span()),
                      gathered(exec, members, selected.span())};
  const Buffer<Index> rows = number_groups(context, groups, limits.num_particles, order);
  Buffer<Index> result(exec, members.size(), "rows of labels");
  kernels::on(exec, [&](const auto& e) {
    kernels::fill(e, result.span(), no_group);
    kernels::scatter(e, column_view(rows), selected.span(), result.data());
  });
  return result;
}

/// Labels of this rank, ascending, and the members of each.
struct LocalCounts {
  Buffer<std::uint64_t> label;
  Buffer<LocalIndex> members;
  Buffer<LocalIndex> marked;  ///< those that count; empty if all do
};

LocalCounts count_members(const Exec& exec, LabelRuns& local, Span<const LocalIndex> marks,
                          bool only_marked) {
  LocalCounts counts;
  counts.members = Buffer<LocalIndex>(exec, local.label.size(), "members of each label");
  kernels::on(exec,
              [&](const auto& e) { kernels::count_runs(e, local.view(), counts.members.span()); });
  counts.label = std::move(local.label);
  if (!only_marked) return counts;
  Buffer<Index> before(exec, local.order.size() + 1, "members that count");
  counts.marked = Buffer<LocalIndex>(exec, counts.label.size(), "members that count");
  kernels::on(exec, [&](const auto& e) {
    kernels::accumulate_weights(e, {marks.data()}, local.order.span(), before.span());
    kernels::weigh_runs(e, local.view(), before.span(), counts.marked.span());
  });
  return counts;
}

/// Labels and numbers of members of this rank's particles go to where the labels are added up. What
/// is not needed on the way back is freed: where nearly every particle has a label of its own, this
/// is where memory is short.
SharedLabels share_labels(const Context& context, LocalCounts counts,
                          const Redistribution& redistribution, const GroupLimits& limits) {
  const auto redistributed = [&]<class T>(Buffer<T> sent, const char* purpose) {
    return redistribution.forward(context, Span<const T>(sent.span()), purpose);
  };
  const auto members_of_ranks = redistributed(std::move(counts.members), "members of each label");
  Buffer<LocalIndex> marked_of_ranks;
  if (limits.only_marked)
    marked_of_ranks = redistributed(std::move(counts.marked), "members that count");
  LabelRuns runs = make_runs(context.exec, redistributed(std::move(counts.label), "labels"),
                             bits_for(limits.num_particles));
  const SpanningRuns spanning = spanning_runs(context, runs);
  Buffer<Index> members = add_members(context, runs, spanning, members_of_ranks.span());
  Buffer<Index> marked;
  if (limits.only_marked) marked = add_members(context, runs, spanning, marked_of_ranks.span());
  return {std::move(runs), spanning, std::move(members), std::move(marked)};
}

/// The row of each label of this rank.
Buffer<Index> ask_for_rows(const Context& context, LocalCounts counts, const GroupLimits& limits,
                           GroupOrder& order) {
  const Index num = counts.label.size();
  const Redistribution redistribution(
      plan_even_parts(context, {counts.label.span(), bits_for(limits.num_particles)}));
  SharedLabels labels = share_labels(context, std::move(counts), redistribution, limits);
  Buffer<Index> rows = rows_of_labels(context, labels, limits, order);
  labels.members = {};
  labels.marked = {};
  labels.runs.label = {};
  labels.spanning.spread(rows.span());
  Buffer<Index> answers(context.exec, labels.runs.order.size(), "rows of labels");
  kernels::on(context.exec, [&](const auto& e) {
    kernels::spread_runs(e, labels.runs.view(), rows.span(), answers.span());
  });
  rows = Buffer<Index>(context.exec, num, "rows of labels");
  redistribution.backward(context, {column_view(answers), rows.data()});
  return rows;
}

GroupOrder order_by_labels(const Context& context, const LabelledMembers& particles,
                           const GroupLimits& limits) {
  const Exec& exec = context.exec;
  LabelRuns local = make_local_runs(exec, particles.label, limits.num_particles);
  GroupOrder order;
  const Buffer<Index> rows = ask_for_rows(
      context, count_members(exec, local, particles.marks, limits.only_marked), limits, order);
  order.group_of = Buffer<Index>(exec, particles.label.size(), "group of each particle");
  kernels::on(exec, [&](const auto& e) {
    kernels::fill(e, order.group_of.span(), no_group);
    kernels::spread_runs(e, local.view(), rows.span(), order.group_of.span());
  });
  return order;
}

// ---------------------------------------------------------------- several ranks, parts of groups

/// Roots of parts that are large enough alone, or may be with parts of other ranks. Parts that may
/// continue on other ranks (`crossing`) must survive the selection. So they get the largest count
/// that there is, the roots are selected, and the parts' own counts are put back.
Buffer<LocalIndex> select_parts(const Exec& exec, Span<const LocalIndex> crossing,
                                Span<LocalIndex> counts, const GroupLimits& limits) {
  const Buffer<LocalIndex> own_counts = gathered<LocalIndex>(exec, counts, crossing);
  constexpr LocalIndex largest = std::numeric_limits<LocalIndex>::max();
  Buffer<LocalIndex> largest_counts(exec, crossing.size(), "parts of groups");
  return kernels::on(exec, [&](const auto& e) {
    kernels::fill(e, largest_counts.span(), largest);
    kernels::scatter(e, column_view(largest_counts), crossing, counts.data());
    auto roots = kernels::select_groups(e, Span<const LocalIndex>(counts),
                                        std::min(limits.min_members, Index{largest}));
    kernels::scatter(e, column_view(own_counts), crossing, counts.data());
    return roots;
  });
}

/// The search has joined the particles of this rank into parts of groups. Only the label and count
/// of each selected part are sent. The answer is the part's row in the catalogue, which each of its
/// particles gets.
GroupOrder order_by_parts(const Context& context, const LabelledMembers& particles,
                          const GroupLimits& limits) {
  const Exec& exec = context.exec;
  const Span<const LocalIndex> root = particles.parts->root.span();
  Buffer<LocalIndex> members = count_by_root(exec, root, {});
  Buffer<LocalIndex> marked;
  if (limits.only_marked) marked = count_by_root(exec, root, particles.marks);
  const auto crossing =
      to_exec(exec, Span<const LocalIndex>(particles.parts->crossing), "parts of groups");
  const Span<LocalIndex> counted = limits.only_marked ? marked.span() : members.span();
  LocalCounts counts;
  Buffer<LocalIndex> roots = select_parts(exec, crossing.span(), counted, limits);
  counts.label = sort_by_label(exec, particles.label, limits.num_particles, roots);
  counts.members = gathered<LocalIndex>(exec, members.span(), roots.span());
  if (limits.only_marked) counts.marked = gathered<LocalIndex>(exec, marked.span(), roots.span());
  marked = {};
  GroupOrder order;
  const Buffer<Index> rows = ask_for_rows(context, std::move(counts), limits, order);
  Buffer<LocalIndex> bits(exec, kernels::words_of_bits(members.size()), "rows of groups");
  const kernels::RowsView row_of_part{members.span(), bits.span()};
  order.group_of = Buffer<Index>(exec, root.size(), "group of each particle");
  kernels::on(exec, [&](const auto& e) {
    kernels::number_rows(e, roots.span(), row_of_part, {});
    kernels::assign_groups(e, root, row_of_part, order.group_of.span());
    kernels::renumber_groups(e, rows.span(), order.group_of.span());
  });
  return order;
}

}  // namespace

GroupOrder order_groups(const Context& context, const LabelledMembers& particles,
                        const GroupLimits& limits) {
  const LinkedParts* const parts = particles.parts;
  if (context.comm.size() == 1) {
    return parts != nullptr
               ? order_alone<LocalIndex>(context.exec, parts->root.span(), particles, limits)
               : order_alone<Index>(context.exec, particles.label, particles, limits);
  }
  if (parts != nullptr) return order_by_parts(context, particles, limits);
  return order_by_labels(context, particles, limits);
}

}  // namespace zhalo
