#include "src/io/output/file_set.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <numeric>
#include <optional>
#include <set>
#include <utility>

#include "src/core/validate.hpp"
#include "src/io/hdf5/output.hpp"
#include "zhalo/core/error.hpp"

namespace zhalo::io {

FileShares::FileShares(Index num_files, int rank, int num_ranks)
    : num_files_(num_files == 0 ? num_ranks : num_files) {
  if (num_files < 0 || num_files > max_files) {
    throw InputError(
        fmt::format("a catalogue cannot have {} files; ask for 1 to {}, beyond which file systems "
                    "and readers give up, or for 0: one per rank",
                    num_files, max_files));
  }
  if (num_files_ > num_ranks) {
    files_.first = rank * num_files_ / num_ranks;
    files_.count = (rank + 1) * num_files_ / num_ranks - files_.first;
    return;
  }
  files_ = {((rank + 1) * num_files_ - 1) / num_ranks, 1};
  turn_ = rank - static_cast<int>(files_.first * num_ranks / num_files_);
  num_turns_ = static_cast<int>((num_ranks + num_files_ - 1) / num_files_);
}

FileShares file_shares(const Communicator& comm, const WriteOptions& options) {
  const Index smallest = comm.min(options.num_files), largest = comm.max(options.num_files);
  const Index masters = comm.sum(options.master ? Index{1} : Index{0});
  if (smallest != largest || (masters != 0 && masters != comm.size())) {
    throw InputError(
        fmt::format("the ranks ask for {} to {} files, {} of {} with a master; give the same "
                    "WriteOptions on all ranks",
                    smallest, largest, masters, comm.size()));
  }
  return {options.num_files, comm.rank(), comm.size()};
}

Placement::Placement(const Communicator& comm, const FileShares& shares, Index count)
    : files_(shares.files()),
      count_(count),
      before_(comm.exclusive_sum(count)),
      first_of_file_(static_cast<std::size_t>(shares.num_files()) + 1) {
  for (Index file = files_.first; file < files_.first + files_.count; ++file)
    first_of_file_[static_cast<std::size_t>(file) + 1] = mine(file).count;
  comm.sum_in_place(first_of_file_);
  std::partial_sum(first_of_file_.begin(), first_of_file_.end(), first_of_file_.begin());
}

Share Placement::in_files(Share files) const {
  const Index first = first_of_file_.at(static_cast<std::size_t>(files.first));
  return {first, first_of_file_.at(static_cast<std::size_t>(files.first + files.count)) - first};
}

Share Placement::mine(Index file) const {
  return share_of(count_, static_cast<int>(file - files_.first), static_cast<int>(files_.count));
}

Index Placement::row(Index file) const {
  return before_ + mine(file).first - first_of_file_.at(static_cast<std::size_t>(file));
}

using hdf5::OutputFile;

namespace {

constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

}  // namespace

void write_cosmology_and_units(OutputFile& file, const std::string& group,
                               const SnapshotInfo& snapshot) {
  const Cosmology& cosmology = snapshot.cosmology;
  // Readers demand the attribute. GADGET writes `without` for runs that are not cosmological.
  const auto add = [&](const char* name, std::optional<double> value, double without) {
    file.attribute(group, name, value.value_or(snapshot.cosmological ? unknown : without));
  };
  add("Omega0", cosmology.omega_matter, 0);
  add("OmegaLambda", cosmology.omega_lambda, 0);
  add("OmegaBaryon", cosmology.omega_baryon, 0);
  add("HubbleParam", cosmology.hubble, 1);
  file.attribute(group, "UnitLength_in_cm", snapshot.units.length_in_cm);
  file.attribute(group, "UnitMass_in_g", snapshot.units.mass_in_g);
  file.attribute(group, "UnitVelocity_in_cm_per_s", snapshot.units.velocity_in_cm_per_s);
  const Vec3d box = snapshot.box_length.value_or(Vec3d{});
  if (box[0] == box[1] && box[1] == box[2]) {
    file.attribute(group, "BoxSize", box[0]);
  } else {
    file.attribute(group, "BoxSize", std::vector<double>{box[0], box[1], box[2]});
  }
}

namespace {

std::string velocity_name(const Units& units) {
  const double km_per_s = units.velocity_in_cm_per_s / 1e5;
  return std::abs(km_per_s - 1) < 1e-6 ? "km/s" : fmt::format("{:.6g} km/s", km_per_s);
}

std::string power_of(const std::string& unit, double power) {
  return power == 1 ? unit : fmt::format("({})^{:g}", unit, power);
}

/// "Mpc/h", "(1e10 Msun/h) (Mpc/h)^-3"; empty for what has no unit.
std::string unit_text(const Units& units, const Meaning& meaning) {
  std::string text;
  const auto add = [&](const std::string& unit, double power) {
    if (power == 0) return;
    if (!text.empty()) text += " ";
    text += power_of(unit, power);
  };
  const bool alone = (meaning.mass != 0) + (meaning.length != 0) + (meaning.velocity != 0) == 1;
  add(alone ? units.mass_name() : fmt::format("({})", units.mass_name()), meaning.mass);
  add(units.length_name(), meaning.length);
  add(velocity_name(units), meaning.velocity);
  return text;
}

}  // namespace

void write_meaning(OutputFile& file, const std::string& dataset, const Units& units,
                   const Meaning& meaning) {
  const double to_cgs = std::pow(units.length_in_cm, meaning.length) *
                        std::pow(units.mass_in_g, meaning.mass) *
                        std::pow(units.velocity_in_cm_per_s, meaning.velocity);
  file.attribute(dataset, "a_scaling", meaning.a);
  file.attribute(dataset, "h_scaling", units.h_free ? 0 : meaning.h);
  file.attribute(dataset, "length_scaling", meaning.length);
  file.attribute(dataset, "mass_scaling", meaning.mass);
  file.attribute(dataset, "velocity_scaling", meaning.velocity);
  file.attribute(dataset, "to_cgs", to_cgs);
  file.attribute(dataset, "Unit", unit_text(units, meaning));
  file.attribute(dataset, "Description", meaning.text);
}

namespace {

/// `Time` is the scale factor of a cosmological run.
std::pair<double, double> time_and_redshift(const SnapshotInfo& snapshot) {
  if (!snapshot.cosmological) return {snapshot.time.value_or(unknown), 0};
  const double time = snapshot.cosmology.scale_factor.value_or(unknown);
  return {time, snapshot.cosmology.redshift.value_or(1 / time - 1)};
}

}  // namespace

void write_common_header(OutputFile& file, Index num_files, const SnapshotInfo& snapshot) {
  file.make_group("Header");
  file.attribute("Header", "NumFiles", static_cast<int>(num_files));
  const auto [time, redshift] = time_and_redshift(snapshot);
  file.attribute("Header", "Time", time);
  file.attribute("Header", "Redshift", redshift);
  file.attribute("Header", "FlagDoubleprecision", 1);
  write_cosmology_and_units(file, "Header", snapshot);
}

void write_notes(OutputFile& file, const std::string& object, const std::vector<Note>& notes) {
  for (const Note& note : notes)
    std::visit([&](const auto& value) { file.attribute(object, note.name, value); }, note.value);
}

void make_parameters(OutputFile& file) {
  file.make_group("Parameters");
  file.attribute("Parameters", "Code", std::string("zhalo"));
  file.attribute("Parameters", "CodeVersion", std::string(ZHALO_VERSION));
}

namespace {

/// So that it means the same in any folder. Empty for a snapshot without files.
std::string whole_path_of(const SnapshotInfo& snapshot) {
  if (snapshot.files.empty()) return {};
  std::error_code error;
  const auto path = std::filesystem::absolute(snapshot.files.front(), error);
  return error ? snapshot.files.front() : path.lexically_normal().string();
}

}  // namespace

void write_origin(OutputFile& file, const SnapshotInfo& snapshot) {
  const std::string group = "Parameters";
  make_parameters(file);
  file.attribute(group, "ComovingIntegrationOn", snapshot.cosmological ? 1 : 0);
  file.attribute(group, "Snapshot", whole_path_of(snapshot));
  file.attribute(group, "SnapshotCode", name_of(snapshot.code));
  file.attribute(group, "SnapshotNumber", snapshot.number);
  file.attribute(group, "LengthUnit", snapshot.units.length_name());
  file.attribute(group, "MassUnit", snapshot.units.mass_name());
  file.attribute(group, "UnitsAssumed", snapshot.units.assumed ? 1 : 0);
  write_cosmology_and_units(file, group, snapshot);
}

namespace {

std::string numbered(const std::string& prefix, Index number) {
  return fmt::format("{}.{}.hdf5", prefix, number);
}
std::string master_of(const std::string& prefix) { return prefix + ".hdf5"; }

bool is_single(const FileShares& shares, const FileSet& set) {
  return set.single_is_whole && shares.num_files() == 1;
}

std::string file_name(const FileShares& shares, const FileSet& set, Index number) {
  return is_single(shares, set) ? master_of(set.prefix) : numbered(set.prefix, number);
}

/// As the user will know the file, for messages.
std::string shown(const StagedFiles& files, const std::string& name) {
  return files.directory() + "/" + name;
}

void write_meanings(OutputFile& file, const FileSet& set, const FileView& view) {
  for (const FileColumn& column : set.columns) {
    if (column.meaning) {
      Meaning meaning = *column.meaning;
      if (!set.cosmological) meaning.a = 0;
      write_meaning(file, column.name, set.units, meaning);
    }
    write_notes(file, column.name, column.notes);
    if (!column.first_row.empty())
      file.attribute(column.name, column.first_row, column.placement->in_files(view.files).first);
  }
}

/// All of a numbered file but the rows.
void write_frame(OutputFile& file, const FileSet& set, const FileView& view) {
  set.write_header(file, view);
  for (const FileColumn& column : set.columns)
    file.make_dataset(column.name, column.cells, column.placement->in_files(view.files).count);
  write_meanings(file, set, view);
}

/// Rows that are made: some at a time, so that they never lie in memory all at once.
void write_made_rows(OutputFile& file, const FileColumn& column, Index row, Share mine) {
  constexpr Index max_bytes = Index{16} << 20;
  const Index at_once = std::min(mine.count, std::max(max_bytes / column.cells.bytes, Index{1}));
  std::vector<std::byte> made(static_cast<std::size_t>(at_once * column.cells.bytes));
  hdf5::DatasetView rows = column.cells;
  rows.data = made.data();
  for (Index first = 0; first < mine.count; first += at_once) {
    rows.rows = std::min(at_once, mine.count - first);
    column.make_rows({mine.first + first, rows.rows}, made.data());
    file.write_rows(column.name, row + first, rows);
  }
}

/// The temporary path of a file; its first rank stages it. A file that is the whole set may replace
/// a master, which must not be seen without the files that it shows.
std::string temporary_path(StagedFiles& files, const FileShares& shares, const FileSet& set,
                           const std::string& name) {
  if (shares.turn() != 0) return files.join(name);
  using Appears = StagedFiles::Appears;
  return files.stage(name, is_single(shares, set) ? Appears::last : Appears::in_any_order);
}

/// This rank's part of one file; the first rank of the file makes it.
void write_part(StagedFiles& files, const FileShares& shares, const FileSet& set, Index number) {
  const std::string name = file_name(shares, set, number);
  const bool first = shares.turn() == 0;
  OutputFile file(temporary_path(files, shares, set, name), shown(files, name),
                  first ? hdf5::Open::new_file : hdf5::Open::existing);
  if (first) write_frame(file, set, {{number, 1}, shares.num_files()});
  for (const FileColumn& column : set.columns) {
    const Index row = column.placement->row(number);
    const Share mine = column.placement->mine(number);
    if (column.make_rows) {
      write_made_rows(file, column, row, mine);
    } else {
      file.write_rows(column.name, row, column.cells.part(mine));
    }
  }
  file.close();
}

void write_in_turns(StagedFiles& files, const FileShares& shares, const FileSet& set) {
  for (int turn = 0; turn < shares.num_turns(); ++turn) {
    files.comm().together([&] {  // a turn ends when all ranks are here
      if (turn != shares.turn()) return;
      const Share mine = shares.files();
      for (Index number = mine.first; number < mine.first + mine.count; ++number)
        write_part(files, shares, set, number);
    });
  }
}

/// The first rank of each file makes it, as in turns, and then all write their rows: the bytes are
/// the same. To be called with one file or less per rank.
void write_at_once(StagedFiles& files, const FileShares& shares, const FileSet& set) {
  const Index number = shares.files().first;
  const std::string name = file_name(shares, set, number);
  hdf5::NamedFile named{{}, shown(files, name)};
  files.comm().together([&] {
    const bool first = shares.turn() == 0;
    named.path = temporary_path(files, shares, set, name);
    if (!first) return;
    OutputFile file(named.path, named.shown);
    write_frame(file, set, {{number, 1}, shares.num_files()});
    file.close();
  });
  std::vector<hdf5::PlacedRows> rows;
  for (const FileColumn& column : set.columns)
    rows.push_back({column.name, column.placement->row(number),
                    column.cells.part(column.placement->mine(number))});
  hdf5::write_at_once(files.comm().split(static_cast<int>(number)), named, rows);
}

/// HDF5 looks for the sources in the master's own directory.
void write_master(StagedFiles& files, const FileShares& shares, const FileSet& set) {
  const std::string name = master_of(set.prefix);
  const std::string base = std::filesystem::path(set.prefix).filename().string();
  OutputFile file(files.stage(name, StagedFiles::Appears::last), shown(files, name));
  const FileView all{{0, shares.num_files()}, 1};
  set.write_header(file, all);
  for (const FileColumn& column : set.columns) {
    std::vector<hdf5::SourceRows> sources;
    for (Index number = 0; number < shares.num_files(); ++number)
      sources.push_back({numbered(base, number), column.placement->in_files({number, 1}).count});
    file.make_virtual_dataset(column.name, column.cells, sources);
  }
  write_meanings(file, set, all);
  file.close();
}

bool is_of_earlier_run(const std::string& path, Index number) {
  try {
    return files_of_run(hdf5::InputFile(path)).value_or(0) > number;
  } catch (const FileError&) {
    return false;  // no HDF5
  }
}

}  // namespace

std::optional<Index> files_of_run(const hdf5::InputFile& file) {
  if (file.text("Parameters", "Code") != "zhalo") return {};
  for (const char* name : {"NumFiles", "NumFilesPerSnapshot"}) {
    if (const auto num = file.integers("Header", name)) return num->front();
  }
  return {};
}

namespace {

/// Before anything is written: HDF5 would refuse the second of two.
template <class Things>
void validate_names_once(const Things& things, const std::string& what) {
  std::set<std::string> names;
  for (const auto& thing : things)
    validate(names.insert(thing.name).second, "{} named '{}' twice: give each a name of its own",
             what, thing.name);
}

}  // namespace

void validate_dataset_name(const std::string& name) {
  validate(!name.empty() && name != "." && name.find('/') == std::string::npos,
           "a dataset cannot be called '{}': give it a name without '/'", name);
}

void write_file_set(StagedFiles& files, const FileShares& shares, const FileSet& set, bool master) {
  const Communicator& comm = files.comm();
  validate_names_once(set.columns, "results have a dataset");
  for (const FileColumn& column : set.columns)
    validate_names_once(column.notes, fmt::format("dataset '{}' has a note", column.name));
  const bool single = is_single(shares, set);
  files.claim_numbered(set.prefix, single ? 0 : shares.num_files(), is_of_earlier_run);
  if (!single && !master) files.retire(master_of(set.prefix), is_of_earlier_run);
  const bool can_share = hdf5::can_write_at_once() && !comm.is_of_threads();
  if (set.at_once && shares.num_turns() > 1 && can_share) {
    write_at_once(files, shares, set);
  } else {
    write_in_turns(files, shares, set);
  }
  if (master && !single && comm.rank() == 0) write_master(files, shares, set);
}

void retire_file_set(StagedFiles& files, const std::string& prefix) {
  files.claim_numbered(prefix, 0, is_of_earlier_run);
  files.retire(master_of(prefix), is_of_earlier_run);
}

}  // namespace zhalo::io
