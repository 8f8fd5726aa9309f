#include "catalogue.hpp"

#include <cinttypes>
#include <cstdio>
#include <utility>

#include "arguments.hpp"

namespace zhalo::python {
namespace {

/// A column of the table: one number a row.
template <int (*get)(const zhalo_catalogue*, std::int64_t*, std::int64_t)>
NumpyArray row_numbers(const Catalogue& catalogue) {
  return filled<std::int64_t>(
      catalogue.context, {catalogue.num_groups()},
      [&](std::int64_t* to, std::int64_t n) { return get(catalogue.handle.get(), to, n); });
}

/// The numbers of each type of particles.
template <class T, int (*get)(const zhalo_catalogue*, T*, std::int64_t)>
NumpyArray numbers_by_type(const Catalogue& catalogue) {
  const auto num_types = static_cast<std::size_t>(catalogue.counts().num_types);
  return filled<T>(catalogue.context, {catalogue.num_groups(), num_types},
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

NumpyArray property_of(const Catalogue& catalogue, const zhalo_property& property) {
  std::vector<std::size_t> shape{catalogue.num_groups()};
  if (property.num_numbers > 1) shape.push_back(static_cast<std::size_t>(property.num_numbers));
  return filled<double>(catalogue.context, std::move(shape), [&](double* to, std::int64_t n) {
    return zhalo_catalogue_get_property(catalogue.handle.get(), property.name, to, n);
  });
}

/// The property with this name, or none.
std::optional<zhalo_property> find_property(nb::handle name) {
  if (!nb::isinstance<nb::str>(name)) return std::nullopt;
  const auto wanted = nb::cast<std::string>(name);
  for (const zhalo_property& property : properties())
    if (wanted == property.name) return property;
  return std::nullopt;
}

NumpyArray named_property(const Catalogue& catalogue, const Word& name) {
  if (const auto property = find_property(name.given)) return property_of(catalogue, *property);
  std::string names;
  for (const std::string& one : property_names()) names += (names.empty() ? "" : ", ") + one;
  throw UnknownColumn("a catalogue has no column " + nb::cast<std::string>(nb::repr(name.given)) +
                      " (there are " + names + ")");
}

std::vector<NumpyArray> property_values(const Catalogue& catalogue) {
  std::vector<NumpyArray> values;
  for (const zhalo_property& property : properties())
    values.push_back(property_of(catalogue, property));
  return values;
}

using Item = nb::typed<nb::tuple, nb::str, NumpyArray>;
nb::typed<nb::list, Item> property_items(const Catalogue& catalogue) {
  nb::typed<nb::list, Item> items;
  for (const zhalo_property& property : properties())
    items.append(nb::make_tuple(property.name, property_of(catalogue, property)));
  return items;
}

using Columns = nb::typed<nb::dict, nb::str, NumpyArray>;
/// Each axis of a vector as a column of its own.
Columns flat_columns(const Catalogue& catalogue) {
  Columns columns;
  for (const zhalo_property& property : properties()) {
    const NumpyArray values = property_of(catalogue, property);
    if (property.num_numbers == 1) columns[property.name] = values;
    for (int axis = 0; property.num_numbers > 1 && axis < property.num_numbers; ++axis) {
      const std::string name = std::string(property.name) + "_" + "xyz"[axis];
      columns[name.c_str()] = values.attr("T")[nb::int_(axis)].attr("copy")();
    }
  }
  return columns;
}

NumpyArray members_of(const Catalogue& catalogue) {
  const auto num = static_cast<std::size_t>(catalogue.counts().num_members);
  return filled<std::int64_t>(catalogue.context, {num}, [&](std::int64_t* to, std::int64_t n) {
    return zhalo_catalogue_get_members(catalogue.handle.get(), to, n);
  });
}

NumpyArray group_of_particles(const Catalogue& catalogue, const WholeNumber& given_species) {
  const int species =
      catalogue.context.agreed([&] { return given_species.small_value("species"); });
  const std::size_t num = num_of(catalogue.num, species);
  return filled_together<std::int64_t>(
      catalogue.context, {num}, [&](std::int64_t* to, std::int64_t n) {
        return zhalo_catalogue_get_group_of_particles(catalogue.handle.get(), species, to, n);
      });
}

std::string checksum_of(const Catalogue& catalogue) {
  char text[17];
  std::snprintf(text, sizeof text, "%016" PRIx64, catalogue.counts().checksum);
  return text;
}

}  // namespace

void bind_catalogue(nb::module_& module) {
  constexpr auto lengths_by_type =
      &numbers_by_type<std::int64_t, zhalo_catalogue_get_lengths_by_type>;
  constexpr auto masses_by_type = &numbers_by_type<double, zhalo_catalogue_get_masses_by_type>;
  nb::class_<Catalogue>(module, "Catalogue", R"(A table with one row per group.

Larger groups come first, then smaller labels. Each rank has an equal share of consecutive rows.
catalogue["GroupMass"] is a property of its rows, and keys() names all of them. They are those that
the command fof writes, but for GroupVel. dict(catalogue) has them all. A catalogue is iterated over
these names; its length is the number of its rows.)")
      .def("__len__", &Catalogue::num_groups)
      .def(
          "__iter__", [](const Catalogue&) { return nb::iter(nb::cast(property_names())); },
          nb::sig("def __iter__(self) -> collections.abc.Iterator[str]"))
      .def("__repr__",
           [](const Catalogue& table) {
             return "<zhalo.Catalogue of " + std::to_string(table.counts().num_groups_total) +
                    " groups>";
           })
      .def(
          "__contains__",
          [](const Catalogue&, nb::handle name) { return find_property(name).has_value(); },
          nb::arg("name").none())
      .def(
          "keys", [](const Catalogue&) { return property_names(); }, "Names of the properties.")
      .def("values", &property_values, "The properties, in the order of keys().")
      .def("items", &property_items, "Pairs of a name and a property.")
      .def("flat", &flat_columns, R"(The properties as a dict of arrays of one axis, for pandas.

GroupPos becomes GroupPos_x, GroupPos_y and GroupPos_z, and other vectors likewise.)")
      .def("__getitem__", &named_property, nb::arg("name").none(),
           "A property of this rank's rows. Without velocities, those of velocity are NaN.")
      .def_prop_ro("length", &row_numbers<zhalo_catalogue_get_lengths>, "Number of members.")
      .def_prop_ro("label", &row_numbers<zhalo_catalogue_get_labels>,
                   "Smallest global index in the group, of species 0.")
      .def_prop_ro("offset", &row_numbers<zhalo_catalogue_get_offsets>,
                   "Index of the first member in the order of all members of all ranks.")
      .def_prop_ro("length_by_type", lengths_by_type, "Members of each type: (rows, num_types).")
      .def_prop_ro("mass_by_type", masses_by_type, "Their mass: (rows, num_types).")
      .def_prop_ro("members", &members_of, R"(Global indices of members, group by group.

Indices of a species begin behind those of the species before. Members are in equal shares over the
ranks.)")
      .def("group_of", &group_of_particles, nb::arg("species") = 0,
           "Row, over all ranks, of the group of each particle that this rank gave; -1: none.")
      .def("in_group_order", &in_group_order,
           nb::sig("def in_group_order(self, *columns: object) -> numpy.ndarray"),
           R"(Elements of members, in the order of `members`.

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
          "Index of members[0] in the order of all members.")
      .def_prop_ro(
          "has_velocities",
          [](const Catalogue& table) { return table.counts().has_velocities != 0; },
          "Whether all particles have velocities.")
      .def_prop_ro("checksum", &checksum_of,
                   "Of all rows and members, as the command fof shows it.");
}

}  // namespace zhalo::python
