// Snapshot::State, FileContents and Origins as bytes. Bindings name all members: a new one stops
// the compilation until it is passed, too.

#include <array>
#include <cstring>
#include <optional>
#include <set>
#include <type_traits>
#include <vector>

#include "src/io/snapshot/state.hpp"

namespace zhalo::io {
namespace {

/// pass(archive, value) appends the value to the bytes, or takes it from them.
struct Archive {
  std::string& bytes;
  std::size_t at = 0;  ///< what is before it has been taken
  bool writes = false;
};

template <class T>
void pass(Archive& archive, T& value) requires(std::is_arithmetic_v<T> || std::is_enum_v<T> ||
                                               std::is_same_v<T, Vec3d> ||
                                               std::is_same_v<T, std::array<double, 5>>) {
  if (archive.writes) {
    archive.bytes.append(reinterpret_cast<const char*>(&value), sizeof(T));
  } else {
    std::memcpy(&value, archive.bytes.data() + archive.at, sizeof(T));
    archive.at += sizeof(T);
  }
}

template <class... Values>
void pass_each(Archive& archive, Values&... values) {
  (pass(archive, values), ...);
}

template <class T>
void pass(Archive& archive, std::optional<T>& value) {
  bool any = value.has_value();
  pass(archive, any);
  if (!any) return value.reset();
  if (!value) value.emplace();
  pass(archive, *value);
}

/// Of a vector or a text.
template <class Values>
void pass_elements(Archive& archive, Values& values) {
  std::size_t size = values.size();
  pass(archive, size);
  values.resize(size);
  for (auto& value : values) pass(archive, value);
}
void pass(Archive& archive, std::string& text) { pass_elements(archive, text); }
template <class T>
void pass(Archive& archive, std::vector<T>& values) {
  pass_elements(archive, values);
}
template <class T>
void pass(Archive& archive, std::set<T>& values) {
  std::vector<T> list(values.begin(), values.end());
  pass(archive, list);
  values = {list.begin(), list.end()};
}

void pass(Archive& archive, Cosmology& cosmology) {
  auto& [scale_factor, redshift, hubble, matter, lambda, baryon, cdm, ratio, rate, critical_density,
         source] = cosmology;
  pass_each(archive, scale_factor, redshift, hubble, matter, lambda, baryon, cdm, ratio, rate,
            critical_density, source);
}
void pass(Archive& archive, Units& units) {
  auto& [length, mass, velocity, h_free, assumed] = units;
  pass_each(archive, length, mass, velocity, h_free, assumed);
}
void pass(Archive& archive, ColumnFault& fault) {
  auto& [message, of_file] = fault;
  pass_each(archive, message, of_file);
}
void pass(Archive& archive, TypeSummary& type) {
  auto& [count, left_out, coordinates, velocities, ids, double_coordinates, double_velocities,
         double_masses, source, mass, fault_of_coordinates, fault_of_velocities, fault_of_masses,
         fault_of_ids] = type;
  pass_each(archive, count, left_out, coordinates, velocities, ids, double_coordinates,
            double_velocities, double_masses, source, mass, fault_of_coordinates,
            fault_of_velocities, fault_of_masses, fault_of_ids);
}
void pass(Archive& archive, Column& column) {
  auto& [name, integer, bytes, fault] = column;
  pass_each(archive, name, integer, bytes, fault);
}
void pass(Archive& archive, TypeLayout& layout) {
  auto& [position, velocity, mass, id, first_of_file] = layout;
  pass_each(archive, position, velocity, mass, id, first_of_file);
}
void pass(Archive& archive, SnapshotInfo& info) {
  auto& [code, version, path, files, origins, stem, number, types, box, box_stretch, periodic,
         cosmological, time, cosmology, units, velocity_factor, notes, warnings] = info;
  pass_each(archive, code, version, path, files, origins, stem, number, types, box, box_stretch,
            periodic, cosmological, time, cosmology, units, velocity_factor, notes, warnings);
}

void pass(Archive& archive, Snapshot::State& state) {
  pass_each(archive, state.info, state.layouts);
}

void pass(Archive& archive, HeaderCounts& header) {
  auto& [num_types, num_files, in_this_file, total, lacks_high_bits, mass_table, initial_masses,
         time, constants] = header;
  pass_each(archive, num_types, num_files, in_this_file, total, lacks_high_bits, mass_table,
            initial_masses, time, constants);
}
void pass(Archive& archive, TypeInFile& type) {
  auto& [layout, count] = type;
  pass_each(archive, layout, count);
}
void pass(Archive& archive, hdf5::VirtualPart& part) {
  auto& [holder, file, dataset] = part;
  pass_each(archive, holder, file, dataset);
}
void pass(Archive& archive, hdf5::Origins& origins) {
  auto& [files, parts] = origins;
  pass_each(archive, files, parts);
}
void pass(Archive& archive, FileContents& file) {
  auto& [path, sample, header, types, notes, origins] = file;
  pass_each(archive, path, sample, header, types, notes, origins);
}

template <class T>
std::string bytes_of(T& value) {
  std::string bytes;
  Archive archive{.bytes = bytes, .writes = true};
  pass(archive, value);
  return bytes;
}

}  // namespace

std::string to_bytes(Snapshot::State state) { return bytes_of(state); }
std::string to_bytes(std::vector<FileContents> files) { return bytes_of(files); }
std::string to_bytes(hdf5::Origins origins) { return bytes_of(origins); }

Snapshot::State state_from_bytes(std::string bytes) {
  Archive archive{.bytes = bytes};
  Snapshot::State state;
  pass(archive, state);
  return state;
}

std::vector<FileContents> contents_from_bytes(std::string bytes) {
  Archive archive{.bytes = bytes};
  std::vector<FileContents> all, part;
  while (archive.at < bytes.size()) {
    pass(archive, part);
    all.insert(all.end(), part.begin(), part.end());
  }
  return all;
}

hdf5::Origins origins_from_bytes(std::string bytes) {
  Archive archive{.bytes = bytes};
  hdf5::Origins all, part;
  while (archive.at < bytes.size()) {
    pass(archive, part);
    all.add(part);
  }
  return all;
}

}  // namespace zhalo::io
