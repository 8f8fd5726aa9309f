#include "apps/cli/snapshot.hpp"

#include <fmt/format.h>
#include <algorithm>

#include "zhalo/core/error.hpp"

namespace zhalo::app {

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
  // Codes have these types, also where the file has no place for some of them. Others are mistakes.
  constexpr std::size_t num_usual = 6;
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
