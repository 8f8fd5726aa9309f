/// Properties of groups: sums over their members, and the catalogue's checksum.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "kernels/catalogue.hpp"
#include "kernels/on.hpp"
#include "src/domain/redistribution.hpp"
#include "zhalo/catalogue/catalogue.hpp"

namespace zhalo {

/// This rank's members, by their keys, which ascend (see SortedMembers).
struct MemberRuns {
  Span<const std::uint64_t> keys;
  int num_species = 1;
};

/// Each rank has parts of groups: all its members of a group that are of one species. Sums over the
/// parts go to the rank that has the group's row, and are added there. What that rank knows of the
/// group goes back to all parts.
class GroupParts {
 public:
  /// Of this rank's members. Rows are those of share_of, and each has a member. Collective.
  GroupParts(const Context& context, const MemberRuns& members, const Catalogue& catalogue);

  Index num() const { return offset_.size() - 1; }             ///< parts on this rank
  Index num_rows() const { return row_offset_.size() - 1; }    ///< groups on this rank
  Span<const Index> offset() const { return offset_.span(); }  ///< first member of each, the end
  Index num_blocks() const { return num_blocks_; }             ///< of members, or not_known

  /// Adds up the parts of each row; each has `width` sums. Collective.
  template <class Sum>
  Buffer<Sum> add(Buffer<Sum> of_parts, Index width = 1) const {
    if (parts_are_rows_) return of_parts;
    const Buffer<Sum> parts = at_rows(std::move(of_parts), width);
    Buffer<Sum> sums(context_.exec, num_rows() * width, "sums over groups");
    kernels::on(context_.exec, [&](const auto& e) {
      kernels::add_parts(e, row_offset_.span(), Span<const Sum>(parts.span()), width, sums.span());
    });
    return sums;
  }

  /// References of the rows: the position of the first part of each. Collective.
  Buffer<kernels::HaloReference> references(Buffer<Vec3d> pos_of_parts,
                                            const std::vector<Index>& length) const;
  /// The reference of each part. Collective.
  Buffer<kernels::HaloReference> spread(const Buffer<kernels::HaloReference>& of_rows) const;

 private:
  /// Brings a value of each part to the rank of its row, in the order of rows.
  template <class T>
  Buffer<T> at_rows(Buffer<T> of_parts, Index width) const {
    if (context_.comm.size() == 1) return of_parts;
    Buffer<T> received(context_.exec, to_rows_.num_received() * width, "parts of groups");
    const ColumnView rows{of_parts.data(), num(), width * static_cast<Index>(sizeof(T)), 0};
    to_rows_.forward(context_, {{rows, received.data()}});
    return received;
  }

  void take_rows(const std::vector<Index>& length);
  void find_parts(const MemberRuns& members, Index num_groups_total);

  const Context& context_;
  bool parts_are_rows_;  ///< one rank, one species
  Index num_blocks_ = kernels::not_known;
  Buffer<Index> offset_;
  Redistribution to_rows_;
  Buffer<Index> row_offset_;  ///< first part of each row, and the end
};

/// Of all rows and members of all ranks, whoever has them; this rank's members have been hashed.
/// Collective.
std::uint64_t checksum_of(const Context& context, const Catalogue& catalogue,
                          std::uint64_t hash_of_members);

/// This rank's members, group by group.
template <class Real>
struct GroupMembers {
  const kernels::ParticlesView<Real>& particles;
  MemberRuns runs;
  Span<const LocalIndex> index;  ///< of each among the particles
  std::optional<int> only_type;  ///< of all particles of all ranks
};

/// Of this rank's rows, in memory of the Exec.
struct GroupSums {
  Buffer<HaloProperties> properties;
  Buffer<kernels::TypeSum> types;  ///< row by row; none if all particles are of one type
  std::optional<int> only_type;
};

/// Sums over the groups of this rank's rows, wherever the members are. Lengths are known already.
/// On one rank of one species nothing waits for a device. Collective.
template <class Real>
GroupSums sum_properties(const Context& context, const GroupMembers<Real>& members,
                         const kernels::HaloFrame& halo, const Catalogue& catalogue);

/// Fills the catalogue's properties and columns by type; returns the hash, which is in memory of
/// the Exec, too. Waits once.
std::uint64_t take_sums(const Exec& exec, const GroupSums& sums, const Buffer<std::uint64_t>& hash,
                        const kernels::HaloUnits& unit, Catalogue& catalogue);

}  // namespace zhalo
