// Catalogues of groups, query points, and tables of power.
#include <fmt/format.h>

#include <cmath>

#include "tests/fuzz/hdf5_pieces.hpp"
#include "tests/fuzz/points.hpp"
#include "tests/fuzz/seeds.hpp"

namespace zhalo::fuzz {

namespace {

constexpr std::size_t num_groups = 60;

void write_groups(const std::string& path, const FuzzPoints& groups, int num_files) {
  const SeedWriter file(path);
  const std::size_t num = groups.id.size();
  file.group("Header");
  file.attribute("Header", "Ngroups_ThisFile", static_cast<std::int32_t>(num));
  file.attribute("Header", "Ngroups_Total", static_cast<std::int32_t>(num_groups));
  file.attribute("Header", "NumFiles", num_files);
  file.attribute("Header", "BoxSize", box_length);
  file.attribute("Header", "Time", 1.0);
  file.group("Parameters");
  file.attribute("Parameters", "BoxSize", box_length);
  file.group("Group");
  if (num == 0) return;
  file.dataset("Group/GroupPos", groups.pos, 3);
  file.dataset("Group/GroupVel", groups.velocity, 3);
  file.dataset("Group/GroupMass", std::vector<float>(num, 128));
  file.dataset("Group/GroupLen", converted<std::int32_t>(groups.id));
  file.dataset("Group/GroupExtentRadius", std::vector<double>(num, 0.7));
}

}  // namespace

std::string write_catalogue(const std::string& folder) {
  write_groups(folder + "/fof_subhalo_tab_001.hdf5", make_points(num_groups), 1);
  return "fof_subhalo_tab_001.hdf5";
}

std::string write_catalogue_files(const std::string& folder) {
  const FuzzPoints groups = make_points(num_groups);
  const std::vector<std::size_t> begin{0, 25, 25, num_groups};
  for (std::size_t k = 0; k < 3; ++k)
    write_groups(fmt::format("{}/fof_subhalo_tab_001.{}.hdf5", folder, k),
                 part_of(groups, begin[k], begin[k + 1] - begin[k]), 3);
  return ".";
}

std::string write_points(const std::string& folder) {
  const SeedWriter file(folder + "/points.hdf5");
  file.dataset("Coordinates", make_points(num_particles).pos, 3);
  return "points.hdf5";
}

std::string write_double_points(const std::string& folder) {
  const SeedWriter file(folder + "/points.hdf5");
  Handle properties = dataset_properties();
  const Extent chunk{100, 3};
  H5Pset_chunk(properties.id(), 2, chunk.data());
  H5Pset_deflate(properties.id(), 1);
  file.dataset("Coordinates", converted<double>(make_points(num_particles).pos), 3, properties);
  return "points.hdf5";
}

std::string write_power_table(const std::string& folder) {
  std::string text = "# k in h/Mpc, P in (Mpc/h)^3\n";
  for (int i = 0; i < 100; ++i) {
    const double k = std::pow(10, -4 + 0.06 * i);
    text += fmt::format("{:.6e} {:.6e}{}", k, 2e4 * k / (1e-3 + k * k),
                        i % 10 == 9 ? " 7 # more\r\n" : "\n");
  }
  write_file(folder + "/power.txt", text);
  return "power.txt";
}

}  // namespace zhalo::fuzz
