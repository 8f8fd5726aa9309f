/// One mutant in this process: all readers, and what is wrong with their answers.
#pragma once

#include <string>

#include "tests/fuzz/compare.hpp"
#include "tests/fuzz/mutant.hpp"

namespace zhalo::fuzz {

struct Trial {
  SnapshotReading snapshot;
  CatalogueReading catalogue;
  QueryPointsReading points;
  TableReading table;
  std::string finding;  ///< empty if all is well

  bool any_type_read() const;
};

/// Reads the mutant's files, which are in the current folder, by the readers of all commands.
Trial try_mutant(const Mutant& mutant);

/// The same for the readers of a kind, of any file: what is wrong, or nothing.
std::string fault_of(const Trial& trial, const std::string& path);

/// "refused: ...", for people.
std::string words_of(const Reading& reading);

/// Identifiers of HDF5 that are made while it lives and are still there at its end.
class LeftOverHandles {
 public:
  LeftOverHandles();
  /// What is left, or nothing.
  std::string words() const;

 private:
  hid_t first_space_;
  hid_t first_type_;
  hid_t first_properties_;
};

/// Leaves the files and what zhalo read from them in `folder`, for check_successes.py.
void save_success(const Trial& trial, const std::string& folder);

}  // namespace zhalo::fuzz
