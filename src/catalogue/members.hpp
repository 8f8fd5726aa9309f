/// From labelled particles to groups and their members, in the order of the catalogue.
#pragma once

#include <memory>
#include <vector>

#include "kernels/catalogue.hpp"
#include "kernels/on.hpp"
#include "kernels/particles.hpp"
#include "src/core/validate.hpp"
#include "src/domain/domain_state.hpp"
#include "src/domain/redistribution.hpp"
#include "zhalo/catalogue/attach.hpp"
#include "zhalo/comm/context.hpp"
#include "zhalo/core/buffer.hpp"
#include "zhalo/domain/domain.hpp"
#include "zhalo/fof/fof.hpp"

namespace zhalo {

// What a catalogue is made of: the particles of a domain and their labels. Several species count as
// one: their labels, and the parts of groups that they are in, come first.

/// The species' columns one behind the other.
template <class T>
Buffer<T> joined(const Exec& exec, const std::vector<Span<const T>>& columns) {
  Index num = 0;
  for (const Span<const T>& of_species : columns) num += of_species.size();
  Buffer<T> all(exec, num, "labels");
  num = 0;
  for (const Span<const T>& of_species : columns) {
    validate_memory(exec, of_species, "labels");
    queue_copy(exec, all.data() + num, of_species.data(),
               static_cast<std::size_t>(of_species.size()) * sizeof(T));
    num += of_species.size();
  }
  return all;
}

/// Roots are used as indices of the domain's particles without a further look.
template <class Real>
void validate_domain_of(const LinkedParts& parts, const Domain<Real>& domain) {
  const std::shared_ptr<const void> state = domain.state();
  validate(!parts.domain.owner_before(state) && !state.owner_before(parts.domain),
           "the groups are of another domain; find them in this one, or give labels alone");
}

template <class Real>
void validate_groups(const Domain<Real>& domain, const FofResult& groups) {
  validate(groups.in_domain_order,
           "the groups are not in the order of a domain; find them in this domain, or give "
           "particles and labels");
  const LinkedParts& parts = groups.parts;
  validate(parts.root.size() == groups.label.size(),
           "there are {} labels, but parts of groups for {} particles: leave the groups as "
           "friends_of_friends returned them, or give labels alone",
           groups.label.size(), parts.root.size());
  validate_domain_of(parts, domain);
}

/// Labels and parts of the linked particles and of those that were attached, the species one behind
/// the other.
class JoinedSpecies {
 public:
  /// attached[s - 1] is of species s; if it is empty, that is in no group. InputError if a number
  /// of labels is wrong.
  template <class Real>
  JoinedSpecies(const Domain<Real>& domain, const FofResult& groups,
                const std::vector<AttachResult>& attached);

  Span<const Index> label() const { return label_.span(); }
  const LinkedParts& parts() const { return parts_; }
  /// Whether some species was attached to labels alone.
  bool lacks_parts() const { return lacks_parts_; }

 private:
  void put(Index first, const Buffer<Index>& label, const LinkedParts& parts);
  void leave_out(Index first, Index num);

  const Exec& exec_;
  Buffer<Index> label_;
  LinkedParts parts_;
  bool lacks_parts_ = false;
};

/// Of several species they are joined, of one those of the domain.
struct GlobalIndices {
  Buffer<Index> joined;
  Span<const Index> view;
};

/// Particles of a domain and their labels, the species one behind the other. Parts of groups are
/// those of all ranks, or null.
template <class Real>
struct Labelled {
  DomainState<Real>& domain;
  Particles<Real> stored;
  SegmentTable<Real> particles;
  Span<const Index> label;
  const LinkedParts* parts;
  Index num_total = 0;
  std::vector<Index> first_of_species;

  Labelled(DomainState<Real>& of, Span<const Index> labels,
           const LinkedParts* parts_of_groups = nullptr)
      : domain(of),
        stored(stored_particles(of)),
        particles(of.context.exec, stored),
        label(labels),
        parts(parts_of_groups) {
    Index num = 0;
    for (const DomainSpecies<Real>& species : domain.species) {
      first_of_species.push_back(num);
      num += species.particles.num();
      num_total += species.extent.range.total;
    }
    validate(label.size() == num, "there are {} labels for {} particles", label.size(), num);
    validate_memory(domain.context.exec, label, "labels");
  }

  /// Indices of each species follow those of the species before it.
  GlobalIndices global_index() const;
};

/// Throws InputError on all ranks, unless masses, types and labels are right. Collective.
template <class Real>
void validate_input(const Labelled<Real>& input, int num_types);

// Groups (group_order.cpp).

/// Groups in one order over all ranks: longer first, then smaller label. This rank has the rows
/// share_of(num_total, rank, size).
struct GroupOrder {
  Index num_total = 0;
  std::vector<Index> length;
  std::vector<Index> label;
  /// Row of each particle of this rank, or no_group.
  Buffer<Index> group_of;
};

/// Of this rank.
struct LabelledMembers {
  Span<const Index> label;  ///< or no_group
  /// On all ranks if only some count for the smallest group: 1 for each of these, else 0.
  Span<const LocalIndex> marks;
  /// On all ranks, or null: the parts of groups on this rank.
  const LinkedParts* parts = nullptr;
};

struct GroupLimits {
  Index num_particles = 0;   ///< over all ranks: labels are below
  Index min_members = 1;     ///< that count
  bool only_marked = false;  ///< whether only marked particles count
};

/// Collective. Memory is proportional to this rank's particles, whatever the groups are.
GroupOrder order_groups(const Context& context, const LabelledMembers& particles,
                        const GroupLimits& limits);

// Members (members.cpp).

/// How members are told apart: by group, then by species.
struct MemberKeys {
  Index num_groups = 0;                    ///< over all ranks, or labels
  std::vector<Index> first_of_species{0};  ///< index of the first particle of each on this rank

  Index num_members = kernels::not_known;  ///< on this rank

  int num_species() const { return static_cast<int>(first_of_species.size()); }
  int bits() const;
};

/// Members on this rank.
struct SortedMembers {
  Buffer<std::uint64_t>
      key;                   ///< of each, ascending: group times the number of species plus species
  Buffer<LocalIndex> index;  ///< of each, ascending where keys are equal
};

/// Leaves out those with no_group. Not collective.
SortedMembers sort_members(const Exec& exec, Span<const Index> group_of, const MemberKeys& keys);

/// From the particles' order to group order: by key, then by rank and index, in even parts over the
/// ranks. Its `sent` are the members' indices. Collective.
std::shared_ptr<const Redistribution> make_group_order(const Context& context,
                                                       SortedMembers& members, int bits);

/// Elements of a column, by their indices.
template <class T>
Buffer<T> gathered(const Exec& exec, Span<const T> column, Span<const LocalIndex> at) {
  Buffer<T> result(exec, at.size(), "chosen elements");
  kernels::on(exec,
              [&](const auto& e) { kernels::gather(e, column_view(column), at, result.data()); });
  return result;
}

// Groups (or labels) that begin on one rank and go on on the next ones: their sums, and what their
// first rank knows of them.

/// A rank's part of a sequence that is sorted over all ranks and seen as runs of equal keys: only
/// its first and its last run can be shared with other ranks. Every collective here costs one small
/// record of each rank. One rank that works alone pays nothing.
class SpanningRuns {
 public:
  static constexpr Index no_key = -1;

  /// `num` runs with keys from `first_key` to `last_key`, none of which is negative. Collective.
  SpanningRuns(const Context& context, Index num, Index first_key, Index last_key)
      : context_(context) {
    if (context.comm.size() == 1) return;
    mine_.first = num > 0 ? first_key : no_key;
    mine_.last = num > 1 ? last_key : no_key;
    of_ranks_ = context.comm.all_gather(mine_);
  }

  /// Whether this rank has runs of which the first begins on a lower rank.
  bool first_is_continued() const {
    if (of_ranks_.empty() || mine_.first == no_key) return false;
    return first_holder(mine_.first) < context_.comm.rank();
  }

  /// Adds up, in the order of ranks, the values of runs that are on several, each of which gets the
  /// sum: a value per run, in memory of the context's Exec. Collective.
  template <class T>
  void sum(Span<T> values) const {
    if (context_.comm.size() == 1) return;
    const std::vector<Pair<T>> of_ranks = context_.comm.all_gather(ends_of(values));
    const auto total = [&](Index key) {
      T result{};
      for (std::size_t rank = 0; rank < of_ranks.size(); ++rank) {
        if (of_ranks_[rank].first == key) result += of_ranks[rank].first;
        if (of_ranks_[rank].last == key) result += of_ranks[rank].last;
      }
      return result;
    };
    if (mine_.first != no_key) put(total(mine_.first), values.data());
    if (mine_.last != no_key) put(total(mine_.last), &values[values.size() - 1]);
  }

  /// Gives the first run of each rank the value that it has where it begins. Collective.
  template <class T>
  void spread(Span<T> values) const {
    if (context_.comm.size() == 1) return;
    const std::vector<Pair<T>> of_ranks = context_.comm.all_gather(ends_of(values));
    if (!first_is_continued()) return;
    const auto holder = static_cast<std::size_t>(first_holder(mine_.first));
    const bool is_its_first = of_ranks_[holder].first == mine_.first;
    put(is_its_first ? of_ranks[holder].first : of_ranks[holder].last, values.data());
  }

 private:
  template <class T>
  struct Pair {
    T first;
    T last;
  };

  template <class T>
  Pair<T> ends_of(Span<T> values) const {
    if (values.empty()) return {};
    const auto at = [&](Index run) {
      return to_host(context_.exec, Span<const T>(values.subspan(run, 1))).front();
    };
    return {at(0), at(values.size() - 1)};
  }
  template <class T>
  void put(const T& value, T* to) const {
    queue_copy(context_.exec, to, &value, sizeof(T));
  }

  /// The lowest rank that has the key.
  int first_holder(Index key) const {
    int rank = 0;
    while (of_ranks_[static_cast<std::size_t>(rank)].first != key &&
           of_ranks_[static_cast<std::size_t>(rank)].last != key)
      ++rank;
    return rank;
  }

  const Context& context_;
  Pair<Index> mine_{no_key, no_key};
  std::vector<Pair<Index>> of_ranks_;
};

}  // namespace zhalo
