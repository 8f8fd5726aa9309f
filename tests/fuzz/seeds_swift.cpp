// Snapshots in the style of SWIFT: compressed, and a virtual file that shows the parts of several.
#include "tests/fuzz/hdf5_pieces.hpp"
#include "tests/fuzz/points.hpp"
#include "tests/fuzz/seeds.hpp"

namespace zhalo::fuzz {

namespace {

using One = std::vector<double>;  // SWIFT writes single numbers as arrays of length 1

void write_swift_header(const SeedWriter& file, std::size_t here, int num_files) {
  constexpr std::size_t num_types = 7;
  std::vector<std::int64_t> counts(num_types), totals(num_types);
  counts[1] = static_cast<std::int64_t>(here);
  totals[1] = num_particles;
  file.group("Header");
  file.text("Header", "Code", "SWIFT");
  file.text("Header", "OutputType", "FullVolume");
  file.attribute("Header", "BoxSize", std::vector<double>(3, box_length / hubble));
  file.attribute("Header", "NumPart_ThisFile", counts);
  file.attribute("Header", "NumPart_Total", converted<std::uint32_t>(totals));
  file.attribute("Header", "NumPart_Total_HighWord", std::vector<std::uint32_t>(num_types));
  file.attribute("Header", "TotalNumberOfParticles", totals);
  file.attribute("Header", "NumFilesPerSnapshot", std::vector<std::int32_t>{num_files});
  file.attribute("Header", "MassTable", std::vector<double>(num_types));
  file.attribute("Header", "Redshift", One{0.25});
  file.attribute("Header", "Scale-factor", One{0.8});
}

void write_swift_frame(const SeedWriter& file, std::size_t here, int num_files) {
  write_swift_header(file, here, num_files);
  file.group("Policy");
  file.group("Code");
  file.text("Code", "Code Version", "2026.04");
  file.group("Parameters");
  file.text("Parameters", "InitialConditions:periodic", "1");
  for (const char* group : {"Units", "InternalCodeUnits"}) {
    file.group(group);
    file.attribute(group, "Unit length in cgs (U_L)", One{3.085678e24});
    file.attribute(group, "Unit mass in cgs (U_M)", One{1.989e43});
    file.attribute(group, "Unit time in cgs (U_t)", One{3.085678e19});
  }
  file.group("Cosmology");
  file.attribute("Cosmology", "Cosmological run", std::vector<std::int32_t>{1});
  const std::vector<std::pair<const char*, double>> numbers{
      {"h", hubble},           {"Omega_m", 0.308},
      {"Omega_b", 0.048},      {"Omega_cdm", 0.26},
      {"Omega_lambda", 0.692}, {"Redshift", 0.25},
      {"Scale-factor", 0.8},   {"Critical density at redshift zero [internal units]", 12.75}};
  for (const auto& [name, value] : numbers) file.attribute("Cosmology", name, One{value});
}

Handle compressed(std::vector<hsize_t> chunk) {
  Handle properties = dataset_properties();
  H5Pset_chunk(properties.id(), static_cast<int>(chunk.size()), chunk.data());
  H5Pset_shuffle(properties.id());
  H5Pset_deflate(properties.id(), 4);
  H5Pset_fletcher32(properties.id());
  return properties;
}

/// All files but the first lie in a folder beside it.
void write_swift_part(const std::string& path, const FuzzPoints& part) {
  const SeedWriter file(path);
  write_swift_frame(file, part.id.size(), 2);
  file.dataset("PartType1/Coordinates", converted<double>(part.pos, 1 / hubble), 3);
  file.dataset("PartType1/Velocities", part.velocity, 3);
  file.dataset("PartType1/Masses", std::vector<float>(part.id.size(), 6.0F));
  file.dataset("PartType1/ParticleIDs", part.id);
}

/// Shows rows [0, cut) from the first part and the others from the second.
void show_parts(const SeedWriter& file, const std::string& name, hid_t type, hsize_t width) {
  constexpr hsize_t cut = 200;
  const auto rows_of = [&](hsize_t rows) { return width > 1 ? Extent{rows, width} : Extent{rows}; };
  Handle properties = dataset_properties();
  for (hsize_t k = 0; k < 2; ++k) {
    const Extent first = width > 1 ? Extent{k * cut, 0} : Extent{k * cut};
    const Extent count = rows_of(k == 0 ? cut : num_particles - cut);
    const Handle shown = space_of(rows_of(num_particles));
    const Handle source = space_of(count);
    H5Sselect_hyperslab(shown.id(), H5S_SELECT_SET, first.data(), nullptr, count.data(), nullptr);
    const std::string part = "snap_0001/snap_0001." + std::to_string(k) + ".hdf5";
    need(H5Pset_virtual(properties.id(), shown.id(), part.c_str(), name.c_str(), source.id()) >= 0,
         "a virtual dataset");
  }
  put_dataset(file.file(), name, {type, rows_of(num_particles), nullptr}, properties);
}

}  // namespace

std::string write_swift(const std::string& folder) {
  const SeedWriter file(folder + "/snap_0001.hdf5");
  write_swift_frame(file, num_particles, 1);
  const FuzzPoints points = make_points(num_particles);
  file.dataset("PartType1/Coordinates", converted<double>(points.pos, 1 / hubble), 3,
               compressed({128, 3}));
  file.dataset("PartType1/Velocities", points.velocity, 3, compressed({200, 2}));
  file.dataset("PartType1/Masses", std::vector<float>(num_particles, 6.0F), 1, compressed({500}));
  file.dataset("PartType1/ParticleIDs", points.id, 1, compressed({64}));
  H5Lcreate_soft("/PartType1", file.file().id(), "DMParticles", H5P_DEFAULT, H5P_DEFAULT);
  return "snap_0001.hdf5";
}

std::string write_swift_virtual(const std::string& folder) {
  const FuzzPoints points = make_points(num_particles);
  constexpr std::size_t cut = 200;
  write_swift_part(folder + "/snap_0001/snap_0001.0.hdf5", part_of(points, 0, cut));
  write_swift_part(folder + "/snap_0001/snap_0001.1.hdf5",
                   part_of(points, cut, num_particles - cut));
  const SeedWriter file(folder + "/snap_0001.hdf5");
  write_swift_frame(file, num_particles, 1);
  show_parts(file, "PartType1/Coordinates", H5T_NATIVE_DOUBLE, 3);
  show_parts(file, "PartType1/Velocities", H5T_NATIVE_FLOAT, 3);
  show_parts(file, "PartType1/Masses", H5T_NATIVE_FLOAT, 1);
  show_parts(file, "PartType1/ParticleIDs", H5T_NATIVE_UINT64, 1);
  return "snap_0001.hdf5";
}

}  // namespace zhalo::fuzz
