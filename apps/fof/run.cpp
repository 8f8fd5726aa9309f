#include "apps/fof/fof.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <type_traits>
#include <utility>

#include "apps/cli/command.hpp"
#include "apps/cli/options.hpp"
#include "apps/cli/run_files.hpp"
#include "apps/report/results.hpp"
#include "zhalo/catalogue/attach.hpp"
#include "zhalo/catalogue/catalogue.hpp"
#include "zhalo/fof/fof.hpp"
#include "zhalo/io/catalogue_file.hpp"
#include "zhalo/io/load.hpp"

namespace zhalo::fof_app {
namespace {

bool is_linked(const Plan& plan, int type) {
  return std::count(plan.link_types.begin(), plan.link_types.end(), type) > 0;
}

/// The loaded particles as a domain has them: the linked ones are species 0, those that are
/// attached, if any, species 1.
template <class Real>
class Species {
 public:
  Species(const io::LoadedParticles<Real>& loaded, const Plan& plan)
      : particles_(plan.attach.types.empty() ? 1 : 2) {
    for (Particles<Real>& one : particles_) one.dimensions = loaded.particles.dimensions;
    for (std::size_t i = 0; i < loaded.ranges.size(); ++i) {
      const std::size_t species = is_linked(plan, loaded.ranges[i].type) ? 0 : 1;
      const Index num = loaded.ranges[i].count;
      pieces_.push_back({static_cast<int>(species), particles_[species].num(), num});
      particles_[species].segments.push_back(loaded.particles.segments[i]);
    }
  }

  int num() const { return static_cast<int>(particles_.size()); }
  const std::vector<Particles<Real>>& particles() const { return particles_; }

  /// Masses and velocities follow when they are needed.
  std::vector<Particles<Real>> positions() const {
    std::vector<Particles<Real>> only = particles_;
    for (Particles<Real>& one : only) {
      for (ParticleSegment<Real>& segment : one.segments) {
        segment.velocity = {};
        segment.mass = {};
        segment.type = {nullptr};
      }
    }
    return only;
  }
  std::vector<Particles<Real>> columns() const {
    std::vector<Particles<Real>> only = particles_;
    for (Particles<Real>& one : only) {
      for (ParticleSegment<Real>& segment : one.segments) segment.pos.fill(Strided<Real>{nullptr});
    }
    return only;
  }

  /// A column of the loaded particles, by species as they were given to the domain. `copied` holds
  /// what lay between particles of other species.
  template <class T>
  std::vector<Span<const T>> by_species(const Exec& exec, const Buffer<T>& loaded,
                                        std::vector<Buffer<T>>& copied) const {
    if (num() == 1) return {loaded.span()};
    std::vector<Span<const T>> columns;
    for (int s = 0; s < num(); ++s) {
      copied.emplace_back(exec, particles_[static_cast<std::size_t>(s)].num(),
                          "a column of one species");
      copy_pieces(exec, s, copied.back().data(), loaded.data());
      columns.push_back(copied.back().span());
    }
    return columns;
  }

  /// From the domain's order to that of the loaded particles. Collective.
  template <class T>
  Buffer<T> to_loaded_order(const Domain<Real>& domain, const Buffer<T>& all) const {
    const Exec& exec = domain.context().exec;
    Buffer<T> loaded(exec, num_loaded(), "a column in the snapshot's order");
    Index at = 0;
    for (int s = 0; s < num(); ++s) {
      const Buffer<T> of_species = domain.to_caller_order(all.span().subspan(at, domain.num(s)), s);
      copy_pieces(exec, s, of_species.data(), loaded.data());
      at += domain.num(s);
    }
    return loaded;
  }

 private:
  /// Consecutive particles of the snapshot, and where they lie in their species.
  struct Piece {
    int species;
    Index first;
    Index num;
  };

  Index num_loaded() const {
    Index sum = 0;
    for (const Piece& piece : pieces_) sum += piece.num;
    return sum;
  }

  /// From the one that is const to the other.
  template <class S, class L>
  void copy_pieces(const Exec& exec, int species, S* of_species, L* loaded) const {
    Index at = 0;
    for (const Piece& piece : pieces_) {
      S* const there = of_species + piece.first;
      L* const here = loaded + at;
      at += piece.num;
      if (piece.species != species) continue;
      const auto bytes = static_cast<std::size_t>(piece.num) * sizeof(S);
      if constexpr (std::is_const_v<S>) {
        copy_bytes(exec, here, there, bytes);
      } else {
        copy_bytes(exec, there, here, bytes);
      }
    }
  }

  std::vector<Particles<Real>> particles_;
  std::vector<Piece> pieces_;
};

/// What make_catalogue needs.
struct Grouped {
  FofResult linked;
  std::vector<AttachResult> attached;  ///< the second species, if there is one
};

/// Links the particles of the linked types and attaches those of the others. Collective.
template <class Real>
Grouped link_and_attach(const Domain<Real>& domain, const Plan& plan) {
  Grouped grouped;
  grouped.linked = friends_of_friends(domain, {.linking_length = plan.linking.length});
  if (plan.attach.types.empty()) return grouped;
  const double radius = plan.attach.radius * plan.linking.length;
  grouped.attached.push_back(attach_particles(domain, grouped.linked, radius));
  return grouped;
}

Exchanged exchanged_over_ranks(const Communicator& comm, const FofStatistics& mine) {
  const auto spread = [&](Index count) { return app::spread_of(comm, static_cast<double>(count)); };
  return {spread(mine.num_local), spread(mine.ghosts_sent), comm.sum(mine.edges),
          comm.max(mine.rounds), spread(mine.bytes_sent)};
}

io::RunRecord record_of(const Plan& plan) {
  io::RunRecord run;
  run.linking_length = plan.linking.length;
  run.linking_ratio = plan.linking.ratio.value_or(io::RunRecord::unknown);
  if (plan.linking.mean_separation) {
    run.mean_separation = plan.linking.mean_separation->chosen;
    run.mean_separation_rule = plan.linking.mean_separation->how;
  }
  run.min_members = plan.min_size;
  run.linked_types = plan.link_types;
  run.attached_types = plan.attach.types;
  run.attach_radius = plan.attach.radius;
  run.only_linked_count = plan.attach.only_linked_count;
  run.periodic = plan.box.any_periodic();
  return run;
}

/// Loaded particles, the domain that they are in, and their groups.
template <class Real>
struct Found {
  const io::LoadedParticles<Real>& loaded;
  const Species<Real>& species;
  const Domain<Real>& domain;
  const Catalogue& catalogue;
};

template <class Real>
Buffer<std::uint64_t> ids_of_members(const Context& context, const Found<Real>& found) {
  if (!found.loaded.has_ids) return {};
  const ScopedTimer timer(context.timers, "ids");
  std::vector<Buffer<std::uint64_t>> copied;
  const auto ids = found.species.by_species(context.exec, found.loaded.id, copied);
  return in_group_order(found.domain, found.catalogue, ids);
}

template <class Real>
void write(const Context& context, const Found<Real>& found, const Plan& plan,
           io::StagedFiles& files) {
  const ScopedTimer timer(context.timers, "write");
  const io::RunRecord run = record_of(plan);
  const Buffer<std::uint64_t> member_id = ids_of_members(context, found);
  write_catalogue(files, {found.catalogue, app::OnHost(context.exec, member_id).view()},
                  plan.snapshot, run, plan.files);
  if (!plan.membership) return retire_membership(files, plan.snapshot);
  const Buffer<Index> rows = found.species.to_loaded_order(found.domain, found.catalogue.group_of);
  const app::OnHost group_of(context.exec, rows);
  const app::OnHost id(context.exec, found.loaded.id);
  write_membership(files, {found.loaded.ranges, group_of.view(), id.view()}, plan.snapshot, run,
                   plan.files);
}

/// Of all ranks, on rank 0. Collective.
std::vector<GroupRow> first_rows(const Communicator& comm, const Catalogue& catalogue,
                                 Index max_rows) {
  std::vector<GroupRow> own;
  for (std::size_t i = 0; i < catalogue.length.size(); ++i) {
    if (catalogue.first_group + static_cast<Index>(i) >= max_rows) break;
    const HaloProperties& halo = catalogue.properties[i];
    own.push_back({catalogue.length[i], halo.mass, halo.centre, std::nullopt});
    if (catalogue.has_velocities) own.back().velocity = halo.velocity;
  }
  return app::on_rank_0(comm, own);
}

CatalogueOptions catalogue_options(const Plan& plan) {
  CatalogueOptions options{.min_members = plan.min_size,
                           .num_types = static_cast<int>(plan.snapshot.types.size())};
  if (plan.attach.only_linked_count) options.counted_types = plan.link_types;
  return options;
}

/// Members of all groups on all ranks.
std::vector<Index> count_by_type(const Communicator& comm, const Catalogue& catalogue) {
  const auto num_types = static_cast<std::size_t>(catalogue.num_types);
  std::vector<Index> counts(num_types);
  for (std::size_t at = 0; at < catalogue.length_by_type.size(); ++at)
    counts[at % num_types] += catalogue.length_by_type[at];
  comm.sum_in_place(counts);
  return counts;
}

std::string warning_of(const LostDigits& lost, Index num_groups) {
  const auto [what, number] = [&]() -> std::pair<const char*, const char*> {
    switch (lost.of) {
      case LostDigits::Of::masses: return {"masses and all other sums", "largest mass"};
      case LostDigits::Of::positions: return {"centres and radii", "extent"};
      case LostDigits::Of::velocities: return {"velocities", "largest velocity"};
    }
    return {};
  }();
  return fmt::format(
      "the {} of {} of {} groups have lost digits and may be off by more than 1e-6, because the {} "
      "of all particles is {:.4g}, far beyond that in these groups, {:.4g}: repair the snapshot, "
      "or leave out the particle that is so far beyond the others",
      what, lost.num_groups, num_groups, number, lost.largest, lost.typical);
}

/// Infinite if no axis is periodic.
double half_of_longest_side(const Box& box) {
  double half = 0;
  for (int axis = 0; axis < box.dimensions; ++axis)
    if (box.periodic[axis]) half = std::max(half, box.length[axis] / 2);
  return half > 0 ? half : std::numeric_limits<double>::infinity();
}

/// Of groups whose members have no unique nearest image. Collective.
std::optional<std::string> warning_of_wide_groups(const Communicator& comm,
                                                  const Catalogue& catalogue, const Box& box) {
  const double half = half_of_longest_side(box);
  // Nearest images of members along a whole side are up to half of it from any centre.
  const auto is_wide = [&](const HaloProperties& halo) { return halo.max_radius >= 0.98 * half; };
  const Index num = comm.sum(static_cast<Index>(
      std::count_if(catalogue.properties.begin(), catalogue.properties.end(), is_wide)));
  if (num == 0) return std::nullopt;
  return fmt::format(
      "{} of {} groups span half of the periodic box or more: their centres and radii are those "
      "of nearest images, and may be wrong (a shorter linking length gives smaller groups)",
      num, catalogue.num_groups_total);
}

/// Of all ranks.
std::vector<std::string> warnings_of(const Communicator& comm, const Catalogue& catalogue,
                                     const Box& box) {
  std::vector<std::string> warnings;
  // A mass of 0 has lost its digits.
  const auto is_unknown = [](const HaloProperties& halo) {
    return halo.mass > 0 && std::isnan(halo.velocity[0]);
  };
  const Index others = comm.sum(static_cast<Index>(
      std::count_if(catalogue.properties.begin(), catalogue.properties.end(), is_unknown)));
  if (others > 0 && catalogue.has_velocities)
    warnings.push_back(
        fmt::format("the velocities of {} of {} groups are not finite (NaN or infinite), because "
                    "those of members are not: repair the snapshot, or leave these groups out",
                    others, catalogue.num_groups_total));
  for (const LostDigits& lost : find_lost_digits(comm, catalogue))
    warnings.push_back(warning_of(lost, catalogue.num_groups_total));
  const auto wide = warning_of_wide_groups(comm, catalogue, box);
  if (wide && warnings.empty()) warnings.push_back(*wide);  // else centres may be wrong anyway
  return warnings;
}

/// What the catalogue says. Collective.
Result result_of(const Communicator& comm, const Catalogue& catalogue, const Box& box) {
  Result result;
  result.warnings = warnings_of(comm, catalogue, box);
  result.num_groups = catalogue.num_groups_total;
  result.num_members = catalogue.num_members_total;
  result.checksum = fmt::format("{:016x}", catalogue.checksum);
  result.members_by_type = count_by_type(comm, catalogue);
  result.largest = first_rows(comm, catalogue, 10);
  return result;
}

/// Attached particles look for their nearest linked one, also among many within a linking length.
double min_length_of(const Plan& plan) { return plan.num_attachable > 0 ? 0 : plan.linking.length; }

template <class Real>
Result find_groups_of(const Context& context, const io::Snapshot& snapshot, const Plan& plan,
                      io::StagedFiles& files) {
  io::LoadedParticles<Real> loaded;
  {
    const ScopedTimer timer(context.timers, "read");
    loaded = io::load_particles<Real>(context, snapshot, all_types(plan.link_types, plan.attach),
                                      {.in_background = true});
  }
  const Index sent_before = context.comm.bytes_sent();
  const Species<Real> species(loaded, plan);
  Domain<Real> domain(context, species.positions(), plan.box, {.min_length = min_length_of(plan)});
  loaded.real_columns.clear();
  app::check_wrapped({plan.num_particles(), domain.num_wrapped()}, plan.box, plan.wrap_all);
  Grouped grouped = link_and_attach(domain, plan);
  FofStatistics statistics = grouped.linked.statistics;
  statistics.bytes_sent = context.comm.bytes_sent() - sent_before;
  {
    const ScopedTimer timer(context.timers, "read");
    loaded.wait_for_columns(context);
  }
  domain.add_columns(species.columns());
  loaded.float_columns.clear();
  loaded.double_columns.clear();
  const Catalogue catalogue =
      make_catalogue(domain, grouped.linked, grouped.attached, catalogue_options(plan));
  grouped = {};
  write<Real>(context, {loaded, species, domain, catalogue}, plan, files);

  Result result = result_of(context.comm, catalogue, plan.box);
  result.num_wrapped = domain.num_wrapped();
  result.exchanged = exchanged_over_ranks(context.comm, statistics);
  result.particles = app::read_per_rank(context.comm, loaded.particles.num());
  return result;
}

/// Reads, searches and writes to `files`, for app::commit. The phases go to context.timers.
/// Collective.
Result find_groups(const Context& context, const io::Snapshot& snapshot, const Plan& plan,
                   io::StagedFiles& files) {
  const auto devices = app::look_after_devices(context, device_need(plan));
  Result result = plan.double_positions ? find_groups_of<double>(context, snapshot, plan, files)
                                        : find_groups_of<float>(context, snapshot, plan, files);
  result.written = app::sync_to_disk(context, {{&files}, {}});
  return result;
}

// The command. fof SNAPSHOT: friends-of-friends groups of a snapshot, as a catalogue.

void run(const Context& context, const Options& options, app::Progress& progress) {
  app::RequestedRun run(context.comm, options, progress);
  const io::Snapshot snapshot = app::open_snapshot(context, options.snapshot, options.box_length);
  const Plan plan = plan_run(context, snapshot, options);
  app::run_planned(
      run, plan_report(plan, run.is_verbose()),
      [&] { app::check_directory(context.comm, options.output); },
      [&] { return io::StagedFiles(context.comm, options.output); },
      [&](io::StagedFiles& files, app::Report& report) {
        Result result = find_groups(context, snapshot, plan, files);
        app::conclude(context, progress, report, result);
        return result_rows(plan, result, run.is_verbose());
      });
}

}  // namespace
}  // namespace zhalo::fof_app

int main(int argc, char** argv) {
  return zhalo::app::run_main("fof", argc, argv, zhalo::fof_app::parse_options,
                              zhalo::fof_app::run);
}
