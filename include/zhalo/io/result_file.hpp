/// Writing numbers about each particle of a snapshot, or about each query point, in their order
/// (docs/formats.md).
#pragma once

#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "zhalo/io/catalogue_file.hpp"

namespace zhalo::io {

/// Powers with which a quantity scales, in the sense of GADGET-4's attributes, and what it is.
struct Meaning {
  double a = 0, h = 0, length = 0, mass = 0, velocity = 0;
  std::string text{};
};

/// A named value for an attribute.
struct Note {
  std::string name;
  std::variant<double, Index, std::string, std::vector<int>, std::vector<Index>,
               std::vector<double>>
      value;
};

/// One dataset: for each particle of this rank one row of numbers, on the host.
struct ResultColumn {
  std::string name;
  std::variant<Span<const float>, Span<const double>, Span<const Index>> values;  ///< row by row
  /// Numbers in a row of a dataset of shape (N, width); 0: one number each, shape (N).
  Index width = 0;
  Meaning meaning{};
  std::vector<Note> notes{};  ///< attributes of the dataset, besides those of the meaning
};

/// Numbers about this rank's particles. All but ranges and values is the same on all ranks.
struct Results {
  /// That every file has a group of, ascending; the group of no_type is "Query".
  std::vector<int> types{};
  /// LoadedParticles::ranges: over the ranks each type is covered from its first particle on.
  std::vector<TypeRange> ranges{};
  std::vector<ResultColumn> columns{};
  std::vector<Note> parameters{};  ///< how they were made: goes into /Parameters
};

/// Stages `NAME.hdf5`, or `NAME.0.hdf5` and so on if there are to be several: `PartTypeN/DATASET`
/// in the snapshot's order over the files; attribute FirstParticle of PartTypeN is the index of the
/// first row in that order. With several files and WriteOptions::master, `NAME.hdf5` shows them as
/// one. Files of an earlier run under these names go at the commit. `snapshot` is the one whose
/// time, box and units hold. Collective; throws as write_catalogue.
void write_results(StagedFiles& files, const std::string& name, const Results& results,
                   const SnapshotInfo& snapshot, const WriteOptions& options = {});

/// The names, of a set of this many files, that write_results stages or removes; `file` without
/// directory.
bool is_result_name(const std::string& name, const std::string& file);

}  // namespace zhalo::io
