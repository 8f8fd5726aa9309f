#include "apps/cli/options.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <sstream>

#include <fmt/format.h>

#include "apps/report/text_file.hpp"
#include "zhalo/core/error.hpp"
#include "zhalo/core/exec.hpp"

namespace zhalo::app {
namespace {

std::string version_text() {
  const std::string host = describe(host_exec());
  return fmt::format("zhalo {}\nvectors  {}\nCUDA     {}\n", ZHALO_VERSION,
                     host.substr(host.rfind(' ') + 1),
                     query_devices().built_with_cuda ? "built in" : "not built in");
}

/// "2" or "0,1,3": numbers of a kind, each once. `given` begins messages: "--device is '0,0'".
std::vector<int> parse_numbers(const std::string& list, const char* kind, const std::string& given,
                               const char* must_be) {
  std::vector<int> numbers;
  std::istringstream stream(list + ",");
  for (std::string item; std::getline(stream, item, ',');) {
    int number = 0;
    const auto [end, error] = std::from_chars(item.data(), item.data() + item.size(), number);
    demand(error == std::errc() && end == item.data() + item.size() && number >= 0,
           fmt::format("{} (must be {})", given, must_be));
    demand(std::find(numbers.begin(), numbers.end(), number) == numbers.end(),
           fmt::format("{}: it names {} {} twice", given, kind, number));
    numbers.push_back(number);
  }
  return numbers;
}

/// "auto", "host", "cuda", or after an optional "cuda:" the words "all", "2" or "0,1,3".
void parse_device(const std::string& word, RunOptions& options) {
  const std::string prefix = "cuda:";
  const bool is_named = word.rfind(prefix, 0) == 0;
  const std::string which = is_named ? word.substr(prefix.size()) : word;
  const bool is_list =
      !which.empty() && which.find_first_not_of("0123456789,") == std::string::npos;
  if (which == "all" || is_named || is_list) {
    options.exec.processor = Processor::cuda;
    options.devices.all = which == "all";
    if (options.devices.all) return;
    const std::vector<int> numbers =
        parse_numbers(which, "device", fmt::format("--device is '{}'", word),
                      "cuda: and a number such as cuda:1, or numbers such as cuda:0,1");
    if (numbers.size() > 1) options.devices.numbers = numbers;
    if (numbers.size() == 1) options.exec.device = numbers.front();
    return;
  }
  options.exec.processor = choice<Processor>("--device", word,
                                             {{"auto", Processor::automatic},
                                              {"host", Processor::host},
                                              {"cuda", Processor::cuda},
                                              {"cuda:N", Processor::cuda},
                                              {"all", Processor::cuda},
                                              {"0,1,..", Processor::cuda}});
}

}  // namespace

void add_snapshot(CommandLine& command, CommonOptions& options) {
  command.add_option(
      "snapshot", options.snapshot,
      "A file, one of its chunks, their name without .0.hdf5, or their folder, of\n" +
          io::names_of_codes(),
      "");
  command.explain_extra_words(
      "give one snapshot; of a snapshot in many files, one of them or their folder");
}

void add_box_options(CommandLine& command, CommonOptions& options, RawCommonOptions& raw) {
  command.add_option("--periodic", raw.periodic, "auto (what the file says), yes or no [auto]",
                     "WHICH");
  command.add_option("--box-size", options.box_length,
                     "Side of the box [0, L)^3 instead of the file's; integer coordinates span it",
                     "L");
  command.add_flag("--wrap", options.wrap_all,
                   "Move any number of particles outside a periodic box into it");
}

void add_run_options(CommandLine& command, RunOptions& options, RawRunOptions& raw,
                     const std::string& dry_run) {
  command.add_option("--files", options.files.num_files,
                     "Number of files of each kind [0: one per rank, or one file with --devices]",
                     "K");
  command.add_flag("--master", options.files.master,
                   "Also a file that shows those of each kind as one (HDF5 virtual datasets)");
  command.add_option("--device,--devices", raw.device,
                     "auto, host, cuda, cuda:N; all or 0,1,..: several GPUs, without mpirun [auto]",
                     "WHICH");
  command.add_option("--transport", raw.transport,
                     "How GPUs exchange messages: auto, nccl, gpu-aware (MPI) or staged [auto]",
                     "WHICH");
  command.add_option("--threads", raw.threads,
                     "Host threads per rank [OMP_NUM_THREADS, or 0: a fair share of the cores]",
                     "N");
  command.add_flag("--dry-run", options.dry_run, dry_run);
  command.add_option("--json", options.json, "Write the report for machines; - is standard output",
                     "FILE");
  command.add_flag("-q,--quiet", raw.quiet, "Print nothing but warnings and errors");
  command.add_flag("-v,--verbose", raw.verbose, "Print more detail");
  command.add_flag("--version", raw.version, "Print version, vector target and CUDA support");
}

std::optional<std::string> read_options(CommandLine& command, const RawRunOptions& raw, int argc,
                                        const char* const* argv) {
  if (auto help = command.parse(argc, argv)) return help;
  if (raw.version) return version_text();
  return std::nullopt;
}

std::string folder_of(const std::string& path) {
  return std::filesystem::path(path).parent_path().string();
}

void resolve_run(const RawRunOptions& raw, RunOptions& options) {
  demand(!raw.quiet || !raw.verbose, "--quiet and --verbose are both given: which one is meant?");
  parse_device(raw.device, options);
  options.transport = parse_transport(raw.transport);
  demand(!raw.threads || (*raw.threads >= 0 && *raw.threads <= 4096),
         fmt::format("--threads is {} (must be 0, for a fair share of the cores, to 4096)",
                     raw.threads.value_or(0)));
  options.exec.threads = raw.threads.value_or(-1);
  // Threads write one after the other in any case: the files are those of one rank.
  if (options.devices.are_wanted() && options.files.num_files == 0) options.files.num_files = 1;
  options.output_is_taken = options.output_is_taken || is_standard_output(options.json);
  if (raw.quiet) options.verbosity = Verbosity::quiet;
  if (raw.verbose) options.verbosity = Verbosity::verbose;
  demand(options.files.num_files >= 0 && options.files.num_files <= io::max_files,
         fmt::format("--files is {} (must be 1 to {}, or 0 for one per rank)",
                     options.files.num_files, io::max_files));
}

void resolve_common(const RawCommonOptions& raw, const std::string& name, CommonOptions& options) {
  demand(!options.snapshot.empty(),
         fmt::format("no snapshot is given ({} --help shows how)", name));
  resolve_run(raw, options);
  options.periodicity = choice<io::Periodicity>("--periodic", raw.periodic,
                                                {{"auto", io::Periodicity::automatic},
                                                 {"yes", io::Periodicity::yes},
                                                 {"no", io::Periodicity::no}});
  demand(!options.box_length || is_positive(*options.box_length),
         fmt::format("--box-size is {} (must be positive and finite)",
                     options.box_length.value_or(0)));
}

void demand(bool good, const std::string& message) {
  if (!good) throw InputError(message);
}

bool is_positive(double value) { return std::isnormal(value) && value > 0; }

std::vector<int> parse_types(const char* option, const std::string& list) {
  return parse_numbers(list, "type", fmt::format("{} is '{}'", option, list),
                       "particle types such as 1 or 0,1,4");
}

// The snapshot and its box.

io::Snapshot open_snapshot(const Context& context, const std::string& path,
                           std::optional<double> box_length) {
  const ScopedTimer timer(context.timers, "open");
  io::SnapshotOverrides overrides;
  overrides.box_length = box_length;
  return io::Snapshot::open(context.comm, path, overrides);
}

std::vector<int> types_with_particles(const io::SnapshotInfo& info, const char* option,
                                      const std::vector<int>& types,
                                      std::vector<std::string>& warnings) {
  // Codes have these types, also where the file has no entry for some of them. Others are mistakes.
  constexpr std::size_t num_usual = 7;
  std::vector<int> present;
  std::vector<int> absent;
  for (const int type : types) {
    const auto at = static_cast<std::size_t>(type);
    const bool exists = at < info.types.size();
    const bool is_absent = exists ? info.types[at].count == 0 : at < num_usual;
    (is_absent ? absent : present).push_back(type);
  }
  if (!present.empty()) io::check_types(info, present);
  for (const int type : absent)
    warnings.push_back(fmt::format("'{}' has no particles of type {} ({}): it is left out",
                                   info.path, type, option));
  return present;
}

std::vector<int> present_types(const io::SnapshotInfo& info, const char* option,
                               const std::vector<int>& types, std::vector<std::string>& warnings) {
  std::vector<int> present = types_with_particles(info, option, types, warnings);
  if (present.empty()) io::check_types(info, types);
  return present;
}

Box choose_box(const io::SnapshotInfo& info, const CommonOptions& options) {
  Box box;
  try {
    box = io::simulation_box(info, options.periodicity);
  } catch (const InputError& error) {
    throw InputError(fmt::format("{} (--box-size, --periodic no)", error.what()));
  }
  if (!box.any_periodic() && options.wrap_all)
    throw InputError(fmt::format(
        "--wrap moves particles into a periodic box, but that of '{}' is not periodic: leave "
        "--wrap out, or say --periodic yes",
        info.path));
  if (!box.any_periodic() && options.box_length)
    box.length = {{*options.box_length, *options.box_length, *options.box_length}};
  return box;
}

void check_wrapped(const PositionCounts& counts, const Box& box, bool wrap_all,
                   const std::string& what) {
  constexpr Index one_in = 200;  // one in so many
  if (wrap_all || counts.num_wrapped <= counts.num_particles / one_in) return;
  throw InputError(fmt::format(
      "{} of {} {} lie outside the periodic box with sides {:.10g}, {:.10g}, {:.10g}: check "
      "--box-size, or give --wrap to move them into the box (fof and knn also search without a "
      "box: --periodic no)",
      counts.num_wrapped, counts.num_particles, what, box.length[0], box.length[1], box.length[2]));
}

Index count_of(const io::SnapshotInfo& info, const std::vector<int>& types) {
  Index count = 0;
  for (const int type : types) count += info.types.at(static_cast<std::size_t>(type)).count;
  return count;
}

ColumnBytes bytes_read(const io::SnapshotInfo& info, const std::vector<int>& types,
                       bool double_positions) {
  const auto all = static_cast<double>(std::max(count_of(info, types), Index{1}));
  ColumnBytes bytes{.position = 3.0 * (double_positions ? 8 : 4)};
  for (const int type : types) {
    const io::TypeSummary& t = info.types.at(static_cast<std::size_t>(type));
    const double part = static_cast<double>(t.count) / all;
    if (t.has_velocities) bytes.velocity += part * 3 * (t.double_velocities ? 8 : 4);
    if (!t.uniform_mass) bytes.mass += part * (t.double_masses ? 8 : 4);
    if (t.has_ids) bytes.id += part * sizeof(std::uint64_t);
  }
  return bytes;
}

bool needs_double(const io::SnapshotInfo& info, const std::vector<int>& types) {
  return std::any_of(types.begin(), types.end(), [&](int type) {
    return info.types[static_cast<std::size_t>(type)].double_coordinates;
  });
}

}  // namespace zhalo::app
