#include "apps/fof/json_report.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "zhalo/core/error.hpp"

namespace zhalo::fof_app {
namespace {

using nlohmann::ordered_json;

ordered_json json_of(const Vec3d& v) { return {v[0], v[1], v[2]}; }

template <class T>
ordered_json json_of(const std::optional<T>& value) {
  return value ? ordered_json(*value) : ordered_json(nullptr);
}

ordered_json json_of(const io::Cosmology& c) {
  return {{"scale_factor", json_of(c.scale_factor)},
          {"redshift", json_of(c.redshift)},
          {"hubble", json_of(c.hubble)},
          {"omega_matter", json_of(c.omega_matter)},
          {"omega_lambda", json_of(c.omega_lambda)},
          {"omega_baryon", json_of(c.omega_baryon)},
          {"omega_cdm", json_of(c.omega_cdm)},
          {"critical_density", json_of(c.critical_density)}};
}

ordered_json json_of(const io::SnapshotInfo& info) {
  ordered_json types = ordered_json::array();
  for (std::size_t type = 0; type < info.types.size(); ++type) {
    const io::TypeSummary& t = info.types[type];
    if (t.count == 0) continue;
    types.push_back({{"type", type},
                     {"count", t.count},
                     {"position_bits", t.double_coordinates ? 64 : 32},
                     {"mass_source", t.mass_source},
                     {"uniform_mass", json_of(t.uniform_mass)}});
  }
  const io::Units& units = info.units;
  return {{"path", info.path},
          {"code", io::name_of(info.code)},
          {"files", info.files},
          {"number", info.number},
          {"types", types},
          {"box_length", info.box_length ? json_of(*info.box_length) : ordered_json(nullptr)},
          {"cosmology", json_of(info.cosmology)},
          {"units",
           {{"length", units.length_name()},
            {"mass", units.mass_name()},
            {"length_in_cm", units.length_in_cm},
            {"mass_in_g", units.mass_in_g},
            {"velocity_in_cm_per_s", units.velocity_in_cm_per_s},
            {"h_free", units.h_free},
            {"assumed", units.assumed}}},
          {"notes", info.notes}};
}

ordered_json json_of(const Linking& linking) {
  ordered_json separation = nullptr;
  if (const auto& d = linking.mean_separation) {
    separation = {{"chosen", d->chosen},
                  {"how", d->how},
                  {"from_volume", json_of(d->from_volume)},
                  {"from_density", json_of(d->from_density)}};
  }
  return {{"length", linking.length}, {"ratio", json_of(linking.ratio)}, {"mean_separation", separation}};
}

std::size_t bytes(double value) { return static_cast<std::size_t>(value); }

ordered_json json_of(const Exchanged& exchanged) {
  const auto json_of_spread = [](const Spread& spread) {
    return ordered_json{{"max", spread.max}, {"mean", spread.mean}, {"imbalance", spread.imbalance()}};
  };
  return {{"searched", json_of_spread(exchanged.searched)},
          {"ghosts_sent", json_of_spread(exchanged.ghosts)},
          {"edges", exchanged.edges},
          {"rounds", exchanged.rounds},
          {"bytes_sent", json_of_spread(exchanged.bytes)}};
}

ordered_json json_of(const Found& found, Index num_particles) {
  ordered_json largest = ordered_json::array();
  for (const GroupRow& row : found.largest) {
    largest.push_back(
        {{"length", row.length}, {"mass", row.mass}, {"centre", json_of(row.centre)}, {"velocity", json_of(row.velocity)}});
  }
  ordered_json phases = ordered_json::array();
  for (const PhaseSpread& phase : found.measured.phases) {
    const double seconds = phase.seconds.max;
    const double rate = seconds > 0 ? static_cast<double>(num_particles) / seconds : 0;
    phases.push_back({{"name", phase.name},
                      {"seconds", seconds},
                      {"mean_seconds", phase.seconds.mean},
                      {"imbalance", phase.seconds.imbalance()},
                      {"particles_per_second", rate}});
  }
  return {{"num_groups", found.num_groups},
          {"num_particles_in_groups", found.num_members},
          {"num_wrapped", found.num_wrapped},
          {"largest_groups", largest},
          {"phases", phases},
          {"seconds", found.seconds},
          {"particles_per_rank", {{"min", found.fewest_particles}, {"max", found.most_particles}}},
          {"peak_resident_bytes", bytes(found.measured.peak_resident.max)},
          {"mean_peak_resident_bytes", bytes(found.measured.peak_resident.mean)},
          {"peak_pool_bytes", bytes(found.measured.peak_pool.max)},
          {"mean_peak_pool_bytes", bytes(found.measured.peak_pool.mean)},
          {"exchanged", json_of(found.exchanged)},
          {"num_files", found.num_files},
          {"files", found.files}};
}

ordered_json json_of(const Estimate& estimate) {
  return {{"memory_bytes", estimate.memory},
          {"memory_bytes_per_rank", estimate.memory_per_rank},
          {"catalogue_limit_bytes", estimate.catalogue_limit},
          {"membership_bytes", estimate.membership}};
}

std::string to_json(const Summary& summary) {
  const ordered_json all = {{"zhalo_version", ZHALO_VERSION},
                            {"dry_run", !summary.found},
                            {"snapshot", json_of(summary.snapshot)},
                            {"link_types", summary.link_types},
                            {"num_particles", summary.num_particles},
                            {"min_size", summary.min_size},
                            {"periodic", summary.box.any_periodic()},
                            {"linking", json_of(summary.linking)},
                            {"runs_on", summary.places.runs_on},
                            {"num_ranks", summary.places.num_ranks},
                            {"num_machines", summary.places.num_machines},
                            {"transport", summary.places.transport},
                            {"ranks", summary.places.map},
                            {"estimate", json_of(summary.estimate)},
                            {"output", summary.output},
                            {"warnings", summary.linking.warnings},
                            {"result", summary.found ? json_of(*summary.found, summary.num_particles) : ordered_json(nullptr)}};
  return all.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace

namespace fs = std::filesystem;

namespace {

/// Also as /dev/stdout, which may be a regular file by another name.
bool is_standard_output(const std::string& path) {
  struct stat named {};
  struct stat output {};
  if (path == "-") return true;
  if (::stat(path.c_str(), &named) != 0 || ::fstat(STDOUT_FILENO, &output) != 0) return false;
  return named.st_dev == output.st_dev && named.st_ino == output.st_ino;
}

}  // namespace

JsonReport::Target JsonReport::target_of(const std::string& path) {
  if (path.empty()) return Target::none;
  if (is_standard_output(path)) return Target::standard_output;
  std::error_code ignored;
  const fs::file_status status = fs::status(path, ignored);
  if (fs::is_directory(status)) return Target::folder;
  return fs::exists(status) && !fs::is_regular_file(status) ? Target::file_as_it_is : Target::staged_file;
}

JsonReport::JsonReport(const Communicator& comm, const std::string& path) : comm_(&comm), path_(path) {
  comm.together([&] {
    // Other machines may see other files at the same path: rank 0 decides.
    const Target mine = comm.rank() == 0 ? target_of(path) : Target::none;
    target_ = static_cast<Target>(comm.max(static_cast<Index>(mine)));
    if (target_ == Target::folder) throw FileError(fmt::format("--json '{}' is a folder: name a file", path));
    if (target_ != Target::staged_file) return;
    files_.emplace(comm, fs::path(path).parent_path().string());
    if (comm.rank() == 0) temporary_ = files_->stage(fs::path(path).filename().string());
  });
}

void JsonReport::put_out(const std::string& text) const {
  if (target_ == Target::standard_output) {
    const bool whole = std::fwrite(text.data(), 1, text.size(), stdout) == text.size();
    if (std::fflush(stdout) != 0 || !whole)
      throw FileError(fmt::format("--json '{}': standard output cannot be written to; is the disk full?", path_));
    return;
  }
  std::ofstream file(target_ == Target::staged_file ? temporary_ : path_);
  file << text;
  file.close();
  if (!file) throw FileError(fmt::format("'{}' cannot be written; is the disk full?", path_));
}

void JsonReport::write(const Summary& summary) {
  if (target_ == Target::none) return;
  comm_->together([&] {
    if (comm_->rank() == 0) put_out(to_json(summary));
    if (files_) files_->commit();
  });
}

}  // namespace zhalo::fof_app
