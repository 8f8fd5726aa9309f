#include "tests/fuzz/readers.hpp"

#include <typeinfo>

#include "apps/ics/ics.hpp"
#include "zhalo/core/error.hpp"
#include "zhalo/io/load.hpp"

namespace zhalo::fuzz {

namespace {

/// Errors of the input, and memory that is gone, are what the commands tell their users.
/// zhalo::Error itself is what any other exception becomes, and a contract that is broken is
/// zhalo's own mistake.
template <class Work>
Reading attempt(const Work& work) {
  const Communicator comm;
  try {
    comm.together(work);
    return {};
  } catch (const InputError& error) {
    return {Reading::Outcome::refusal, error.what()};
  } catch (const FileError& error) {
    return {Reading::Outcome::refusal, error.what()};
  } catch (const OutOfMemory& error) {
    return {Reading::Outcome::refusal, error.what()};
  } catch (const std::exception& error) {
    return {Reading::Outcome::fault, std::string(typeid(error).name()) + ": " + error.what()};
  }
}

io::LoadOptions options_for(bool columns, bool has_masses) {
  return {columns, columns, columns && has_masses};
}

TypeReading read_type(const io::Snapshot& snapshot, int type, Precision columns) {
  const Context context;
  const bool has_masses =
      snapshot.info().types[static_cast<std::size_t>(type)].mass_source != "none";
  TypeReading reading;
  const auto load = [&] {
    reading.single = io::load_particles<float>(
        context, snapshot, {type}, options_for(columns == Precision::single, has_masses));
    reading.wide = io::load_particles<double>(context, snapshot, {type},
                                              options_for(columns == Precision::wide, has_masses));
  };
  static_cast<Reading&>(reading) = attempt(load);
  return reading;
}

/// What fof derives from the header and the masses; a refusal says nothing about the particles.
Reading derive(const io::Snapshot& snapshot, int type) {
  return attempt([&] {
    const Context context;
    io::describe(snapshot.info());
    const MassSummary masses = io::summarise_masses(context.comm, snapshot, {type});
    mean_separation(io::matter_of(snapshot.info(), {type}), masses, {});
    io::simulation_box(snapshot.info());
  });
}

void read_types(const io::Snapshot& snapshot, SnapshotReading& reading) {
  for (std::size_t i = 0; i < reading.info.types.size(); ++i) {
    const io::TypeSummary& summary = reading.info.types[i];
    const int type = static_cast<int>(i);
    if (summary.count == 0 || !summary.has_coordinates) continue;
    reading.types[type] = read_type(snapshot, type, reading.columns);
    if (const Reading derived = derive(snapshot, type); derived.failed())
      static_cast<Reading&>(reading) = derived;
  }
}

}  // namespace

SnapshotReading read_snapshot(const std::string& path, Precision columns) {
  SnapshotReading reading;
  reading.columns = columns;
  const Reading opened = attempt([&] {
    const Context context;
    const io::Snapshot snapshot = io::Snapshot::open(context.comm, path);
    reading.info = snapshot.info();
    read_types(snapshot, reading);
  });
  if (!reading.failed()) static_cast<Reading&>(reading) = opened;
  return reading;
}

CatalogueReading read_catalogue(const std::string& path) {
  constexpr Index max_haloes = 1000;
  CatalogueReading reading;
  static_cast<Reading&>(reading) =
      attempt([&] { reading.list = io::read_haloes(path, max_haloes); });
  return reading;
}

QueryPointsReading read_points(const std::string& path) {
  QueryPointsReading reading;
  static_cast<Reading&>(reading) = attempt([&] {
    const Context context;
    const auto file = io::find_query_points(context.comm, path);
    reading.is_there = file.has_value();
    if (!file) return;
    reading.single = io::load_query_points<float>(context, *file);
    reading.wide = io::load_query_points<double>(context, *file);
  });
  return reading;
}

TableReading read_table(const std::string& path) {
  TableReading reading;
  static_cast<Reading&>(reading) = attempt([&] {
    const Communicator comm;
    reading.power = ics_app::read_power_table(comm, path);
  });
  return reading;
}

}  // namespace zhalo::fuzz
