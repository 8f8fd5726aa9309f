// Snapshots in the styles of GADGET-2 and 4, AREPO, EAGLE and GIZMO (as
// tests/apps/snapshot_styles.py has them).
#include "tests/fuzz/hdf5_pieces.hpp"
#include "tests/fuzz/points.hpp"
#include "tests/fuzz/seeds.hpp"

namespace zhalo::fuzz {

namespace {

constexpr double kpc_in_cm = 3.085678e21;
constexpr double mpc_in_cm = 3.085678e24;
constexpr double mass_in_g = 1.989e43;

using Counts = std::vector<std::int32_t>;

struct Totals {
  Counts here;
  std::vector<std::uint32_t> all;
  int num_files = 1;
};

void write_old_header(const SeedWriter& file, const Totals& totals, double mass) {
  file.group("Header");
  file.attribute("Header", "NumPart_ThisFile", totals.here);
  file.attribute("Header", "NumPart_Total", totals.all);
  file.attribute("Header", "NumPart_Total_HighWord", std::vector<std::uint32_t>(6));
  file.attribute("Header", "NumFilesPerSnapshot", totals.num_files);
  file.attribute("Header", "MassTable", std::vector<double>{0, mass, 0, 0, 0, 0});
  const std::vector<std::pair<const char*, double>> numbers{
      {"BoxSize", box_length}, {"Time", 0.8},          {"Redshift", 0.25},
      {"Omega0", 0.308},       {"OmegaLambda", 0.692}, {"HubbleParam", hubble}};
  for (const auto& [name, value] : numbers) file.attribute("Header", name, value);
  file.attribute("Header", "Flag_DoublePrecision", std::int32_t{0});
}

void write_units(const SeedWriter& file, const std::string& group, double length_in_cm) {
  file.attribute(group, "UnitLength_in_cm", length_in_cm);
  file.attribute(group, "UnitMass_in_g", mass_in_g);
  file.attribute(group, "UnitVelocity_in_cm_per_s", 1e5);
}

void write_dark_matter(const SeedWriter& file, const FuzzPoints& points) {
  file.dataset("PartType1/Coordinates", points.pos, 3);
  file.dataset("PartType1/Velocities", points.velocity, 3);
  file.dataset("PartType1/ParticleIDs", points.id);
}

void write_gas(const SeedWriter& file, const FuzzPoints& points) {
  file.dataset("PartType0/Coordinates", points.pos, 3);
  file.dataset("PartType0/Velocities", points.velocity, 3);
  file.dataset("PartType0/Masses", std::vector<float>(points.id.size(), 0.7F));
  file.dataset("PartType0/ParticleIDs", converted<std::uint32_t>(points.id));
}

struct NewCounts {
  std::uint64_t here = num_particles;
  int num_files = 1;
};

void write_gadget4_frame(const SeedWriter& file, const NewCounts& counts) {
  file.group("Header");
  file.attribute("Header", "NumPart_ThisFile", std::vector<std::uint64_t>{0, counts.here});
  file.attribute("Header", "NumPart_Total", std::vector<std::uint64_t>{0, num_particles});
  file.attribute("Header", "NumFilesPerSnapshot", counts.num_files);
  file.attribute("Header", "MassTable", std::vector<double>{0, particle_mass});
  file.attribute("Header", "BoxSize", box_length);
  file.attribute("Header", "Time", 0.5);
  file.attribute("Header", "Redshift", 1.0);
  file.text("Header", "Git_commit", "0123456789abcdef");
  file.group("Parameters");
  write_units(file, "Parameters", mpc_in_cm);
  const std::vector<std::pair<const char*, double>> numbers{{"Omega0", 0.308},
                                                            {"OmegaLambda", 0.692},
                                                            {"OmegaBaryon", 0.048},
                                                            {"HubbleParam", hubble},
                                                            {"Hubble", 100}};
  for (const auto& [name, value] : numbers) file.attribute("Parameters", name, value);
  file.attribute("Parameters", "ComovingIntegrationOn", std::int32_t{1});
  file.group("Config");
  for (const char* option : {"PERIODIC", "SELFGRAVITY", "LEAN", "FOF"})
    file.text("Config", option, "");
}

}  // namespace

std::string write_gadget2(const std::string& folder) {
  const SeedWriter file(folder + "/snapshot_001.hdf5");
  constexpr std::size_t num_gas = 50;
  write_old_header(file,
                   {{num_gas, num_particles, 0, 0, 0, 0}, {num_gas, num_particles, 0, 0, 0, 0}},
                   particle_mass);
  write_gas(file, make_points(num_gas, 2));
  const FuzzPoints points = make_points(num_particles);
  file.dataset("PartType1/Coordinates", points.pos);  // flat, as some tools write
  file.dataset("PartType1/Velocities", points.velocity, 3);
  file.dataset("PartType1/ParticleIDs", converted<std::uint32_t>(points.id));
  return "snapshot_001.hdf5";
}

std::string write_gadget4(const std::string& folder) {
  const SeedWriter file(folder + "/snapshot_001.hdf5");
  write_gadget4_frame(file, {});
  write_dark_matter(file, make_points(num_particles));
  return "snapshot_001.hdf5";
}

std::string write_gadget4_files(const std::string& folder) {
  const FuzzPoints points = make_points(num_particles);
  const std::vector<std::size_t> begin{0, 200, 200, num_particles};  // nothing in the second
  for (std::size_t k = 0; k < 3; ++k) {
    const SeedWriter file(folder + "/snapshot_001." + std::to_string(k) + ".hdf5");
    const std::size_t num = begin[k + 1] - begin[k];
    write_gadget4_frame(file, {num, 3});
    if (num > 0) write_dark_matter(file, part_of(points, begin[k], num));
  }
  return "snapshot_001";
}

std::string write_gadget4_integers(const std::string& folder) {
  const SeedWriter file(folder + "/snapshot_001.hdf5");
  write_gadget4_frame(file, {});
  const FuzzPoints points = make_points(num_particles);
  file.dataset("PartType1/IntCoordinates", converted<std::uint32_t>(points.pos, 0x1p32 / 51), 3);
  file.dataset("PartType1/Velocities", converted<double>(points.velocity), 3);
  file.dataset("PartType1/ParticleIDs", points.id);
  return "snapshot_001.hdf5";
}

std::string write_gadget4_latest(const std::string& folder) {
  const SeedWriter file(folder + "/snapshot_001.hdf5", SeedWriter::Format::latest);
  write_gadget4_frame(file, {});
  write_dark_matter(file, make_points(num_particles));
  return "snapshot_001.hdf5";
}

std::string write_arepo(const std::string& folder) {
  const FuzzPoints points = make_points(num_particles);
  constexpr std::size_t cut = 150, num_tracers = 7;
  for (std::size_t k = 0; k < 2; ++k) {
    const FuzzPoints part = part_of(points, k * cut, k == 0 ? cut : num_particles - cut);
    const SeedWriter file(folder + "/snap_001." + std::to_string(k) + ".hdf5");
    const auto here = static_cast<std::int32_t>(part.id.size());
    const std::int32_t tracers = k == 0 ? num_tracers : 0;
    write_old_header(file,
                     {{0, here, 0, tracers, 0, 0}, {0, num_particles, 0, num_tracers, 0, 0}, 2},
                     particle_mass);
    file.attribute("Header", "BoxSize", 1000 * box_length);
    write_units(file, "Header", kpc_in_cm);
    file.group("Config");
    file.text("Config", "VORONOI", "");
    file.group("Parameters");
    file.attribute("Parameters", "ComovingIntegrationOn", std::int32_t{1});
    file.dataset("PartType1/Coordinates", converted<double>(part.pos, 1000), 3);
    file.dataset("PartType1/Velocities", part.velocity, 3);
    file.dataset("PartType1/ParticleIDs", part.id);
    if (k == 0) file.dataset("PartType3/TracerID", std::vector<std::uint64_t>(num_tracers, 5));
  }
  return "snap_001.0.hdf5";
}

std::string write_eagle(const std::string& folder) {
  const FuzzPoints points = make_points(num_particles);
  constexpr std::size_t half = num_particles / 2, num_stars = 20;
  for (std::size_t k = 0; k < 2; ++k) {
    const SeedWriter file(folder + "/snap_001_z000p000." + std::to_string(k) + ".hdf5");
    const std::int32_t stars = k == 1 ? num_stars : 0;
    write_old_header(file, {{0, half, 0, 0, stars, 0}, {0, num_particles, 0, 0, num_stars, 0}, 2},
                     particle_mass);
    file.attribute("Header", "ExpansionFactor", 0.8);
    file.attribute("Header", "Time", 0.014);
    file.group("HashTable");
    file.group("Constants");
    file.attribute("Constants", "GRAVITY", 6.672e-8);
    file.group("Units");
    write_units(file, "Units", mpc_in_cm);
    const FuzzPoints part = part_of(points, k * half, half);
    file.dataset("PartType1/Coordinates", converted<double>(part.pos), 3);
    file.dataset("PartType1/Velocity", part.velocity, 3);
    file.dataset("PartType1/ParticleIDs", part.id);
    if (k == 0) continue;
    const FuzzPoints born = make_points(num_stars, 3);
    file.dataset("PartType4/Coordinates", converted<double>(born.pos), 3);
    file.dataset("PartType4/Velocity", born.velocity, 3);
    file.dataset("PartType4/Mass", std::vector<float>(num_stars, 0.1F));
    file.dataset("PartType4/ParticleIDs", born.id);
  }
  return ".";
}

std::string write_gizmo(const std::string& folder) {
  const SeedWriter file(folder + "/snapshot_001.hdf5");
  write_old_header(file, {{0, num_particles, 0, 0, 0, 0}, {0, num_particles, 0, 0, 0, 0}}, 0);
  for (const auto& [name, value] :
       std::vector<std::pair<const char*, double>>{{"Omega_Matter", 0.308},
                                                   {"Omega_Baryon", 0.048},
                                                   {"GIZMO_version", 2022},
                                                   {"UnitLength_In_CGS", mpc_in_cm / hubble},
                                                   {"UnitMass_In_CGS", mass_in_g / hubble},
                                                   {"UnitVelocity_In_CGS", 1e5}})
    file.attribute("Header", name, value);
  file.attribute("Header", "ComovingIntegrationOn", std::int32_t{1});
  write_dark_matter(file, make_points(num_particles));
  std::vector<float> masses;
  for (std::size_t i = 0; i < num_particles; ++i)
    masses.push_back(1 + 0.01F * static_cast<float>(i));
  file.dataset("PartType1/Masses", masses);
  return "snapshot_001.hdf5";
}

}  // namespace zhalo::fuzz
