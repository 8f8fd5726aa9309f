#include "src/catalogue/properties.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "kernels/catalogue.hpp"
#include "kernels/on.hpp"
#include "kernels/sort.hpp"
#include "src/catalogue/spanning_runs.hpp"
#include "src/domain/redistribution.hpp"

namespace zhalo {
namespace {

/// Rows that have members on this rank, consecutive: the first and the last may have more on
/// others.
struct LocalRows {
  Index first = 0;
  Buffer<Index> offset;  ///< first member on this rank of each, and the end

  Index num() const { return offset.size() - 1; }
};

LocalRows find_local_rows(const Exec& exec, const Buffer<std::uint64_t>& of_members) {
  const Span<const std::uint64_t> row = of_members.span();
  LocalRows rows;
  const auto at = [&](Index m) {
    return static_cast<Index>(to_host(exec, row.subspan(m, 1)).front());
  };
  if (!row.empty()) rows.first = at(0);
  const Index num = row.empty() ? 0 : at(row.size() - 1) - rows.first + 1;
  rows.offset = Buffer<Index>(exec, num + 1, "group offsets");
  if (row.empty()) {
    const Index none = 0;
    copy_bytes(exec, rows.offset.data(), &none, sizeof(Index));
  }
  kernels::on(exec, [&](const auto& e) { kernels::find_rows(e, row, rows.offset.span()); });
  return rows;
}

/// One rank has all rows, and knows their offsets.
LocalRows all_rows(const Exec& exec, const Catalogue& catalogue) {
  std::vector<Index> ends = catalogue.offset;
  ends.push_back(catalogue.num_members_total);
  return {0, to_exec(exec, Span<const Index>(ends), "group offsets")};
}

/// Every rank with a part of a group's members adds up all parts, in the order of ranks, and so
/// knows its centre and mean velocity. Positions are relative to the group's first member on all of
/// them.
template <class Real>
Buffer<kernels::GroupRow> sum_rows(const Context& context,
                                   const kernels::MembersView<Real>& members,
                                   const SpanningRuns& spanning) {
  const Exec& exec = context.exec;
  const Index num = members.blocks.offset.size() - 1;
  Buffer<kernels::GroupRow> rows(exec, num, "group properties");
  {
    Buffer<Vec3d> origin(exec, num, "first members of groups");
    kernels::on(exec, [&](const auto& e) { kernels::first_positions(e, members, origin.span()); });
    spanning.spread(origin.span());
    Buffer<kernels::Moments> sums(exec, num, "sums over groups");
    kernels::on(
        exec, [&](const auto& e) { kernels::sum_moments(e, members, origin.span(), sums.span()); });
    spanning.sum(sums.span());
    kernels::on(exec, [&](const auto& e) {
      kernels::finish_moments(e, members.frame, origin.span(), sums.span(), rows.span());
    });
  }
  Buffer<kernels::Spreads> sums(exec, num, "sums over groups");
  kernels::on(exec,
              [&](const auto& e) { kernels::sum_spreads(e, members, rows.span(), sums.span()); });
  spanning.sum(sums.span());
  const int dimensions = members.particles.dimensions;
  kernels::on(exec, [&](const auto& e) {
    kernels::finish_spreads(e, sums.span(), dimensions, rows.span());
  });
  return rows;
}

/// Lengths and masses by type, [row][type].
struct TypeColumns {
  Buffer<Index> length;
  Buffer<double> mass;
};

/// A few types of one row.
struct TypePart {
  static constexpr int most = 8;
  std::array<Index, most> length{};
  std::array<double, most> mass{};

  TypePart& operator+=(const TypePart& other) {
    for (std::size_t t = 0; t < most; ++t) {
      length[t] += other.length[t];
      mass[t] += other.mass[t];
    }
    return *this;
  }
};

/// Adds up the types of the rows that other ranks have a part of, a few types at a time.
void sum_spanning_types(const Context& context, const SpanningRuns& spanning, int num_types,
                        TypeColumns& columns) {
  if (context.comm.size() == 1) return;
  const Index num_rows = columns.length.size() / num_types;
  for (int first = 0; first < num_types; first += TypePart::most) {
    const auto copy = [&](auto* to, const auto* from) {
      const int num = std::min(TypePart::most, num_types - first);
      copy_bytes(context.exec, to, from, static_cast<std::size_t>(num) * sizeof(*to));
    };
    std::array<TypePart, 2> ends;
    const std::array<Index, 2> at{first, (num_rows - 1) * num_types + first};
    for (std::size_t end = 0; end < 2 && num_rows > 0; ++end) {
      copy(ends[end].length.data(), columns.length.data() + at[end]);
      copy(ends[end].mass.data(), columns.mass.data() + at[end]);
    }
    spanning.sum(ends[0], ends[1]);
    for (std::size_t end = 0; end < 2 && end < static_cast<std::size_t>(num_rows); ++end) {
      copy(columns.length.data() + at[end], ends[end].length.data());
      copy(columns.mass.data() + at[end], ends[end].mass.data());
    }
  }
}

template <class Real>
TypeColumns sum_types(const Context& context, const kernels::MembersView<Real>& members,
                      const SpanningRuns& spanning, int num_types) {
  const Index num = (members.blocks.offset.size() - 1) * num_types;
  TypeColumns columns{Buffer<Index>(context.exec, num, "group lengths by type"),
                      Buffer<double>(context.exec, num, "group masses by type")};
  const kernels::TypeSums sums{num_types, columns.length.span(), columns.mass.span()};
  kernels::on(context.exec, [&](const auto& e) { kernels::sum_types(e, members, sums); });
  sum_spanning_types(context, spanning, num_types, columns);
  return columns;
}

/// Brings finished rows from the rank of their first members to the rank that has the rows.
class FinishedRows {
 public:
  /// `num` rows from `first` on are here, of which `skipped` began on lower ranks. Collective.
  FinishedRows(const Context& context, Share here, Index skipped, Index num_total)
      : context_(context), skipped_(skipped) {
    const int size = context.comm.size();
    std::vector<Index> counts;
    for (int rank = 0; rank < size; ++rank) {
      const Share home = share_of(num_total, rank, size);
      const Index begin = std::max(home.first, here.first + skipped);
      const Index end = std::min(home.first + home.count, here.first + here.count);
      counts.push_back(std::max<Index>(end - begin, 0));
    }
    redistribution_ = Redistribution(context.comm.plan_exchange(counts));
  }

  /// A column whose rows have `width` elements. Collective.
  template <class T>
  std::vector<T> bring(const Buffer<T>& rows, Index width = 1) const {
    if (context_.comm.size() == 1) return to_host(context_.exec, rows);
    Buffer<T> received(context_.exec, redistribution_.num_received() * width, "group properties");
    const Index num = rows.size() / width - skipped_;
    const Index bytes = width * static_cast<Index>(sizeof(T));
    redistribution_.forward(context_,
                            {{{rows.data() + skipped_ * width, num, bytes, 0}, received.data()}});
    return to_host(context_.exec, received);
  }

 private:
  const Context& context_;
  Index skipped_;
  Redistribution redistribution_;
};

void take_rows(const std::vector<kernels::GroupRow>& rows, Catalogue& catalogue) {
  for (const kernels::GroupRow& row : rows) {
    catalogue.mass.push_back(row.mass);
    catalogue.centre.push_back(row.centre);
    catalogue.velocity.push_back(row.velocity);
    catalogue.velocity_dispersion.push_back(row.velocity_dispersion);
    catalogue.rms_radius.push_back(row.rms_radius);
    catalogue.max_radius.push_back(row.max_radius);
  }
}

}  // namespace

template <class Real>
void sum_properties(const Context& context, Members members,
                    const kernels::ParticlesView<Real>& particles, const Box& box,
                    Catalogue& catalogue) {
  const Exec& exec = context.exec;
  const LocalRows rows =
      context.comm.size() > 1 ? find_local_rows(exec, members.row) : all_rows(exec, catalogue);
  members.row = {};
  const auto blocks =
      kernels::on(exec, [&](const auto& e) { return kernels::make_blocks(e, rows.offset.span()); });
  kernels::KeyFrame frame;
  frame.box = box;
  const Span<const LocalIndex> index = members.index(context.comm);
  const kernels::MembersView<Real> view{particles, frame, index, blocks.view(rows.offset.span())};
  const SpanningRuns spanning(context, rows.num(), rows.first, rows.first + rows.num() - 1);
  const FinishedRows finished(context, {rows.first, rows.num()},
                              spanning.first_is_continued() ? 1 : 0, catalogue.num_groups_total);
  take_rows(finished.bring(sum_rows(context, view, spanning)), catalogue);
  if (catalogue.num_types == 1) {
    catalogue.length_by_type = catalogue.length;
    catalogue.mass_by_type = catalogue.mass;
    return;
  }
  const TypeColumns types = sum_types(context, view, spanning, catalogue.num_types);
  catalogue.length_by_type = finished.bring(types.length, catalogue.num_types);
  catalogue.mass_by_type = finished.bring(types.mass, catalogue.num_types);
}

template void sum_properties(const Context&, Members, const kernels::ParticlesView<float>&,
                             const Box&, Catalogue&);
template void sum_properties(const Context&, Members, const kernels::ParticlesView<double>&,
                             const Box&, Catalogue&);

}  // namespace zhalo
