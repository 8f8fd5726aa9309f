/// zhalo's readers, called as the commands call them.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "zhalo/cosmology/cosmology.hpp"
#include "zhalo/io/load.hpp"
#include "zhalo/io/snapshot.hpp"

namespace zhalo::fuzz {

/// What a reader did: it read, refused with an error of a kind that users are shown, or failed in a
/// way that is a finding.
struct Reading {
  enum class Outcome { success, refusal, fault };
  Outcome outcome = Outcome::success;
  std::string words{};  ///< of the refusal or fault

  bool succeeded() const { return outcome == Outcome::success; }
  bool failed() const { return outcome == Outcome::fault; }
};

enum class Precision { single, wide };

/// Particles of one type: positions in both precisions, the other columns in one of them.
struct TypeReading : Reading {
  io::LoadedParticles<float> single;
  io::LoadedParticles<double> wide;
};

struct SnapshotReading : Reading {  ///< `outcome` of opening
  io::SnapshotInfo info;
  std::map<int, TypeReading> types;  ///< that have positions
  Precision columns = Precision::single;
};

/// As fof, knn and density read a snapshot: the header, then all types, in both precisions.
SnapshotReading read_snapshot(const std::string& path, Precision columns);

/// As density --haloes.
struct CatalogueReading : Reading {
  io::HaloList list;
};
CatalogueReading read_catalogue(const std::string& path);

/// As knn --query. `is_there`: the file has points at all, else it is taken for a snapshot.
struct QueryPointsReading : Reading {
  bool is_there = false;
  io::LoadedParticles<float> single;
  io::LoadedParticles<double> wide;
};
QueryPointsReading read_points(const std::string& path);

/// As ics --linear-power.
struct TableReading : Reading {
  std::optional<LinearPower> power;
};
TableReading read_table(const std::string& path);

}  // namespace zhalo::fuzz
