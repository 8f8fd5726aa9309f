// The second call of anything allocates nothing on a device: no memory of it, no page-locked
// memory, no plan, stream or event. Nor does a smaller call after it.
#include <catch2/catch.hpp>

#include <functional>
#include <string>
#include <vector>

#include "tests/device/runtime/calls.hpp"
#include "tests/device/sample.hpp"
#include "zhalo/catalogue/catalogue.hpp"
#include "zhalo/fft/fft.hpp"
#include "zhalo/fof/fof.hpp"
#include "zhalo/ics/initial_conditions.hpp"
#include "zhalo/knn/reduce.hpp"
#include "zhalo/mesh/density.hpp"
#include "zhalo/mesh/gravity.hpp"
#include "zhalo/mesh/paint.hpp"
#include "zhalo/mesh/power_spectrum.hpp"

namespace zhalo::emulated {
namespace {

const Box box = Box::periodic_cube(1);

Decomposition mesh(const Context& context, Index side) {
  return {Grid{{{side, side, side}}, box}, context.comm.size()};
}

using Call = std::function<void(const Context&, const Sample&, Index side)>;
struct Named {
  std::string name;
  Call run;
};

void find_groups(const Context& context, const Sample& sample, Index) {
  friends_of_friends(context, sample.particles(), box, {.linking_length = sample.linking_length()});
}

void catalogue(const Context& context, const Sample& sample, Index) {
  const Domain<float> domain(context, sample.particles(), box,
                             {.min_length = sample.linking_length()});
  const FofResult groups = friends_of_friends(domain, {.linking_length = sample.linking_length()});
  make_catalogue(domain, groups, CatalogueOptions{.min_members = 20});
}

void paint_particles(const Context& context, const Sample& sample, Index side) {
  Field<float> field(context, mesh(context, side));
  paint(context, sample.particles(), field);
  readout(context, field, sample.particles());
}

void transform(const Context& context, const Sample&, Index side) {
  Fft<float> fft(context, mesh(context, side));
  Buffer<float> cells(context.exec, fft.cells().size, "cells");
  Buffer<std::complex<float>> modes(context.exec, fft.modes().size, "modes");
  fft.forward(cells.span(), modes.span());
  fft.backward(modes.span(), cells.span());
}

void measure_power(const Context& context, const Sample& sample, Index side) {
  auto density = density_modes<float>(context, mesh(context, side), sample.particles());
  power_spectrum(context, density.modes);
}

void make_initial_conditions(const Context& context, const Sample&, Index side) {
  const Decomposition decomposition = mesh(context, side);
  const Modes<float> linear = random_modes<float>(
      context, decomposition, eisenstein_hu_power({.omega_matter = 0.3, .omega_baryon = 0.05}));
  displace(context, linear);
}

std::vector<Named> all_calls() {
  return {{"friends_of_friends", find_groups},
          {"make_catalogue", catalogue},
          {"knn", [](const Context& context, const Sample& sample,
                     Index) { knn(context, sample.particles(), box, {.k = 8}); }},
          {"knn_reduce",
           [](const Context& context, const Sample& sample, Index) {
             neighbour_quantity(context, sample.particles(), box, {.k = 16},
                                {Quantity::kth_radius, {}});
           }},
          {"paint", paint_particles},
          {"fft", transform},
          {"power spectrum", measure_power},
          {"initial conditions", make_initial_conditions}};
}

struct Asked {
  std::int64_t allocations = 0;
  std::int64_t frees = 0;
  std::int64_t made = 0;
};

Asked asked_by(const std::function<void()>& call) {
  const Counts before = counts();
  call();
  const Counts after = counts();
  const auto of = [&](Event event) {
    const auto at = static_cast<std::size_t>(event);
    return after.at(at) - before.at(at);
  };
  return {of(Event::malloc), of(Event::free), of(Event::make)};
}

void check_repeats(const Named& one, points::Kind kind, Index num, Index side) {
  const Context context = on_device();
  const Sample sample(context, kind, num), smaller(context, kind, num / 3);
  const auto run = [&](const Sample& of, Index cells) {
    return asked_by([&] { one.run(context, of, cells); });
  };
  const auto check_nothing = [&](const char* which, const Asked& asked) {
    INFO(one.name << " of " << num << " particles, " << which);
    CHECK(asked.allocations == 0);
    CHECK(asked.frees == 0);
    CHECK(asked.made == 0);
  };
  CHECK(run(sample, side).allocations > 0);
  check_nothing("second call", run(sample, side));
  check_nothing("third call", run(sample, side));
  check_nothing("fewer particles", run(smaller, side));
  const Asked coarser = run(smaller, side / 2);  // for which there are no plans yet
  CHECK(coarser.allocations == 0);
  check_nothing("fewer particles and cells", run(smaller, side / 2));
  check_nothing("all again", run(sample, side));
}

}  // namespace

TEST_CASE("the second call of anything allocates nothing") {
  for (const Named& one : all_calls()) {
    check_repeats(one, points::Kind::uniform, 3000, 12);
    check_repeats(one, points::Kind::clustered, 15000, 20);
  }
}

}  // namespace zhalo::emulated
