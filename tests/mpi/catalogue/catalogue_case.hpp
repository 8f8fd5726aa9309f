/// Groups made by hand, their table by plain arithmetic, and the same particles laid out over ranks
/// in many ways.
#pragma once

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "tests/support/random.hpp"
#include "zhalo/catalogue/catalogue.hpp"

namespace zhalo::testing {

/// All particles of all ranks.
struct Sample {
  std::string name;
  Box box = Box::periodic_cube(1);
  CatalogueOptions options{2, 3};
  std::vector<Index> label;
  std::vector<double> pos;       ///< row by row
  std::vector<double> velocity;  ///< row by row
  std::vector<double> mass;
  std::vector<std::uint8_t> type;

  Index num() const { return static_cast<Index>(label.size()); }
};

/// Smallest index of each part from any numbering of parts.
inline std::vector<Index> labels_of(const std::vector<Index>& part) {
  std::map<Index, Index> smallest;
  std::vector<Index> label;
  for (std::size_t i = 0; i < part.size(); ++i)
    label.push_back(smallest.try_emplace(part[i], static_cast<Index>(i)).first->second);
  return label;
}

/// A group table on one host, as vectors.
struct Table {
  std::vector<Index> length, label, offset, members, group_of, length_by_type;
  std::vector<double> mass_by_type;
  std::vector<HaloProperties> properties;
};

/// Indices of a sample's particles in the order of a domain.
template <class Real>
std::vector<Index> domain_order(const Context& context, const Particles<Real>& all,
                                const Box& box) {
  return to_host(context.exec, Domain<Real>(context, all, box).global_index());
}

/// The definitions, one after the other.
class Arithmetic {
 public:
  /// Members of a group are in this order of all particles.
  Arithmetic(const Sample& sample, const std::vector<Index>& particles) : sample_(sample) {
    std::map<Index, std::vector<Index>> groups;
    for (const Index i : particles) groups[sample.label[static_cast<std::size_t>(i)]].push_back(i);
    groups.erase(no_group);
    std::vector<std::pair<Index, Index>> order;  // -length, label
    for (const auto& [label, members] : groups) {
      if (counted(members) >= sample.options.min_members)
        order.emplace_back(-static_cast<Index>(members.size()), label);
    }
    std::sort(order.begin(), order.end());
    table_.group_of.assign(sample.label.size(), no_group);
    for (const auto& [length, label] : order) {
      table_.label.push_back(label);
      add(groups[label]);
    }
  }
  const Table& table() const { return table_; }

 private:
  /// Members of the types that count.
  Index counted(const std::vector<Index>& members) const {
    const std::vector<int>& types = sample_.options.counted_types;
    return std::count_if(members.begin(), members.end(), [&](Index i) {
      return types.empty() ||
             std::count(types.begin(), types.end(), sample_.type[static_cast<std::size_t>(i)]) > 0;
    });
  }
  double mass(Index i) const { return sample_.mass[static_cast<std::size_t>(i)]; }
  Vec3d row(const std::vector<double>& column, Index i) const {
    Vec3d x;
    for (int axis = 0; axis < sample_.box.dimensions; ++axis) {
      x[axis] = column[static_cast<std::size_t>(i * sample_.box.dimensions + axis)];
    }
    return x;
  }
  Vec3d nearest(Vec3d x) const {
    for (int axis = 0; axis < 3; ++axis) {
      if (!sample_.box.periodic[axis]) continue;
      if (x[axis] > sample_.box.length[axis] / 2) x[axis] -= sample_.box.length[axis];
      if (x[axis] < -sample_.box.length[axis] / 2) x[axis] += sample_.box.length[axis];
    }
    return x;
  }
  Vec3d wrapped(Vec3d x) const {
    for (int axis = 0; axis < 3; ++axis) {
      const double length = sample_.box.length[axis];
      if (sample_.box.periodic[axis])
        x[axis] -= length * std::floor((x[axis] - sample_.box.lo[axis]) / length);
    }
    return x;
  }
  static double square(const Vec3d& v) { return v[0] * v[0] + v[1] * v[1] + v[2] * v[2]; }

  void add(const std::vector<Index>& members) {
    table_.offset.push_back(static_cast<Index>(table_.members.size()));
    table_.length.push_back(static_cast<Index>(members.size()));
    const auto num_types = static_cast<std::size_t>(sample_.options.num_types);
    const std::size_t first_type = table_.length_by_type.size();
    table_.length_by_type.resize(first_type + num_types);
    table_.mass_by_type.resize(first_type + num_types);
    const Vec3d origin = wrapped(row(sample_.pos, members.front()));
    double total = 0;
    Vec3d centre, velocity;
    for (const Index i : members) {
      table_.group_of[static_cast<std::size_t>(i)] = static_cast<Index>(table_.label.size()) - 1;
      table_.members.push_back(i);
      const std::size_t type = first_type + sample_.type[static_cast<std::size_t>(i)];
      table_.length_by_type[type] += 1;
      table_.mass_by_type[type] += mass(i);
      total += mass(i);
      centre += nearest(wrapped(row(sample_.pos, i)) - origin) * mass(i);
      velocity += row(sample_.velocity, i) * mass(i);
    }
    HaloProperties halo;
    halo.mass = total;
    halo.centre = wrapped(origin + centre * (1 / total));
    halo.velocity = velocity * (1 / total);
    add_spreads(members, halo);
    table_.properties.push_back(halo);
  }

  void add_spreads(const std::vector<Index>& members, HaloProperties& halo) const {
    double velocity2 = 0, pos2 = 0, largest = 0;
    for (const Index i : members) {
      const double r2 = square(nearest(wrapped(row(sample_.pos, i)) - halo.centre));
      velocity2 += mass(i) * square(row(sample_.velocity, i) - halo.velocity);
      pos2 += mass(i) * r2;
      largest = std::max(largest, r2);
    }
    halo.velocity_dispersion = std::sqrt(velocity2 / (halo.mass * sample_.box.dimensions));
    halo.rms_radius = std::sqrt(pos2 / halo.mass);
    halo.max_radius = std::sqrt(largest);
  }

  const Sample& sample_;
  Table table_;
};

/// Which columns a caller has.
enum class Columns { none, all, single, mixed, uniform_by_rank };
inline constexpr double uniform_mass = 0.75;

/// How one segment holds a column.
enum class Held { missing, in_float, in_double };
struct Holding {
  Held velocity = Held::missing;
  Held mass = Held::missing;
  bool type = false;
};

/// Of segment `which`, two a rank.
inline Holding holding_of(Columns columns, Index which) {
  if (columns == Columns::all) return {Held::in_double, Held::in_double, true};
  if (columns == Columns::single) return {Held::in_float, Held::in_float, true};
  if (columns != Columns::mixed) return {};
  const Held some = which % 3 == 1 ? Held::in_double : Held::in_float;
  return {some, which % 5 == 1 ? Held::missing : some, which % 2 != 0};
}

/// Of the particles of a rank, those in its first segment.
inline Index cut_of(Index num) { return num / 3; }

/// One rank's particles in the memory of an Exec: two segments, whose columns may differ.
template <class Real>
class Part {
 public:
  /// Particles [first, first + num) of the sample, as rank `rank` has them.
  Part(const Exec& exec, const Sample& sample, Share share, int rank, Columns columns)
      : exec_(exec), sample_(sample), columns_(columns) {
    particles_.dimensions = sample.box.dimensions;
    particles_.uniform_mass = columns == Columns::uniform_by_rank ? 1.0 + rank : uniform_mass;
    const Index cut = cut_of(share.count);
    add({share.first, cut}, 2 * rank);
    add({share.first + cut, share.count - cut}, 2 * rank + 1);
    label_ = keep(piece(sample.label, share, 1));
  }
  Part(const Part&) = delete;
  Part& operator=(const Part&) = delete;

  const Particles<Real>& particles() const { return particles_; }
  Span<const Index> label() const {
    return {reinterpret_cast<const Index*>(label_), particles_.num()};
  }

 private:
  template <class T>
  static std::vector<T> piece(const std::vector<T>& column, Share share, Index width) {
    return {column.begin() + share.first * width,
            column.begin() + (share.first + share.count) * width};
  }
  template <class T>
  const void* keep(const std::vector<T>& values) {
    Buffer<unsigned char> kept(exec_, static_cast<Index>(values.size() * sizeof(T)), "test");
    copy_bytes(exec_, kept.data(), values.data(), values.size() * sizeof(T));
    memory_.push_back(std::move(kept));
    return memory_.back().data();
  }
  template <class T>
  const T* keep_as(const std::vector<double>& column, Share share, Index width) {
    const std::vector<double> values = piece(column, share, width);
    return static_cast<const T*>(keep(std::vector<T>(values.begin(), values.end())));
  }

  void add(Share share, Index which) {
    const int dimensions = sample_.box.dimensions;
    const auto* pos = keep_as<Real>(sample_.pos, share, dimensions);
    auto segment = ParticleSegment<Real>::interleaved(pos, share.count, dimensions);
    const Holding holding = holding_of(columns_, which);
    const auto velocity = [&](const auto* values) {
      for (std::size_t axis = 0; axis < static_cast<std::size_t>(dimensions); ++axis)
        segment.velocity[axis] =
            RealColumn(values + axis, dimensions * static_cast<Index>(sizeof *values));
    };
    if (holding.velocity == Held::in_float)
      velocity(keep_as<float>(sample_.velocity, share, dimensions));
    if (holding.velocity == Held::in_double)
      velocity(keep_as<double>(sample_.velocity, share, dimensions));
    if (holding.mass == Held::in_float) segment.mass = keep_as<float>(sample_.mass, share, 1);
    if (holding.mass == Held::in_double) segment.mass = keep_as<double>(sample_.mass, share, 1);
    if (holding.type)
      segment.type = {static_cast<const std::uint8_t*>(keep(piece(sample_.type, share, 1)))};
    particles_.segments.push_back(segment);
  }

  const Exec& exec_;
  const Sample& sample_;
  Columns columns_;
  Particles<Real> particles_;
  std::vector<Buffer<unsigned char>> memory_;
  const void* label_ = nullptr;
};

/// Puts into the sample what its particles effectively have: single precision where they are held
/// so, and what holds without a column.
inline void settle_columns(Sample& sample, const std::vector<Index>& counts, Columns columns) {
  const auto held = [](double value, Held how, double without) {
    if (how == Held::missing) return without;
    return how == Held::in_float ? static_cast<double>(static_cast<float>(value)) : value;
  };
  const auto dimensions = static_cast<std::size_t>(sample.box.dimensions);
  std::size_t i = 0;
  for (std::size_t rank = 0; rank < counts.size(); ++rank) {
    const double without =
        columns == Columns::uniform_by_rank ? 1.0 + static_cast<double>(rank) : uniform_mass;
    for (Index k = 0; k < counts[rank]; ++k, ++i) {
      const Holding holding =
          holding_of(columns, static_cast<Index>(2 * rank) + (k < cut_of(counts[rank]) ? 0 : 1));
      for (std::size_t a = i * dimensions; a < (i + 1) * dimensions; ++a)
        sample.velocity[a] = held(sample.velocity[a], holding.velocity, 0);
      sample.mass[i] = held(sample.mass[i], holding.mass, without);
      if (!holding.type) sample.type[i] = 0;
    }
  }
}

}  // namespace zhalo::testing
