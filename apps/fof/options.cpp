#include "apps/fof/raw_options.hpp"

namespace zhalo::fof_app {
namespace {

constexpr const char* summary =
    "Finds friends-of-friends groups in an N-body snapshot: GADGET-2/3/4, AREPO, SWIFT, EAGLE, "
    "GIZMO.";

constexpr const char* examples =
    "Examples:\n"
    "  fof snapshot_007.hdf5                               groups for b = 0.2 into ./fof_output\n"
    "  fof snapdir_099 --rlink 0.168 --min-size 20 -o out  a snapshot of many files\n"
    "  fof snap.hdf5 --link-types 0,1,4 --meansep rho --membership\n"
    "  fof snap.hdf5 --attach-types 0,4,5                  gas, stars, black holes join the "
    "groups\n"
    "  fof snap.hdf5 --dry-run                             what is in the file, and what a run "
    "needs\n"
    "Lengths are in the snapshot's unit. Results: OUT/groups_NNN/fof_subhalo_tab_NNN.0.hdf5 and\n"
    "OUT/membership_NNN.0.hdf5 for snapshot number NNN; earlier ones are replaced when the new are "
    "whole.\n"
    "Under mpirun or srun each rank takes its share of the particles (docs/slurm.md).";

void add_search_options(app::CommandLine& command, Options& options, RawOptions& words) {
  command.add_option("--rlink", words.linking_ratio, "Linking length in mean separations [0.2]",
                     "B");
  command.add_option("--rlink-abs", options.linking_length,
                     "Linking length in the snapshot's unit, instead", "X");
  command.add_option("--meansep", words.mean_separation,
                     "Mean separation: auto, rho (from the density), volume, or a length", "RULE");
  command.add_option("--min-size", options.min_size, "Smallest group, in particles [32]", "N");
  command.add_option("--min-counts", words.min_counts,
                     "What counts for --min-size: all (linked and attached) or linkers [all]",
                     "WHICH");
  command.add_option("--link-types", words.link_types,
                     "Particle types to link, such as 1 or 0,1,4 [1]", "T,..");
  command.add_option("--attach-types", words.attach_types,
                     "Types that join the nearest linked particle's group, such as 0,4,5 [none]",
                     "T,..");
  command.add_option("--attach-radius", words.attach_radius,
                     "How near: in linking lengths, or inf [4, as GADGET-4, AREPO; SWIFT: 1]", "R");
  app::add_box_options(command, options, words);
}

void add_run_options(app::CommandLine& command, Options& options, RawOptions& words) {
  command.add_option("-o,--output", options.output, "Folder of the results [fof_output]", "OUT");
  command.add_flag("--membership", options.membership,
                   "Also write every particle's group, in the snapshot's order");
  app::add_run_options(command, options, words,
                       "Show snapshot, linking length, memory and output size; search nothing");
}

}  // namespace

std::variant<Options, std::string> parse_options(int argc, const char* const* argv) {
  Options options;
  RawOptions words;
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
  add_search_options(command, options, words);
  add_run_options(command, options, words);
  if (auto text = app::read_options(command, words, argc, argv)) return *text;
  resolve(words, options);
  return options;
}

}  // namespace zhalo::fof_app
