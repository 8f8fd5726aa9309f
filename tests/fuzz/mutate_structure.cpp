#include "tests/fuzz/mutate_structure.hpp"

namespace zhalo::fuzz {

Step change_structure(Random& random, const SeedFile& file) {
  using Change = Step (*)(Random&, const SeedFile&);
  const std::vector<Change> of_datasets{change_numbers, change_numbers, change_layout,
                                        move_numbers,   move_numbers,   change_links};
  const Contents& contents = file.contents;
  need(!contents.attributes.empty() || !contents.datasets.empty(), "an empty file");
  const bool attributes =
      contents.datasets.empty() || (!contents.attributes.empty() && random.one_in(3));
  return attributes ? change_attribute(random, file) : choose(random, of_datasets)(random, file);
}

}  // namespace zhalo::fuzz
