#include "src/io/snapshot_archive.hpp"

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
struct is_optional : std::false_type {};
template <class T>
struct is_optional<std::optional<T>> : std::true_type {};
template <class T>
struct is_vector : std::false_type {};
template <class T>
struct is_vector<std::vector<T>> : std::true_type {};

template <class Archive, class C>
void pass_members(Archive& a, C& c) requires(std::is_same_v<std::remove_const_t<C>, Cosmology>) {
  pass_each(a, c.scale_factor, c.redshift, c.hubble, c.omega_matter, c.omega_lambda, c.omega_baryon, c.omega_cdm,
            c.critical_density, c.critical_density_source);
}
template <class Archive, class T>
void pass_members(Archive& a, T& t) requires(std::is_same_v<std::remove_const_t<T>, TypeSummary>) {
  pass_each(a, t.count, t.has_coordinates, t.has_velocities, t.has_ids, t.double_coordinates, t.double_velocities,
            t.double_masses, t.mass_source, t.uniform_mass);
}
template <class Archive, class C>
void pass_members(Archive& a, C& c) requires(std::is_same_v<std::remove_const_t<C>, Column>) {
  pass_each(a, c.name, c.integer, c.bytes);
}
template <class Archive, class L>
void pass_members(Archive& a, L& l) requires(std::is_same_v<std::remove_const_t<L>, TypeLayout>) {
  pass_each(a, l.position, l.velocity, l.mass, l.id, l.first_of_file);
}
template <class Archive, class I>
void pass_members(Archive& a, I& i) requires(std::is_same_v<std::remove_const_t<I>, SnapshotInfo>) {
  pass_each(a, i.code, i.version, i.path, i.files, i.stem, i.number, i.types, i.box_length, i.periodic, i.cosmology, i.units,
            i.velocity_factor, i.notes);
}

template <class Archive, class Value>
void pass(Archive& archive, Value& value) {
  using Plain = std::remove_const_t<Value>;
  if constexpr (std::is_same_v<Plain, std::string>) {
    archive.text(value);
  } else if constexpr (is_optional<Plain>::value) {
    pass_optional(archive, value);
  } else if constexpr (is_vector<Plain>::value) {
    pass_all(archive, value);
  } else if constexpr (std::is_trivially_copyable_v<Plain>) {
    archive.plain(value);
  } else {
    pass_members(archive, value);
  }
}

}  // namespace

std::string to_bytes(const Snapshot::State& state) {
  Writer writer;
  pass_each(writer, state.info, state.layouts);
  return writer.bytes;
}

Snapshot::State from_bytes(const std::string& bytes) {
  Reader reader(bytes);
  Snapshot::State state;
  pass_each(reader, state.info, state.layouts);
  return state;
}

}  // namespace zhalo::io
