#include "zhalo/io/load.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <variant>

#include "src/io/hdf5/input.hpp"
#include "src/io/hdf5/output.hpp"
#include "zhalo/core/buffer.hpp"
#include "zhalo/core/error.hpp"

namespace zhalo::io {

/// A column in the memory of `exec`, read straight into place on the host.
template <class T, class Read>
Buffer<T> read_column(const Exec& exec, Index size, const char* purpose, const Read& read) {
  if (std::holds_alternative<Host>(exec)) {
    Buffer<T> column(exec, size, purpose);
    read(column.span());
    return column;
  }
  Buffer<T> staging(host_exec(), size, purpose);
  read(staging.span());
  return to_exec<T>(exec, staging.span(), purpose);
}

namespace {

constexpr const char* dataset = "Coordinates";

std::optional<QueryPoints> look_into(const std::string& path) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored)) return std::nullopt;
  const hdf5::InputFile file(path);
  const auto shape = file.shape(dataset);
  if (!shape) return std::nullopt;
  file.check_readable(dataset);
  if (shape->extent.size() != 2 || shape->extent[1] != 3 || shape->kind != hdf5::Kind::real) {
    throw InputError(
        fmt::format("'{}': /{} has shape ({}){} (must be (N, 3) with real numbers)", path, dataset,
                    fmt::join(shape->extent, ", "),
                    shape->kind == hdf5::Kind::real ? "" : " and does not hold real numbers"));
  }
  return QueryPoints{path, shape->extent[0], shape->bytes > 4};
}

}  // namespace

std::optional<QueryPoints> find_query_points(const Communicator& comm, const std::string& path) {
  return together(comm, [&]() -> std::optional<QueryPoints> {
    std::array<Index, 3> seen{};  // is there a dataset, its rows, float64
    if (comm.rank() == 0) {
      if (const auto file = look_into(path))
        seen = {1, file->count, file->double_coordinates ? 1 : 0};
    }
    for (Index& value : seen) value = comm.max(value);
    if (seen[0] == 0) return std::nullopt;
    return QueryPoints{path, seen[1], seen[2] != 0};
  });
}

template <class Real>
LoadedParticles<Real> load_query_points(const Context& context, const QueryPoints& file) {
  return together(context.comm, [&] {
    const Share share = share_of(file.count, context.comm.rank(), context.comm.size());
    LoadedParticles<Real> loaded;
    if (share.count == 0) return loaded;
    loaded.ranges = {{no_type, share.first, share.count}};
    loaded.real_columns.push_back(
        read_column<Real>(context.exec, 3 * share.count, "places of queries", [&](Span<Real> xyz) {
          const hdf5::InputFile input(file.path);
          input.read(dataset, {share.first, share.count}, hdf5::native_type(Real{}), xyz.data());
        }));
    loaded.particles.segments = {
        ParticleSegment<Real>::interleaved(loaded.real_columns.back().data(), share.count)};
    return loaded;
  });
}

template LoadedParticles<float> load_query_points(const Context&, const QueryPoints&);
template LoadedParticles<double> load_query_points(const Context&, const QueryPoints&);

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
      throw InputError(
          fmt::format("'{}' has no particles of type {}; it has type{} {}", info.path, type,
                      present.size() == 1 ? "" : "s",
                      present.empty() ? "none" : fmt::format("{}", fmt::join(present, ", "))));
    }
    if (!info.types[static_cast<std::size_t>(type)].has_coordinates) {
      throw InputError(
          fmt::format("'{}' has no Coordinates of particle type {} (/PartType{}/Coordinates)",
                      info.path, type, type));
    }
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

/// Reads one range after the other; `out` receives the columns.
template <class Real>
class Loader {
 public:
  Loader(const Exec& exec, const Snapshot& snapshot, const LoadOptions& options,
         LoadedParticles<Real>& out)
      : exec_(exec), snapshot_(snapshot), options_(options), out_(out) {}

  ParticleSegment<Real> load(const TypeRange& range, Index first) {
    const auto read = [&](Span<Real> xyz) {
      snapshot_.read_positions(range.type, range.first, xyz);
    };
    out_.real_columns.push_back(
        read_column<Real>(exec_, 3 * range.count, "positions of the snapshot", read));
    auto segment = ParticleSegment<Real>::interleaved(out_.real_columns.back().data(), range.count);
    if (out_.has_velocities) add_velocity(range, segment);
    if (options_.masses) add_mass(range, segment);
    segment.type = {out_.type_numbers.data() + first, 0};
    return segment;
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
    return read_column<T>(exec_, 3 * range.count, "velocities of the snapshot", [&](Span<T> xyz) {
      snapshot_.read_velocities(range.type, range.first, xyz);
      const T factor = static_cast<T>(snapshot_.info().velocity_factor);
      for (T& v : xyz) v *= factor;
    });
  }

  void add_velocity(const TypeRange& range, ParticleSegment<Real>& segment) {
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

  template <class T>
  Buffer<T> masses(const TypeRange& range) {
    return read_column<T>(exec_, range.count, "masses of the snapshot", [&](Span<T> mass) {
      snapshot_.read_masses(range.type, range.first, mass);
    });
  }

  void add_mass(const TypeRange& range, ParticleSegment<Real>& segment) {
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

  const Exec& exec_;
  const Snapshot& snapshot_;
  const LoadOptions& options_;
  LoadedParticles<Real>& out_;
};

bool all_types(const SnapshotInfo& info, const std::vector<int>& types, bool TypeSummary::*has) {
  return std::all_of(types.begin(), types.end(),
                     [&](int type) { return info.types[static_cast<std::size_t>(type)].*has; });
}

void check_masses(const SnapshotInfo& info, const std::vector<int>& types) {
  for (const int type : types) {
    if (info.types[static_cast<std::size_t>(type)].mass_source != "none") continue;
    throw InputError(
        fmt::format("'{}' has no masses of particle type {}: no MassTable entry, Masses, Mass or "
                    "DynamicalMasses; give "
                    "a mass for it",
                    info.path, type));
  }
}

template <class Real>
LoadedParticles<Real> load_share(const Context& context, const Snapshot& snapshot,
                                 const std::vector<int>& types, const LoadOptions& options) {
  const SnapshotInfo& info = snapshot.info();
  check_types(info, types);
  if (options.masses) check_masses(info, types);
  Index total = 0;
  for (const int type : types) total += info.types[static_cast<std::size_t>(type)].count;

  const Share share = share_of(total, context.comm.rank(), context.comm.size());
  LoadedParticles<Real> loaded;
  loaded.ranges = ranges_of(info, types, share);
  loaded.has_velocities =
      options.velocities && all_types(info, types, &TypeSummary::has_velocities);
  loaded.has_ids = options.ids && all_types(info, types, &TypeSummary::has_ids);
  std::vector<std::uint8_t> numbers;
  for (const auto& range : loaded.ranges) numbers.push_back(static_cast<std::uint8_t>(range.type));
  loaded.type_numbers = to_exec<std::uint8_t>(context.exec, numbers, "type numbers");

  Loader<Real> loader(context.exec, snapshot, options, loaded);
  for (std::size_t i = 0; i < loaded.ranges.size(); ++i) {
    loaded.particles.segments.push_back(loader.load(loaded.ranges[i], static_cast<Index>(i)));
  }
  if (!loaded.has_ids) return loaded;
  loaded.id = read_column<std::uint64_t>(
      context.exec, share.count, "ids of the snapshot", [&](Span<std::uint64_t> id) {
        Index done = 0;
        for (const auto& range : loaded.ranges) {
          snapshot.read_ids(range.type, range.first, id.subspan(done, range.count));
          done += range.count;
        }
      });
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

template LoadedParticles<float> load_particles(const Context&, const Snapshot&,
                                               const std::vector<int>&, const LoadOptions&);
template LoadedParticles<double> load_particles(const Context&, const Snapshot&,
                                                const std::vector<int>&, const LoadOptions&);

}  // namespace zhalo::io
