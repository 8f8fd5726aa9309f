#include <type_traits>

#include "src/c/handles.hpp"
#include "zhalo/knn/reduce.hpp"
#include "zhalo/knn/within.hpp"

namespace zhalo::c {
namespace {

KnnOptions knn_options(const zhalo_neighbour_options& given) {
  KnnOptions options;
  if (given.k != 0) options.k = given.k;
  options.include_self = given.exclude_self == 0;
  if (given.max_radius != 0) options.max_radius = given.max_radius;
  return options;
}

WithinOptions within_options(const zhalo_neighbour_options& given) {
  validate(given.max_radius != 0,
           "max_radius is 0 or not set (must be positive and finite to count within it)");
  const KnnOptions nearest = knn_options(given);
  return {.radius = nearest.max_radius, .include_self = nearest.include_self};
}

// The constants of C are those of zhalo/core/reductions.hpp.
constexpr auto last_kernel = SphKernel::wendland_c4;
static_assert(ZHALO_KTH_RADIUS == static_cast<int>(Quantity::kth_radius) &&
              ZHALO_MEAN_RADIUS == static_cast<int>(Quantity::mean_radius) &&
              ZHALO_DENSITY == static_cast<int>(Quantity::density) &&
              ZHALO_VELOCITY_DISPERSION == static_cast<int>(Quantity::velocity_dispersion) &&
              ZHALO_NUM_QUANTITIES == std::size(quantity_table));
static_assert(ZHALO_CUBIC_SPLINE == static_cast<int>(SphKernel::cubic_spline) &&
              ZHALO_WENDLAND_C2 == static_cast<int>(SphKernel::wendland_c2) &&
              ZHALO_WENDLAND_C4 == static_cast<int>(last_kernel));

QuantityOptions quantity_options(const zhalo_neighbour_options& given) {
  return {static_cast<Quantity>(one_of(given.quantity, ZHALO_NUM_QUANTITIES - 1, "quantity")),
          static_cast<SphKernel>(one_of(given.kernel, static_cast<int>(last_kernel), "kernel"))};
}

/// The particles of a species of a domain, as this rank gave them; what was outside a periodic axis
/// is wrapped. So indices and ties are the caller's.
template <class Real>
class ParticlesInCallerOrder {
 public:
  /// Collective.
  ParticlesInCallerOrder(const Domain<Real>& domain, int species)
      : domain_(domain), species_(species), particles_(domain.particles(species)) {
    ParticleSegment<Real>& segment = particles_.segments.front();
    segment.num = domain.num_origin(species);
    for (std::size_t axis = 0; axis < static_cast<std::size_t>(particles_.dimensions); ++axis) {
      const Strided<Real> pos = segment.pos[axis];
      segment.pos[axis] = {ordered<Real>(pos.data, pos.stride_bytes)};
    }
    segment.type = {nullptr};
  }
  /// Collective.
  void add_masses_and_velocities() {
    ParticleSegment<Real>& segment = particles_.segments.front();
    segment.mass = ordered(segment.mass);
    for (RealColumn& velocity : segment.velocity) velocity = ordered(velocity);
  }
  const Particles<Real>& particles() const { return particles_; }

 private:
  RealColumn ordered(const RealColumn& column) {
    // A rank without particles does not know whether others have the column.
    const Index own = !column ? 0 : column.is_double() ? 2 : 1;
    const Index kind = domain_.context().comm.max(own);
    if (kind == 2) return {ordered<double>(column.data(), column.stride_bytes())};
    if (kind == 1) return {ordered<float>(column.data(), column.stride_bytes())};
    return {};
  }
  template <class T>
  const T* ordered(const void* column, Index stride_bytes) {
    constexpr auto size = static_cast<Index>(sizeof(T));
    const Index num = domain_.num_origin(species_);
    Buffer<std::byte>& to = columns_.emplace_back(domain_.context().exec, num * size,
                                                  "particles in the caller's order");
    domain_.to_caller_order({column, domain_.num(species_), size, stride_bytes},
                            {to.data(), num, size}, species_);
    return reinterpret_cast<const T*>(to.data());
  }

  const Domain<Real>& domain_;
  int species_;
  Particles<Real> particles_;
  std::vector<Buffer<std::byte>> columns_;
};

/// The points of a search in memory of the Exec; they are like the domain's particles.
template <class Real>
Particles<Real> positions_of(CallerColumns& given, const zhalo_particles& points) {
  constexpr int wanted = std::is_same_v<Real, float> ? ZHALO_FLOAT : ZHALO_DOUBLE;
  validate(points.num == 0 || points.position[0].precision == wanted,
           "the points are in {}, and the particles in {}; give the points in that precision",
           wanted == ZHALO_FLOAT ? "double" : "float", wanted == ZHALO_FLOAT ? "float" : "double");
  return given.positions<Real>();
}

/// A search in a domain: of one of its species or, if there are points, of these.
template <class Real>
struct Search {
  const Domain<Real>& domain;
  const zhalo_particles* points;
  const zhalo_neighbour_options& options;

  /// Calls in_domain(species) or of_points(queries). `needs` are the columns that of_points() looks
  /// at. Collective.
  template <class InDomain, class OfPoints>
  auto run(const QuantityNeeds& needs, const InDomain& in_domain, const OfPoints& of_points) const {
    if (points == nullptr)
      return in_domain(KnnSpecies{.queries = options.queries, .targets = options.targets});
    CallerColumns given(domain.context().exec, *points);
    const Particles<Real> queries = positions_of<Real>(given, *points);
    ParticlesInCallerOrder<Real> targets(domain, options.targets);
    if (needs.masses) targets.add_masses_and_velocities();
    return of_points(Queries<Real>{queries, targets.particles()});
  }
};

/// What the caller gave for a search.
struct Given {
  const zhalo_particles* points;
  bool of_points;  ///< else of a species
  zhalo_neighbour_options options;

  Given(const zhalo_particles* queries, bool are_points, const zhalo_neighbour_options* wanted)
      : points(queries), of_points(are_points), options(options_or_default(wanted)) {}
};

/// Calls work(search) for the domain's precision. InputError unless all ranks give points or none
/// does, and name the same species. Collective.
template <class Work>
void search_in(const zhalo_domain& domain, const Given& given, const Work& work) {
  if (given.of_points) at(given.points, "points");
  validate_equal(domain.context->comm, {given.of_points ? 1 : 0},
                 "the kinds of queries, points or particles,");
  validate_species(domain, given.options.targets);
  if (!given.of_points) validate_species(domain, given.options.queries);
  call_with(domain, [&]<class Real>(const Domain<Real>& particles) {
    work(Search<Real>{particles, given.points, given.options});
  });
}

template <class Real>
KnnResult<Real> lists_of(const Search<Real>& search, const KnnOptions& nearest) {
  const Domain<Real>& particles = search.domain;
  return search.run(
      {}, [&](const KnnSpecies& species) { return knn(particles, nearest, {}, species); },
      [&](const Queries<Real>& queries) {
        return knn(particles.context(), queries, particles.box(), nearest);
      });
}

int find_neighbours(const zhalo_domain* domain, const Given& given, zhalo_neighbours** neighbours) {
  if (neighbours != nullptr) *neighbours = nullptr;
  return status_of([&] {
    const zhalo_domain& among = at(domain, "domain");
    const KnnOptions nearest = knn_options(given.options);
    make_handle(among.context, neighbours, [&] {
      zhalo_neighbours made{among, {}, given.options.queries, given.of_points};
      search_in(among, given, [&](const auto& search) { made.lists = lists_of(search, nearest); });
      return made;
    });
  });
}

/// Values of the queries of a search go to the caller, in the caller's order. Collective.
template <class T>
void copy_of_queries(const zhalo_domain& domain, bool of_points, const DomainValues<T>& from, T* to,
                     Index room) {
  if (!of_points) return copy_in_caller_order<T>(domain, from, to, room);
  domain.context->comm.together([&] { copy_out<T>(domain.context->exec, from.values, to, room); });
}

template <class T>
void copy_lists(const zhalo_neighbours& from, const Buffer<T>& values, int k, T* to, Index room) {
  copy_of_queries<T>(from.domain, from.of_points, {values.span(), from.species, k}, to, room);
}

/// Copies the distances of lists whose distances are `T`. Collective.
template <class T>
void copy_distances(const zhalo_neighbours& from, T* to, Index room) {
  const auto* lists = std::get_if<KnnResult<T>>(&from.lists);
  validate(lists != nullptr,
           "distances have the precision of the positions, and were asked for in the other one");
  copy_lists(from, lists->distance, lists->k, to, room);
}

/// Copies one number per query, which `find` makes for a search. Collective.
template <class T, class Find>
int copy_found(const zhalo_domain* domain, const Given& given, T* to, Index room,
               const Find& find) {
  return status_of([&] {
    const zhalo_domain& among = at(domain, "domain");
    among.context->comm.together([&] {
      search_in(among, given, [&](const auto& search) {
        const Buffer<T> found = find(search);
        copy_of_queries<T>(among, given.of_points, {found.span(), given.options.queries}, to, room);
      });
    });
  });
}

}  // namespace

extern "C" {

int zhalo_find_neighbours(const zhalo_domain* domain, const zhalo_neighbour_options* options,
                          zhalo_neighbours** neighbours) {
  return find_neighbours(domain, {nullptr, false, options}, neighbours);
}

int zhalo_find_neighbours_of_points(const zhalo_domain* domain, const zhalo_particles* points,
                                    const zhalo_neighbour_options* options,
                                    zhalo_neighbours** neighbours) {
  return find_neighbours(domain, {points, true, options}, neighbours);
}

int zhalo_neighbours_get_distances(const zhalo_neighbours* neighbours, int precision,
                                   void* distances, int64_t room) {
  return status_of([&] {
    const zhalo_neighbours& from = at(neighbours, "neighbours");
    from.domain.context->comm.together([&] {
      if (one_of(precision, 1, "precision of distances") == ZHALO_FLOAT)
        copy_distances(from, static_cast<float*>(distances), room);
      else
        copy_distances(from, static_cast<double*>(distances), room);
    });
  });
}

int zhalo_neighbours_get_indices(const zhalo_neighbours* neighbours, int64_t* indices,
                                 int64_t room) {
  return status_of([&] {
    const zhalo_neighbours& from = at(neighbours, "neighbours");
    std::visit([&](const auto& lists) { copy_lists(from, lists.index, lists.k, indices, room); },
               from.lists);
  });
}

void zhalo_neighbours_destroy(zhalo_neighbours* neighbours) { delete neighbours; }

int zhalo_count_within(const zhalo_domain* domain, const zhalo_particles* points,
                       const zhalo_neighbour_options* options, int64_t* counts, int64_t room) {
  const Given given(points, points != nullptr, options);
  return copy_found(domain, given, counts, room, [&](const auto& search) {
    const auto& particles = search.domain;
    const WithinOptions within = within_options(given.options);
    return search.run(
        {}, [&](const KnnSpecies& species) { return count_within(particles, within, species); },
        [&](const auto& queries) {
          return count_within(particles.context(), queries, particles.box(), within);
        });
  });
}

int zhalo_compute_from_neighbours(const zhalo_domain* domain, const zhalo_particles* points,
                                  const zhalo_neighbour_options* options, double* values,
                                  int64_t room) {
  const Given given(points, points != nullptr, options);
  return copy_found(domain, given, values, room, [&](const auto& search) {
    const auto& particles = search.domain;
    const KnnOptions nearest = knn_options(given.options);
    const QuantityOptions wanted = quantity_options(given.options);
    // They decide which columns the ranks bring together.
    validate(are_equal(particles.context().comm,
                       {static_cast<Index>(wanted.quantity), static_cast<Index>(wanted.kernel)}),
             "the ranks do not want the same quantities; give all ranks the same");
    return search.run(
        needs_of(wanted.quantity),
        [&](const KnnSpecies& species) {
          return neighbour_quantity(particles, nearest, wanted, species);
        },
        [&](const auto& queries) {
          return neighbour_quantity(particles.context(), queries, particles.box(), nearest, wanted);
        });
  });
}

}  // extern "C"

}  // namespace zhalo::c
