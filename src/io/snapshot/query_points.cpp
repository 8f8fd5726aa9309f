#include "zhalo/io/query_points.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <filesystem>

#include "src/io/hdf5/input.hpp"
#include "src/io/hdf5/output.hpp"
#include "src/io/snapshot/read_column.hpp"
#include "zhalo/core/error.hpp"

namespace zhalo::io {

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

}  // namespace zhalo::io
