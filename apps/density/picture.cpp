#include "apps/density/picture.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <cmath>

#include "apps/density/captions.hpp"
#include "apps/density/projection.hpp"
#include "apps/plot/picture.hpp"

namespace zhalo::density_app {
namespace {

constexpr std::size_t max_unasked = 200;

bool is_in_layer(const io::Halo& halo, const Plan& plan) {
  const View& view = plan.options.view;
  const double side = plan.grid.box.length[view.axis];
  const double above = halo.centre[view.axis] - view.from;
  return plan.depth >= side || above - side * std::floor(above / side) < plan.depth;
}

std::string haloes_text(const Plan& plan, std::size_t num) {
  if (plan.options.haloes.empty()) return {};
  const char* noun = num == 1 ? "halo" : "haloes";
  if (plan.options.min_members)
    return fmt::format("; circles: {} {} of at least {} particles", num, noun,
                       *plan.options.min_members);
  return fmt::format("; circles: {}{} {}", num == max_unasked ? "the largest " : "", num, noun);
}

}  // namespace

std::vector<io::Halo> shown_haloes(const io::HaloList& list, const Plan& plan) {
  std::vector<io::Halo> shown;
  const auto is_wanted = [&](const io::Halo& halo) {
    return halo.length >= plan.options.min_members.value_or(0) && is_in_layer(halo, plan);
  };
  std::copy_if(list.haloes.begin(), list.haloes.end(), std::back_inserter(shown), is_wanted);
  if (!plan.options.min_members && shown.size() > max_unasked) shown.resize(max_unasked);
  return shown;
}

std::string draw(const Plan& plan, std::vector<double> projected,
                 const std::vector<io::Halo>& haloes) {
  const Options& options = plan.options;
  const auto axes = map_axes(options.view.axis);
  app::Picture picture;
  picture.values = std::move(projected);
  for (std::size_t i = 0; i < axes.size(); ++i) {
    picture.num[i] = plan.grid.num[axes[i]];
    picture.lo[i] = plan.grid.box.lo[axes[i]];
    picture.length[i] = plan.grid.box.length[axes[i]];
    picture.axes[i] = axis_names[axes[i]];
  }
  picture.unit = plan.snapshot.units.length_name();
  picture.quantity =
      options.by_number ? "projected number density / mean" : "projected density / mean";
  picture.title = snapshot_text(plan.snapshot);
  const char* compensated =
      field_compensation(options) == Compensation::none ? "" : ", compensated";
  picture.subtitle =
      fmt::format("{}; {}\u00b3 cells, {}{}{}", layer_text(plan), options.grid,
                  window_text(options), compensated, haloes_text(plan, haloes.size()));
  picture.longer_side = options.pixels;
  for (const io::Halo& halo : haloes)
    picture.circles.push_back({{halo.centre[axes[0]], halo.centre[axes[1]]}, halo.radius});
  return draw_png(picture);
}

}  // namespace zhalo::density_app
