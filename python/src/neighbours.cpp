#include <cmath>

#include "arguments.hpp"
#include "objects.hpp"

namespace zhalo::python {
namespace {

using Lists = Owned<zhalo_neighbours, zhalo_neighbours_destroy>;

/// What all searches have in common: whose neighbours among whom.
struct Search {
  const Domain& domain;
  std::optional<Particles> points;
  zhalo_particles view{};  ///< of the points
  zhalo_neighbour_options options{};
  std::size_t num_queries = 0;  ///< of this rank

  Search(const Domain& among, nb::handle given_points, const WholeNumber& queries,
         const WholeNumber& targets)
      : domain(among) {
    options.queries = queries.small_value("queries");
    options.targets = targets.small_value("targets");
    if (!given_points.is_none()) set_points(given_points);
    num_queries =
        points ? static_cast<std::size_t>(points->view().num) : among.num(options.queries);
  }

  /// Points have the precision of the particles. float32 becomes float64 without a loss.
  void set_points(nb::handle given) {
    nb::object rows = as_numpy(given);
    const auto name = nb::cast<std::string>(rows.attr("dtype").attr("name"));
    if (name == "float32" && domain.precision() == ZHALO_DOUBLE)
      rows = rows.attr("astype")("float64");
    const bool is_empty = nb::cast<std::int64_t>(rows.attr("size")) == 0;
    if (name == "float64" && domain.precision() == ZHALO_FLOAT && !is_empty)
      refuse("points must be float32, as the particles are: points.astype(numpy.float32)");
    points.emplace(rows, nb::none(), nb::none(), nb::none(), "points");
    view = points->view();
    if (is_empty) view.dimensions = domain.dimensions;  // an empty list does not say it
  }

  void set_self(const Truth& include_self) {
    options.exclude_self = include_self.value("include_self") ? 0 : 1;
    if (options.exclude_self != 0 && points)
      refuse("include_self=False is for particles, and points are given: leave it out");
  }
  void set_k(const WholeNumber& k) {
    options.k = k.small_value("k");
    if (options.k < 1) refuse("k is " + std::to_string(options.k) + " (must be at least 1)");
  }
  void set_max_radius(const std::optional<Number>& radius) {
    if (!radius) return;
    options.max_radius = radius->value("max_radius");
    if (!(options.max_radius > 0))
      refuse("max_radius is " + shown(radius->given) + " (must be more than 0)");
  }
  void set_radius(const Number& radius) {
    options.max_radius = radius.value("radius");
    if (!(options.max_radius > 0) || std::isinf(options.max_radius))
      refuse("radius is " + shown(radius.given) + " (must be positive and finite)");
  }
  const zhalo_particles* points_or_null() const { return points ? &view : nullptr; }
};

/// Distances and indices of the lists: (queries, k) each.
using TwoArrays = nb::typed<nb::tuple, NumpyArray, NumpyArray>;
TwoArrays arrays_of(const Lists& lists, const Search& search) {
  const Context& context = search.domain.context;
  const std::vector<std::size_t> shape{search.num_queries,
                                       static_cast<std::size_t>(search.options.k)};
  const int precision = search.domain.precision();
  const auto distances = [&](auto* to, std::int64_t room) {
    return zhalo_neighbours_get_distances(lists.get(), precision, to, room);
  };
  NumpyArray first = precision == ZHALO_FLOAT ? filled_together<float>(context, shape, distances)
                                              : filled_together<double>(context, shape, distances);
  NumpyArray second =
      filled_together<std::int64_t>(context, shape, [&](std::int64_t* to, std::int64_t room) {
        return zhalo_neighbours_get_indices(lists.get(), to, room);
      });
  return nb::borrow<TwoArrays>(nb::make_tuple(first, second));
}

TwoArrays find_neighbours(const Domain& domain, const WholeNumber& k, nb::object points,
                          const WholeNumber& queries, const WholeNumber& targets,
                          const Truth& include_self, const std::optional<Number>& max_radius) {
  domain.context.agree_on_giving(true, !points.is_none(), "points");
  const Search search = domain.context.agreed([&] {
    Search wanted(domain, points, queries, targets);
    wanted.set_k(k);
    wanted.set_max_radius(max_radius);
    wanted.set_self(include_self);
    return wanted;
  });
  const Lists lists(domain.context, [&](zhalo_neighbours** made) {
    if (!search.points) return zhalo_find_neighbours(domain.handle.get(), &search.options, made);
    return zhalo_find_neighbours_of_points(domain.handle.get(), search.points_or_null(),
                                           &search.options, made);
  });
  return arrays_of(lists, search);
}

NumpyArray count_within(const Domain& domain, const Number& radius, nb::object points,
                        const WholeNumber& queries, const WholeNumber& targets,
                        const Truth& include_self) {
  domain.context.agree_on_giving(true, !points.is_none(), "points");
  const Search search = domain.context.agreed([&] {
    Search wanted(domain, points, queries, targets);
    wanted.set_radius(radius);
    wanted.set_self(include_self);
    return wanted;
  });
  const auto count = [&](std::int64_t* to, std::int64_t room) {
    return zhalo_count_within(domain.handle.get(), search.points_or_null(), &search.options, to,
                              room);
  };
  return filled_together<std::int64_t>(domain.context, {search.num_queries}, count);
}

NumpyArray neighbour_quantity(const Domain& domain, const Word& quantity, const WholeNumber& k,
                              const Word& kernel, nb::object points, const WholeNumber& queries,
                              const WholeNumber& targets) {
  domain.context.agree_on_giving(true, !points.is_none(), "points");
  const Search search = domain.context.agreed([&] {
    Search wanted(domain, points, queries, targets);
    wanted.set_k(k);
    wanted.options.quantity = choose(quantity,
                                     {{"kth_radius", ZHALO_KTH_RADIUS},
                                      {"mean_radius", ZHALO_MEAN_RADIUS},
                                      {"density", ZHALO_DENSITY},
                                      {"velocity_dispersion", ZHALO_VELOCITY_DISPERSION}},
                                     "quantity");
    wanted.options.kernel = choose(kernel,
                                   {{"cubic_spline", ZHALO_CUBIC_SPLINE},
                                    {"wendland_c2", ZHALO_WENDLAND_C2},
                                    {"wendland_c4", ZHALO_WENDLAND_C4}},
                                   "kernel");
    return wanted;
  });
  const auto compute = [&](double* to, std::int64_t room) {
    return zhalo_compute_from_neighbours(domain.handle.get(), search.points_or_null(),
                                         &search.options, to, room);
  };
  return filled_together<double>(domain.context, {search.num_queries}, compute);
}

}  // namespace

void bind_neighbours(nb::module_& module) {
  nb::borrow<nb::class_<Domain>>(module.attr("Domain"))
      .def("knn", &find_neighbours, nb::arg("k") = 8, nb::kw_only(), nb::arg("points") = nb::none(),
           nb::arg("queries") = 0, nb::arg("targets") = 0, nb::arg("include_self") = true,
           nb::arg("max_radius") = nb::none(), R"(The k nearest particles of each query, exactly.

Returns distances and indices, (queries, k) each, nearest first. Indices count the particles of
species `targets` over all ranks. Equal distances are in the order of indices. Rows with fewer
neighbours end with infinity and -1.

points        positions of the queries; None: the particles of species `queries`
targets       the species that the neighbours are of
include_self  whether a particle is a neighbour of its own
max_radius    only neighbours up to this distance)")
      .def("count_within", &count_within, nb::arg("radius"), nb::kw_only(),
           nb::arg("points") = nb::none(), nb::arg("queries") = 0, nb::arg("targets") = 0,
           nb::arg("include_self") = true,
           "The number of particles at distances <= radius of each query. Queries are as in knn.")
      .def("neighbour_quantity", &neighbour_quantity, nb::arg("quantity"), nb::arg("k") = 32,
           nb::kw_only(), nb::arg("kernel") = "cubic_spline", nb::arg("points") = nb::none(),
           nb::arg("queries") = 0, nb::arg("targets") = 0,
           R"(One number for each query, computed from its k nearest neighbours.

quantity  "kth_radius", "mean_radius", "density" (by an SPH kernel that ends at the last neighbour)
          or "velocity_dispersion" (along one axis)
kernel    of the density: "cubic_spline", "wendland_c2" or "wendland_c4"

Queries are as in knn. Lists of neighbours never exist all at once.)");
}

}  // namespace zhalo::python
