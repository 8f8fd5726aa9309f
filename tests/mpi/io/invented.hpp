/// A catalogue made up by arithmetic, any part of which any rank can hold.
#pragma once

#include "zhalo/io/catalogue_file.hpp"

namespace invented {

using namespace zhalo;

/// Group g has 20 - g particles of type 1 and g % 3 of type 4, in the order of the snapshot; a few
/// more are in no group.
struct World {
  Index num_groups = 0;
  Index num_dark = 0, num_stars = 0;
  std::vector<Index> group_of;  // all particles: type 1, then type 4
  std::vector<std::vector<Index>> members;

  explicit World(Index groups = 10, Index loose_dark = 50, Index loose_stars = 3)
      : num_groups(groups), members(static_cast<std::size_t>(groups)) {
    for (Index g = 0; g < groups; ++g) add(g, dark_in(g), num_dark);
    add(no_group, loose_dark, num_dark);
    for (Index g = 0; g < groups; ++g) add(g, stars_in(g), num_stars);
    add(no_group, loose_stars, num_stars);
  }
  static Index dark_in(Index group) { return 20 - group; }
  static Index stars_in(Index group) { return group % 3; }
  Index num_particles() const { return static_cast<Index>(group_of.size()); }
  Index num_members() const {
    Index sum = 0;
    for (const auto& group : members) sum += static_cast<Index>(group.size());
    return sum;
  }

 private:
  void add(Index group, Index count, Index& num_of_type) {
    for (Index i = 0; i < count; ++i) {
      if (group != no_group)
        members[static_cast<std::size_t>(group)].push_back(static_cast<Index>(group_of.size()));
      group_of.push_back(group);
      ++num_of_type;
    }
  }
};

inline std::uint64_t id_of(Index particle) { return 1000 + static_cast<std::uint64_t>(particle); }

inline io::SnapshotInfo snapshot_of(const World& world) {
  io::SnapshotInfo info;
  info.files = {"somewhere/snapshot_042.hdf5"};
  info.number = 42;
  info.types.resize(6);
  info.types[1].count = world.num_dark;
  info.types[4].count = world.num_stars;
  info.box_length = Vec3d{{50, 50, 50}};
  info.cosmology.scale_factor = 0.5;
  info.cosmology.redshift = 1;
  info.cosmology.omega_matter = 0.3;
  info.cosmology.hubble = 0.7;
  info.units = {.length_in_cm = 3.085678e24, .mass_in_g = 1.989e43, .velocity_in_cm_per_s = 1e5};
  return info;
}

inline void append_row(Catalogue& catalogue, const World& world, Index g, Index offset) {
  const auto& members = world.members[static_cast<std::size_t>(g)];
  const auto length = static_cast<Index>(members.size());
  const auto real = static_cast<double>(g);
  catalogue.length.push_back(length);
  catalogue.label.push_back(members.front());
  catalogue.offset.push_back(offset);
  catalogue.properties.push_back({.mass = 2.0 * static_cast<double>(length),
                                  .centre = {{real, 2 * real, 3 * real}},
                                  .velocity = {{100 + real, -real, 0}},
                                  .velocity_dispersion = 10 + real,
                                  .rms_radius = 0.1,
                                  .max_radius = 0.3});
  for (const Index count :
       {Index{0}, World::dark_in(g), Index{0}, Index{0}, World::stars_in(g), Index{0}}) {
    catalogue.length_by_type.push_back(count);
    catalogue.mass_by_type.push_back(2.0 * static_cast<double>(count));
  }
}

/// These rows of the table.
inline Catalogue table_of(const World& world, Share rows) {
  Catalogue catalogue;
  catalogue.num_types = 6;
  catalogue.num_groups_total = world.num_groups;
  catalogue.num_members_total = world.num_members();
  catalogue.first_group = rows.first;
  Index offset = 0;
  for (Index g = 0; g < rows.first + rows.count; ++g) {
    if (g >= rows.first) append_row(catalogue, world, g, offset);
    offset += static_cast<Index>(world.members[static_cast<std::size_t>(g)].size());
  }
  return catalogue;
}

/// IDs of these members, in group order.
inline std::vector<std::uint64_t> member_ids_of(const World& world, Share share) {
  std::vector<std::uint64_t> all;
  for (const auto& members : world.members) {
    for (const Index particle : members) all.push_back(id_of(particle));
  }
  return {all.begin() + share.first, all.begin() + share.first + share.count};
}

/// The columns of a membership of these particles.
struct ParticleColumns {
  std::vector<io::TypeRange> ranges;
  std::vector<Index> group_of;
  std::vector<std::uint64_t> ids;

  ParticleColumns(const World& world, Share share)
      : ranges(io::ranges_of(snapshot_of(world), {1, 4}, share)),
        group_of(world.group_of.begin() + share.first,
                 world.group_of.begin() + share.first + share.count) {
    for (Index i = 0; i < share.count; ++i) ids.push_back(id_of(share.first + i));
  }
};

inline io::RunRecord run_record() {
  return {.linking_length = 0.15625,
          .linking_ratio = 0.2,
          .mean_separation = 0.78125,
          .mean_separation_rule = "from the volume",
          .min_members = 11,
          .linked_types = {1, 4},
          .periodic = true};
}

}  // namespace invented
