
#include <algorithm>
#include <cinttypes>
#include <cstdio>

#include "objects.hpp"

namespace zhalo::python {
namespace {

/// zhalo.Groups. The domain says how many particles there are.
struct Groups {
  Context context;
  Owned<zhalo_groups, zhalo_groups_destroy> handle;
  std::vector<std::size_t> num;  ///< that this rank gave, by species
};

/// zhalo.Catalogue.
struct Catalogue {
  Context context;
  Owned<zhalo_catalogue, zhalo_catalogue_destroy> handle;
  std::vector<std::size_t> num;

  zhalo_catalogue_counts counts() const {
    zhalo_catalogue_counts counts{};
    run([&] { return zhalo_catalogue_get_counts(handle.get(), &counts); });
    return counts;
  }
  std::size_t num_groups() const { return static_cast<std::size_t>(counts().num_groups); }
};

std::vector<std::size_t> num_by_species(const Domain& domain) {
  std::vector<std::size_t> num;
  for (int species = 0; species < domain.counts(0).num_species; ++species)
    num.push_back(domain.num(species));
  return num;
}

/// Particles of a species. A species that does not exist is zhalo's to refuse.
std::size_t num_of(const std::vector<std::size_t>& num, int species) {
  const auto which = static_cast<std::size_t>(species);
  return which < num.size() ? num[which] : 0;
}

Groups find_groups(const Domain& domain, double linking_length) {
  return {domain.context, Owned<zhalo_groups, zhalo_groups_destroy>([&](zhalo_groups** groups) {
            return zhalo_find_groups(domain.handle.get(), linking_length, groups);
          }),
          num_by_species(domain)};
}

nb::object labels_of(const Groups& groups, int species) {
  return filled<std::int64_t>({num_of(groups.num, species)}, [&](std::int64_t* to, std::int64_t n) {
    return zhalo_groups_get_labels(groups.handle.get(), species, to, n);
  });
}

Catalogue make_catalogue(const Groups& groups, std::int64_t min_members, int num_types,
                         const std::optional<std::vector<int>>& counted_types) {
  groups.context.agreed([&] {
    if (min_members < 1) refuse("min_members must be at least 1");
    if (num_types < 1) refuse("num_types must be at least 1");
    return true;
  });
  zhalo_catalogue_options options{};
  options.min_members = min_members;
  options.num_types = num_types;
  if (counted_types) {
    options.counted_types = counted_types->data();
    options.num_counted_types = static_cast<int>(counted_types->size());
  }
  return {groups.context,
          Owned<zhalo_catalogue, zhalo_catalogue_destroy>([&](zhalo_catalogue** made) {
            return zhalo_make_catalogue(groups.handle.get(), &options, made);
          }),
          groups.num};
}

/// A column of the table: one number a row.
template <int (*get)(const zhalo_catalogue*, std::int64_t*, std::int64_t)>
nb::object row_numbers(const Catalogue& catalogue) {
  return filled<std::int64_t>({catalogue.num_groups()}, [&](std::int64_t* to, std::int64_t n) {
    return get(catalogue.handle.get(), to, n);
  });
}

/// The numbers of each type of particles.
template <class T, int (*get)(const zhalo_catalogue*, T*, std::int64_t)>
nb::object numbers_by_type(const Catalogue& catalogue) {
  const auto num_types = static_cast<std::size_t>(catalogue.counts().num_types);
  return filled<T>({catalogue.num_groups(), num_types},
                   [&](T* to, std::int64_t n) { return get(catalogue.handle.get(), to, n); });
}

/// All properties that there are.
std::vector<zhalo_property> properties() {
  std::vector<zhalo_property> all;
  zhalo_property property{};
  while (zhalo_get_property(static_cast<int>(all.size()), &property) == ZHALO_OK)
    all.push_back(property);
  return all;
}

std::vector<std::string> property_names() {
  std::vector<std::string> names;
  for (const zhalo_property& property : properties()) names.emplace_back(property.name);
  return names;
}

nb::object property_of(const Catalogue& catalogue, const std::string& name) {
  std::vector<std::size_t> shape{catalogue.num_groups()};
  for (const zhalo_property& property : properties()) {
    if (name == property.name && property.num_numbers > 1)
      shape.push_back(static_cast<std::size_t>(property.num_numbers));
  }
  return filled<double>(std::move(shape), [&](double* to, std::int64_t n) {
    return zhalo_catalogue_get_property(catalogue.handle.get(), name.c_str(), to, n);
  });
}

nb::object members_of(const Catalogue& catalogue) {
  const auto num = static_cast<std::size_t>(catalogue.counts().num_members);
  return filled<std::int64_t>({num}, [&](std::int64_t* to, std::int64_t n) {
    return zhalo_catalogue_get_members(catalogue.handle.get(), to, n);
  });
}

nb::object group_of_particles(const Catalogue& catalogue, int species) {
  const std::size_t num = num_of(catalogue.num, species);
  return filled<std::int64_t>({num}, [&](std::int64_t* to, std::int64_t n) {
    return zhalo_catalogue_get_group_of_particles(catalogue.handle.get(), species, to, n);
  });
}

/// An array of any numbers as zhalo reads it. InputError unless it has a row for each particle.
zhalo_elements elements_of(const nb::object& rows, std::size_t num, std::size_t species) {
  const auto shape = nb::cast<std::vector<std::size_t>>(rows.attr("shape"));
  if (shape.empty() || shape[0] != num) {
    refuse("species " + std::to_string(species) + " has " + std::to_string(num) +
           " particles on this rank, and its array has another length");
  }
  if (nb::cast<bool>(rows.attr("dtype").attr("hasobject")))
    refuse("the array has Python objects; give numbers");
  auto bytes = nb::cast<std::int64_t>(rows.attr("itemsize"));
  for (std::size_t i = 1; i < shape.size(); ++i) bytes *= static_cast<std::int64_t>(shape[i]);
  return {address_of(rows), bytes, 0};
}

/// The arrays that a caller gives, one for each species.
struct GivenRows {
  std::vector<nb::object> rows;
  std::vector<zhalo_elements> elements;
};

GivenRows given_rows(const Catalogue& catalogue, const nb::args& columns) {
  if (columns.size() != catalogue.num.size())
    refuse("give one array for each of the " + std::to_string(catalogue.num.size()) + " species");
  const nb::module_ numpy = nb::module_::import_("numpy");
  GivenRows given;
  for (std::size_t species = 0; species < columns.size(); ++species) {
    given.rows.push_back(numpy.attr("ascontiguousarray")(as_numpy(columns[species])));
    const nb::object& last = given.rows.back();
    given.elements.push_back(elements_of(last, catalogue.num[species], species));
    if (!last.attr("dtype").equal(given.rows[0].attr("dtype")))
      refuse("the arrays of the species have different types of numbers; convert them to one");
    if (given.elements.back().element_bytes != given.elements[0].element_bytes)
      refuse("the rows of the species have different shapes");
  }
  return given;
}

/// Rows of the arrays in the order of members.
nb::object in_group_order(const Catalogue& catalogue, const nb::args& columns) {
  const GivenRows given = catalogue.context.agreed([&] { return given_rows(catalogue, columns); });
  const std::int64_t num = catalogue.counts().num_members;
  auto shape = nb::cast<std::vector<std::int64_t>>(given.rows[0].attr("shape"));
  shape[0] = num;
  const nb::module_ numpy = nb::module_::import_("numpy");
  const nb::object ordered = numpy.attr("empty")(shape, given.rows[0].attr("dtype"));
  void* const to = address_of(ordered);
  run([&] {
    return zhalo_catalogue_get_member_elements(catalogue.handle.get(), given.elements.data(), to,
                                               num);
  });
  return ordered;
}

std::string checksum_of(const Catalogue& catalogue) {
  char text[17];
  std::snprintf(text, sizeof text, "%016" PRIx64, catalogue.counts().checksum);
  return text;
}

void bind_catalogue(nb::module_& module) {
  constexpr auto lengths_by_type =
      &numbers_by_type<std::int64_t, zhalo_catalogue_get_lengths_by_type>;
  constexpr auto masses_by_type = &numbers_by_type<double, zhalo_catalogue_get_masses_by_type>;
  nb::class_<Catalogue>(module, "Catalogue", R"(A table with one row per group.

Larger groups come first, then smaller labels. Each rank has an equal share of consecutive rows.
catalogue["GroupMass"] is a property of its rows, and keys() names all of them. They are those that
the command fof writes, but for GroupVel.)")
      .def("__len__", &Catalogue::num_groups)
      .def("__repr__",
           [](const Catalogue& table) {
             return "<zhalo.Catalogue of " + std::to_string(table.counts().num_groups_total) +
                    " groups>";
           })
      .def("__contains__",
           [](const Catalogue&, const std::string& name) {
             const std::vector<std::string> names = property_names();
             return std::find(names.begin(), names.end(), name) != names.end();
           })
      .def(
          "keys", [](const Catalogue&) { return property_names(); }, "Names of the properties.")
      .def("__getitem__", &property_of, nb::arg("name"),
           "A property of this rank's rows. Without velocities, those of velocity are NaN.")
      .def_prop_ro("length", &row_numbers<zhalo_catalogue_get_lengths>, "Number of members.")
      .def_prop_ro("label", &row_numbers<zhalo_catalogue_get_labels>,
                   "Smallest global index in the group, of species 0.")
      .def_prop_ro("offset", &row_numbers<zhalo_catalogue_get_offsets>,
                   "Place of the first member in the order of all members of all ranks.")
      .def_prop_ro("length_by_type", lengths_by_type, "Members of each type: (rows, num_types).")
      .def_prop_ro("mass_by_type", masses_by_type, "Their mass: (rows, num_types).")
      .def_prop_ro("members", &members_of, R"(Global indices of members, group by group.

Indices of a species begin behind those of the species before. Members are in equal shares over the
ranks.)")
      .def("group_of", &group_of_particles, nb::arg("species") = 0,
           "Row, over all ranks, of the group of each particle that this rank gave; -1: none.")
      .def("in_group_order", &in_group_order, R"(Elements of members, in the order of `members`.

Give one array for each species, with an element or a row for each particle that this rank gave, of
any type of numbers.)")
      .def_prop_ro(
          "num_groups_total",
          [](const Catalogue& table) { return table.counts().num_groups_total; },
          "Rows of all ranks.")
      .def_prop_ro(
          "num_members_total",
          [](const Catalogue& table) { return table.counts().num_members_total; },
          "Members of all groups and ranks.")
      .def_prop_ro(
          "first_group", [](const Catalogue& table) { return table.counts().first_group; },
          "Row, over all ranks, of this rank's first one.")
      .def_prop_ro(
          "first_member", [](const Catalogue& table) { return table.counts().first_member; },
          "Place of members[0] in the order of all members.")
      .def_prop_ro(
          "has_velocities",
          [](const Catalogue& table) { return table.counts().has_velocities != 0; },
          "Whether all particles have velocities.")
      .def_prop_ro("checksum", &checksum_of,
                   "Of all rows and members, as the command fof shows it.");
}

}  // namespace

void bind_groups(nb::module_& module) {
  nb::class_<Groups>(module, "Groups", "The friends-of-friends groups of a domain.")
      .def("labels", &labels_of, nb::arg("species") = 0,
           R"(Label of each particle that this rank gave: the smallest global index in its group.

Particles of an attached species that is in no group have -1.)")
      .def(
          "attach",
          [](const Groups& groups, int species, double radius) {
            run([&] { return zhalo_attach_species(groups.handle.get(), species, radius); });
          },
          nb::arg("species"), nb::arg("radius"),
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
