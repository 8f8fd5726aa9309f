/// The good files that mutants are made of.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace zhalo::fuzz {

enum class Kind { snapshot, catalogue, points, power_table };

/// What is in a good HDF5 file, and where.
struct Contents {
  struct Attribute {
    std::string object;
    std::string name;
  };
  struct Range {
    std::size_t begin = 0;
    std::size_t end = 0;
  };
  std::vector<std::string> groups;
  std::vector<std::string> datasets;
  std::vector<Attribute> attributes;
  std::vector<std::size_t> structures;  ///< where headers of objects, trees and heaps begin
  std::vector<Range> numbers;           ///< of contiguous datasets: damage there is only other data
};

struct SeedFile {
  std::string name;  ///< below the folder
  std::string bytes;
  Contents contents{};  ///< empty unless it is HDF5
};

struct Seed {
  std::string name;
  Kind kind = Kind::snapshot;
  std::string opened;  ///< what the command is given, below the folder
  std::vector<SeedFile> files;
};

/// Writes all of them below `folder`, reads them back and removes them: 500 particles each, the
/// same bytes on every machine with the same HDF5.
std::vector<Seed> make_seeds(const std::string& folder);

// Of make_seeds. Each writes the files of one seed into `folder`, which exists, and returns what
// the command is given.
using MakeSeed = std::string (*)(const std::string& folder);
std::string write_gadget2(const std::string& folder);
std::string write_gadget4(const std::string& folder);
std::string write_gadget4_files(const std::string& folder);
std::string write_gadget4_integers(const std::string& folder);
std::string write_gadget4_latest(const std::string& folder);
std::string write_arepo(const std::string& folder);
std::string write_eagle(const std::string& folder);
std::string write_gizmo(const std::string& folder);
std::string write_swift(const std::string& folder);
std::string write_swift_virtual(const std::string& folder);
std::string write_catalogue(const std::string& folder);
std::string write_catalogue_files(const std::string& folder);
std::string write_points(const std::string& folder);
std::string write_double_points(const std::string& folder);
std::string write_power_table(const std::string& folder);

Contents survey(const std::string& path, const std::string& bytes);

std::string bytes_of_file(const std::string& path);
/// A new file: whatever had this name before goes.
void write_file(const std::string& path, const std::string& bytes);

}  // namespace zhalo::fuzz
