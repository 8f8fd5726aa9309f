#include <cmath>
#include <utility>

#include "tests/device/counted.hpp"
#include "tests/device/runtime/profile.hpp"
#include "zhalo/domain/domain.hpp"
#include "zhalo/fft/fft.hpp"
#include "zhalo/ics/initial_conditions.hpp"
#include "zhalo/ics/points.hpp"
#include "zhalo/mesh/paint.hpp"
#include "zhalo/mesh/power_spectrum.hpp"

namespace zhalo::emulated {
namespace {

Index even_side(Index num) {
  const auto side = static_cast<Index>(std::cbrt(static_cast<double>(num)) + 1e-9);
  return side / 2 * 2;
}

Context on_device() {
  Context context;
  context.exec = cuda_exec();
  return context;
}

/// Particles, a field and modes in the memory of the device.
class MeshSetup {
 public:
  explicit MeshSetup(Index num)
      : num_(num),
        decomposition_(Grid::cube(even_side(num)), 1),
        rows_(to_exec(context_.exec,
                      Span<const float>(points::make_points(points::Kind::uniform, num).pos),
                      "positions")),
        masses_(to_exec(context_.exec, Span<const float>(masses_of(num)), "masses")),
        domain_(context_, particles(false), Box::periodic_cube(1)),
        field_(context_, decomposition_),
        modes_(context_, decomposition_),
        fft_(context_, decomposition_) {
    paint(context_, particles(false), field_);
    fft_.forward(field_.span(), modes_.span());
  }

  Index num() const { return num_; }
  const Exec& exec() const { return context_.exec; }

  void paint_cells(Window window, bool with_masses) {
    paint(context_, particles(with_masses), field_, {.window = window});
  }
  void paint_domain(Window window) { paint(domain_, field_, {.window = window}); }
  void read_out() { readout(context_, field_, particles(false)); }
  void forward() { fft_.forward(field_.span(), modes_.span()); }
  void backward() { fft_.backward(modes_.span(), field_.span()); }
  void measure_power() { power_spectrum(context_, modes_); }
  void make_random_modes() {
    random_modes<float>(context_, decomposition_, LinearPower({0.01, 0.1, 10}, {3, 20, 0.5}));
  }

 private:
  static std::vector<float> masses_of(Index num) {
    std::vector<float> masses;
    for (Index i = 0; i < num; ++i) masses.push_back(1 + static_cast<float>(i % 3));
    return masses;
  }
  Particles<float> particles(bool with_masses) const {
    Particles<float> all;
    all.segments = {ParticleSegment<float>::interleaved(rows_.data(), num_, 3)};
    if (with_masses) all.segments[0].mass = masses_.data();
    return all;
  }

  Index num_;
  Context context_ = on_device();
  Decomposition decomposition_;
  Buffer<float> rows_;
  Buffer<float> masses_;
  Domain<float> domain_;
  Field<float> field_;
  Modes<float> modes_;
  Fft<float> fft_;
};

using Call = std::pair<const char*, void (*)(MeshSetup&)>;
constexpr Call calls[] = {
    {"paint/cic", [](MeshSetup& s) { s.paint_cells(Window::cic, false); }},
    {"paint/pcs", [](MeshSetup& s) { s.paint_cells(Window::pcs, false); }},
    {"paint_domain/cic", [](MeshSetup& s) { s.paint_domain(Window::cic); }},
    {"paint_domain/pcs", [](MeshSetup& s) { s.paint_domain(Window::pcs); }},
    {"paint_masses/cic", [](MeshSetup& s) { s.paint_cells(Window::cic, true); }},
    {"readout/cic", [](MeshSetup& s) { s.read_out(); }},
    {"fft/float/forward", [](MeshSetup& s) { s.forward(); }},
    {"fft/float/backward", [](MeshSetup& s) { s.backward(); }},
    {"power_spectrum/float", [](MeshSetup& s) { s.measure_power(); }},
    {"random_modes/float", [](MeshSetup& s) { s.make_random_modes(); }},
};

}  // namespace

std::vector<Counted> count_mesh_cases(Index num) {
  std::vector<Counted> all;
  MeshSetup setup(num);
  for (const Call& call : calls)
    all.push_back(count_second({call.first, num}, setup.exec(), [&] { call.second(setup); }));
  return all;
}

bool run_mesh_case(const std::string& name, Index num) {
  for (const auto& [of_call, call] : calls) {
    if (name != of_call) continue;
    MeshSetup setup(num);
    profile::clear();
    return call(setup), true;
  }
  return false;
}

}  // namespace zhalo::emulated
