#include <algorithm>

#include "objects.hpp"

namespace zhalo::python {
namespace {

/// One value for each axis: a number for all of them, or a sequence of 2 or 3.
template <class T>
std::array<T, 3> per_axis(nb::handle value, const char* what) {
  const nb::object plain = nb::module_::import_("numpy").attr("asarray")(value).attr("tolist")();
  T one{};
  std::vector<T> several;
  std::array<T, 3> values{};
  if (nb::try_cast(plain, one)) {
    values.fill(one);
  } else if (nb::try_cast(plain, several) && (several.size() == 2 || several.size() == 3)) {
    std::copy(several.begin(), several.end(), values.begin());
  } else {
    refuse(std::string(what) + " must be one value, or one for each axis");
  }
  return values;
}

Box make_box(nb::handle length, nb::handle lo, nb::handle periodic) {
  Box box;
  const auto lengths = per_axis<double>(length, "the lengths of a box");
  const auto corner = per_axis<double>(lo, "the lower corner of a box");
  const auto is_periodic = per_axis<bool>(periodic, "what says whether axes are periodic");
  for (std::size_t axis = 0; axis < 3; ++axis) {
    box.view.lo[axis] = corner[axis];
    box.view.length[axis] = lengths[axis];
    box.view.periodic[axis] = is_periodic[axis] ? 1 : 0;
  }
  return box;
}

/// A box as it may be given to a domain: None, a Box, or the lengths of a periodic one.
Box box_of(nb::handle box) {
  if (box.is_none()) return {};
  if (nb::isinstance<Box>(box)) return nb::cast<Box>(box);
  return make_box(box, nb::int_(0), nb::bool_(true));
}

/// The species of a domain: one or several Particles, or an array of positions.
std::vector<const Particles*> species_of(nb::handle particles, nb::object& made) {
  if (nb::isinstance<Particles>(particles)) return {nb::cast<const Particles*>(particles)};
  const bool is_list = nb::isinstance<nb::list>(particles) || nb::isinstance<nb::tuple>(particles);
  if (is_list && nb::len(particles) > 0 && nb::isinstance<Particles>(particles[0])) {
    std::vector<const Particles*> species;
    for (const nb::handle one : particles) {
      if (!nb::isinstance<Particles>(one)) refuse("give each species as zhalo.Particles");
      species.push_back(nb::cast<const Particles*>(one));
    }
    return species;
  }
  made = nb::type<Particles>()(particles);
  return {nb::cast<const Particles*>(made)};
}

/// The arguments of a domain, and what keeps their arrays alive.
struct Given {
  nb::object made;
  std::vector<zhalo_particles> species;
  zhalo_box box{};
};

Domain make_domain(nb::object particles, nb::object box, const Context* context,
                   double min_length) {
  const Context of =
      context != nullptr ? *context : nb::cast<const Context&>(nb::type<Context>()());
  const Given given = of.agreed([&] {
    Given found;
    for (const Particles* one : species_of(particles, found.made))
      found.species.push_back(one->view());
    found.box = box_of(box).view;
    return found;
  });
  const zhalo_domain_options options{min_length};
  return {of, Owned<zhalo_domain, zhalo_domain_destroy>([&](zhalo_domain** domain) {
            return zhalo_domain_create(of.handle->get(), given.species.data(),
                                       static_cast<int>(given.species.size()), &given.box, &options,
                                       domain);
          })};
}

void bind_box(nb::module_& module) {
  nb::class_<Box>(module, "Box", R"(The box [lo, lo + length).

length    one number for all axes, or one for each. 0: no bounds, on an axis that is not periodic.
lo        the lower corner: one number, or one for each axis
periodic  whether axes are periodic: one truth value, or one for each axis)")
      .def(nb::new_(&make_box), nb::arg("length"), nb::arg("lo") = 0.0, nb::arg("periodic") = true);
}

void bind_particles(nb::module_& module) {
  nb::class_<Particles>(module, "Particles", R"(The particles of one species on this rank.

positions   (number, 3) or (number, 2) numbers, float32 or float64
velocities  as many, or None
masses      one number for all particles, or one for each; None: 1
types       whole numbers 0 to 255, one for all or one for each; None: 0

Arrays are used where they are, also with strides.)")
      .def(nb::init<nb::handle, nb::handle, nb::handle, nb::handle>(), nb::arg("positions"),
           nb::arg("velocities") = nb::none(), nb::arg("masses") = nb::none(),
           nb::arg("types") = nb::none());
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
           takes less time. It decides the order of members that lie close together, and so the
           checksum of a catalogue. The command fof gives its linking length.

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
          "num", [](const Domain& domain, int species) { return domain.counts(species).num; },
          nb::arg("species") = 0, "Particles of a species that this rank gave.")
      .def(
          "num_total",
          [](const Domain& domain, int species) { return domain.counts(species).num_total; },
          nb::arg("species") = 0, "Particles of a species on all ranks.")
      .def_prop_ro(
          "num_wrapped", [](const Domain& domain) { return domain.counts(0).num_wrapped; },
          "Particles of all species and ranks that were outside a periodic axis.")
      .def_prop_ro(
          "num_species", [](const Domain& domain) { return domain.counts(0).num_species; },
          "Species that were given.");
}

}  // namespace zhalo::python
