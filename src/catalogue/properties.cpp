#include "src/catalogue/properties.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <iterator>
#include <utility>

#include "kernels/catalogue.hpp"
#include "kernels/on.hpp"
#include "kernels/particles.hpp"
#include "kernels/sort.hpp"
#include "src/core/host_copies.hpp"
#include "src/core/instantiate.hpp"
#include "src/domain/redistribution.hpp"
#include "zhalo/catalogue/catalogue.hpp"

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

GroupParts::GroupParts(const Context& context, const MemberRuns& members,
                       const Catalogue& catalogue)
    : context_(context), parts_are_rows_(context.comm.size() == 1 && members.num_species == 1) {
  if (parts_are_rows_) {
    take_rows(catalogue.length);
  } else {
    find_parts(members, catalogue.num_groups_total);
  }
}

/// Where each row is one part, lengths say all.
void GroupParts::take_rows(const std::vector<Index>& length) {
  const Exec& exec = context_.exec;
  std::vector<Index> offset{0};
  num_blocks_ = 0;
  for (const Index num : length) {
    offset.push_back(offset.back() + num);
    num_blocks_ += (num + kernels::members_per_block - 1) / kernels::members_per_block;
  }
  offset_ = to_exec(exec, Span<const Index>(offset), "parts of groups");
  row_offset_ = Buffer<Index>(exec, offset_.size(), "parts of groups");
  kernels::on(exec, [&](const auto& e) { kernels::number(e, row_offset_.span()); });
}

void GroupParts::find_parts(const MemberRuns& members, Index num_groups_total) {
  const Exec& exec = context_.exec;
  const int num_species = members.num_species;
  const Buffer<LocalIndex> start = starts_of_runs(exec, members.keys);
  offset_ = offsets_of_runs(exec, start, members.keys.size());
  Buffer<std::uint64_t> key(exec, start.size(), "parts of groups");
  kernels::on(exec, [&](const auto& e) {
    kernels::gather(e, column_view(members.keys), start.span(), key.data());
  });
  if (context_.comm.size() > 1) {
    to_rows_ =
        Redistribution(plan_to_rows(context_, to_host(exec, key), num_species, num_groups_total));
    key = to_rows_.forward(context_, Span<const std::uint64_t>(key.span()), "parts of groups");
    // Of a row the first species comes first, and of that the lowest rank: the first in Z-order.
    to_rows_.set_arrived(sort_indices(exec, key.span(), bits_for(num_groups_total * num_species)));
  }
  if (num_species > 1) {
    kernels::on(exec, [&](const auto& e) { kernels::find_rows(e, num_species, key.span()); });
  }
  row_offset_ = offsets_of_runs(exec, starts_of_runs(exec, key.span()), key.size());
}

Buffer<kernels::HaloReference> GroupParts::references(Buffer<Vec3d> pos_of_parts,
                                                      const std::vector<Index>& length) const {
  const Buffer<Vec3d> pos = at_rows(std::move(pos_of_parts), 1);
  const auto lengths = to_exec(context_.exec, Span<const Index>(length), "group lengths");
  Buffer<kernels::HaloReference> references(context_.exec, num_rows(), "group centres");
  kernels::on(context_.exec, [&](const auto& e) {
    kernels::make_references(e, row_offset_.span(), pos.span(), lengths.span(), references.span());
  });
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

namespace {

std::uint64_t hash_of_row(const Catalogue& catalogue, std::size_t g) {
  static_assert(sizeof(HaloProperties) % sizeof(std::uint64_t) == 0);
  using Words = std::array<std::uint64_t, sizeof(HaloProperties) / sizeof(std::uint64_t)>;
  const auto num_types = static_cast<std::size_t>(catalogue.num_types);
  kernels::Hash hash;
  hash.add(static_cast<std::uint64_t>(catalogue.first_group) + g);
  hash.add(static_cast<std::uint64_t>(catalogue.length[g]));
  hash.add(static_cast<std::uint64_t>(catalogue.label[g]));
  for (const std::uint64_t word : std::bit_cast<Words>(catalogue.properties[g])) hash.add(word);
  for (std::size_t t = g * num_types; t < (g + 1) * num_types; ++t) {
    if (catalogue.length_by_type[t] == 0) continue;
    hash.add(static_cast<std::uint64_t>(catalogue.length_by_type[t]));
    hash.add(std::bit_cast<std::uint64_t>(catalogue.mass_by_type[t]));
  }
  return hash.value();
}

}  // namespace

std::uint64_t checksum_of(const Context& context, const Catalogue& catalogue,
                          std::uint64_t hash_of_members) {
  std::uint64_t sum = hash_of_members;
  for (std::size_t g = 0; g < catalogue.length.size(); ++g) sum += hash_of_row(catalogue, g);
  std::uint64_t total = 0;
  for (const std::uint64_t of_rank : context.comm.all_gather(sum)) total += of_rank;
  return total;
}

namespace {

using kernels::HaloReference;

/// The sums over one catalogue's groups.
template <class Real>
struct Summation {
  const Context& context;
  const GroupParts& parts;
  const kernels::MembersView<Real>& members;

  /// The position of each group's first member.
  Buffer<HaloReference> find_references(const std::vector<Index>& length) const {
    Buffer<Vec3d> pos(context.exec, parts.num(), "first members of groups");
    kernels::on(context.exec,
                [&](const auto& e) { kernels::first_positions(e, members, pos.span()); });
    return parts.references(std::move(pos), length);
  }

  /// What follows from Moments or Spreads. With Moments the references come to be the centres.
  template <class Sum>
  void add(Span<const HaloReference> of_parts, Buffer<HaloReference>& about,
           Buffer<HaloProperties>& properties) const {
    Buffer<Sum> sums(context.exec, parts.num(), "sums over groups");
    kernels::on(context.exec,
                [&](const auto& e) { kernels::sum_members(e, members, of_parts, sums.span()); });
    sums = parts.add(std::move(sums));
    kernels::on(context.exec, [&](const auto& e) {
      kernels::finish_sums(e, members.halo, Span<const Sum>(sums.span()), about.span(),
                           properties.span());
    });
  }

  Buffer<kernels::TypeSum> add_types(Span<const HaloReference> of_parts, Index num_types) const {
    Buffer<kernels::TypeSum> sums(context.exec, parts.num() * num_types, "sums over types");
    kernels::on(context.exec, [&](const auto& e) {
      kernels::sum_types(e, members, of_parts, static_cast<int>(num_types), sums.span());
    });
    return parts.add(std::move(sums), num_types);
  }
};

}  // namespace

template <class Real>
GroupSums sum_properties(const Context& context, const GroupMembers<Real>& members,
                         const kernels::HaloFrame& halo, const Catalogue& catalogue) {
  const Exec& exec = context.exec;
  const GroupParts parts(context, members.runs, catalogue);
  const auto blocks = kernels::on(exec, [&](const auto& e) {
    return kernels::make_blocks(e, parts.offset(), parts.num_blocks());
  });
  const kernels::MembersView<Real> view{members.particles, halo, members.index,
                                        blocks.view(parts.offset())};
  const Summation<Real> sums{context, parts, view};

  GroupSums result;
  Buffer<HaloReference> about = sums.find_references(catalogue.length);
  result.properties = Buffer<HaloProperties>(exec, parts.num_rows(), "group properties");
  Buffer<HaloReference> of_parts = parts.spread(about);
  sums.template add<kernels::Moments>(of_parts.span(), about, result.properties);
  result.only_type = members.only_type;
  if (!members.only_type) result.types = sums.add_types(of_parts.span(), catalogue.num_types);
  of_parts = parts.spread(about);
  sums.template add<kernels::Spreads>(of_parts.span(), about, result.properties);
  return result;
}

namespace {

/// All members are of one type.
void take_only_type(std::size_t type, Catalogue& catalogue) {
  const auto num_types = static_cast<std::size_t>(catalogue.num_types);
  for (std::size_t g = 0; g < catalogue.length.size(); ++g) {
    catalogue.length_by_type[g * num_types + type] = catalogue.length[g];
    catalogue.mass_by_type[g * num_types + type] = catalogue.properties[g].mass;
  }
}

}  // namespace

std::uint64_t take_sums(const Exec& exec, const GroupSums& sums, const Buffer<std::uint64_t>& hash,
                        const kernels::HaloUnits& unit, Catalogue& catalogue) {
  std::vector<kernels::TypeSum> types;
  std::vector<std::uint64_t> hash_on_host;
  HostCopies copies(exec);
  copies.add(sums.properties, catalogue.properties);
  copies.add(sums.types, types);
  copies.add(hash, hash_on_host);
  copies.wait();
  const auto num_types = static_cast<std::size_t>(catalogue.num_types);
  catalogue.length_by_type.assign(catalogue.length.size() * num_types, 0);
  catalogue.mass_by_type.assign(catalogue.length.size() * num_types, 0);
  if (sums.only_type) {
    take_only_type(static_cast<std::size_t>(*sums.only_type), catalogue);
    return hash_on_host.front();
  }
  for (std::size_t at = 0; at < types.size(); ++at) {
    const double resolution = kernels::resolution_of(catalogue.length[at / num_types]);
    catalogue.length_by_type[at] = types[at].length;
    catalogue.mass_by_type[at] = types[at].mass.value(resolution) * unit.mass;
  }
  return hash_on_host.front();
}

ZHALO_FOR_REALS(sum_properties);

// Sums that have lost digits (find_lost_digits).

namespace {

constexpr double max_error = 1e-6;

using Columns = std::array<LostDigits, 3>;

void note(LostDigits& column, double typical) {
  ++column.num_groups;
  column.typical = std::max(column.typical, typical);
}

/// Of a group at rest nothing can be said by itself, nor of one without an extent.
void examine_group(const HaloProperties& halo, Index length, Columns& columns) {
  auto& [masses, positions, velocities] = columns;
  const double resolution = kernels::resolution_of(length);
  const double cut = 1 / (resolution * resolution);
  const double mass = halo.mass / static_cast<double>(length);
  const double of_mass = mass / masses.largest;
  const Vec3d& v = halo.velocity;
  const double rms_velocity = std::sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2] +
                                        3 * halo.velocity_dispersion * halo.velocity_dispersion);
  bool is_mass = !(of_mass * max_error > cut);
  const auto look = [&](LostDigits& column, double typical) {
    const double part = typical / column.largest;
    const double square = part * part;  // sums of squares lose most
    if (!(square > 0) || of_mass * square * max_error > cut) return;
    if (of_mass >= square) return note(column, typical);
    is_mass = true;
  };
  look(positions, halo.max_radius);
  look(velocities, rms_velocity);
  if (is_mass) note(masses, mass);
}

/// Groups on this rank that seem to be at rest.
Index num_at_rest(const Catalogue& catalogue) {
  const auto rests = [](const HaloProperties& halo) {
    const Vec3d& v = halo.velocity;
    return v[0] == 0 && v[1] == 0 && v[2] == 0 && halo.velocity_dispersion == 0;
  };
  return std::count_if(catalogue.properties.begin(), catalogue.properties.end(), rests);
}

}  // namespace

std::vector<LostDigits> find_lost_digits(const Communicator& comm, const Catalogue& catalogue) {
  Columns columns{{{LostDigits::Of::masses, 0, catalogue.largest.mass, 0},
                   {LostDigits::Of::positions, 0, catalogue.largest.length, 0},
                   {LostDigits::Of::velocities, 0, catalogue.largest.velocity, 0}}};
  for (std::size_t g = 0; g < catalogue.properties.size(); ++g)
    examine_group(catalogue.properties[g], catalogue.length[g], columns);
  for (LostDigits& column : columns) {
    column.num_groups = comm.sum(column.num_groups);
    column.typical = comm.max(column.typical);
  }
  // If others lose digits, or there are no others though some particle moves, those of the groups
  // at rest were all lost.
  const Index at_rest = comm.sum(num_at_rest(catalogue));
  LostDigits& velocities = columns[2];
  if (velocities.num_groups > 0 ||
      (velocities.largest > 0 && at_rest == catalogue.num_groups_total))
    velocities.num_groups += at_rest;
  std::vector<LostDigits> lost;
  std::copy_if(columns.begin(), columns.end(), std::back_inserter(lost),
               [](const LostDigits& column) { return column.num_groups > 0; });
  return lost;
}

}  // namespace zhalo
