#include "arguments.hpp"
#include "catalogue.hpp"

namespace zhalo::python {
namespace {

/// zhalo.Groups. The domain says how many particles there are.
struct Groups {
  Context context;
  Owned<zhalo_groups, zhalo_groups_destroy> handle;
  std::vector<std::size_t> num;  ///< that this rank gave, by species
};

std::vector<std::size_t> num_by_species(const Domain& domain) {
  std::vector<std::size_t> num;
  for (int species = 0; species < domain.counts(0).num_species; ++species)
    num.push_back(domain.num(species));
  return num;
}

Groups find_groups(const Domain& domain, const Number& linking_length) {
  const double length =
      domain.context.agreed([&] { return linking_length.value("linking_length"); });
  return {domain.context,
          Owned<zhalo_groups, zhalo_groups_destroy>(domain.context,
                                                    [&](zhalo_groups** groups) {
                                                      return zhalo_find_groups(domain.handle.get(),
                                                                               length, groups);
                                                    }),
          num_by_species(domain)};
}

NumpyArray labels_of(const Groups& groups, const WholeNumber& species) {
  const int which = groups.context.agreed([&] { return species.small_value("species"); });
  const std::size_t num = num_of(groups.num, which);
  return filled_together<std::int64_t>(
      groups.context, {num}, [&](std::int64_t* to, std::int64_t n) {
        return zhalo_groups_get_labels(groups.handle.get(), which, to, n);
      });
}

void attach(const Groups& groups, const WholeNumber& species, const Number& radius) {
  const auto [which, within] = groups.context.agreed(
      [&] { return std::pair(species.small_value("species"), radius.value("radius")); });
  groups.context.run([&, which = which, within = within] {
    return zhalo_attach_species(groups.handle.get(), which, within);
  });
}

/// What a caller said of a catalogue.
struct CatalogueRequest {
  std::vector<int> counted_types;
  zhalo_catalogue_options options{};

  CatalogueRequest(const WholeNumber& min_members, const WholeNumber& num_types,
                   nb::handle counted) {
    options.min_members = min_members.value("min_members");
    options.num_types = num_types.small_value("num_types");
    if (options.min_members < 1)
      refuse("min_members is " + std::to_string(options.min_members) + " (must be at least 1)");
    if (options.num_types < 1)
      refuse("num_types is " + std::to_string(options.num_types) + " (must be at least 1)");
    if (counted.is_none()) return;
    counted_types = whole_numbers(counted, "counted_types");
    if (counted_types.empty()) refuse("counted_types is empty (None counts all types)");
  }
};

Catalogue make_catalogue(const Groups& groups, const WholeNumber& min_members,
                         const WholeNumber& num_types, nb::object counted_types) {
  CatalogueRequest request = groups.context.agreed(
      [&] { return CatalogueRequest(min_members, num_types, counted_types); });
  request.options.counted_types = request.counted_types.data();
  request.options.num_counted_types = static_cast<int>(request.counted_types.size());
  return {groups.context,
          Owned<zhalo_catalogue, zhalo_catalogue_destroy>(
              groups.context,
              [&](zhalo_catalogue** made) {
                return zhalo_make_catalogue(groups.handle.get(), &request.options, made);
              }),
          groups.num};
}

}  // namespace

void bind_groups(nb::module_& module) {
  nb::class_<Groups>(module, "Groups", "The friends-of-friends groups of a domain.")
      .def("__repr__",
           [](const Groups& groups) {
             std::size_t num = 0;
             for (const std::size_t of_species : groups.num) num += of_species;
             return "<zhalo.Groups of " + std::to_string(num) + " particles of this rank>";
           })
      .def("labels", &labels_of, nb::arg("species") = 0,
           R"(Label of each particle that this rank gave: the smallest global index in its group.

Particles of an attached species that is in no group have -1.)")
      .def("attach", &attach, nb::arg("species"), nb::arg("radius"),
           R"(Gives particles of another species the group of the nearest particle of species 0.

Only within the radius, which may be infinite.)")
      .def("catalogue", &make_catalogue, nb::arg("min_members") = 32, nb::kw_only(),
           nb::arg("num_types") = 1, nb::arg("counted_types") = nb::none(),
           R"(The table of groups with at least min_members members.

Members are particles of species 0 and of attached species. Types are 0 to num_types - 1. With
counted_types, only particles of these types count for min_members.)");
  bind_catalogue(module);
  nb::borrow<nb::class_<Domain>>(module.attr("Domain"))
      .def("friends_of_friends", &find_groups, nb::arg("linking_length"),
           R"(The groups of species 0: particles at distances <= linking_length are friends.)");
}

}  // namespace zhalo::python
