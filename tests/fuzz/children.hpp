/// Children that try mutants one after the other, so that a crash ends a child and not the run.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tests/fuzz/mutant.hpp"
#include "tests/fuzz/sanitizers.hpp"

namespace zhalo::fuzz {

struct Trial;

/// Numbers [first, first + num).
struct Numbers {
  Number first = 0;
  Number num = 0;
};

/// What the children count; shared between processes.
struct Counts {
  std::uint64_t mutants = 0;
  std::uint64_t snapshots = 0;  ///< of which at least one type was read
  std::uint64_t catalogues = 0;
  std::uint64_t points = 0;
  std::uint64_t tables = 0;
  std::uint64_t saved = 0;
};

struct Shared {
  Number current = 0;
  bool is_made = false;  ///< the files of the current mutant
  Counts counts;
  char words[4096] = {};
};

/// How a child ended.
struct Ending {
  Status status = Status::good;
  int signal = 0;        ///< that killed it, or 0
  Number at = 0;         ///< the mutant that it was at
  bool is_made = true;   ///< false if it ended while it made the mutant
  std::string words{};   ///< of a finding
  std::string report{};  ///< what it left on standard error

  bool good() const { return status == Status::good && signal == 0; }
};

struct ChildOptions {
  std::string save{};  ///< folder for what was read; empty: nothing is saved
  std::uint64_t max_saved = 0;
  unsigned seconds = 10;  ///< for one mutant
};

class Children {
 public:
  /// `folder`: to work in; it is emptied. The seeds must outlive this.
  Children(std::string folder, const std::vector<Seed>& seeds, ChildOptions options);
  ~Children();
  Children(const Children&) = delete;
  Children& operator=(const Children&) = delete;

  /// Tries them in one child until one of them ends it; looks for leaks at the end.
  Ending try_numbers(Numbers numbers);
  /// Tries the seeds as they are: all must be read, without memory that grows from reading to
  /// reading.
  Ending try_seeds();
  /// Asks HDF5 alone for what is in one mutant.
  Ending ask_hdf5(Number number);
  /// The same twice: a finding if the numbers differ.
  Ending ask_hdf5_twice(Number number);

  const Counts& counts() const { return shared_->counts; }

 private:
  template <class Work>
  Ending run(const Work& work);
  Mutant write(Number number) const;
  void try_one(Number number);
  void try_seed(const Seed& seed) const;
  void count(const Trial& trial, Number number);

  std::string folder_;
  std::string errors_;  // path of what a child says
  const std::vector<Seed>& seeds_;
  ChildOptions options_;
  Shared* shared_ = nullptr;
};

/// Removes all that is in the current folder.
void empty_folder();

}  // namespace zhalo::fuzz
