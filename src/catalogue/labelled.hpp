/// The particles that a catalogue is made of, and their labels: those of a domain, or several
/// species as one.
#pragma once

#include <memory>
#include <vector>

#include "src/core/validate.hpp"
#include "src/domain/domain_state.hpp"
#include "zhalo/catalogue/attach.hpp"
#include "zhalo/core/buffer.hpp"
#include "zhalo/domain/domain.hpp"
#include "zhalo/fof/fof.hpp"

namespace zhalo {

// Several species as one: their labels, and the parts of groups that they are in.

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

// What a catalogue is made of.

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

}  // namespace zhalo
