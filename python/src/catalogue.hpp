/// zhalo.Catalogue, which groups make.
#pragma once

#include "objects.hpp"

namespace zhalo::python {

/// Particles of a species. A species that does not exist is zhalo's to refuse.
inline std::size_t num_of(const std::vector<std::size_t>& num, int species) {
  const auto which = static_cast<std::size_t>(species);
  return which < num.size() ? num[which] : 0;
}

/// zhalo.Catalogue.
struct Catalogue {
  Context context;
  Owned<zhalo_catalogue, zhalo_catalogue_destroy> handle;
  std::vector<std::size_t> num;

  zhalo_catalogue_counts counts() const {
    zhalo_catalogue_counts counts{};
    context.run([&] { return zhalo_catalogue_get_counts(handle.get(), &counts); });
    return counts;
  }
  std::size_t num_groups() const { return static_cast<std::size_t>(counts().num_groups); }
};

/// Elements of members, in the order of members: of one array for each species. Collective.
NumpyArray in_group_order(const Catalogue& catalogue, const nb::args& columns);
void bind_catalogue(nb::module_& module);

}  // namespace zhalo::python
