#include "zhalo/io/load.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>

#include "src/core/instantiate.hpp"
#include "src/io/hdf5/input.hpp"
#include "src/io/hdf5/output.hpp"
#include "src/io/snapshot/column_reading.hpp"
#include "src/io/snapshot/state.hpp"
#include "zhalo/core/buffer.hpp"
#include "zhalo/core/error.hpp"

namespace zhalo::io {

namespace {

constexpr const char* dataset = "Coordinates";

/// Notes in `origins` on which other files the points draw.
std::optional<QueryPoints> look_into(const std::string& path, hdf5::Origins& origins) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored)) return std::nullopt;
  const hdf5::InputFile file(path);
  const auto shape = file.shape(dataset);
  if (!shape && !file.has("Header"))
    throw InputError(fmt::format(
        "'{}' is no list of points, which has a dataset /{} of shape (N, 3), and no snapshot, "
        "which has a /Header",
        path, dataset));
  if (!shape) return std::nullopt;
  file.check_readable(dataset);
  if (shape->extent.size() != 2 || shape->extent[1] != 3 || shape->kind != hdf5::Kind::real) {
    throw InputError(
        fmt::format("'{}': /{} has shape ({}){} (must be (N, 3) with real numbers)", path, dataset,
                    fmt::join(shape->extent, ", "),
                    shape->kind == hdf5::Kind::real ? "" : " and does not hold real numbers"));
  }
  origins = file.origins();
  return QueryPoints{path, shape->extent[0], shape->bytes > 4};
}

}  // namespace

std::optional<QueryPoints> find_query_points(const Communicator& comm, const std::string& path) {
  return together(comm, [&]() -> std::optional<QueryPoints> {
    std::array<Index, 3> seen{};  // is there a dataset, its rows, float64
    hdf5::Origins origins;
    if (comm.rank() == 0) {
      if (const auto file = look_into(path, origins))
        seen = {1, file->count, file->double_coordinates ? 1 : 0};
    }
    for (Index& value : seen) value = comm.max(value);
    if (seen[0] == 0) return std::nullopt;
    return QueryPoints{path, seen[1], seen[2] != 0, all_origins(comm, std::move(origins))};
  });
}

template <class Real>
LoadedParticles<Real> load_query_points(const Context& context, const QueryPoints& file) {
  return together(context.comm, [&] {
    const Share share = share_of(file.count, context.comm.rank(), context.comm.size());
    LoadedParticles<Real> loaded;
    if (share.count == 0) return loaded;
    loaded.ranges = {{no_type, share.first, share.count}};
    const auto read = [&](Index row, Span<Real> xyz) {
      const hdf5::InputFile input(file.path);
      const hdf5::Rows rows{share.first + row, xyz.size() / 3};
      input.read(dataset, rows, hdf5::native_type(Real{}), xyz.data());
    };
    loaded.real_columns.push_back(
        ColumnReading(ColumnReading::When::at_once)
            .add<Real>(context.exec, {share.count, 3}, "positions of queries", read));
    loaded.particles.segments = {
        ParticleSegment<Real>::interleaved(loaded.real_columns.back().data(), share.count)};
    return loaded;
  });
}

ZHALO_FOR_REALS(load_query_points);

void check_types(const SnapshotInfo& info, const std::vector<int>& types) {
  if (types.empty()) throw InputError("no particle type is asked for: name at least one");
  std::vector<int> sorted = types;
  std::sort(sorted.begin(), sorted.end());
  if (const auto twice = std::adjacent_find(sorted.begin(), sorted.end()); twice != sorted.end()) {
    throw InputError(fmt::format("particle type {} is named twice", *twice));
  }
  std::vector<std::size_t> present;
  for (std::size_t type = 0; type < info.types.size(); ++type) {
    if (info.types[type].count > 0) present.push_back(type);
  }
  for (const int type : types) {
    const bool exists = type >= 0 && type < static_cast<int>(info.types.size());
    if (!exists || info.types[static_cast<std::size_t>(type)].count == 0) {
      throw InputError(present.empty()
                           ? fmt::format("'{}' has no particles at all", info.path)
                           : fmt::format("'{}' has no particles of type {}; it has type{} {}",
                                         info.path, type, present.size() == 1 ? "" : "s",
                                         fmt::join(present, ", ")));
    }
    if (!info.types[static_cast<std::size_t>(type)].has_coordinates) {
      throw InputError(
          fmt::format("'{}' has no Coordinates of particle type {} (/PartType{}/Coordinates)",
                      info.path, type, type));
    }
    info.types[static_cast<std::size_t>(type)].coordinates_fault.check();
  }
}

std::vector<TypeRange> ranges_of(const SnapshotInfo& info, const std::vector<int>& types,
                                 Share share) {
  std::vector<int> sorted = types;
  std::sort(sorted.begin(), sorted.end());
  std::vector<TypeRange> ranges;
  Index first_of_type = 0;
  for (const int type : sorted) {
    const Index count = info.types.at(static_cast<std::size_t>(type)).count;
    const Index begin = std::max(share.first, first_of_type);
    const Index end = std::min(share.first + share.count, first_of_type + count);
    if (begin < end) ranges.push_back({type, begin - first_of_type, end - begin});
    first_of_type += count;
  }
  return ranges;
}

namespace {

/// Makes the columns of one range after the other; `out` receives them.
template <class Real>
class Loader {
 public:
  Loader(const Exec& exec, const Snapshot& snapshot, LoadedParticles<Real>& out)
      : exec_(exec), snapshot_(snapshot), out_(out) {}

  void add_positions(const TypeRange& range, Index number,
                     const std::optional<RedshiftSpace>& space) {
    const auto read = [snapshot = snapshot_, range, space](Index row, Span<Real> xyz) {
      const TypeRange rows{range.type, range.first + row, xyz.size() / 3};
      snapshot.read_positions(rows.type, rows.first, xyz);
      if (space) move_to_redshift_space(snapshot, *space, rows, xyz);
    };
    out_.real_columns.push_back(
        ColumnReading(ColumnReading::When::at_once)
            .add<Real>(exec_, {range.count, 3}, "positions of the snapshot", read));
    auto segment = ParticleSegment<Real>::interleaved(out_.real_columns.back().data(), range.count);
    segment.type = {out_.type_numbers.data() + number, 0};
    out_.particles.segments.push_back(segment);
  }

  void add_velocities(const TypeRange& range, ParticleSegment<Real>& segment) {
    const auto view = [&](const auto* v) {
      for (std::size_t axis = 0; axis < 3; ++axis)
        segment.velocity[axis] = RealColumn(v + axis, 3 * Index{sizeof(*v)});
    };
    if (summary(range).double_velocities) {
      view(keep(velocities<double>(range), out_.double_columns));
    } else {
      view(keep(velocities<float>(range), out_.float_columns));
    }
  }

  void add_masses(const TypeRange& range, ParticleSegment<Real>& segment) {
    if (const auto uniform = summary(range).uniform_mass) {
      const double mass = *uniform;
      out_.double_columns.push_back(
          to_exec<double>(exec_, Span<const double>(&mass, 1), "mass of a particle type"));
      segment.mass = RealColumn(out_.double_columns.back().data(), 0);
    } else if (summary(range).double_masses) {
      segment.mass = RealColumn(keep(masses<double>(range), out_.double_columns));
    } else {
      segment.mass = RealColumn(keep(masses<float>(range), out_.float_columns));
    }
  }

  void add_ids() {
    Index num = 0;
    for (const TypeRange& range : out_.ranges) num += range.count;
    const auto read = [snapshot = snapshot_, ranges = out_.ranges](Index row,
                                                                   Span<std::uint64_t> id) {
      Index first = 0;  // row of a range's first particle
      for (const TypeRange& range : ranges) {
        const Index begin = std::max(row, first);
        const Index end = std::min(row + id.size(), first + range.count);
        if (begin < end)
          snapshot.read_ids(range.type, range.first + begin - first,
                            id.subspan(begin - row, end - begin));
        first += range.count;
      }
    };
    out_.id =
        out_.reading->template add<std::uint64_t>(exec_, {num, 1}, "ids of the snapshot", read);
  }

 private:
  const TypeSummary& summary(const TypeRange& range) const {
    return snapshot_.info().types[static_cast<std::size_t>(range.type)];
  }

  template <class T>
  const T* keep(Buffer<T> column, std::vector<Buffer<T>>& columns) {
    columns.push_back(std::move(column));
    return columns.back().data();
  }

  template <class T>
  Buffer<T> velocities(const TypeRange& range) {
    const auto read = [snapshot = snapshot_, range](Index row, Span<T> xyz) {
      snapshot.read_velocities(range.type, range.first + row, xyz);
      const T factor = static_cast<T>(snapshot.info().velocity_factor);
      for (T& v : xyz) v *= factor;
    };
    return out_.reading->template add<T>(exec_, {range.count, 3}, "velocities of the snapshot",
                                         read);
  }

  template <class T>
  Buffer<T> masses(const TypeRange& range) {
    const auto read = [snapshot = snapshot_, range](Index row, Span<T> mass) {
      snapshot.read_masses(range.type, range.first + row, mass);
    };
    return out_.reading->template add<T>(exec_, {range.count, 1}, "masses of the snapshot", read);
  }

  const Exec& exec_;
  const Snapshot& snapshot_;
  LoadedParticles<Real>& out_;
};

bool all_types(const SnapshotInfo& info, const std::vector<int>& types, bool TypeSummary::*has) {
  return std::all_of(types.begin(), types.end(),
                     [&](int type) { return info.types[static_cast<std::size_t>(type)].*has; });
}

}  // namespace

void check_readable(const SnapshotInfo& info, const std::vector<int>& types,
                    const LoadOptions& columns) {
  const bool velocities =
      columns.redshift_space ||
      (columns.velocities && all_types(info, types, &TypeSummary::has_velocities));
  const bool ids = columns.ids && all_types(info, types, &TypeSummary::has_ids);
  for (const int type : types) {
    const TypeSummary& here = info.types[static_cast<std::size_t>(type)];
    here.coordinates_fault.check();
    if (columns.masses) here.masses_fault.check();
    if (velocities) here.velocities_fault.check();
    if (ids) here.ids_fault.check();
  }
}

namespace {

void check_masses(const SnapshotInfo& info, const std::vector<int>& types) {
  for (const int type : types) {
    if (info.types[static_cast<std::size_t>(type)].mass_source != "none") continue;
    throw InputError(
        fmt::format("'{}' has no masses of particle type {}: no MassTable entry, Masses, Mass or "
                    "DynamicalMasses; give a mass for it",
                    info.path, type));
  }
}

void check_redshift_space(const RedshiftSpace& space, const SnapshotInfo& info,
                          const std::vector<int>& types) {
  if (space.axis < 0 || space.axis > 2 || !std::isfinite(space.length_per_velocity))
    throw InputError(fmt::format(
        "redshift space along axis {} with {} for a velocity (must be axis 0, 1 or 2 and a finite "
        "number: take redshift_space())",
        space.axis, space.length_per_velocity));
  for (const int type : types) {
    if (info.types[static_cast<std::size_t>(type)].has_velocities) continue;
    throw InputError(
        fmt::format("'{}' has no velocities of particle type {}, which move it in redshift space",
                    info.path, type));
  }
}

/// This rank's share of the particles of all types.
Share share_of_rank(const Context& context, const SnapshotInfo& info,
                    const std::vector<int>& types) {
  Index total = 0;
  for (const int type : types) total += info.types[static_cast<std::size_t>(type)].count;
  const Index max_of_a_rank = share_of(total, 0, context.comm.size()).count;
  if (max_of_a_rank > max_local_particles)
    throw InputError(
        fmt::format("'{}': {} of its {} particles are for one rank, which can have {} (use more "
                    "ranks)",
                    info.path, max_of_a_rank, total, max_local_particles));
  return share_of(total, context.comm.rank(), context.comm.size());
}

template <class Real>
LoadedParticles<Real> load_share(const Context& context, const Snapshot& snapshot,
                                 const std::vector<int>& types, const LoadOptions& options) {
  const SnapshotInfo& info = snapshot.info();
  check_types(info, types);
  if (options.masses) check_masses(info, types);
  if (options.redshift_space) check_redshift_space(*options.redshift_space, info, types);
  check_readable(info, types, options);
  LoadedParticles<Real> loaded;
  loaded.ranges = ranges_of(info, types, share_of_rank(context, info, types));
  loaded.has_velocities =
      options.velocities && all_types(info, types, &TypeSummary::has_velocities);
  loaded.has_ids = options.ids && all_types(info, types, &TypeSummary::has_ids);
  std::vector<std::uint8_t> numbers;
  for (const auto& range : loaded.ranges) numbers.push_back(static_cast<std::uint8_t>(range.type));
  loaded.type_numbers = to_exec<std::uint8_t>(context.exec, numbers, "type numbers");

  loaded.reading = std::make_shared<ColumnReading>(
      options.in_background ? ColumnReading::When::in_background : ColumnReading::When::at_once);
  Loader<Real> loader(context.exec, snapshot, loaded);
  for (std::size_t i = 0; i < loaded.ranges.size(); ++i)
    loader.add_positions(loaded.ranges[i], static_cast<Index>(i), options.redshift_space);
  for (std::size_t i = 0; i < loaded.ranges.size(); ++i) {
    ParticleSegment<Real>& segment = loaded.particles.segments[i];
    if (loaded.has_velocities) loader.add_velocities(loaded.ranges[i], segment);
    if (options.masses) loader.add_masses(loaded.ranges[i], segment);
  }
  if (loaded.has_ids) loader.add_ids();
  loaded.reading->start();
  return loaded;
}

}  // namespace

template <class Real>
LoadedParticles<Real> load_particles(const Context& context, const Snapshot& snapshot,
                                     const std::vector<int>& types, const LoadOptions& options) {
  LoadedParticles<Real> loaded;
  context.comm.together([&] { loaded = load_share<Real>(context, snapshot, types, options); });
  return loaded;
}

template <class Real>
void LoadedParticles<Real>::wait_for_columns(const Context& context) {
  context.comm.together([&] {
    if (reading) reading->finish();
    reading.reset();
  });
}

template struct LoadedParticles<float>;
template struct LoadedParticles<double>;
ZHALO_FOR_REALS(load_particles);

}  // namespace zhalo::io
