/// Changes that leave a file valid HDF5 and make it another snapshot, catalogue or list of points:
/// other types, shapes, values and layouts, links, and data that lie elsewhere or nowhere. They
/// work on the files in the current folder.
#pragma once

#include <string>

#include "tests/fuzz/choose.hpp"
#include "tests/fuzz/hdf5_pieces.hpp"
#include "tests/fuzz/seeds.hpp"

namespace zhalo::fuzz {

/// What a reader must do with the mutant.
enum class Expect {
  anything,  ///< that is no fault
  refusal,   ///< since the file does not hold the numbers of Step::dataset
  success    ///< since it holds them as before, in another way
};

struct Step {
  std::string words{};
  Expect expect = Expect::anything;
  std::string dataset{};
  bool is_last = false;  ///< whoever reads the dataset after it may crash within HDF5
};

/// Changes one attribute, dataset or link of the file. Throws std::runtime_error where that cannot
/// be done, as after another change that took the object away.
Step change_structure(Random& random, const SeedFile& file);

// Of change_structure.
Step change_attribute(Random& random, const SeedFile& file);
/// Type, shape, values.
Step change_numbers(Random& random, const SeedFile& file);
/// Chunks, filters, and datasets that were never written.
Step change_layout(Random& random, const SeedFile& file);
/// Virtual and external datasets.
Step move_numbers(Random& random, const SeedFile& file);
/// Soft, hard and external links, and objects of other kinds.
Step change_links(Random& random, const SeedFile& file);

/// A dataset as it is in the file.
struct Original {
  Handle type;
  Extent extent;
  std::string bytes;
};
Original take_out(const Handle& file, const std::string& dataset);
/// Takes the dataset out of the file and leaves nothing under its name.
Original take_away(const Handle& file, const std::string& dataset);

/// Any type that HDF5 has; `words` is told its name.
Handle odd_type(Random& random, std::string& words);
Extent odd_extent(Random& random, const Extent& like);
std::string words_of(const Extent& extent);

}  // namespace zhalo::fuzz
