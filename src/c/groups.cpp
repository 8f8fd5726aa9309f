#include "src/c/handles.hpp"

#include <fmt/format.h>
#include <cstddef>
#include <string>
#include <string_view>

#include "src/domain/domain_state.hpp"

namespace zhalo::c {
// Groups.

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

// Catalogues.

namespace {

/// Copies numbers of this rank's rows. Not collective.
template <class Column, class T>
int copy_rows(const zhalo_catalogue* catalogue, Column Catalogue::*column, T* to, Index room) {
  return status_of([&] {
    const zhalo_catalogue& from = at(catalogue, "catalogue");
    copy_out<T>(from.domain.context->exec, Span<const T>(from.table.*column), to, room);
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
  counts.num_types = table.num_types;
  counts.checksum = table.checksum;
  return counts;
}

/// The rows of the table of properties that do not depend on a scale factor.
std::vector<const HaloColumn*> known_properties() {
  std::vector<const HaloColumn*> known;
  for (const HaloColumn& column : halo_columns) {
    if (column.unit.scale_factor == 0) known.push_back(&column);
  }
  return known;
}

const HaloColumn& property_with_name(std::string_view name) {
  std::string names;
  for (const HaloColumn* column : known_properties()) {
    if (column->dataset == name) return *column;
    names += names.empty() ? column->dataset : fmt::format(", {}", column->dataset);
  }
  throw InputError(fmt::format("there is no property {} (there are {})", name, names));
}

bool is_vector(const HaloColumn& column) {
  return std::holds_alternative<Vec3d HaloProperties::*>(column.property);
}

void append(std::vector<double>& numbers, double number) { numbers.push_back(number); }
void append(std::vector<double>& numbers, const Vec3d& vector) {
  numbers.insert(numbers.end(), std::begin(vector.at), std::end(vector.at));
}

/// A property of all rows.
std::vector<double> numbers_of(const Catalogue& table, const HaloColumn& column) {
  std::vector<double> numbers;
  for (const HaloProperties& row : table.properties)
    std::visit([&](const auto property) { append(numbers, row.*property); }, column.property);
  return numbers;
}

/// Columns of the caller in memory of the Exec.
class GivenElements {
 public:
  explicit GivenElements(const Exec& exec) : exec_(exec) {}

  ColumnView view(const zhalo_elements& given, Index num) {
    const Index size = given.element_bytes;
    const Index stride = given.stride_bytes == 0 ? size : given.stride_bytes;
    validate(size > 0 && stride >= size,
             "elements of {} bytes are {} bytes apart (give the size in bytes, and the distance or "
             "0 for no gaps)",
             size, stride);
    if (num == 0) return {nullptr, 0, size, stride};
    validate(given.data != nullptr, "there are no elements for {} particles", num);
    if (std::holds_alternative<Host>(exec_)) return {given.data, num, size, stride};
    const Index bytes = (num - 1) * stride + size;
    Buffer<std::byte>& copy = copies_.emplace_back(exec_, bytes, "elements of particles");
    copy_bytes(exec_, copy.data(), given.data, static_cast<std::size_t>(bytes));
    return {copy.data(), num, size, stride};
  }

 private:
  const Exec& exec_;
  std::vector<Buffer<std::byte>> copies_;
};

/// Collective.
template <class Real>
void copy_member_elements(const zhalo_catalogue& from, const Domain<Real>& particles,
                          const zhalo_elements* elements, Span<std::byte> to) {
  const Exec& exec = particles.context().exec;
  GivenElements given(exec);
  std::vector<ColumnView> columns;
  columns.reserve(static_cast<std::size_t>(particles.num_species()));
  for (int species = 0; species < particles.num_species(); ++species)
    columns.push_back(
        given.view((&at(elements, "elements"))[species], particles.num_origin(species)));
  const Index size = columns.front().element_size;
  for (const ColumnView& column : columns) {
    validate(column.element_size == size,
             "elements of one species have {} bytes, and of another one {}; give all the same",
             size, column.element_size);
  }
  validate_equal(particles.context().comm, {size}, "the bytes of an element");
  const Index num = from.table.members.size();
  validate_room(to.data(), to.size(), num);
  Buffer<std::byte> ordered(exec, num * size, "elements of members");
  gather_in_group_order(particles, from.table, columns, ordered.data());
  copy_out<std::byte>(exec, ordered.span(), to.data(), num * size);
}

}  // namespace

extern "C" {

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

int zhalo_catalogue_get_lengths_by_type(const zhalo_catalogue* catalogue, int64_t* lengths,
                                        int64_t room) {
  return copy_rows(catalogue, &Catalogue::length_by_type, lengths, room);
}

int zhalo_catalogue_get_masses_by_type(const zhalo_catalogue* catalogue, double* masses,
                                       int64_t room) {
  return copy_rows(catalogue, &Catalogue::mass_by_type, masses, room);
}

int zhalo_get_property(int number, zhalo_property* property) {
  return status_of([&] {
    const auto known = known_properties();
    const auto num = static_cast<int>(known.size());
    validate(number >= 0 && number < num, "there is no property {} (there are {})", number, num);
    const HaloColumn& column = *known[static_cast<std::size_t>(number)];
    at(property, "property") = {column.dataset,   column.text,        is_vector(column) ? 3 : 1,
                                column.unit.mass, column.unit.length, column.unit.velocity};
  });
}

int zhalo_catalogue_get_property(const zhalo_catalogue* catalogue, const char* name, double* values,
                                 int64_t room) {
  return status_of([&] {
    const zhalo_catalogue& from = at(catalogue, "catalogue");
    const HaloColumn& column = property_with_name(&at(name, "name of a property"));
    const std::vector<double> numbers = numbers_of(from.table, column);
    copy_out<double>(from.domain.context->exec, numbers, values, room);
  });
}

int zhalo_catalogue_get_members(const zhalo_catalogue* catalogue, int64_t* members, int64_t room) {
  return status_of([&] {
    const zhalo_catalogue& from = at(catalogue, "catalogue");
    copy_out<Index>(from.domain.context->exec, from.table.members.span(), members, room);
  });
}

int zhalo_catalogue_get_group_of_particles(const zhalo_catalogue* catalogue, int species,
                                           int64_t* rows, int64_t room) {
  return status_of([&] {
    const zhalo_catalogue& from = at(catalogue, "catalogue");
    from.domain.context->comm.together([&] {
      validate_species(from.domain, species);
      const auto of_species = [&](const auto& particles) {
        return from.table.group_of.span().subspan(first_of_species(particles, species),
                                                  particles.num(species));
      };
      copy_in_caller_order<Index>(from.domain, {call_with(from.domain, of_species), species}, rows,
                                  room);
    });
  });
}

int zhalo_catalogue_get_member_elements(const zhalo_catalogue* catalogue,
                                        const zhalo_elements* elements, void* values,
                                        int64_t room) {
  return status_of([&] {
    const zhalo_catalogue& from = at(catalogue, "catalogue");
    const auto copy = [&](const auto& particles) {
      copy_member_elements(from, particles, elements, {static_cast<std::byte*>(values), room});
    };
    from.domain.context->comm.together([&] { call_with(from.domain, copy); });
  });
}

void zhalo_catalogue_destroy(zhalo_catalogue* catalogue) { delete catalogue; }

}  // extern "C"

}  // namespace zhalo::c
