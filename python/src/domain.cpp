#include <cmath>
#include <cstdint>
#include <string>
#include <type_traits>

#include "arguments.hpp"
#include "objects.hpp"

namespace zhalo::python {
namespace {

/// How many axes a value for each axis has: 0 for one value of all, and -1 for what is neither.
int num_axes_of(const nb::object& array) {
  const auto shape = nb::cast<std::vector<std::int64_t>>(array.attr("shape"));
  if (nb::cast<std::int64_t>(array.attr("size")) == 1) return 0;
  return shape.size() == 1 && (shape[0] == 2 || shape[0] == 3) ? static_cast<int>(shape[0]) : -1;
}

/// One value for each axis: one for all of them, or a sequence of 2 or 3, which sets the number of
/// axes of a box. `wanted` is what a value must be.
template <class T>
std::array<T, 3> per_axis(nb::handle given, const char* name, const char* wanted, int& num_axes) {
  const auto fail = [&] {
    refuse(std::string(name) + " is " + shown(given) + " (must be " + wanted +
           ", or one for each axis)");
  };
  const nb::object array = as_numpy(given);
  const int axes = num_axes_of(array);
  if (axes < 0) fail();
  if (axes > 0 && num_axes > 0 && axes != num_axes)
    refuse(std::string(name) + " has another number of axes than the arguments before it");
  if (axes > 0) num_axes = axes;
  // A truth value is no number: Box(100, False) means periodic=False.
  const auto kind = nb::cast<std::string>(array.attr("dtype").attr("kind"));
  if ((kind == "b") != std::is_same_v<T, bool>) fail();
  std::array<T, 3> values{};
  for (int axis = 0; axis < (axes == 0 ? 3 : axes); ++axis) {
    const nb::object item = array.attr("item")(axes == 0 ? 0 : axis);
    if (!nb::try_cast(item, values[static_cast<std::size_t>(axis)])) fail();
  }
  return values;
}

/// InputError unless the axis makes sense.
void validate_axis(const zhalo_box& box, int axis, const char* name) {
  const double length = box.length[axis];
  const std::string which = std::string(" along ") + "xyz"[axis];
  if (!std::isfinite(length) || length < 0) {
    refuse(std::string(name) + " is " + nb::cast<std::string>(nb::repr(nb::float_(length))) +
           which + " (must be finite, and not negative)");
  }
  if (!std::isfinite(box.lo[axis])) refuse("lo is not finite" + which);
  if (box.periodic[axis] != 0 && length == 0) {
    refuse(std::string(name) + " is 0" + which +
           ", where the box is periodic: it has no length there");
  }
}

/// `name` is the argument that has the lengths.
Box make_box_of(nb::handle length, nb::handle lo, nb::handle periodic, const char* name) {
  Box box;
  const auto lengths = per_axis<double>(length, name, "one number", box.num_axes);
  const auto corner = per_axis<double>(lo, "lo", "one number", box.num_axes);
  const auto is_periodic = per_axis<bool>(periodic, "periodic", "True or False", box.num_axes);
  const int num_axes = box.num_axes == 0 ? 3 : box.num_axes;
  for (int axis = 0; axis < num_axes; ++axis) {
    const auto at = static_cast<std::size_t>(axis);
    box.view.lo[axis] = corner[at];
    box.view.length[axis] = lengths[at];
    box.view.periodic[axis] = is_periodic[at] ? 1 : 0;
    validate_axis(box.view, axis, name);
  }
  return box;
}

Box make_box(nb::handle length, nb::handle lo, nb::handle periodic) {
  return make_box_of(length, lo, periodic, "length");
}

/// A box as it may be given to a domain: None, a Box, or the lengths of a periodic one.
Box box_of(nb::handle box) {
  if (box.is_none()) return {};
  if (nb::isinstance<Box>(box)) return nb::cast<Box>(box);
  return make_box_of(box, nb::int_(0), nb::bool_(true), "box");
}

/// The species of a domain: one or several Particles, or an array of positions.
std::vector<nb::object> species_of(nb::handle particles) {
  if (nb::isinstance<Particles>(particles)) return {nb::borrow(particles)};
  const bool is_list = nb::isinstance<nb::list>(particles) || nb::isinstance<nb::tuple>(particles);
  if (is_list && nb::len(particles) > 0 && nb::isinstance<Particles>(particles[0])) {
    std::vector<nb::object> species;
    for (const nb::handle one : particles) {
      if (!nb::isinstance<Particles>(one)) refuse("give each species as zhalo.Particles");
      species.push_back(nb::borrow(one));
    }
    return species;
  }
  return {nb::type<Particles>()(particles)};
}

/// The arguments of a domain, and what keeps their arrays alive: another thread may change a list
/// of species meanwhile.
struct Given {
  std::vector<nb::object> species;  ///< zhalo.Particles
  std::vector<zhalo_particles> views;
  Box box;
  zhalo_domain_options options{};
};

Given given_of(nb::handle particles, nb::handle box, const Number& min_length) {
  Given given;
  given.species = species_of(particles);
  for (const nb::object& one : given.species)
    given.views.push_back(nb::cast<const Particles&>(one).view());
  given.box = box_of(box);
  given.options.min_length = min_length.value("min_length");
  return given;
}

/// An empty list does not say how many axes its positions have: those of other ranks do, or the
/// box. Collective.
void agree_on_dimensions(const Context& context, Given& given) {
  std::optional<std::string> own;
  for (const zhalo_particles& one : given.views)
    if (one.num > 0) own = std::to_string(one.dimensions);
  const std::string found = context.shared(own);
  const int dimensions = found.empty() ? given.box.num_axes : std::stoi(found);
  for (zhalo_particles& one : given.views)
    if (one.num == 0 && dimensions > 0) one.dimensions = dimensions;
  context.agreed([&] {
    if (given.box.num_axes == 2 && given.views[0].dimensions == 3)
      refuse("the box has 2 axes, and positions have 3; give lengths for 3 axes");
    return true;
  });
}

/// Types are 0 where nobody gives any. zhalo sees to velocities and masses. Collective.
void agree_on_types(const Context& context, const Given& given) {
  const auto num = static_cast<int>(given.species.size());
  const std::string text = std::to_string(num);
  const std::string first = context.shared(text);
  context.agreed([&] {
    if (text != first) refuse("there are " + text + " species here and " + first + " on rank 0");
    return true;
  });
  for (std::size_t s = 0; s < given.species.size(); ++s) {
    const std::string what = "types of species " + std::to_string(s);
    const bool has_types = nb::cast<const Particles&>(given.species[s]).has_types();
    context.agree_on_giving(given.views[s].num > 0, has_types, what);
  }
}

/// A warning of Python, as many particles outside the box mostly are in other units than it is.
void warn_of_wrapped(const Domain& domain) {
  constexpr std::int64_t one_in = 200;  // the limit of the commands
  const zhalo_domain_counts first = domain.counts(0);
  std::int64_t num_total = 0;
  for (int species = 0; species < first.num_species; ++species)
    num_total += domain.counts(species).num_total;
  if (first.num_wrapped <= num_total / one_in) return;
  const std::string text = std::to_string(first.num_wrapped) + " of " + std::to_string(num_total) +
                           " particles lie outside the periodic box and were moved into it: check "
                           "that positions and box have the same units";
  if (PyErr_WarnEx(PyExc_UserWarning, text.c_str(), 1) != 0) throw nb::python_error();
}

Domain make_domain(nb::object particles, nb::object box, const Context* context,
                   const Number& min_length) {
  const Context of =
      context != nullptr ? *context : nb::cast<const Context&>(nb::type<Context>()());
  Given given = of.agreed([&] { return given_of(particles, box, min_length); });
  agree_on_dimensions(of, given);
  agree_on_types(of, given);
  const auto create = [&](zhalo_domain** domain) {
    return zhalo_domain_create(of.handle->get(), given.views.data(),
                               static_cast<int>(given.views.size()), &given.box.view,
                               &given.options, domain);
  };
  Domain domain{of, Owned<zhalo_domain, zhalo_domain_destroy>(of, create),
                given.views[0].dimensions};
  warn_of_wrapped(domain);
  return domain;
}

std::string shown_axes(const Box& box, const double* values) {
  nb::list numbers;
  for (int axis = 0; axis < (box.num_axes == 2 ? 2 : 3); ++axis) numbers.append(values[axis]);
  return nb::cast<std::string>(nb::repr(numbers));
}

std::string shown_box(const Box& box) {
  nb::list periodic;
  for (int axis = 0; axis < (box.num_axes == 2 ? 2 : 3); ++axis)
    periodic.append(nb::bool_(box.view.periodic[axis] != 0));
  return "zhalo.Box(" + shown_axes(box, box.view.length) + ", lo=" + shown_axes(box, box.view.lo) +
         ", periodic=" + nb::cast<std::string>(nb::repr(periodic)) + ")";
}

void bind_box(nb::module_& module) {
  nb::class_<Box>(module, "Box", R"(The box [lo, lo + length).

length    one number for all axes, or one for each. 0: no bounds, on an axis that is not periodic.
lo        the lower corner: one number, or one for each axis
periodic  whether axes are periodic: one truth value, or one for each axis)")
      .def(nb::new_(&make_box), nb::arg("length"), nb::arg("lo") = 0.0, nb::arg("periodic") = true)
      .def("__repr__", &shown_box);
}

void bind_particles(nb::module_& module) {
  nb::class_<Particles>(module, "Particles", R"(The particles of one species on this rank.

positions   (number, 3) or (number, 2) numbers, float32 or float64
velocities  as many, or None
masses      one number for all particles, or one for each; None: 1
types       whole numbers 0 to 255, one for all or one for each; None: 0

Arrays are used where they are, also with strides. Some are copied: those with another byte order,
with strides that are negative or no multiple of an element, and types that are not uint8. Do not
change arrays before the domain is made.)")
      .def(nb::init<nb::handle, nb::handle, nb::handle, nb::handle>(), nb::arg("positions"),
           nb::arg("velocities") = nb::none(), nb::arg("masses") = nb::none(),
           nb::arg("types") = nb::none())
      .def("__repr__", [](const Particles& particles) {
        return "<zhalo.Particles: " + std::to_string(particles.view().num) + " in " +
               std::to_string(particles.view().dimensions) + " dimensions>";
      });
}

}  // namespace

void bind_domain(nb::module_& module) {
  bind_box(module);
  bind_particles(module);
  nb::class_<Domain>(module, "Domain", R"(Particles, sorted once for any number of searches.

particles  an array of positions, or Particles, or a list of Particles: one for each species
box        the length of a periodic cube, or the lengths of a periodic box, or a Box. None: no
           bounds, and not periodic
context    None: this process alone
min_length the smallest linking length or radius of later searches, if it is known. Sorting then
           takes less time. Leave it out for nearest neighbours and attach, which would take long
           in dense haloes. It decides the order of members that lie close together, and so the
           checksum of a catalogue. The command fof gives its linking length, or 0 if it attaches
           types.

A domain has a copy of what it needs: the arrays may change afterwards. Results are in the order in
which particles were given.)")
      .def(nb::new_(&make_domain), nb::arg("particles"), nb::arg("box") = nb::none(),
           nb::arg("context") = nb::none(), nb::arg("min_length") = 0.0)
      .def("__repr__",
           [](const Domain& domain) {
             return "<zhalo.Domain of " + std::to_string(domain.counts(0).num_total) +
                    " particles>";
           })
      .def(
          "num",
          [](const Domain& domain, const WholeNumber& species) {
            return domain.counts(species.small_value("species")).num;
          },
          nb::arg("species") = 0, "Particles of a species that this rank gave.")
      .def(
          "num_total",
          [](const Domain& domain, const WholeNumber& species) {
            return domain.counts(species.small_value("species")).num_total;
          },
          nb::arg("species") = 0, "Particles of a species on all ranks.")
      .def_prop_ro(
          "num_wrapped", [](const Domain& domain) { return domain.counts(0).num_wrapped; },
          "Particles of all species and ranks that were outside a periodic axis.")
      .def_prop_ro(
          "num_species", [](const Domain& domain) { return domain.counts(0).num_species; },
          "Species that were given.");
}

}  // namespace zhalo::python
