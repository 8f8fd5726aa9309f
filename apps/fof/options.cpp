#include "apps/fof/fof.hpp"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "apps/cli/options.hpp"

namespace zhalo::fof_app {
namespace {

using app::demand;
using app::is_positive;

/// What is on the command line, not checked yet.
struct RawOptions : app::RawCommonOptions {
  std::string mean_separation = "auto";
  std::string link_types = "1";
  std::string attach_types;
  std::string min_counts = "all";
  std::optional<std::string> attach_radius;
  std::optional<double> linking_ratio;
};

constexpr const char* summary = "Finds friends-of-friends groups in an N-body snapshot.";

constexpr const char* examples = R"(Examples:
  fof snapshot_007.hdf5                 groups for b = 0.2 into ./fof_output
  fof snapdir_099 --rlink 0.168 --min-size 20 -o out
                                        a snapshot of many files
  fof snap.hdf5 --link-types 0,1,4 --meansep rho --membership
  fof snap.hdf5 --attach-types 0,4,5    gas, stars, black holes join the groups
  fof snap.hdf5 --dry-run               what is in the file, and what a run needs
Lengths are in the snapshot's unit. Results: OUT/groups_NNN/fof_subhalo_tab_NNN.0.hdf5 and
OUT/membership_NNN.0.hdf5 for snapshot number NNN; earlier ones are replaced when the new are whole.
Under mpirun or srun each rank takes its share of the particles (docs/slurm.md).)";

void add_search_options(app::CommandLine& command, Options& options, RawOptions& raw) {
  command.add_option("--rlink", raw.linking_ratio, "Linking length in mean separations [0.2]", "B");
  command.add_option("--rlink-abs", options.linking_length,
                     "Linking length in the snapshot's unit, instead", "X");
  command.add_option("--meansep", raw.mean_separation,
                     "Mean separation: auto, rho (from the density), volume, or a length [auto]",
                     "RULE");
  command.add_option("--min-size", options.min_size, "Smallest group, in particles [32]", "N");
  command.add_option("--min-counts", raw.min_counts,
                     "What counts for --min-size: all (linked and attached) or linked [all]",
                     "WHICH");
  command.add_option("--link-types", raw.link_types,
                     "Particle types to link, such as 1 or 0,1,4 [1]", "T,..");
  command.add_option("--attach-types", raw.attach_types,
                     "Types that join the nearest linked particle's group, such as 0,4,5 [none]",
                     "T,..");
  command.add_option("--attach-radius", raw.attach_radius,
                     "Largest distance to a linked particle, in linking lengths, or inf [4]", "R");
  app::add_box_options(command, options, raw);
}

void add_run_options(app::CommandLine& command, Options& options, RawOptions& raw) {
  command.add_option("-o,--output", options.output, "Folder of the results [fof_output]", "OUT");
  command.add_flag("--membership", options.membership,
                   "Also write every particle's group, in the snapshot's order");
  app::add_run_options(command, options, raw,
                       "Show snapshot, linking length, memory and output size; search nothing");
}

double parse_radius(const std::string& word) {
  double radius = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), radius);
  demand(error == std::errc() && end == word.data() + word.size() && radius >= 0,
         fmt::format(
             "--attach-radius is '{}' (must be a number of linking lengths, 0 or more, or inf)",
             word));
  return radius;
}

void take_attach(const RawOptions& raw, const std::vector<int>& link_types, Attach& attach) {
  if (!raw.attach_types.empty())
    attach.types = app::parse_types("--attach-types", raw.attach_types);
  for (const int type : attach.types) {
    demand(std::count(link_types.begin(), link_types.end(), type) == 0,
           fmt::format("type {} is in both --link-types and --attach-types: linked particles need "
                       "not be attached",
                       type));
  }
  demand(!raw.attach_radius || !attach.types.empty(),
         "--attach-radius is given, but no --attach-types: nothing is attached");
  if (raw.attach_radius) attach.radius = parse_radius(*raw.attach_radius);
  attach.only_linked_count =
      app::choice<bool>("--min-counts", raw.min_counts, {{"linked", true}, {"all", false}});
}

void take(const RawOptions& raw, Options& options) {
  demand(!raw.linking_ratio || !options.linking_length,
         "--rlink and --rlink-abs are both given: which one is meant?");
  options.linking_ratio = raw.linking_ratio.value_or(options.linking_ratio);
  options.link_types = app::parse_types("--link-types", raw.link_types);
  take_attach(raw, options.link_types, options.attach);
  options.mean_separation = parse_mean_separation(raw.mean_separation);
}

void check(const Options& options) {
  demand(is_positive(options.linking_ratio),
         fmt::format("the linking length --rlink is {} (must be positive and finite)",
                     options.linking_ratio));
  demand(!options.linking_length || is_positive(*options.linking_length),
         fmt::format("the linking length --rlink-abs is {} (must be positive and finite)",
                     options.linking_length.value_or(0)));
  demand(options.min_size >= 1,
         fmt::format("--min-size is {} (must be at least 1)", options.min_size));
  demand(!options.output.empty(), "-o is empty: name a folder for the results");
  demand(options.output != "-",
         "-o -: catalogues cannot go to standard output: name a folder for the results");
}

}  // namespace

std::vector<int> all_types(const std::vector<int>& link_types, const Attach& attach) {
  std::vector<int> types = link_types;
  types.insert(types.end(), attach.types.begin(), attach.types.end());
  return types;
}

std::variant<Options, std::string> parse_options(int argc, const char* const* argv) {
  Options options;
  RawOptions raw;
  app::CommandLine command(
      {.name = "fof",
       .usage = "SNAPSHOT [OPTION...]",
       .summary = summary,
       .footer = examples,
       .other_names = {{"-b", "--rlink"},
                       {"--linking-length", "--rlink (in mean separations) or --rlink-abs"},
                       {"--linking_length", "--rlink (in mean separations) or --rlink-abs"},
                       {"--min-members", "--min-size"},
                       {"--nmin", "--min-size"},
                       {"--boxsize", "--box-size"},
                       {"--types", "--link-types"}}});
  app::add_snapshot(command, options);
  add_search_options(command, options, raw);
  add_run_options(command, options, raw);
  if (auto text = app::read_options(command, raw, argc, argv)) return *text;
  resolve_common(raw, "fof", options);
  options.output_folder = options.output;
  take(raw, options);
  check(options);
  return options;
}

}  // namespace zhalo::fof_app
