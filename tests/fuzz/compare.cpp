#include "tests/fuzz/compare.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <fstream>

#include "tests/fuzz/plain.hpp"

namespace zhalo::fuzz {

namespace {

/// The same bits, or both no number: conversions may choose among those.
template <class T>
bool is_same(T a, T b) {
  return std::memcmp(&a, &b, sizeof(T)) == 0 || (a != a && b != b);
}

/// What a reading holds of one type, number by number.
template <class Real>
class Columns {
 public:
  explicit Columns(const io::LoadedParticles<Real>& loaded) : loaded_(loaded) {}

  Index num() const { return loaded_.particles.num(); }
  const ParticleSegment<Real>& only() const { return loaded_.particles.segments.front(); }
  Real pos(Index i) const { return only().pos[static_cast<std::size_t>(i % 3)][i / 3]; }
  double velocity(Index i) const { return only().velocity[static_cast<std::size_t>(i % 3)][i / 3]; }
  double mass(Index i) const { return only().mass[i]; }
  std::uint64_t id(Index i) const { return loaded_.id.data()[i]; }

 private:
  const io::LoadedParticles<Real>& loaded_;
};

const std::vector<float>& numbers_of(const PlainColumn& column, float) { return column.single; }
const std::vector<double>& numbers_of(const PlainColumn& column, double) { return column.wide; }

/// `read(i)` against `plain(i)` for all numbers of a column.
template <class Read, class Plain>
std::string first_difference(const char* name, Index num, const Read& read, const Plain& plain) {
  for (Index i = 0; i < num; ++i) {
    const auto here = read(i);
    const auto there = static_cast<decltype(read(i))>(plain(static_cast<std::size_t>(i)));
    if (!is_same(here, there))
      return fmt::format("number {} of the {} is {} (a plain reader reads {})", i, name, here,
                         there);
  }
  return {};
}

std::string has_not(const char* name, Index needed) {
  return fmt::format("a plain reader does not read {} {}", needed, name);
}

/// What a plain reader reads of one type.
struct PlainType {
  PlainColumn position, velocity, mass, id;
  std::optional<double> table_mass{};
};

PlainType read_plain_type(const io::SnapshotInfo& info, int type) {
  auto columns = read_plain(info.files, fmt::format("PartType{}", type),
                            {{"Coordinates", "IntCoordinates"},
                             {"Velocities", "Velocity"},
                             {"Masses", "Mass", "DynamicalMasses"},
                             {"ParticleIDs"}});
  PlainType plain{std::move(columns[0]), std::move(columns[1]), std::move(columns[2]),
                  std::move(columns[3])};
  const auto at = static_cast<std::size_t>(type);
  if (info.types[at].uniform_mass)
    plain.table_mass = plain_attribute(info.files.front(), "Header", "MassTable", at);
  return plain;
}

bool has(const PlainColumn& column, Index num) {
  return column.state == PlainColumn::State::read && static_cast<Index>(column.wide.size()) == num;
}

/// What zhalo says is not in the file must not be there, not even in part.
bool is_absent(const PlainColumn& column) { return column.state == PlainColumn::State::absent; }

/// One type in one precision.
template <class Real>
class TypeComparison {
 public:
  TypeComparison(const io::SnapshotInfo& info, const PlainType& plain,
                 const io::LoadedParticles<Real>& loaded)
      : info_(info), plain_(plain), columns_(loaded) {}

  std::string positions() const {
    const Index num = 3 * columns_.num();
    if (!has(plain_.position, num)) return has_not("coordinates", num);
    const PlainColumn& plain = plain_.position;
    const auto read = [&](Index i) { return columns_.pos(i); };
    if (!plain.integer)
      return first_difference("positions", num, read,
                              [&](std::size_t i) { return numbers_of(plain, Real{})[i]; });
    const double cells = std::ldexp(1.0, 8 * static_cast<int>(plain.bytes));
    return first_difference("positions", num, read, [&](std::size_t i) {
      return static_cast<double>(plain.whole[i]) / cells *
             (*info_.box_length)[static_cast<int>(i % 3)];
    });
  }

  /// Velocities and masses are float unless the file has more digits.
  std::string velocities() const {
    const Index num = 3 * columns_.num();
    if (!has(plain_.velocity, num)) return has_not("velocities", num);
    const PlainColumn& plain = plain_.velocity;
    const double factor = info_.velocity_factor;
    const auto read = [&](Index i) { return columns_.velocity(i); };
    if (plain.bytes > 4)
      return first_difference("velocities", num, read,
                              [&](std::size_t i) { return plain.wide[i] * factor; });
    return first_difference("velocities", num, read, [&](std::size_t i) {
      return double{plain.single[i] * static_cast<float>(factor)};
    });
  }

  std::string masses(const io::TypeSummary& summary) const {
    if (summary.uniform_mass) {
      const bool same = plain_.table_mass == summary.uniform_mass &&
                        is_same(columns_.mass(0), *plain_.table_mass);
      return same ? "" : "the mass is not that of the MassTable";
    }
    const Index num = columns_.num();
    if (!has(plain_.mass, num)) return has_not("masses", num);
    const PlainColumn& plain = plain_.mass;
    return first_difference(
        "masses", num, [&](Index i) { return columns_.mass(i); },
        [&](std::size_t i) { return plain.bytes > 4 ? plain.wide[i] : double{plain.single[i]}; });
  }

  std::string ids() const {
    if (!has(plain_.id, columns_.num())) return has_not("ids", columns_.num());
    return first_difference(
        "ids", columns_.num(), [&](Index i) { return columns_.id(i); },
        [&](std::size_t i) { return plain_.id.whole[i]; });
  }

  std::string left_out(const io::TypeSummary& summary) const {
    if (!summary.has_velocities && !is_absent(plain_.velocity)) return "velocities are left out";
    if (!summary.has_ids && !is_absent(plain_.id)) return "ids are left out";
    if (summary.mass_source == "none" && !is_absent(plain_.mass)) return "masses are left out";
    return {};
  }

  /// `columns`: all that the summary says were loaded, not the positions alone.
  std::string all(const io::TypeSummary& summary, bool columns) const {
    if (columns_.num() != summary.count)
      return fmt::format("{} of {} particles", columns_.num(), summary.count);
    std::string words = positions();
    if (words.empty()) words = left_out(summary);
    if (words.empty() && columns && summary.has_velocities) words = velocities();
    if (words.empty() && columns && summary.has_ids) words = ids();
    if (words.empty() && columns && summary.mass_source != "none") words = masses(summary);
    return words;
  }

 private:
  const io::SnapshotInfo& info_;
  const PlainType& plain_;
  Columns<Real> columns_;
};

}  // namespace

std::string difference(const SnapshotReading& reading) {
  for (const auto& [type, particles] : reading.types) {
    if (!particles.succeeded()) continue;
    const PlainType plain = read_plain_type(reading.info, type);
    const io::TypeSummary& summary = reading.info.types[static_cast<std::size_t>(type)];
    const bool in_single = reading.columns == Precision::single;
    std::string words =
        TypeComparison<float>(reading.info, plain, particles.single).all(summary, in_single);
    if (words.empty())
      words = TypeComparison<double>(reading.info, plain, particles.wide).all(summary, !in_single);
    if (!words.empty()) return fmt::format("type {}: {}", type, words);
  }
  return {};
}

std::string difference(const QueryPointsReading& reading, const std::string& path) {
  if (!reading.is_there || reading.wide.particles.segments.empty()) return {};
  const auto plain = read_plain({path}, "", {{"Coordinates"}}).front();
  const Index num = 3 * reading.wide.particles.num();
  if (!has(plain, num)) return has_not("coordinates of points", num);
  const Columns<float> single(reading.single);
  const Columns<double> wide(reading.wide);
  const std::string words = first_difference(
      "points", num, [&](Index i) { return single.pos(i); },
      [&](std::size_t i) { return plain.single[i]; });
  if (!words.empty()) return words;
  return first_difference(
      "points", num, [&](Index i) { return wide.pos(i); },
      [&](std::size_t i) { return plain.wide[i]; });
}

namespace {

/// The files of a catalogue in the order of their numbers: the one that is named, or as many of
/// those in the folder as the first one says.
std::vector<std::string> catalogue_files(const std::string& path) {
  if (path != ".") return {path};
  const auto name_of_file = [](int k) { return fmt::format("./fof_subhalo_tab_001.{}.hdf5", k); };
  const double num = plain_attribute(name_of_file(0), "Header", "NumFiles").value_or(1);
  std::vector<std::string> files;
  for (int k = 0; k < num && std::ifstream(name_of_file(k)); ++k) files.push_back(name_of_file(k));
  return files;
}

/// Of the columns that a catalogue may lack; those of zeros are not compared.
std::string halo_difference(const io::HaloList& list, const std::vector<std::string>& files,
                            const Names& names, double (*value)(const io::Halo&)) {
  const auto plain = read_plain(files, "Group", {names}).front();
  if (plain.state == PlainColumn::State::lost) return fmt::format("{} is left out", names.front());
  if (plain.wide.size() < list.haloes.size()) return {};
  return first_difference(
      names.front(), static_cast<Index>(list.haloes.size()),
      [&](Index i) { return value(list.haloes[static_cast<std::size_t>(i)]); },
      [&](std::size_t i) { return plain.wide[i]; });
}

}  // namespace

std::string difference(const CatalogueReading& reading, const std::string& path) {
  const std::vector<std::string> files = catalogue_files(path);
  const auto& haloes = reading.list.haloes;
  if (haloes.empty()) return {};
  const auto centres = read_plain(files, "Group", {{"GroupPos", "GroupCM"}}).front();
  if (centres.wide.size() < 3 * haloes.size())
    return has_not("centres of groups", 3 * static_cast<Index>(haloes.size()));
  const auto centre = [&](Index i) {
    return haloes[static_cast<std::size_t>(i / 3)].centre[static_cast<int>(i % 3)];
  };
  std::string words = first_difference("centres", 3 * static_cast<Index>(haloes.size()), centre,
                                       [&](std::size_t i) { return centres.wide[i]; });
  if (words.empty())
    words = halo_difference(reading.list, files, {"GroupMass"},
                            [](const io::Halo& halo) { return halo.mass; });
  if (words.empty())
    words = halo_difference(reading.list, files,
                            {"GroupExtentRadius", "Group_R_Crit200", "Group_R_Mean200"},
                            [](const io::Halo& halo) { return halo.radius; });
  return words;
}

std::string difference(const TableReading& reading, const std::string& path) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    char* end = nullptr;
    const double k = std::strtod(line.c_str(), &end);
    if (end == line.c_str() || line[0] == '#') continue;
    const double power = std::strtod(end, nullptr);
    const double found = (*reading.power)(k);
    if (!(std::abs(found / power - 1) < 1e-6))
      return fmt::format("the power at k = {} is {} (the table says {})", k, found, power);
  }
  return {};
}

}  // namespace zhalo::fuzz
