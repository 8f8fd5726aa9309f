#include "zhalo/io/result_file.hpp"

#include <fmt/format.h>

#include <cmath>
#include <type_traits>
#include <utility>

#include "src/comm/agreement.hpp"
#include "src/core/instantiate.hpp"
#include "src/io/output/file_set.hpp"
#include "src/io/snapshot/state.hpp"
#include "zhalo/core/error.hpp"

namespace zhalo::io {

using hdf5::OutputFile;

namespace {

/// GADGET-4 has a variable number of types, but readers expect six.
constexpr std::size_t num_types = 6;

void check_header(const SnapshotHeader& header) {
  const auto check = [](double value, const char* name) {
    if (!std::isfinite(value) || value <= 0)
      throw InputError(
          fmt::format("the {} of a snapshot is {} (must be positive and finite)", name, value));
  };
  check(header.box_length, "box length");
  check(header.scale_factor, "scale factor");
  check(header.hubble, "Hubble parameter");
  check(header.length_in_cm, "unit of length");
  check(header.mass_in_g, "unit of mass");
  check(header.velocity_in_cm_per_s, "unit of velocity");
  for (const double omega : {header.omega_matter, header.omega_lambda, header.omega_baryon}) {
    if (!std::isfinite(omega))
      throw InputError(fmt::format("an Omega of a snapshot is {} (must be finite)", omega));
  }
}

template <class Real>
void check_particles(const SnapshotParticles<Real>& particles) {
  if (particles.type < 0 || particles.type >= static_cast<int>(num_types))
    throw InputError(fmt::format("a snapshot with particles of type {} (must be 0 to {})",
                                 particles.type, num_types - 1));
  if (particles.num < 0)
    throw InputError(
        fmt::format("a snapshot with {} particles (must be 0 or more)", particles.num));
  if (particles.num == 0) return;
  if (!std::isfinite(particles.mass) || particles.mass <= 0)
    throw InputError(fmt::format(
        "a snapshot with particles of mass {} (must be positive and finite)", particles.mass));
  const auto check = [&](const auto* column, const char* name) {
    if (column == nullptr)
      throw InputError(fmt::format("{} particles of a snapshot have no {}", particles.num, name));
  };
  for (std::size_t axis = 0; axis < 3; ++axis) {
    check(particles.pos[axis],
          "positions (SnapshotParticles::pos must point to those of each axis)");
    check(particles.velocity[axis],
          "velocities (SnapshotParticles::velocity must point to those of each axis)");
  }
  check(particles.id, "ids (SnapshotParticles::id must point to one for each)");
}

/// Ranks that share a file take turns; what one of them would write as another, nobody sees.
/// Collective.
void check_equal(const Communicator& comm, const std::string& name, int type,
                 const SnapshotHeader& header) {
  std::vector<Index> numbers =
      numbers_of(type, name, header.box_length, header.scale_factor, header.hubble,
                 header.omega_matter, header.omega_lambda, header.omega_baryon, header.length_in_cm,
                 header.mass_in_g, header.velocity_in_cm_per_s);
  for (const Note& note : header.parameters) {
    append_numbers(numbers, note.name);
    append_numbers(numbers, note.value.index());
    std::visit([&](const auto& value) { append_numbers(numbers, value); }, note.value);
  }
  validate_equal(comm, numbers, "the name of a snapshot, its header or the type of its particles");
}

/// The mass of all particles; 0 if there are none. Collective.
template <class Real>
double common_mass(const Communicator& comm, const SnapshotParticles<Real>& particles) {
  const double max_mass = comm.max(particles.num > 0 ? particles.mass : 0);
  const double min_mass = comm.min(particles.num > 0 ? particles.mass : max_mass);
  if (min_mass != max_mass)
    throw InputError(fmt::format(
        "a snapshot with particles of mass {} to {} (all must have the same, on all ranks)",
        min_mass, max_mass));
  return max_mass;
}

/// What readers take the header for.
SnapshotInfo info_of(const SnapshotHeader& header) {
  SnapshotInfo info;
  info.code = Code::gadget4;
  info.box_length = Vec3d{{header.box_length, header.box_length, header.box_length}};
  info.cosmology.scale_factor = header.scale_factor;
  info.cosmology.redshift = 1 / header.scale_factor - 1;
  info.cosmology.hubble = header.hubble;
  info.cosmology.omega_matter = header.omega_matter;
  info.cosmology.omega_lambda = header.omega_lambda;
  info.cosmology.omega_baryon = header.omega_baryon;
  info.units = {header.length_in_cm, header.mass_in_g, header.velocity_in_cm_per_s};
  return info;
}

/// In [0, length), also in Real.
template <class Real>
Real wrapped(Real value, double length) {
  const auto x = static_cast<double>(value);
  if (x >= 0 && x < length) return value;
  const auto image = static_cast<Real>(x - length * std::floor(x / length));
  // The quotient may round up to a whole number, and the image lie below 0.
  return image >= 0 && static_cast<double>(image) < length ? image : Real{0};
}

template <class Real>
void check_finite(const SnapshotParticles<Real>& particles) {
  Index num_bad = 0;
  for (const auto& vectors : {particles.pos, particles.velocity})
    for (const Real* axis : vectors)
      for (Index i = 0; i < particles.num; ++i) num_bad += std::isfinite(axis[i]) ? 0 : 1;
  if (num_bad > 0)
    throw InputError(
        fmt::format("{} coordinates or velocities of a snapshot's {} particles are not finite",
                    num_bad, particles.num));
}

/// /Header but for what depends on the types, and /Parameters.
void write_frame(OutputFile& file, Index num_files, const SnapshotInfo& info) {
  file.make_group("Header");
  file.attribute("Header", "NumFilesPerSnapshot", static_cast<int>(num_files));
  file.attribute("Header", "Time", *info.cosmology.scale_factor);
  file.attribute("Header", "Redshift", *info.cosmology.redshift);
  file.attribute("Header", "BoxSize", (*info.box_length)[0]);
  make_parameters(file);
  file.attribute("Parameters", "ComovingIntegrationOn", 1);
  write_cosmology_and_units(file, "Parameters", info);
}

/// Of rows of three numbers, each `converted`, which are made when they are written.
template <class Real, class Convert>
FileColumn column_of(const std::string& name, const std::array<const Real*, 3>& axes,
                     const Convert& converted, Meaning meaning) {
  FileColumn column{name, hdf5::cells_of(Span<const Real>(), 3)};
  column.meaning = std::move(meaning);
  column.make_rows = [axes, converted](Share rows, std::byte* to) {
    auto* next = reinterpret_cast<Real*>(to);
    for (Index i = rows.first; i < rows.first + rows.count; ++i)
      for (const Real* axis : axes) *next++ = converted(axis[i]);
  };
  return column;
}

template <class Real>
std::vector<FileColumn> columns_of(const SnapshotParticles<Real>& particles,
                                   const SnapshotHeader& header) {
  const std::string group = group_of_type(particles.type) + "/";
  const auto in_box = [length = header.box_length](Real x) { return wrapped(x, length); };
  const auto stored = [factor = 1 / std::sqrt(header.scale_factor)](Real velocity) {
    return static_cast<Real>(static_cast<double>(velocity) * factor);
  };
  FileColumn ids{group + "ParticleIDs",
                 hdf5::cells_of(Span<const std::uint64_t>(particles.id, particles.num))};
  ids.meaning = Meaning{.text = "id"};
  return {column_of(group + "Coordinates", particles.pos, in_box,
                    meaning_of({.length = 1}, "comoving position")),
          column_of(group + "Velocities", particles.velocity, stored,
                    {.a = 0.5,
                     .velocity = 1,
                     .text = "peculiar velocity divided by the root of the scale factor"}),
          std::move(ids)};
}

/// May throw on one rank only.
template <class Real>
void write_particles(StagedFiles& files, const std::string& name,
                     const SnapshotParticles<Real>& particles, const SnapshotHeader& header,
                     const WriteOptions& options) {
  check_header(header);
  check_particles(particles);
  const Communicator& comm = files.comm();
  check_equal(comm, name, particles.type, header);
  const double mass = common_mass(comm, particles);
  const FileShares shares = file_shares(comm, options);
  const SnapshotInfo info = info_of(header);
  const TypeRange range{particles.type, comm.exclusive_sum(particles.num), particles.num};
  const std::vector<TypeRows> rows = rows_by_type(comm, shares, {range}, {particles.type});
  check_finite(particles);
  std::vector<double> masses(num_types);
  masses[static_cast<std::size_t>(particles.type)] = mass;

  FileSet set;
  set.prefix = name;
  set.units = info.units;
  set.single_is_whole = true;
  set.columns = columns_of(particles, header);
  for (FileColumn& column : set.columns) column.placement = &rows.front().placement;
  set.write_header = [&](OutputFile& file, const FileView& view) {
    write_frame(file, view.num_files, info);
    file.attribute("Header", "MassTable", masses);
    write_types(file, view, rows, num_types);
    write_notes(file, "Parameters", header.parameters);
  };
  write_file_set(files, shares, set, options.master);
}

}  // namespace

template <class Real>
void write_snapshot(StagedFiles& files, const std::string& name,
                    const SnapshotParticles<Real>& particles, const SnapshotHeader& header,
                    const WriteOptions& options) {
  files.all_or_nothing([&] { write_particles(files, name, particles, header, options); });
}

ZHALO_FOR_REALS(write_snapshot);

}  // namespace zhalo::io
