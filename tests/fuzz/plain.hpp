/// An independent reader: whole datasets by H5Dread, nothing of zhalo's.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tests/fuzz/hdf5_pieces.hpp"
#include "tests/fuzz/seeds.hpp"

namespace zhalo::fuzz {

/// The numbers of one dataset, of all files one after the other, as HDF5 converts them.
struct PlainColumn {
  /// `lost`: HDF5 cannot say whether there is one, or a link leads nowhere, or it cannot be read.
  enum class State { absent, lost, read };
  State state = State::absent;
  std::vector<float> single;
  std::vector<double> wide;
  std::vector<std::uint64_t> whole;
  bool integer = false;
  std::size_t bytes = 0;  ///< of a stored number; the most of all files
};

/// The datasets of a quantity, of which the first that a file has is taken.
using Names = std::vector<const char*>;

/// Quantities below `group`, in their order. Each file is opened once.
std::vector<PlainColumn> read_plain(const std::vector<std::string>& files, const std::string& group,
                                    const std::vector<Names>& quantities);

/// The first number of an attribute.
std::optional<double> plain_attribute(const std::string& file, const std::string& object,
                                      const std::string& name, std::size_t at = 0);

/// Makes those calls of HDF5 that any reader of this seed would make, on every file of the current
/// folder, and does nothing with the answers. What crashes here is HDF5's own fault.
void ask_everything(const Seed& seed);

/// Whether HDF5 alone reads other numbers from the same file the second time, as where a damaged
/// stream of compressed bytes ends early: the rest is whatever was in its memory.
bool numbers_change(const Seed& seed);

}  // namespace zhalo::fuzz
