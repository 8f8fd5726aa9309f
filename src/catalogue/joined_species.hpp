/// Several species as one: their labels, and the parts of groups that they are in.
#pragma once

#include <deque>
#include <vector>

#include "src/core/validate.hpp"
#include "zhalo/catalogue/attach.hpp"
#include "zhalo/core/buffer.hpp"
#include "zhalo/domain/domain.hpp"
#include "zhalo/fof/fof.hpp"

namespace zhalo {

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
  bool lacks_parts() const { return parts_.root.size() != label_.size(); }

 private:
  void add(const Buffer<Index>& label, const LinkedParts& parts);
  void leave_out(Index num);

  const Exec& exec_;
  std::vector<Span<const Index>> labels_;
  std::vector<Span<const LocalIndex>> roots_;
  std::deque<Buffer<Index>> no_labels_;
  std::deque<LinkedParts> no_parts_;
  Buffer<Index> label_;
  LinkedParts parts_;
};

}  // namespace zhalo
