#include "tests/fuzz/seeds.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "tests/fuzz/hdf5_pieces.hpp"

namespace zhalo::fuzz {

namespace fs = std::filesystem;

std::string bytes_of_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream bytes;
  bytes << file.rdbuf();
  return bytes.str();
}

void write_file(const std::string& path, const std::string& bytes) {
  fs::remove_all(path);
  fs::create_directories(fs::path(path).parent_path());
  std::ofstream file(path, std::ios::binary);
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  file.close();
  need(static_cast<bool>(file), "writing " + path);
}

namespace {

struct Recipe {
  const char* name;
  Kind kind;
  MakeSeed write;
};

constexpr Recipe recipes[] = {{"gadget2", Kind::snapshot, write_gadget2},
                              {"gadget4", Kind::snapshot, write_gadget4},
                              {"gadget4_files", Kind::snapshot, write_gadget4_files},
                              {"gadget4_integers", Kind::snapshot, write_gadget4_integers},
                              {"gadget4_latest", Kind::snapshot, write_gadget4_latest},
                              {"arepo", Kind::snapshot, write_arepo},
                              {"eagle", Kind::snapshot, write_eagle},
                              {"gizmo", Kind::snapshot, write_gizmo},
                              {"swift", Kind::snapshot, write_swift},
                              {"swift_virtual", Kind::snapshot, write_swift_virtual},
                              {"catalogue", Kind::catalogue, write_catalogue},
                              {"catalogue_files", Kind::catalogue, write_catalogue_files},
                              {"points", Kind::points, write_points},
                              {"double_points", Kind::points, write_double_points},
                              {"power_table", Kind::power_table, write_power_table}};

void note_attributes(const Handle& object, const std::string& path, Contents& contents) {
  const int num = H5Aget_num_attrs(object.id());
  for (int i = 0; i < num; ++i) {
    const Handle attribute(H5Aopen_by_idx(object.id(), ".", H5_INDEX_NAME, H5_ITER_INC,
                                          static_cast<hsize_t>(i), H5P_DEFAULT, H5P_DEFAULT),
                           H5Aclose);
    std::string name(static_cast<std::size_t>(H5Aget_name(attribute.id(), 0, nullptr)), '\0');
    H5Aget_name(attribute.id(), name.size() + 1, name.data());
    contents.attributes.push_back({path, name});
  }
}

/// A reference to an object is the address of its header.
void note_header(const Handle& file, const std::string& path, Contents& contents) {
  hobj_ref_t address = 0;
  if (H5Rcreate(&address, file.id(), path.c_str(), H5R_OBJECT, H5I_INVALID_HID) >= 0)
    contents.structures.push_back(static_cast<std::size_t>(address));
}

void note_numbers(const Handle& dataset, Contents& contents) {
  const haddr_t begin = H5Dget_offset(dataset.id());
  if (begin == HADDR_UNDEF) return;
  contents.numbers.push_back({begin, begin + H5Dget_storage_size(dataset.id())});
}

void note_object(const Handle& file, const std::string& path, Contents& contents) {
  const Handle object = open_object(file, path);
  note_header(file, path, contents);
  note_attributes(object, path, contents);
  if (H5Iget_type(object.id()) == H5I_DATASET) {
    contents.datasets.push_back(path);
    return note_numbers(object, contents);
  }
  if (path != "/") contents.groups.push_back(path);
  H5G_info_t group{};
  need(H5Gget_info(object.id(), &group) >= 0, "looking into " + path);
  for (hsize_t i = 0; i < group.nlinks; ++i) {
    std::string name(256, '\0');
    const ssize_t length = H5Lget_name_by_idx(object.id(), ".", H5_INDEX_NAME, H5_ITER_INC, i,
                                              name.data(), name.size(), H5P_DEFAULT);
    name.resize(static_cast<std::size_t>(length));
    if (name != "DMParticles") note_object(file, path == "/" ? name : path + "/" + name, contents);
  }
}

/// Trees, heaps and the headers of newer files begin with these letters.
void note_signatures(const std::string& bytes, Contents& contents) {
  for (const char* letters : {"TREE", "SNOD", "HEAP", "GCOL", "OHDR", "OCHK", "FRHP", "FHDB",
                              "BTHD", "BTLF", "FSHD", "FSSE", "FAHD", "FADB", "EAHD", "SMTB"}) {
    for (std::size_t at = bytes.find(letters); at != std::string::npos;
         at = bytes.find(letters, at + 1))
      contents.structures.push_back(at);
  }
}

Seed make_seed(const Recipe& recipe, const std::string& folder) {
  fs::remove_all(folder);
  fs::create_directories(folder + "/snap_0001");
  Seed seed{recipe.name, recipe.kind, recipe.write(folder), {}};
  std::vector<std::string> paths;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.is_regular_file()) paths.push_back(entry.path().string());
  }
  std::sort(paths.begin(), paths.end());
  for (const std::string& path : paths) {
    SeedFile file{fs::relative(path, folder).string(), bytes_of_file(path)};
    if (seed.kind != Kind::power_table) file.contents = survey(path, file.bytes);
    seed.files.push_back(std::move(file));
  }
  fs::remove_all(folder);
  return seed;
}

}  // namespace

Contents survey(const std::string& path, const std::string& bytes) {
  Contents contents;
  contents.structures.push_back(0);  // the superblock
  const Handle file(H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose);
  need(file.valid(), "reading " + path + " back");
  note_object(file, "/", contents);
  note_signatures(bytes, contents);
  return contents;
}

std::vector<Seed> make_seeds(const std::string& folder) {
  std::vector<Seed> seeds;
  for (const Recipe& recipe : recipes) seeds.push_back(make_seed(recipe, folder));
  return seeds;
}

}  // namespace zhalo::fuzz
