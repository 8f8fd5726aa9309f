#include "apps/knn/knn.hpp"

#include <algorithm>
#include <cmath>
#include <sstream>

#include <fmt/format.h>

#include "apps/cli/options.hpp"

namespace zhalo::knn_app {
namespace {

using app::demand;

/// What is on the command line, not checked yet.
struct RawOptions : app::RawCommonOptions {
  std::string types = "1";
  std::optional<std::string> query_types;
  std::vector<std::string> reductions;
  std::optional<std::string> kernel;
  std::optional<double> max_radius;
  bool lists = false;
  bool exclude_self = false;
};

constexpr const char* summary =
    "Finds the k nearest neighbours of each particle of an N-body snapshot, or of other points.\n"
    "Computes densities and other quantities from them.";

constexpr const char* examples = R"(Examples:
  knn snapshot_007.hdf5            32 neighbours of each particle: distances and rows
  knn snapdir_099 -k 64 --reduce density -o rho.hdf5
                                   SPH densities of a snapshot of many files
  knn snap.hdf5 -k 1 --query centres.hdf5 --max-radius 0.5
  knn snap.hdf5 --dry-run          what is in the file, and what a run needs
Lengths are in the snapshot's unit. Results are in the order of the snapshot, or of the queries:
PartTypeN/Distances, Indices, and a dataset for each --reduce (docs/knn.md). Several files are
OUT.0.hdf5, OUT.1.hdf5, ...
Under mpirun or srun each rank takes its share of the particles.)";

void add_search_options(app::CommandLine& command, Options& options, RawOptions& raw) {
  std::vector<const char*> words;
  for (const QuantityTraits& traits : quantity_table) words.push_back(traits.word);
  command.add_option("-k", options.k,
                     "Neighbours of each particle, itself included, 1 to 4096 [32]", "K");
  command.add_option("--types", raw.types, "Particle types to search, such as 1 or 0,1,4 [1]",
                     "T,..");
  command.add_repeated("--reduce", raw.reductions,
                       fmt::format("Numbers from the neighbours: {}", fmt::join(words, ", ")),
                       "R,..");
  command.add_flag("--lists", raw.lists, "Distances and Indices also where --reduce is given");
  command.add_option("--kernel", raw.kernel,
                     "Of the density: cubic (spline), c2 or c4 (Wendland) [cubic]", "NAME");
  command.add_flag("--exclude-self", raw.exclude_self, "No particle is its own neighbour");
  command.add_option("--max-radius", raw.max_radius,
                     "Neighbours at most this far, in the snapshot's unit [any distance]", "X");
  command.add_option("--query", options.query,
                     "Search around these points: another snapshot, or a file with /Coordinates",
                     "FILE");
  command.add_option("--query-types", raw.query_types,
                     "Particle types in the query's snapshot [those of --types]", "T,..");
}

std::vector<Quantity> parse_reductions(const std::vector<std::string>& lists) {
  std::vector<std::pair<const char*, Quantity>> known;
  for (const QuantityTraits& traits : quantity_table)
    known.emplace_back(traits.word, traits.quantity);
  std::vector<Quantity> reductions;
  for (const std::string& list : lists) {
    std::istringstream stream(list + ",");
    for (std::string item; std::getline(stream, item, ',');) {
      const Quantity quantity = app::choice("--reduce", item, known);
      const bool twice = std::count(reductions.begin(), reductions.end(), quantity) > 0;
      demand(!twice, fmt::format("--reduce names '{}' twice", item));
      reductions.push_back(quantity);
    }
  }
  return reductions;
}

void take_queries(const RawOptions& raw, Options& options) {
  if (raw.query_types) {
    demand(!options.query.empty(),
           "--query-types is given without --query: whose types are meant?");
    options.query_types = app::parse_types("--query-types", *raw.query_types);
  }
  demand(!raw.exclude_self || options.query.empty(),
         "--exclude-self is given with --query: queries are no particles, and none is left out");
  options.include_self = !raw.exclude_self;
}

void take(const RawOptions& raw, Options& options) {
  options.types = app::parse_types("--types", raw.types);
  options.reductions = parse_reductions(raw.reductions);
  options.lists = raw.lists || options.reductions.empty();
  const bool density =
      std::count(options.reductions.begin(), options.reductions.end(), Quantity::density) > 0;
  demand(!raw.kernel || density,
         "--kernel is given, but no density is asked for (--reduce density)");
  options.kernel = app::choice<SphKernel>("--kernel", raw.kernel.value_or("cubic"),
                                          {{"cubic", SphKernel::cubic_spline},
                                           {"c2", SphKernel::wendland_c2},
                                           {"c4", SphKernel::wendland_c4}});
  take_queries(raw, options);
  demand(options.k >= 1 && options.k <= max_neighbours,
         fmt::format("-k is {} (must be 1 to {})", options.k, max_neighbours));
  demand(
      !density || options.k > 1,
      "-k is 1 with --reduce density: the kernel ends at the last neighbour, which adds nothing, "
      "and there is no other (take a larger -k, such as 32)");
  options.max_radius = raw.max_radius.value_or(options.max_radius);
  demand(!std::isnan(options.max_radius) && options.max_radius >= 0,
         fmt::format("--max-radius is {} (must not be negative)", options.max_radius));
}

}  // namespace

std::variant<Options, std::string> parse_options(int argc, const char* const* argv) {
  Options options;
  RawOptions raw;
  app::CommandLine command(
      {.name = "knn",
       .usage = "SNAPSHOT [OPTION...]",
       .summary = summary,
       .footer = examples,
       .other_names = {{"--boxsize", "--box-size"}, {"--link-types", "--types"}}});
  app::add_snapshot(command, options);
  add_search_options(command, options, raw);
  app::add_box_options(command, options, raw);
  command.add_option("-o,--output", options.output,
                     "File of the results [knn_NNN.hdf5, after the snapshot's number]", "OUT.hdf5");
  app::add_run_options(command, options, raw,
                       "Show snapshot, memory and output size; search nothing");
  if (auto text = app::read_options(command, raw, argc, argv)) return *text;
  resolve_common(raw, "knn", options);
  options.output_folder = app::folder_of(options.output);
  take(raw, options);
  return options;
}

}  // namespace zhalo::knn_app
