#include "src/io/snapshot/state.hpp"

#include <cstring>
#include <optional>
#include <type_traits>
#include <vector>

namespace zhalo::io {
namespace {

/// Appends to the bytes.
class Writer {
 public:
  template <class T>
  void plain(const T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    bytes.append(reinterpret_cast<const char*>(&value), sizeof(T));
  }
  void text(const std::string& value) {
    plain(value.size());
    bytes.append(value);
  }
  template <class T>
  void has(const std::optional<T>& value) {
    plain(value.has_value());
  }
  template <class T>
  void size(const std::vector<T>& values) {
    plain(values.size());
  }

  std::string bytes;
};

/// Takes from the bytes, in the same order.
class Reader {
 public:
  explicit Reader(const std::string& bytes) : bytes_(bytes) {}

  template <class T>
  void plain(T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    std::memcpy(&value, bytes_.data() + at_, sizeof(T));
    at_ += sizeof(T);
  }
  void text(std::string& value) {
    std::size_t size = 0;
    plain(size);
    value = bytes_.substr(at_, size);
    at_ += size;
  }
  template <class T>
  void has(std::optional<T>& value) {
    bool any = false;
    plain(any);
    if (any) value.emplace();
  }
  template <class T>
  void size(std::vector<T>& values) {
    std::size_t size = 0;
    plain(size);
    values.resize(size);
  }

 private:
  const std::string& bytes_;
  std::size_t at_ = 0;
};

// pass(archive, value) writes or reads; one text for both. Value may be const for a Writer.

template <class Archive, class Value>
void pass(Archive& archive, Value& value);

template <class Archive, class Value>
void pass_optional(Archive& archive, Value& value) {
  archive.has(value);
  if (value) pass(archive, *value);
}

template <class Archive, class Value>
void pass_all(Archive& archive, Value& values) {
  archive.size(values);
  for (auto& value : values) pass(archive, value);
}

template <class Archive, class... Values>
void pass_each(Archive& archive, Values&... values) {
  (pass(archive, values), ...);
}

template <class T>
struct IsOptional : std::false_type {};
template <class T>
struct IsOptional<std::optional<T>> : std::true_type {};
template <class T>
struct IsVector : std::false_type {};
template <class T>
struct IsVector<std::vector<T>> : std::true_type {};

// Bindings name all members: a new one stops the compilation until it is passed, too.

template <class Archive, class C>
void pass_members(Archive& archive,
                  C& cosmology) requires(std::is_same_v<std::remove_const_t<C>, Cosmology>) {
  auto& [scale_factor, redshift, hubble, matter, lambda, baryon, cdm, critical_density, source] =
      cosmology;
  pass_each(archive, scale_factor, redshift, hubble, matter, lambda, baryon, cdm, critical_density,
            source);
}
template <class Archive, class U>
void pass_members(Archive& archive,
                  U& units) requires(std::is_same_v<std::remove_const_t<U>, Units>) {
  auto& [length, mass, velocity, h_free, assumed] = units;
  pass_each(archive, length, mass, velocity, h_free, assumed);
}
template <class Archive, class T>
void pass_members(Archive& archive,
                  T& type) requires(std::is_same_v<std::remove_const_t<T>, TypeSummary>) {
  auto& [count, coordinates, velocities, ids, double_coordinates, double_velocities, double_masses,
         source, mass] = type;
  pass_each(archive, count, coordinates, velocities, ids, double_coordinates, double_velocities,
            double_masses, source, mass);
}
template <class Archive, class C>
void pass_members(Archive& archive,
                  C& column) requires(std::is_same_v<std::remove_const_t<C>, Column>) {
  auto& [name, integer, bytes] = column;
  pass_each(archive, name, integer, bytes);
}
template <class Archive, class L>
void pass_members(Archive& archive,
                  L& layout) requires(std::is_same_v<std::remove_const_t<L>, TypeLayout>) {
  auto& [position, velocity, mass, id, first_of_file] = layout;
  pass_each(archive, position, velocity, mass, id, first_of_file);
}
template <class Archive, class I>
void pass_members(Archive& archive,
                  I& info) requires(std::is_same_v<std::remove_const_t<I>, SnapshotInfo>) {
  auto& [code, version, path, files, stem, number, types, box, box_stretch, periodic, cosmological,
         time, cosmology, units, velocity_factor, notes, warnings] = info;
  pass_each(archive, code, version, path, files, stem, number, types, box, box_stretch, periodic,
            cosmological, time, cosmology, units, velocity_factor, notes, warnings);
}
template <class Archive, class S>
void pass_members(Archive& archive,
                  S& state) requires(std::is_same_v<std::remove_const_t<S>, Snapshot::State>) {
  auto& [info, layouts] = state;
  pass_each(archive, info, layouts);
}

template <class Archive, class Value>
void pass(Archive& archive, Value& value) {
  using Plain = std::remove_const_t<Value>;
  if constexpr (std::is_same_v<Plain, std::string>) {
    archive.text(value);
  } else if constexpr (IsOptional<Plain>::value) {
    pass_optional(archive, value);
  } else if constexpr (IsVector<Plain>::value) {
    pass_all(archive, value);
  } else if constexpr (std::is_arithmetic_v<Plain> || std::is_enum_v<Plain> ||
                       std::is_same_v<Plain, Vec3d>) {
    archive.plain(value);
  } else {
    pass_members(archive, value);
  }
}

}  // namespace

std::string to_bytes(const Snapshot::State& state) {
  Writer writer;
  pass(writer, state);
  return writer.bytes;
}

Snapshot::State from_bytes(const std::string& bytes) {
  Reader reader(bytes);
  Snapshot::State state;
  pass(reader, state);
  return state;
}

}  // namespace zhalo::io
