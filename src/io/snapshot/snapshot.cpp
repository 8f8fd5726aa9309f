#include "zhalo/io/snapshot.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "src/comm/exchange.hpp"
#include "src/io/snapshot/dialect.hpp"
#include "src/io/snapshot/files.hpp"
#include "src/io/snapshot/state.hpp"
#include "zhalo/core/error.hpp"

namespace zhalo::io {

using hdf5::InputFile;

Snapshot::Snapshot(std::shared_ptr<const State> state) : state_(std::move(state)) {}

const SnapshotInfo& Snapshot::info() const { return state_->info; }

namespace {

/// They are left over from another run, or the header is wrong.
void warn_of_chunks_beyond(SnapshotInfo& info) {
  const std::vector<std::string> beyond =
      chunks_beyond(info.files, info.files.front() == info.path);
  if (beyond.empty()) return;
  info.warnings.push_back(fmt::format(
      "'{}' {} not read: Header/NumFilesPerSnapshot says that the snapshot has {} file{} (remove "
      "what is left over from another run, or repair the header)",
      beyond.front(),
      beyond.size() == 1 ? "is" : fmt::format("and {} more like it are", beyond.size() - 1),
      info.files.size(), info.files.size() == 1 ? "" : "s"));
}

void take_name(const FileName& name, SnapshotInfo& info) {
  info.stem = name.stem;
  const std::optional<int> number = snapshot_number(info.stem);
  info.number = number.value_or(0);
  // The whole snapshot is in "snap.007.hdf5": that is no number of a part.
  if (number == 0 && info.files.size() == 1) info.number = std::max(0, name.chunk);
  if (!number)
    info.warnings.push_back(
        fmt::format("the number of '{}' is too large: results have the number 000 in their names "
                    "(rename the snapshot, or say -o)",
                    info.path));
}

/// The mass of all particles. Of types whose masses differ, some are read, here and there. 0 if a
/// type has no masses, or some that cannot be read: perhaps nobody needs them.
double estimate_mass(const Snapshot& snapshot) {
  constexpr Index max_blocks = 16, block_size = 64;
  double total = 0;
  for (std::size_t type = 0; type < snapshot.info().types.size(); ++type) {
    const TypeSummary& here = snapshot.info().types[type];
    if (here.count == 0) continue;
    if (here.mass_source == "none" || here.masses_fault) return 0;
    if (here.uniform_mass) {
      total += static_cast<double>(here.count) * *here.uniform_mass;
      continue;
    }
    double sum = 0;
    Index num = 0;
    for (Index block = 0; block < max_blocks; ++block) {
      const Share share =
          share_of(here.count, static_cast<int>(block), static_cast<int>(max_blocks));
      std::vector<double> mass(static_cast<std::size_t>(std::min(share.count, block_size)));
      snapshot.read_masses(static_cast<int>(type), share.first, Span<double>(mass));
      sum = std::accumulate(mass.begin(), mass.end(), sum);
      num += static_cast<Index>(mass.size());
    }
    total += sum / static_cast<double>(num) * static_cast<double>(here.count);
  }
  return total;
}

double mass_or_zero(const Snapshot& snapshot) {
  try {
    return estimate_mass(snapshot);
  } catch (const FileError&) {  // as of masses that were never written
    return 0;
  }
}

void take_given_density(const SnapshotOverrides& overrides, SnapshotInfo& info) {
  if (!overrides.cosmology.critical_density) return;
  info.cosmology.critical_density = overrides.cosmology.critical_density;
  info.cosmology.critical_density_source = "given by the user";
}

void warn_of_two_masses(Snapshot::State& state);

/// All files of the snapshot to which this one belongs.
std::vector<std::string> files_with(const std::string& named) {
  const InputFile file(named);
  check_is_snapshot(file);
  return all_chunks(named, read_counts(file, {}).num_files);
}

/// Which files belong to the snapshot, and all that the first of them says, whichever was named.
Snapshot::State find_files(const std::string& path, const SnapshotOverrides& overrides) {
  Snapshot::State state;
  SnapshotInfo& info = state.info;
  info.path = path;
  info.files = files_with(find_first_file(path));
  {
    const InputFile file(info.files.front());
    check_is_snapshot(file);
    read_conventions(file, overrides, info);
    // Behind these links are groups like Parameters, which only this file is asked for.
    info.origins.assign(file.origins().files.begin(), file.origins().files.end());
  }
  warn_of_chunks_beyond(info);
  take_name(FileName::of(info.files.front()), info);
  return state;
}

/// Brings together on rank 0 what the ranks found in their files, in the files' order.
std::vector<FileContents> on_first_rank(const Communicator& comm,
                                        std::vector<FileContents> contents) {
  const std::string bytes = to_bytes(std::move(contents));
  std::vector<std::vector<char>> for_ranks(static_cast<std::size_t>(comm.size()));
  for_ranks.front().assign(bytes.begin(), bytes.end());
  const std::vector<char> all = exchanged(comm, for_ranks).elements;
  return contents_from_bytes({all.begin(), all.end()});
}

/// `contents` are on rank 0. Collective.
void find_origins(const Communicator& comm, const std::vector<FileContents>& contents,
                  SnapshotInfo& info) {
  hdf5::Origins found{{info.origins.begin(), info.origins.end()}, {}};
  for (const FileContents& file : contents) found.add(file.origins);
  info.origins = all_origins(comm, std::move(found));
}

}  // namespace

Snapshot Snapshot::open(const std::string& path, const SnapshotOverrides& overrides) {
  return open(Communicator(), path, overrides);
}

Snapshot Snapshot::open(const Communicator& comm, const std::string& path,
                        const SnapshotOverrides& overrides) {
  const bool is_first = comm.rank() == 0;
  return together(comm, [&] {
    auto state = std::make_shared<State>(state_from_bytes(
        comm.broadcast(is_first ? to_bytes(find_files(path, overrides)) : std::string())));
    const Share mine = share_of(std::ssize(state->info.files), comm.rank(), comm.size());
    const auto contents = on_first_rank(comm, look_into_files(state->info, mine));
    find_origins(comm, contents, state->info);
    if (is_first) {
      combine_files(*state, contents, overrides);
      warn_of_two_masses(*state);
      // Not with the conventions: which units fit shows in the particles' masses. They set the
      // density of the file anew, so that the user's comes last.
      const Snapshot snapshot(state);
      settle_assumed_units(state->info, [&] { return mass_or_zero(snapshot); });
      take_given_density(overrides, state->info);
    }
    return Snapshot(std::make_shared<State>(
        state_from_bytes(comm.broadcast(is_first ? to_bytes(*state) : std::string()))));
  });
}

namespace {

const TypeLayout& layout_of(const Snapshot::State& state, int type) {
  if (type >= 0 && type < static_cast<int>(state.layouts.size()))
    return state.layouts[static_cast<std::size_t>(type)];
  throw InputError(fmt::format("'{}' has no particle type {}: its types are 0 to {}",
                               state.info.path, type, state.layouts.size() - 1));
}

struct Request {
  int type;
  Index first;  ///< particle
  Index count;
  int components;
};

void check_request(const Request& request, Index num) {
  if (request.first < 0 || request.count < 0 || request.first > num - request.count)
    throw InputError(fmt::format("particles {} to {} of type {} were asked for, but there are {}",
                                 request.first, request.first + request.count - 1, request.type,
                                 num));
}

/// Visits the files that hold the requested particles: `read(file, dataset, rows in its first axis,
/// element of the target)`.
template <class Read>
void for_each_piece(const Snapshot::State& state, const Request& request, const Column& column,
                    const Read& read) {
  const auto& first_of_file = layout_of(state, request.type).first_of_file;
  check_request(request, first_of_file.back());
  const std::string dataset = dataset_path(request.type, column.name);
  for (std::size_t i = 0; i < state.info.files.size(); ++i) {
    const Index begin = std::max(request.first, first_of_file[i]);
    const Index end = std::min(request.first + request.count, first_of_file[i + 1]);
    if (begin >= end) continue;
    const InputFile file(state.info.files[i], state.complete);
    const auto shape = file.shape(dataset);
    const Index components = shape && shape->extent.size() == 1 ? request.components : 1;
    const hdf5::Rows rows{(begin - first_of_file[i]) * components, (end - begin) * components};
    read(file, dataset, rows, (begin - request.first) * request.components);
  }
}

const Column& existing(const Snapshot::State& state, int type, const Column TypeLayout::*column,
                       const char* what) {
  const TypeLayout& layout = layout_of(state, type);
  if (!(layout.*column).name.empty() || layout.first_of_file.back() == 0) return layout.*column;
  throw InputError(fmt::format("'{}' has no {} of particle type {}", state.info.path, what, type));
}

template <class T>
void read_column(const Snapshot::State& state, const Request& request, const Column& column,
                 Span<T> to) {
  for_each_piece(state, request, column,
                 [&](const InputFile& file, const std::string& dataset, hdf5::Rows rows, Index at) {
                   file.read(dataset, rows, hdf5::native_type(T{}), to.data() + at);
                 });
}

/// What the dataset says of one particle; nothing if it cannot be read: it is not needed.
std::optional<double> mass_in_dataset(const Snapshot::State& state, int type, Index at) {
  const Column& column = state.layouts[static_cast<std::size_t>(type)].mass;
  if (column.name.empty() || column.fault) return std::nullopt;
  double mass = 0;
  try {
    read_column(state, {type, at, 1, 1}, column, Span<double>(&mass, 1));
  } catch (const FileError&) {
    return std::nullopt;
  }
  return mass;
}

/// Codes write masses in the table or in a dataset. Where both are there, the table counts. The
/// first and the last particle show whether the dataset says otherwise.
void warn_of_two_masses(Snapshot::State& state) {
  for (std::size_t type = 0; type < state.layouts.size(); ++type) {
    const TypeSummary& here = state.info.types[type];
    if (here.count == 0 || here.mass_source != "MassTable") continue;
    for (const Index at : {Index{0}, here.count - 1}) {
      const auto mass = mass_in_dataset(state, static_cast<int>(type), at);
      if (!mass || std::abs(*mass / *here.uniform_mass - 1) < 1e-5) continue;  // as float32 has it
      state.info.warnings.push_back(fmt::format(
          "'{}': Header/MassTable has {:g} for type {}, but /PartType{}/{} has {:g} for particle "
          "{}: the table is taken (make its number 0 to have the dataset taken)",
          state.info.path, *here.uniform_mass, type, type, state.layouts[type].mass.name, *mass,
          at));
      break;
    }
  }
}

/// GADGET-4 may store positions as unsigned integers that span the box. 1e6 coordinates at a time.
template <class Real>
void read_integer_positions(const Snapshot::State& state, const Request& request,
                            const Column& column, Span<Real> to) {
  if (!state.info.box_length)
    throw InputError(fmt::format(
        "'{}': positions are integers of {} bits that span the box, but its size is unknown: give "
        "--box-size",
        state.info.path, 8 * column.bytes));
  constexpr Index block = 1 << 18;  // particles
  std::vector<std::uint64_t> scratch(static_cast<std::size_t>(3 * std::min(block, request.count)));
  const double per_cell = std::ldexp(1.0, -8 * column.bytes);
  Vec3d span = *state.info.box_length;
  for (int axis = 0; axis < 3; ++axis) span[axis] /= state.info.box_stretch[axis];
  for (Index done = 0; done < request.count; done += block) {
    const Request part{request.type, request.first + done, std::min(block, request.count - done),
                       3};
    read_column<std::uint64_t>(state, part, column, {scratch.data(), 3 * part.count});
    for (Index i = 0; i < 3 * part.count; ++i) {
      const double fraction = static_cast<double>(scratch[static_cast<std::size_t>(i)]) * per_cell;
      to[3 * done + i] = static_cast<Real>(fraction * span[static_cast<int>(i % 3)]);
    }
  }
}

template <class T>
Request request_of(int type, Index first, Span<T> to, int components) {
  if (to.data() == nullptr && !to.empty())
    throw InputError(fmt::format("{} numbers are to be read to null", to.size()));
  if (to.size() % components != 0)
    throw InputError("the size of a target for positions or velocities must be a multiple of 3");
  return {type, first, to.size() / components, components};
}

template <class Real>
void read_any_positions(const Snapshot::State& state, int type, Index first, Span<Real> xyz) {
  const Column& column = existing(state, type, &TypeLayout::position, "Coordinates");
  const Request request = request_of(type, first, xyz, 3);
  column.fault.check();
  if (column.integer) return read_integer_positions(state, request, column, xyz);
  read_column(state, request, column, xyz);
}

template <class Real>
void read_any_velocities(const Snapshot::State& state, int type, Index first, Span<Real> xyz) {
  const Column& column = existing(state, type, &TypeLayout::velocity, "Velocities");
  column.fault.check();
  read_column(state, request_of(type, first, xyz, 3), column, xyz);
}

template <class Real>
void read_any_masses(const Snapshot::State& state, int type, Index first, Span<Real> mass) {
  const Request request = request_of(type, first, mass, 1);
  const Index num = layout_of(state, type).first_of_file.back();
  const TypeSummary& summary = state.info.types[static_cast<std::size_t>(type)];
  if (summary.uniform_mass) {
    check_request(request, num);
    std::fill(mass.begin(), mass.end(), static_cast<Real>(*summary.uniform_mass));
    return;
  }
  const Column& column = state.layouts[static_cast<std::size_t>(type)].mass;
  if (num > 0 && column.name.empty())
    throw InputError(
        fmt::format("'{}' has no masses of particle type {}: Header/MassTable has no mass for it, "
                    "and there is no /PartType{}/Masses",
                    state.info.path, type, type));
  column.fault.check();
  read_column(state, request, column, mass);
}

/// Some codes store unsigned ids as signed ones. HDF5 would make 0 of what is negative: such ids
/// are taken bit by bit.
void read_any_ids(const Snapshot::State& state, const Request& request, const Column& column,
                  Span<std::uint64_t> to) {
  column.fault.check();
  const auto read = [&](const InputFile& file, const std::string& dataset, hdf5::Rows rows,
                        Index at) {
    const auto shape = file.shape(dataset);
    if (!shape || !shape->is_signed)
      return file.read(dataset, rows, hdf5::native_type(std::uint64_t{}), to.data() + at);
    // The same memory as numbers with a sign.
    file.read(dataset, rows, hdf5::native_type(Index{}), to.data() + at);
    if (shape->bytes >= 8) return;
    const std::uint64_t bits = (std::uint64_t{1} << (8 * shape->bytes)) - 1;
    for (std::uint64_t& id : to.subspan(at, rows.count)) id &= bits;
  };
  for_each_piece(state, request, column, read);
}

}  // namespace

void Snapshot::read_positions(int type, Index first, Span<float> xyz) const {
  read_any_positions(*state_, type, first, xyz);
}
void Snapshot::read_positions(int type, Index first, Span<double> xyz) const {
  read_any_positions(*state_, type, first, xyz);
}
void Snapshot::read_velocities(int type, Index first, Span<float> xyz) const {
  read_any_velocities(*state_, type, first, xyz);
}
void Snapshot::read_velocities(int type, Index first, Span<double> xyz) const {
  read_any_velocities(*state_, type, first, xyz);
}
void Snapshot::read_masses(int type, Index first, Span<float> mass) const {
  read_any_masses(*state_, type, first, mass);
}
void Snapshot::read_masses(int type, Index first, Span<double> mass) const {
  read_any_masses(*state_, type, first, mass);
}

void Snapshot::read_ids(int type, Index first, Span<std::uint64_t> id) const {
  read_any_ids(*state_, request_of(type, first, id, 1),
               existing(*state_, type, &TypeLayout::id, "ParticleIDs"), id);
}

}  // namespace zhalo::io
