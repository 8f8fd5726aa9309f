#include <cstddef>
#include <vector>

#include "src/c/handles.hpp"

namespace zhalo::c {
namespace {

/// Copies one number of each row. Not collective.
template <class Column, class T>
int copy_rows(const zhalo_catalogue* catalogue, Column Catalogue::*column, T* to, Index room) {
  return status_of([&] {
    const zhalo_catalogue& from = at(catalogue, "catalogue");
    copy_out<T>(from.domain.context->exec, from.table.*column, to, room);
  });
}

void append(std::vector<double>& numbers, double number) { numbers.push_back(number); }
void append(std::vector<double>& numbers, const Vec3d& vector) {
  for (const double number : vector.at) numbers.push_back(number);
}

/// Copies a property of each row. Not collective.
template <class T>
int copy_property(const zhalo_catalogue* catalogue, T HaloProperties::*property, double* to,
                  Index room) {
  return status_of([&] {
    const zhalo_catalogue& from = at(catalogue, "catalogue");
    std::vector<double> numbers;
    for (const HaloProperties& row : from.table.properties) append(numbers, row.*property);
    copy_out<double>(from.domain.context->exec, numbers, to, room);
  });
}

zhalo_catalogue_counts counts_of(const Catalogue& table) {
  zhalo_catalogue_counts counts{};
  counts.num_groups = static_cast<Index>(table.length.size());
  counts.num_groups_total = table.num_groups_total;
  counts.first_group = table.first_group;
  counts.num_members = table.members.size();
  counts.num_members_total = table.num_members_total;
  counts.first_member = table.first_member;
  counts.has_velocities = table.has_velocities ? 1 : 0;
  counts.checksum = table.checksum;
  return counts;
}

}  // namespace

extern "C" {

int zhalo_find_groups(const zhalo_domain* domain, double linking_length, zhalo_groups** groups) {
  if (groups != nullptr) *groups = nullptr;
  return status_of([&] {
    const zhalo_domain& among = at(domain, "domain");
    const auto find = [&](const auto& particles) {
      return friends_of_friends(particles, {.linking_length = linking_length});
    };
    make_handle(among.context, groups, [&] {
      return zhalo_groups{among, std::visit(find, among.particles)};
    });
  });
}

int zhalo_groups_get_labels(const zhalo_groups* groups, int64_t* labels, int64_t room) {
  return status_of([&] {
    const zhalo_groups& from = at(groups, "groups");
    copy_in_caller_order<Index>(from.domain, from.fof.label.span(), 1, labels, room);
  });
}

void zhalo_groups_destroy(zhalo_groups* groups) { delete groups; }

int zhalo_make_catalogue(const zhalo_groups* groups, int64_t min_members,
                         zhalo_catalogue** catalogue) {
  if (catalogue != nullptr) *catalogue = nullptr;
  return status_of([&] {
    const zhalo_groups& of = at(groups, "groups");
    const auto make = [&](const auto& particles) {
      return make_catalogue(particles, of.fof.label.span(), {.min_members = min_members});
    };
    make_handle(of.domain.context, catalogue, [&] {
      return zhalo_catalogue{of.domain, std::visit(make, of.domain.particles)};
    });
  });
}

int zhalo_catalogue_get_counts(const zhalo_catalogue* catalogue, zhalo_catalogue_counts* counts) {
  return status_of([&] { at(counts, "counts") = counts_of(at(catalogue, "catalogue").table); });
}

int zhalo_catalogue_get_lengths(const zhalo_catalogue* catalogue, int64_t* lengths, int64_t room) {
  return copy_rows(catalogue, &Catalogue::length, lengths, room);
}

int zhalo_catalogue_get_labels(const zhalo_catalogue* catalogue, int64_t* labels, int64_t room) {
  return copy_rows(catalogue, &Catalogue::label, labels, room);
}

int zhalo_catalogue_get_offsets(const zhalo_catalogue* catalogue, int64_t* offsets, int64_t room) {
  return copy_rows(catalogue, &Catalogue::offset, offsets, room);
}

int zhalo_catalogue_get_masses(const zhalo_catalogue* catalogue, double* masses, int64_t room) {
  return copy_property(catalogue, &HaloProperties::mass, masses, room);
}

int zhalo_catalogue_get_centres(const zhalo_catalogue* catalogue, double* centres, int64_t room) {
  return copy_property(catalogue, &HaloProperties::centre, centres, room);
}

int zhalo_catalogue_get_velocities(const zhalo_catalogue* catalogue, double* velocities,
                                   int64_t room) {
  return copy_property(catalogue, &HaloProperties::velocity, velocities, room);
}

int zhalo_catalogue_get_velocity_dispersions(const zhalo_catalogue* catalogue, double* dispersions,
                                             int64_t room) {
  return copy_property(catalogue, &HaloProperties::velocity_dispersion, dispersions, room);
}

int zhalo_catalogue_get_rms_radii(const zhalo_catalogue* catalogue, double* radii, int64_t room) {
  return copy_property(catalogue, &HaloProperties::rms_radius, radii, room);
}

int zhalo_catalogue_get_max_radii(const zhalo_catalogue* catalogue, double* radii, int64_t room) {
  return copy_property(catalogue, &HaloProperties::max_radius, radii, room);
}

int zhalo_catalogue_get_members(const zhalo_catalogue* catalogue, int64_t* members, int64_t room) {
  return status_of([&] {
    const zhalo_catalogue& from = at(catalogue, "catalogue");
    copy_out<Index>(from.domain.context->exec, from.table.members.span(), members, room);
  });
}

int zhalo_catalogue_get_group_of_particles(const zhalo_catalogue* catalogue, int64_t* rows,
                                           int64_t room) {
  return status_of([&] {
    const zhalo_catalogue& from = at(catalogue, "catalogue");
    copy_in_caller_order<Index>(from.domain, from.table.group_of.span(), 1, rows, room);
  });
}

void zhalo_catalogue_destroy(zhalo_catalogue* catalogue) { delete catalogue; }

}  // extern "C"

}  // namespace zhalo::c
