#include "tests/fuzz/trial.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace zhalo::fuzz {

bool Trial::any_type_read() const {
  return std::any_of(snapshot.types.begin(), snapshot.types.end(),
                     [](const auto& type) { return type.second.succeeded(); });
}

std::string words_of(const Reading& reading) {
  switch (reading.outcome) {
    case Reading::Outcome::success: return "read";
    case Reading::Outcome::refusal: return "refused: " + reading.words;
    case Reading::Outcome::fault: return "FAULT: " + reading.words;
  }
  return {};
}

// ---- handles ----

namespace {

hid_t next_space() {
  const Handle space(H5Screate(H5S_SCALAR), H5Sclose);
  return space.id();
}

hid_t next_type() {
  const Handle type(H5Tcopy(H5T_NATIVE_INT), H5Tclose);
  return type.id();
}

hid_t next_properties() {
  const Handle properties(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
  return properties.id();
}

/// Identifiers of a kind are numbered in the order in which they are made.
int alive(hid_t first, hid_t end) {
  int num = 0;
  for (hid_t id = first; id < end; ++id) num += H5Iis_valid(id) > 0 ? 1 : 0;
  return num;
}

}  // namespace

LeftOverHandles::LeftOverHandles()
    : first_space_(next_space()), first_type_(next_type()), first_properties_(next_properties()) {}

std::string LeftOverHandles::words() const {
  const auto objects = H5Fget_obj_count(static_cast<hid_t>(H5F_OBJ_ALL), H5F_OBJ_ALL);
  const int spaces = alive(first_space_, next_space());
  const int types = alive(first_type_, next_type());
  const int properties = alive(first_properties_, next_properties());
  if (objects + spaces + types + properties == 0) return {};
  return fmt::format(
      "HDF5 handles stay open: {} of objects, {} of shapes, {} of types, {} of properties", objects,
      spaces, types, properties);
}

// ---- what is wrong ----

namespace {

std::string fault_in(const char* reader, const Reading& reading) {
  return reading.failed() ? fmt::format("the reader of {}: {}", reader, reading.words) : "";
}

std::string fault_in_types(const SnapshotReading& snapshot) {
  for (const auto& [type, reading] : snapshot.types) {
    if (reading.failed()) return fmt::format("type {}: {}", type, reading.words);
  }
  return {};
}

bool is_used(const std::string& dataset) {
  const auto ends_with = [&](const char* name) {
    const std::string end = name;
    return dataset.size() >= end.size() &&
           dataset.compare(dataset.size() - end.size(), end.size(), end) == 0;
  };
  return !ends_with("TracerID") && !ends_with("GroupVel");
}

/// What the reader of the mutant's kind did with the dataset.
const Reading& reading_of(const Trial& trial, Kind kind, const std::string& dataset) {
  static const Reading not_read{Reading::Outcome::refusal, "no such type was read"};
  if (kind == Kind::catalogue) return trial.catalogue;
  if (kind == Kind::points) return trial.points;
  if (kind == Kind::power_table) return trial.table;
  if (!trial.snapshot.succeeded()) return trial.snapshot;
  const int type = std::stoi(dataset.substr(std::string("PartType").size()));
  const auto found = trial.snapshot.types.find(type);
  return found == trial.snapshot.types.end() ? not_read
                                             : static_cast<const Reading&>(found->second);
}

std::string unexpected(const Trial& trial, const Mutant& mutant) {
  if (mutant.expect == Expect::anything || !is_used(mutant.dataset)) return {};
  const Reading& reading = reading_of(trial, mutant.seed->kind, mutant.dataset);
  if (mutant.expect == Expect::refusal && reading.succeeded())
    return fmt::format("{} is read, though the file does not hold its numbers", mutant.dataset);
  if (mutant.expect == Expect::success && !reading.succeeded())
    return fmt::format("{} is not read, though the file holds its numbers: {}", mutant.dataset,
                       reading.words);
  return {};
}

using Check = std::string;

std::string first_of(std::initializer_list<Check> checks) {
  for (const Check& check : checks) {
    if (!check.empty()) return check;
  }
  return {};
}

}  // namespace

std::string fault_of(const Trial& trial, const std::string& path) {
  const std::string fault =
      first_of({fault_in("snapshots", trial.snapshot), fault_in_types(trial.snapshot),
                fault_in("catalogues", trial.catalogue), fault_in("points", trial.points),
                fault_in("tables", trial.table)});
  if (!fault.empty()) return fault;
  return first_of({trial.snapshot.succeeded() ? difference(trial.snapshot) : "",
                   trial.catalogue.succeeded() ? difference(trial.catalogue, path) : "",
                   trial.points.succeeded() ? difference(trial.points, path) : "",
                   trial.table.succeeded() ? difference(trial.table, path) : ""});
}

Trial try_mutant(const Mutant& mutant) {
  const std::string& path = mutant.seed->opened;
  const LeftOverHandles handles;
  Trial trial;
  trial.snapshot =
      read_snapshot(path, mutant.number % 2 == 0 ? Precision::single : Precision::wide);
  trial.catalogue = read_catalogue(path);
  trial.points = read_points(path);
  trial.table = read_table(path);
  trial.finding = first_of({handles.words(), fault_of(trial, path), unexpected(trial, mutant)});
  return trial;
}

}  // namespace zhalo::fuzz
