/// The particles that a catalogue is made of, and their labels.
#pragma once

#include <vector>

#include "src/core/validate.hpp"
#include "src/domain/domain_state.hpp"
#include "zhalo/fof/fof.hpp"

namespace zhalo {

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
