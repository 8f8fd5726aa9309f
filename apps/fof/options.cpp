#include "apps/fof/words.hpp"

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <memory>

#include "zhalo/core/error.hpp"
#include "zhalo/core/exec.hpp"

namespace zhalo::fof_app {
namespace {

constexpr const char* summary =
    "Finds friends-of-friends groups in an N-body snapshot: GADGET-2/3/4, AREPO, SWIFT, EAGLE, GIZMO.";

constexpr const char* examples =
    "Examples:\n"
    "  fof snapshot_007.hdf5                               groups for b = 0.2 into ./fof_output\n"
    "  fof snapdir_099 --rlink 0.168 --min-size 20 -o out  a snapshot of many files\n"
    "  fof snap.hdf5 --link-types 0,1,4 --meansep rho --membership\n"
    "  fof snap.hdf5 --dry-run                             what is in the file, and what a run needs\n"
    "Lengths are in the snapshot's unit. Results: OUT/groups_NNN/fof_subhalo_tab_NNN.0.hdf5 and\n"
    "OUT/membership_NNN.0.hdf5 for snapshot number NNN; earlier ones are replaced when the new are whole.\n"
    "Under mpirun or srun each rank takes its share of the particles (docs/slurm.md).";

class HelpFormat : public CLI::Formatter {
 public:
  std::string make_usage(const CLI::App*, std::string name) const override {
    return fmt::format("Usage: {} SNAPSHOT [OPTION...]\n", name);
  }
};

void add_search_options(CLI::App& app, Options& options, Words& words) {
  app.add_option("--rlink", words.linking_ratio, "Linking length in mean separations [0.2]")->type_name("B");
  app.add_option("--rlink-abs", options.linking_length, "Linking length in the snapshot's unit, instead")->type_name("X");
  app.add_option("--meansep", words.mean_separation, "Mean separation: auto, rho (from the density), volume, or a length")
      ->type_name("RULE");
  app.add_option("--min-size", options.min_size, "Smallest group, in particles [32]")->type_name("N");
  app.add_option("--link-types", words.link_types, "Particle types to link, such as 1 or 0,1,4 [1]")->type_name("T,..");
  app.add_option("--periodic", words.periodic, "auto (what the file says), yes or no")->type_name("WHICH");
  app.add_option("--box-size", options.box_length, "Side of the box [0, L)^3 instead of the file's")->type_name("L");
}

void add_run_options(CLI::App& app, Options& options, Words& words) {
  app.add_option("-o,--output", options.output, "Folder of the results [fof_output]")->type_name("OUT");
  app.add_flag("--membership", options.membership, "Also write every particle's group, in the snapshot's order");
  app.add_option("--files", options.files.num_files, "Files of each kind [0: one per rank]")->type_name("K");
  app.add_flag("--master", options.files.master, "Also a file that shows those of each kind as one (HDF5 virtual datasets)");
  app.add_option("--device", words.device, "auto (CUDA if there is a device), host, cuda or cuda:NUMBER")->type_name("WHICH");
  app.add_option("--threads", words.threads, "Host threads per rank [OMP_NUM_THREADS, or 0: a fair share of the cores]")
      ->type_name("N");
  app.add_flag("--dry-run", options.dry_run, "Show snapshot, linking length, memory and output size; search nothing");
  app.add_option("--json", options.json, "Write the report for machines; - is standard output")->type_name("FILE");
  app.add_flag("-q,--quiet", words.quiet, "Print nothing but errors");
  app.add_flag("-v,--verbose", words.verbose, "Print more detail");
  app.add_flag("--version", words.version, "Print version, vector target and CUDA support");
}

std::string version_text() {
  const std::string host = describe(host_exec());
  return fmt::format("zhalo {}\nvectors  {}\nCUDA     {}\n", ZHALO_VERSION, host.substr(host.rfind(' ') + 1),
                     query_devices().built_with_cuda ? "built in" : "not built in");
}

}  // namespace

std::variant<Options, std::string> parse_options(int argc, const char* const* argv) {
  Options options;
  Words words;
  CLI::App app(summary, "fof");
  app.formatter(std::make_shared<HelpFormat>());
  app.get_formatter()->column_width(24);
  app.footer(examples);
  app.add_option("snapshot", options.snapshot, "A file, one of its chunks, their common name, or their folder")->type_name("");
  add_search_options(app, options, words);
  add_run_options(app, options, words);
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    return app.help();
  } catch (const CLI::ParseError& error) {
    throw InputError(fmt::format("{} (fof --help shows the options)", error.what()));
  }
  if (words.version) return version_text();
  understand(words, options);
  return options;
}

}  // namespace zhalo::fof_app
