#include "src/c/handles.hpp"

namespace zhalo::c {
namespace {

/// The labels of a species. Collective.
const Buffer<Index>& labels_of(const zhalo_groups& groups, int species) {
  validate_species(groups.domain, species);
  if (species == 0) return groups.linked.label;
  const auto which = static_cast<std::size_t>(species - 1);
  validate(groups.is_attached[which], "species {} is in no groups; attach it first", species);
  return groups.attached[which].label;
}

AttachResult attached(const zhalo_groups& groups, int species, double radius) {
  validate_species(groups.domain, species);
  validate(species > 0, "species 0 has the groups; attach another species to them");
  return call_with(groups.domain, [&](const auto& particles) {
    return attach_particles(particles, groups.linked, radius, species);
  });
}

CatalogueOptions catalogue_options(const zhalo_catalogue_options& given) {
  CatalogueOptions options;
  if (given.min_members != 0) options.min_members = given.min_members;
  if (given.num_types != 0) options.num_types = given.num_types;
  validate(given.num_counted_types >= 0, "there are {} counted types", given.num_counted_types);
  if (given.num_counted_types > 0) {
    const int* first = &at(given.counted_types, "counted types");
    options.counted_types.assign(first, first + given.num_counted_types);
  }
  return options;
}

}  // namespace

extern "C" {

int zhalo_find_groups(const zhalo_domain* domain, double linking_length, zhalo_groups** groups) {
  if (groups != nullptr) *groups = nullptr;
  return status_of([&] {
    const zhalo_domain& among = at(domain, "domain");
    make_handle(among.context, groups, [&] {
      const auto find = [&](const auto& particles) {
        zhalo_groups found{among, {}, {}, {}};
        found.linked = friends_of_friends(particles, {.linking_length = linking_length});
        found.attached.resize(static_cast<std::size_t>(particles.num_species() - 1));
        found.is_attached.resize(found.attached.size());
        return found;
      };
      return call_with(among, find);
    });
  });
}

int zhalo_attach_species(zhalo_groups* groups, int species, double radius) {
  return status_of([&] {
    zhalo_groups& to = at(groups, "groups");
    AttachResult result =
        together(to.domain.context->comm, [&] { return attached(to, species, radius); });
    const auto which = static_cast<std::size_t>(species - 1);
    to.attached[which] = std::move(result);
    to.is_attached[which] = true;
  });
}

int zhalo_groups_get_labels(const zhalo_groups* groups, int species, int64_t* labels,
                            int64_t room) {
  return status_of([&] {
    const zhalo_groups& from = at(groups, "groups");
    from.domain.context->comm.together([&] {
      copy_in_caller_order<Index>(from.domain, {labels_of(from, species).span(), species}, labels,
                                  room);
    });
  });
}

void zhalo_groups_destroy(zhalo_groups* groups) { delete groups; }

int zhalo_make_catalogue(const zhalo_groups* groups, const zhalo_catalogue_options* options,
                         zhalo_catalogue** catalogue) {
  if (catalogue != nullptr) *catalogue = nullptr;
  return status_of([&] {
    const zhalo_groups& of = at(groups, "groups");
    make_handle(of.domain.context, catalogue, [&] {
      const CatalogueOptions chosen = catalogue_options(options_or_default(options));
      // Particles of a species that is not attached are in no group.
      const auto make = [&](const auto& particles) {
        return make_catalogue(particles, of.linked, of.attached, chosen);
      };
      return zhalo_catalogue{of.domain, call_with(of.domain, make)};
    });
  });
}

}  // extern "C"

}  // namespace zhalo::c
