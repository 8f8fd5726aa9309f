/// Calls of one rank's device that fail: every public function either throws on all ranks, or
/// returns on all ranks what it would have returned anyway. Nothing hangs.
#include <complex>
#include <functional>
#include <memory>
#include <utility>

#include "tests/device/runtime/calls.hpp"
#include "tests/mpi/device/find_device.hpp"
#include "tests/support/point_sets.hpp"
#include "zhalo/catalogue/attach.hpp"
#include "zhalo/catalogue/catalogue.hpp"
#include "zhalo/core/error.hpp"
#include "zhalo/cosmology/cosmology.hpp"
#include "zhalo/domain/domain.hpp"
#include "zhalo/domain/particles.hpp"
#include "zhalo/fft/decomposition.hpp"
#include "zhalo/fft/fft.hpp"
#include "zhalo/fof/fof.hpp"
#include "zhalo/ics/initial_conditions.hpp"
#include "zhalo/knn/reduce.hpp"
#include "zhalo/knn/within.hpp"
#include "zhalo/mesh/density.hpp"
#include "zhalo/mesh/gravity.hpp"
#include "zhalo/mesh/paint.hpp"
#include "zhalo/mesh/power_spectrum.hpp"

namespace {

using namespace zhalo;
using namespace zhalo::testing;
using emulated::Event;

using Digest = std::vector<double>;

template <class T>
void append(Digest& digest, const std::vector<T>& values) {
  for (const T& value : values) digest.push_back(static_cast<double>(value));
}
template <class T>
void append(Digest& digest, const std::vector<std::complex<T>>& values) {
  for (const auto& value : values) digest.insert(digest.end(), {value.real(), value.imag()});
}

const Box box = Box::periodic_cube(1);

/// Particles, their groups, and a mesh of theirs.
struct Case {
  explicit Case(const Context& given)
      : context(given),
        mesh(Grid{{{24, 5, 8}}, box}, context.comm.size()),
        field(context, mesh),
        ghosts(context, mesh, Ghosts::all_around(1)),
        modes(context, mesh),
        linear(random_modes<double>(context, mesh, eisenstein_hu_power({}))) {
    PointSet<float> points{{}, box, 0.1};
    Random random(static_cast<std::uint64_t>(context.comm.rank()) + 3);
    fill(points, random, Shape::blobs, 150);
    rows = upload(context.exec, points.pos);
    particles.segments = {ParticleSegment<float>::interleaved(rows.data(), 150, 3)};
    labels = friends_of_friends(context, particles, box, {.linking_length = 0.1}).label;
    paint(context, particles, field);
    paint(context, particles, ghosts);
    modes = to_modes(context, field);
  }
  const Context& context;
  Decomposition mesh;
  Buffer<float> rows;
  Particles<float> particles;
  Buffer<Index> labels;
  Field<double> field;
  Field<double> ghosts;
  Modes<double> modes;
  Modes<double> linear;
};

/// Of what a function left on the device; called when nothing fails any more.
using Reader = std::function<Digest()>;

struct Named {
  const char* name;
  Reader (*run)(Case&);
};

template <class T>
Reader reader_of(const Context& context, Buffer<T> values) {
  return [&context, kept = std::make_shared<Buffer<T>>(std::move(values))] {
    Digest digest;
    append(digest, to_host(context.exec, *kept));
    return digest;
  };
}
/// Of a Field or Modes.
template <class Mesh>
Reader reader_of_mesh(const Context& context, Mesh values) {
  return [&context, kept = std::make_shared<const Mesh>(std::move(values))] {
    Digest digest;
    append(digest, to_host(context.exec, kept->span()));
    return digest;
  };
}
Reader reader_of(const Digest& digest) {
  return [digest] { return digest; };
}

const Named of_particles[] = {
    {"count_positions",
     [](Case& c) {
       return reader_of(
           {static_cast<double>(count_positions(c.context, c.particles, box).num_particles)});
     }},
    {"friends_of_friends",
     [](Case& c) {
       return reader_of(
           c.context,
           friends_of_friends(c.context, c.particles, box, {.linking_length = 0.1}).label);
     }},
    {"make_catalogue",
     [](Case& c) {
       const Catalogue table =
           make_catalogue(c.context, c.particles, box, c.labels.span(), {.min_members = 2});
       return reader_of(Digest(table.length.begin(), table.length.end()));
     }},
    {"attach_particles",
     [](Case& c) {
       const LabelledParticles<float> linked{c.particles, c.labels.span()};
       return reader_of(c.context,
                        attach_particles(c.context, linked, c.particles, box, 0.2).label);
     }},
    {"Domain",
     [](Case& c) {
       const Domain<float> domain(c.context, c.particles, box);
       return reader_of(c.context, domain.to_caller_order(domain.global_index()));
     }},
    {"friends_of_friends in a domain",
     [](Case& c) {
       const Domain<float> domain(c.context, c.particles, box);
       const FofResult groups = friends_of_friends(domain, {.linking_length = 0.1});
       return reader_of(c.context, domain.to_caller_order(groups.label));
     }},
    {"make_catalogue in a domain",
     [](Case& c) {
       const Domain<float> domain(c.context, c.particles, box);
       const FofResult groups = friends_of_friends(domain, {.linking_length = 0.1});
       const Catalogue table = make_catalogue(domain, groups, {.min_members = 2});
       return reader_of(Digest(table.length.begin(), table.length.end()));
     }},
    {"knn",
     [](Case& c) {
       return reader_of(c.context, knn(c.context, c.particles, box, {.k = 5}).index);
     }},
    {"knn of queries",
     [](Case& c) {
       return reader_of(c.context,
                        knn(c.context, Queries{c.particles, c.particles}, box, {.k = 5}).index);
     }},
    {"neighbour_quantity",
     [](Case& c) {
       return reader_of(c.context, neighbour_quantity(c.context, c.particles, box, {.k = 8},
                                                      {.quantity = Quantity::density}));
     }},
    {"count_within",
     [](Case& c) {
       return reader_of(c.context, count_within(c.context, c.particles, box, {.radius = 0.1}));
     }},
};

const Named of_meshes[] = {
    {"paint",
     [](Case& c) {
       Field<double> field(c.context, c.mesh);
       paint(c.context, c.particles, field);
       return reader_of_mesh(c.context, std::move(field));
     }},
    {"readout",
     [](Case& c) { return reader_of(c.context, readout(c.context, c.field, c.particles)); }},
    {"ghosts",
     [](Case& c) {
       c.ghosts.pull_ghosts();
       return reader_of_mesh(c.context, std::move(c.ghosts));
     }},
    {"ghosts that are pushed",
     [](Case& c) {
       c.ghosts.push_ghosts();
       return reader_of_mesh(c.context, std::move(c.ghosts));
     }},
    {"Fft in parts",
     [](Case& c) {
       Fft<double> fft(c.context, c.mesh, {.chunk_bytes = 400});
       Buffer<std::complex<double>> modes(c.context.exec, fft.modes().size, "modes");
       fft.forward(std::as_const(c.field).span(), modes.span());
       return reader_of(c.context, std::move(modes));
     }},
    {"redistribute",
     [](Case& c) {
       const FieldLayout cells = FieldLayout::of_cells(c.mesh);
       const FieldLayout turned = FieldLayout::of_modes(c.mesh, Spectrum::full);
       const auto rank = static_cast<std::size_t>(c.context.comm.rank());
       Buffer<double> moved(c.context.exec, turned.layout[rank].size, "cells");
       redistribute(c.context, cells, std::as_const(c.field).span(), turned, moved.span());
       return reader_of(c.context, std::move(moved));
     }},
    {"to_modes", [](Case& c) { return reader_of_mesh(c.context, to_modes(c.context, c.field)); }},
    {"to_field",
     [](Case& c) {
       to_field(c.context, c.modes, c.field);
       return reader_of_mesh(c.context, std::move(c.field));
     }},
    {"density_modes",
     [](Case& c) {
       return reader_of_mesh(
           c.context,
           density_modes<double>(c.context, c.mesh, c.particles, {.interlaced = true}).modes);
     }},
    {"power_spectrum",
     [](Case& c) { return reader_of({power_spectrum(c.context, c.modes).bins.at(0).power}); }},
    {"acceleration_at",
     [](Case& c) {
       return reader_of(c.context, std::move(acceleration_at(c.context, c.modes, c.particles)[1]));
     }},
    {"potential_at",
     [](Case& c) { return reader_of(c.context, potential_at(c.context, c.modes, c.particles)); }},
    {"displace",
     [](Case& c) { return reader_of(c.context, std::move(displace(c.context, c.linear).pos[2])); }},
};

/// What a rank sees of a function when a call of its device's fails, or another rank's.
struct Outcome {
  std::string message;  ///< of the error; empty: none
  Reader result;
};

Outcome outcome_of(Case& c, const Named& function) {
  Outcome outcome;
  try {
    outcome.result = function.run(c);
  } catch (const Error& error) {
    outcome.message = error.what();
  }
  emulated::fail_no_call();  // its turn may not have come: memory is kept between calls
  return outcome;
}

std::int64_t calls_of(Event event) {
  return emulated::counts().at(static_cast<std::size_t>(event));
}

/// One function, a kind of calls: some of them fail, in turn, on the last rank. Returns how many
/// such calls there are.
Index check_failures(const Communicator& world, Context& context, const Named& function,
                     Event event) {
  const bool is_culprit = world.rank() == world.size() - 1;
  Case good(context);
  const std::int64_t before = calls_of(event);
  const Reader result = function.run(good);
  const Index num_calls = world.max(is_culprit ? Index{calls_of(event) - before} : Index{0});
  const Digest expected = result();
  const Index step = num_calls / (ZHALO_CHECKED ? 2 : 6) + 1;
  for (Index n = 1; n <= num_calls; n += step) {
    INFO(function.name << ", kind " << static_cast<int>(event) << ", call " << n << " of "
                       << num_calls);
    Case c(context);
    if (is_culprit) emulated::fail_call(event, n);
    const Outcome outcome = outcome_of(c, function);
    CHECK(world.min(Index{outcome.message.empty()}) == world.max(Index{outcome.message.empty()}));
    // Memory may be had at the second try.
    CHECK((event == Event::malloc || !outcome.message.empty()));
    if (outcome.message.empty()) CHECK(outcome.result() == expected);
    REQUIRE(!context.comm.is_broken());
  }
  return num_calls;
}

/// Under a sanitizer each function meets two of the four kinds.
template <std::size_t num>
void check_functions(const Named (&functions)[num]) {
  Context context;
  if (!find_device(context, {.timeout_seconds = 30})) return;
  const Communicator world(MPI_COMM_WORLD);
  constexpr std::size_t every = ZHALO_CHECKED ? 2 : 1;
  std::size_t kind = 0;
  for (const Event event : {Event::malloc, Event::copy, Event::launch, Event::synchronise}) {
    Index num_calls = 0;
    for (std::size_t f = kind++ % every; f < num; f += every)
      num_calls += check_failures(world, context, functions[f], event);
    CHECK(num_calls > static_cast<Index>(num / every));
  }
}

}  // namespace

TEST_CASE("device: calls that fail on one rank while it works on particles") {
  check_functions(of_particles);
}

TEST_CASE("device: calls that fail on one rank while it works on a mesh") {
  check_functions(of_meshes);
}

TEST_CASE("device: columns that one rank cannot add are added on none") {
  Context context;
  if (!find_device(context, {.timeout_seconds = 30})) return;
  Case c(context);
  Domain<float> domain(c.context, c.particles, box);
  const bool is_culprit = context.comm.rank() == context.comm.size() - 1;
  double mass = 1;
  for (const Event event : {Event::malloc, Event::copy, Event::launch}) {
    for (std::int64_t n = 1; n < 100; ++n) {
      INFO("kind " << static_cast<int>(event) << ", call " << n);
      const double before = std::exchange(mass, mass + 1);
      c.particles.uniform_mass = mass;
      if (is_culprit) emulated::fail_call(event, n);
      bool failed = false;
      try {
        domain.add_columns({c.particles});
      } catch (const Error&) {
        failed = true;
      }
      emulated::fail_no_call();
      CHECK(domain.particles().uniform_mass == (failed ? before : mass));
      if (failed) mass = before;
      if (!failed && event != Event::malloc) break;
    }
  }
}
