/// zhalo_instructions: one call of each of the cases that scripts/instruction-counts counts, under
/// callgrind. What is between counted() and its end counts, making points does not.
///   zhalo_instructions --about     the compiler and the vector instructions
///   zhalo_instructions             runs the cases, and prints their names in their order
#include <cmath>
#include <cstdio>
#include <cstring>
#include <exception>
#include <functional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "zhalo/catalogue/catalogue.hpp"
#include "zhalo/core/exec.hpp"
#include "zhalo/fft/fft.hpp"
#include "zhalo/fof/fof.hpp"
#include "zhalo/ics/points.hpp"
#include "zhalo/knn/knn.hpp"
#include "zhalo/mesh/paint.hpp"
#include "zhalo/mesh/power_spectrum.hpp"

/// Its name is an argument of callgrind, so it is not mangled and never inlined.
extern "C" [[gnu::noinline]] void zhalo_counted_call(const std::function<void()>& work) { work(); }

namespace {

using namespace zhalo;

constexpr Index num_points = 50'000;
constexpr Index num_cells = 64;

/// Points in the periodic unit cube, and how they are searched.
struct Setup {
  explicit Setup(points::Kind kind, std::uint64_t seed = 1)
      : pos(points::make_points(kind, num_points, seed).pos) {
    particles.segments = {ParticleSegment<float>::interleaved(pos.data(), num_points)};
  }

  std::vector<float> pos;
  Particles<float> particles;
  Box box = Box::periodic_cube(1);
  Context context{.comm = {}, .exec = host_exec(1), .timers = nullptr};
};

void count(const std::string& name, const std::function<void()>& work) {
  zhalo_counted_call(work);
  fmt::print("{}\n", name);
}

double linking_length(double b) { return b / std::cbrt(static_cast<double>(num_points)); }

void count_groups(const Setup& setup, const char* kind) {
  for (const double b : {0.2, 0.7}) {
    FofResult groups;
    count(fmt::format("fof/{}/b{}", kind, b), [&] {
      groups = friends_of_friends(setup.context, setup.particles, setup.box, {linking_length(b)});
    });
  }
}

void count_catalogue(const Setup& setup) {
  const FofOptions options{.linking_length = linking_length(0.2)};
  const Domain<float> domain(setup.context, setup.particles, setup.box,
                             DomainOptions{.min_length = options.linking_length});
  const Buffer<Index> label = friends_of_friends(domain, options).label;
  Catalogue catalogue;
  count("catalogue/clustered/b0.2",
        [&] { catalogue = make_catalogue(domain, Span<const Index>(label.span()), {}); });
}

void count_neighbours(const Setup& setup) {
  for (const int k : {8, 16, 32}) {
    KnnResult<float> lists;
    count(fmt::format("knn/self/uniform/k{}", k),
          [&] { lists = knn(setup.context, setup.particles, setup.box, {.k = k}); });
  }
  const Setup queries(points::Kind::uniform, 2);
  KnnResult<float> lists;
  count("knn/queries/uniform/k8", [&] {
    lists = knn(setup.context, Queries{queries.particles, setup.particles}, setup.box, {.k = 8});
  });
}

void count_meshes(const Setup& setup) {
  const Context& context = setup.context;
  const Decomposition decomposition({{{num_cells, num_cells, num_cells}}, setup.box}, 1);
  Field<float> field(context, decomposition);
  count("paint/cic/uniform",
        [&] { paint(context, setup.particles, field, {.window = Window::cic}); });
  Buffer<float> values;
  count("readout/cic/uniform",
        [&] { values = readout(context, field, setup.particles, Window::cic); });
  const Modes<float> modes = to_modes(context, field);
  PowerSpectrum power;
  count("power_spectrum/float", [&] { power = power_spectrum(context, modes); });
}

void count_transform(const Setup& setup) {
  Fft<float> fft(setup.context, Decomposition(Grid::cube(num_cells), 1));
  const std::vector<float> zeros(static_cast<std::size_t>(fft.in_place_size()));
  Buffer<float> field = to_exec(setup.context.exec, Span<const float>(zeros), "field");
  count("fft/float", [&] {
    fft.forward_in_place(field.span());
    fft.backward_in_place(field.span());
  });
}

void count_all() {
  const Setup uniform(points::Kind::uniform);
  const Setup clustered(points::Kind::clustered);
  count_groups(uniform, "uniform");
  count_groups(clustered, "clustered");
  count_catalogue(clustered);
  count_neighbours(uniform);
  count_meshes(uniform);
  count_transform(uniform);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    if (argc == 2 && std::strcmp(argv[1], "--about") == 0) {
      fmt::print("compiler {}; {}\n", __VERSION__, describe(host_exec(1)));
      return 0;
    }
    if (argc > 1) {
      std::fputs("usage: zhalo_instructions [--about]\n", stderr);
      return 2;
    }
    count_all();
  } catch (const std::exception& error) {
    fmt::print(stderr, "zhalo_instructions: {}\n", error.what());
    return 1;
  }
  return 0;
}
