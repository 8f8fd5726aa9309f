#include "apps/density/density.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "apps/cli/options.hpp"
#include "apps/cli/process.hpp"
#include "apps/cli/run_files.hpp"
#include "zhalo/core/error.hpp"
#include "zhalo/core/memory_need.hpp"

namespace zhalo::density_app {
namespace {

void check_columns(const Sources& sources, const Options& options) {
  const io::SnapshotInfo& info = sources.particles.info();
  for (const int type : sources.types) {
    const io::TypeSummary& summary = info.types.at(static_cast<std::size_t>(type));
    if (options.redshift_axis && !summary.has_velocities)
      throw InputError(fmt::format(
          "'{}' has no velocities of particle type {}, which --redshift-space moves it by",
          info.path, type));
    if (!options.by_number && summary.mass_source == "none")
      throw InputError(fmt::format(
          "'{}' has no masses of particle type {}: count its particles with --weights number",
          info.path, type));
  }
  io::check_readable(info, sources.types,
                     {.velocities = options.redshift_axis.has_value(),
                      .ids = false,
                      .masses = !options.by_number});
}

Box periodic_box(const io::SnapshotInfo& info, const Options& options) {
  const Box box = app::choose_box(info, options);
  if (box.any_periodic()) return box;
  throw InputError(fmt::format(
      "'{}' is not in a periodic box, in which alone a density field is made; if it is, say so: "
      "--periodic yes, and --box-size L if the file does not know the side",
      info.path));
}

/// Rank 0 knows those of the haloes, and decides.
app::RunFiles files_of(const Plan& plan) {
  const Options& options = plan.options;
  app::RunFiles files{plan.snapshot.files,
                      {},
                      {{"--power", options.power, "# power spectrum by zhalo"},
                       {"--image", options.image, "\x89PNG", "zhalo"},
                       {"--json", options.json}},
                      plan.num_files,
                      plan.snapshot.origins};
  files.inputs.insert(files.inputs.end(), plan.haloes.files.begin(), plan.haloes.files.end());
  files.origins.insert(files.origins.end(), plan.haloes.origins.begin(), plan.haloes.origins.end());
  if (writes_field(options)) files.outputs.push_back(plan.output);
  return files;
}

double depth_of(const Options& options, const Grid& grid, const std::string& unit) {
  const double side = grid.box.length[options.view.axis];
  const double depth = options.view.depth.value_or(side);
  constexpr double max_sides = 1e4, min_part = 1e-9;  // beyond them nothing is left but rounding
  if (std::abs(options.view.from) > max_sides * side)
    throw InputError(fmt::format("--from is {:.10g} {}, more than {:g} sides of the box",
                                 options.view.from, unit, max_sides));
  if (depth < min_part * side)
    throw InputError(fmt::format("--depth is {:.10g} {}, less than {:g} of the box's side", depth,
                                 unit, min_part));
  if (depth > side)
    throw InputError(fmt::format("--depth is {:.10g} {}, but the box has {:.10g} along {}", depth,
                                 unit, side, axis_names[options.view.axis]));
  return depth;
}

/// The Nyquist frequency along the longest side.
double min_nyquist(const Plan& plan) {
  const Vec3d& length = plan.grid.box.length;
  return std::numbers::pi * static_cast<double>(plan.options.grid) /
         std::max({length[0], length[1], length[2]});
}

/// In time: the library would find it after the particles are read and painted.
void check_bins(const Plan& plan) {
  const BinOptions& bins = plan.options.bins;
  if (plan.options.power.empty()) return;
  const double nyquist = min_nyquist(plan);
  const double fundamental = 2 * nyquist / static_cast<double>(plan.options.grid);
  const double begin = bins.k_min.value_or(fundamental), end = bins.k_max.value_or(nyquist);
  if ((bins.k_min || bins.k_max) && !(begin < end))
    throw InputError(fmt::format(
        "the bins of the spectrum begin at k = {:.6g} and end at {:.6g} (must begin below their "
        "end; without --k-min and --k-max they have k = {:.6g} to {:.6g})",
        begin, end, fundamental, nyquist));
  constexpr double max_bins = 1 << 20;  // BinOptions
  const double width = bins.width.value_or(fundamental);
  if (bins.spacing == BinSpacing::logarithmic || (end - begin) / width < max_bins) return;
  throw InputError(fmt::format(
      "bins of width {} from k = {:.6g} to {:.6g} are {:.4g} (must be fewer than {:.0f}): give "
      "--bin-width of at least {:.4g}",
      width, begin, end, (end - begin) / width, max_bins, 1.01 * (end - begin) / max_bins));
}

/// What the spectrum does not have.
void warn_of_spectrum(Plan& plan) {
  const BinOptions& bins = plan.options.bins;
  if (plan.options.power.empty()) return;
  const double nyquist = min_nyquist(plan);
  if (bins.k_max && *bins.k_max > nyquist * (1 + 1e-9))
    plan.warnings.push_back(fmt::format(
        "--k-max {:.6g} is beyond the Nyquist frequency, {:.6g}: bins there lack modes, and what "
        "they have is aliased (use more cells)",
        *bins.k_max, nyquist));
  const auto redshift_axis = plan.options.redshift_axis;
  if (redshift_axis && plan.options.multipole_axis >= 0 &&
      *redshift_axis != plan.options.multipole_axis)
    plan.warnings.emplace_back(
        "--multipoles are about another axis than that of --redshift-space: they are not those of "
        "redshift space");
  if (plan.options.grid > 2 || bins.k_min || bins.k_max) return;
  plan.warnings.push_back(
      fmt::format("--grid {}: the grid has no wave below its Nyquist frequency, so the spectrum is "
                  "empty (use more cells)",
                  plan.options.grid));
}

std::string sides_of(const Vec3d& box) {
  if (box[0] == box[1] && box[1] == box[2]) return fmt::format("{:.10g}", box[0]);
  return fmt::format("{:.10g} x {:.10g} x {:.10g}", box[0], box[1], box[2]);
}

void check_haloes(const Plan& plan) {
  const Vec3d ours = plan.grid.box.length, theirs = plan.haloes.box_length;
  const auto differs = [&](const Vec3d& stretch) {
    for (int axis = 0; axis < 3; ++axis) {
      const double side = ours[axis] / stretch[axis];
      if (!(std::abs(side - theirs[axis]) <= 1e-5 * side)) return true;
    }
    return false;
  };
  // The code's own catalogue has the snapshot's BoxSize.
  if (theirs[0] <= 0 || !differs({{1, 1, 1}}) || !differs(plan.snapshot.box_stretch)) return;
  throw InputError(
      fmt::format("--haloes '{}' are in a box with sides of {}, the particles in one of {}: are "
                  "they of this snapshot?",
                  plan.options.haloes, sides_of(theirs), sides_of(ours)));
}

/// Haloes of an earlier or later time may be wanted, so they are shown.
void warn_of_haloes(Plan& plan) {
  const auto ours = plan.snapshot.cosmology.redshift, theirs = plan.haloes.redshift;
  if (!ours || !theirs || std::abs(*theirs - *ours) <= 1e-3 * (1 + std::abs(*ours))) return;
  plan.warnings.push_back(
      fmt::format("--haloes '{}' are of redshift {:.3f}, the particles of redshift {:.3f}",
                  plan.options.haloes, *theirs, *ours));
}

/// On rank 0.
void set_haloes(const Communicator& comm, Plan& plan) {
  if (plan.options.haloes.empty() || comm.rank() != 0) return;
  ShownHaloes shown = read_shown_haloes(plan);
  plan.haloes = std::move(shown.list);
  check_haloes(plan);
  if (shown.num_undrawable > 0)
    plan.warnings.push_back(fmt::format(
        "{} of the {} haloes of '{}' are not drawn: their GroupPos or radius is not finite, or far "
        "beyond the box (are they in the unit of the particles?)",
        shown.num_undrawable, plan.haloes.num_total, plan.options.haloes));
}

void set_redshift_space(Plan& plan) {
  const int axis = *plan.options.redshift_axis;
  plan.redshift_space = io::redshift_space(plan.snapshot, axis);
  plan.redshift_space->side = plan.grid.box.length[axis];
  if (plan.snapshot.units.assumed)
    plan.warnings.push_back(fmt::format(
        "'{}' states no units: --redshift-space moves particles as if lengths were in {} (if they "
        "are not, add UnitLength_in_cm to the attributes of its Header)",
        plan.snapshot.path, plan.snapshot.units.length_name()));
  if (!plan.options.haloes.empty())
    plan.warnings.emplace_back(
        "--redshift-space moves particles, but not --haloes: their circles are where the "
        "catalogue has them");
}

/// Of the program, its libraries and messages.
constexpr double rank_bytes = 48 << 20;

/// While the mesh, or the second of two, is painted, without ghosts. Ranks have the memory of an
/// exchange then, or of the two of pencils, if there is a transform. The field beside its modes
/// takes no more.
double bytes_per_cell(const Options& options, const std::array<int, 2>& shape) {
  const bool transforms = !options.power.empty() || options.interlaced ||
                          field_compensation(options) != Compensation::none;
  constexpr double mesh = 4, sums = 8, exchange = 4;
  const double exchanges = transforms ? (shape[0] > 1) + (shape[1] > 1) : 0;
  return (options.interlaced ? 2 : 1) * mesh + sums + exchanges * exchange;
}

/// Of the rank with most cells. Sums have ghosts behind them along axes that are divided, which go
/// to other ranks in the end, while others come.
double bytes_of_cells(const Plan& plan) {
  const Decomposition decomposition(plan.grid, plan.ranks.num_ranks);
  const auto [rows, columns] = decomposition.shape();
  const Index above = order_of(plan.options.window) - 1;
  const IndexBox own = decomposition.cells(0);
  const IndexBox with_ghosts = own.grown({}, {{rows > 1 ? above : 0, columns > 1 ? above : 0, 0}});
  const auto cells = static_cast<double>(own.size());
  constexpr double bytes_per_ghost = 3 * sizeof(Index);
  return cells * bytes_per_cell(plan.options, decomposition.shape()) +
         (static_cast<double>(with_ghosts.size()) - cells) * bytes_per_ghost;
}

double bytes_of_real(const Plan& plan) {
  return plan.double_positions ? sizeof(double) : sizeof(float);
}

/// What is loaded of a particle.
double bytes_per_particle(const Plan& plan) {
  const app::ColumnBytes column =
      app::bytes_read(plan.snapshot, plan.options.types, plan.double_positions);
  return column.position + (plan.options.by_number ? 0 : column.mass);
}

/// Of a rank that paints so many particles, besides them and the cells (zhalo/mesh/paint.hpp).
double bytes_to_paint(const Plan& plan, double particles) {
  constexpr double max_at_once = 1 << 24, max_sent = 1 << 23, max_received = 1 << 24;
  if (plan.ranks.num_ranks == 1) return 9 * std::min(particles, max_at_once);
  // Those that are sent, with the order in which they are, and those that come: clustered particles
  // do not come evenly to the ranks.
  constexpr double come = 1.1;
  const double under_way = 3 * bytes_of_real(plan) + sizeof(double);
  return (under_way + 2 * sizeof(LocalIndex)) * std::min(particles, max_sent) +
         under_way * std::min(come * particles, max_received);
}

/// Of the map that rank 0 draws: cells, pixels with their values and colours, and circles.
double bytes_of_picture(const Plan& plan) {
  constexpr double bytes_per_pixel = 26, bytes_per_halo = 116;
  if (plan.options.image.empty()) return 0;
  const auto side = static_cast<double>(plan.options.grid);
  const auto pixels = static_cast<double>(plan.options.pixels);
  return sizeof(double) * side * side + bytes_per_pixel * pixels * pixels +
         bytes_per_halo * static_cast<double>(plan.haloes.haloes.size());
}

/// While a rank moves so many particles, some at a time, it has their velocities.
double bytes_to_move(const Plan& plan, double particles) {
  constexpr double max_at_once = 1 << 22;
  if (!plan.redshift_space) return 0;
  return 3 * bytes_of_real(plan) * std::min(particles, max_at_once);
}

/// Of the run that the rest of the plan describes.
app::Estimate<double> estimate_needs(const Plan& plan) {
  const auto cells = static_cast<double>(plan.grid.size());
  const double ranks = plan.ranks.num_ranks;
  const double particles = static_cast<double>(plan.num_particles) / ranks;
  const double of_each = bytes_of_cells(plan) + particles * bytes_per_particle(plan) +
                         bytes_to_paint(plan, particles) + bytes_to_move(plan, particles) +
                         rank_bytes;
  app::Estimate<double> estimate;
  estimate.memory_per_rank = of_each + bytes_of_picture(plan);
  estimate.memory = ranks * of_each + bytes_of_picture(plan);
  if (writes_field(plan.options))
    estimate.output =
        cells * sizeof(float) + static_cast<double>(app::header_bytes(plan.num_files));
  return estimate;
}

}  // namespace

std::string layer_text(const Plan& plan) {
  const View& view = plan.options.view;
  return fmt::format("{} from {:.6g} to {:.6g} {}", axis_names[view.axis], view.from,
                     view.from + plan.depth, plan.snapshot.units.length_name());
}

Sources open_sources(const Context& context, const Options& options) {
  Sources sources{app::open_snapshot(context, options.snapshot, options.box_length), {}, {}};
  sources.types =
      app::present_types(sources.particles.info(), "--types", options.types, sources.warnings);
  check_columns(sources, options);
  return sources;
}

Plan plan_run(const Context& context, const Sources& sources, const Options& options) {
  Plan plan;
  plan.snapshot = sources.particles.info();
  plan.warnings = plan.snapshot.warnings;
  plan.warnings.insert(plan.warnings.end(), sources.warnings.begin(), sources.warnings.end());
  plan.options = options;
  plan.options.types = sources.types;
  plan.num_particles = app::count_of(plan.snapshot, sources.types);
  plan.double_positions = app::needs_double(plan.snapshot, sources.types);
  plan.ranks = app::survey_ranks(context, options.exec.processor == Processor::automatic);
  plan.grid = {{{options.grid, options.grid, options.grid}}, periodic_box(plan.snapshot, options)};
  if (options.redshift_axis) set_redshift_space(plan);
  plan.decomposition = Decomposition(plan.grid, plan.ranks.num_ranks).describe();
  plan.depth = depth_of(options, plan.grid, plan.snapshot.units.length_name());
  context.comm.together([&] { set_haloes(context.comm, plan); });
  warn_of_haloes(plan);
  if (writes_field(options))
    plan.output =
        app::name_output(options.output, fmt::format("density_{:03d}.hdf5", plan.snapshot.number),
                         io::Content::field);
  plan.num_files = options.files.num_files_on(plan.ranks.num_ranks);
  check_names(context.comm, files_of(plan), plan.warnings);
  check_bins(plan);
  warn_of_spectrum(plan);
  plan.estimate = estimate_needs(plan);
  const double not_here = context.comm.rank() == 0 ? 0 : bytes_of_picture(plan);
  app::check_memory(context,
                    {plan.estimate.memory_per_rank - not_here,
                     fmt::format("--grid {0}: a field of {0}^3 cells and {1} particles",
                                 options.grid, plan.num_particles),
                     "use fewer cells, or more machines"},
                    options.dry_run, plan.warnings);
  app::check_device_need(context, device_need(plan), options.dry_run, plan.warnings);
  return plan;
}

namespace {

// What a run needs of a device: the calls of run.cpp, one after the other.

double bytes_of_device(const Plan& plan, int ranks) {
  const Options& options = plan.options;
  const SearchSize size{plan.num_particles, ranks, plan.double_positions};
  const MeshSize mesh = Decomposition(plan.grid, ranks).mesh_size(ranks, false);
  const app::ColumnBytes column =
      app::bytes_read(plan.snapshot, options.types, plan.double_positions);
  const double particles = static_cast<double>(plan.num_particles) / ranks *
                           (column.position + (options.by_number ? 0 : column.mass));
  const bool has_power = !options.power.empty();
  const bool is_painted = needs_field(options) && !options.interlaced &&
                          field_compensation(options) == Compensation::none;
  MemoryTally tally;
  tally.take(particles);
  if (is_painted) {
    tally.take(field_bytes(mesh));
    tally.call(paint_need(size, mesh, order_of(options.window)));
    tally.drop(particles);
    if (has_power) tally.call(to_modes_need(mesh));
    return tally.peak();
  }
  for (int meshes = 0; meshes < (options.interlaced ? 2 : 1); ++meshes) {
    tally.take(modes_bytes(mesh));
    tally.call(paint_need(size, mesh, order_of(options.window)));
    tally.call(to_field_need(mesh));  // the way to modes takes as much, in place
  }
  if (options.interlaced) tally.drop(modes_bytes(mesh));
  tally.drop(particles);
  if (!needs_field(options)) return tally.peak();
  tally.take(field_bytes(mesh));
  tally.call(to_field_need(mesh));
  return tally.peak();
}

}  // namespace

app::DeviceNeed device_need(const Plan& plan) {
  return {
      fmt::format("a density of {} particles in {}^3 cells", plan.num_particles, plan.options.grid),
      [plan](int ranks) { return bytes_of_device(plan, ranks); }};
}

}  // namespace zhalo::density_app
