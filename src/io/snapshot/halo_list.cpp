#include "zhalo/io/load.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <optional>

#include "src/io/hdf5/input.hpp"
#include "src/io/hdf5/output.hpp"
#include "src/io/snapshot/dialect.hpp"
#include "src/io/snapshot/files.hpp"
#include "src/io/snapshot/state.hpp"
#include "zhalo/core/error.hpp"

namespace zhalo::io {

namespace fs = std::filesystem;

namespace {

std::map<std::string, std::string> catalogues_in(const std::string& directory) {
  return first_files_in(directory, [](const std::string& name) {
    const FileName parts = FileName::of(name);
    return !parts.extension.empty() && parts.stem.front() != '.';
  });
}

std::string first_catalogue_file(const std::string& path) {
  if (!fs::is_directory(status_of(path))) return find_first_file(path);
  const auto catalogues = catalogues_in(path);
  if (catalogues.empty())
    throw FileError(
        fmt::format("folder '{}' holds no catalogue: no file in it ends in .hdf5 or .h5", path));
  if (catalogues.size() > 1)
    throw InputError(fmt::format(
        "folder '{}' holds files of {} catalogues, such as '{}' and '{}': name one of them", path,
        catalogues.size(), catalogues.begin()->second, std::next(catalogues.begin())->second));
  return catalogues.begin()->second;
}

Index integer_of(const hdf5::InputFile& file, const std::string& name, Index otherwise) {
  const auto values = file.integers("Header", name);
  return values ? values->front() : otherwise;
}

/// As a master file does, which shows the numbered files as one.
bool holds_all(const hdf5::InputFile& file) {
  const auto here = file.integers("Header", "Ngroups_ThisFile"),
             all = file.integers("Header", "Ngroups_Total");
  return here && all && here->front() == all->front();
}

/// One number is the side of a cube; 0, or none, is no box.
Vec3d box_length_of(const hdf5::InputFile& file) {
  for (const char* group : {"Header", "Parameters"}) {
    const auto values = file.reals(group, "BoxSize");
    if (!values) continue;
    const bool are_lengths = std::all_of(values->begin(), values->end(), [](double length) {
      return std::isfinite(length) && length >= 0;
    });
    if (!are_lengths || (values->size() != 1 && values->size() != 3))
      throw InputError(fmt::format("'{}': {}/BoxSize is {:g}, which is no size of a box: repair it",
                                   file.path(), group, fmt::join(*values, ", ")));
    const auto length = [&](std::size_t axis) { return (*values)[axis % values->size()]; };
    return {{length(0), length(1), length(2)}};
  }
  return {};
}

std::optional<double> redshift_of(const hdf5::InputFile& file) {
  const auto value = first_number(file, {{"Header", "Redshift"}});
  return value && std::isfinite(*value) ? value : std::nullopt;
}

/// The first of these that the file has; empty if it has none.
std::string first_of(const hdf5::InputFile& file, const std::vector<const char*>& names) {
  for (const char* name : names) {
    if (std::string dataset = std::string("Group/") + name; file.has(dataset)) return dataset;
  }
  return {};
}

/// `groups` are in the file.
void check_rows(const hdf5::InputFile& file, const std::string& dataset, Index groups,
                Index width) {
  const auto shape = file.shape(dataset);
  if (!shape)
    throw InputError(
        fmt::format("'{}' has no /{}: haloes need GroupPos or GroupCM, GroupMass and GroupLen",
                    file.path(), dataset));
  file.check_readable(dataset);
  const bool fits = !shape->extent.empty() && shape->extent[0] == groups &&
                    shape->kind != hdf5::Kind::other &&
                    (width == 1 ? shape->extent.size() == 1
                                : shape->extent.size() == 2 && shape->extent[1] == width);
  if (!fits)
    throw InputError(fmt::format("'{}': /{} does not have {} number(s) for each of {} groups",
                                 file.path(), dataset, width, groups));
}

/// Some rows of those that there are.
struct SomeRows {
  hdf5::Rows rows;
  Index of = 0;
};

template <class T>
std::vector<T> read_rows(const hdf5::InputFile& file, const std::string& dataset,
                         const SomeRows& some, Index width = 1) {
  std::vector<T> values(static_cast<std::size_t>(some.rows.count * width));
  if (dataset.empty()) return values;
  check_rows(file, dataset, some.of, width);
  file.read(dataset, some.rows, hdf5::native_type(T{}), values.data());
  return values;
}

Index rows_of(const hdf5::InputFile& file, const std::string& centres) {
  const auto shape = file.shape(centres);
  if (shape && shape->extent.size() == 2) return shape->extent[0];
  throw FileError(fmt::format(
      "'{}': /{} has no row of 3 numbers for each group: the file is damaged, or no catalogue",
      file.path(), centres));
}

/// Groups of one file; none if it has no dataset of them, as files without groups do.
Index groups_in(const hdf5::InputFile& file, const std::string& centres) {
  const auto stated = file.integers("Header", "Ngroups_ThisFile");
  if (!centres.empty()) {
    const Index rows = rows_of(file, centres);
    if (!stated || stated->front() == rows) return rows;
    throw FileError(
        fmt::format("'{}': the Header says {} groups, /{} has {}: the file is damaged, or was not "
                    "written to its end",
                    file.path(), stated->front(), centres, rows));
  }
  if (stated && stated->front() == 0) return 0;
  throw InputError(
      fmt::format("'{}' has no /Group/GroupPos: it is no catalogue of groups in GADGET's layout "
                  "(give a folder such as groups_007, which fof writes)",
                  file.path()));
}

/// Datasets whose names differ between files. Empty if there are none.
struct GroupColumns {
  std::string centres, radii;
};

GroupColumns columns_of(const hdf5::InputFile& file) {
  return {first_of(file, {"GroupPos", "GroupCM"}),
          first_of(file, {"GroupExtentRadius", "Group_R_Crit200", "Group_R_Mean200"})};
}

std::vector<Halo> read_groups(const hdf5::InputFile& file, const GroupColumns& columns,
                              const SomeRows& rows) {
  const auto centre = read_rows<double>(file, columns.centres, rows, 3);
  const auto radius = read_rows<double>(file, columns.radii, rows);
  const auto mass = read_rows<double>(file, "Group/GroupMass", rows);
  const auto length = read_rows<Index>(file, "Group/GroupLen", rows);
  std::vector<Halo> haloes;
  for (std::size_t i = 0; i < mass.size(); ++i)
    haloes.push_back(
        {{{centre[3 * i], centre[3 * i + 1], centre[3 * i + 2]}}, radius[i], mass[i], length[i]});
  return haloes;
}

/// Appends wanted groups until there are `max_haloes`; returns how many groups the file has.
Index append_groups(const hdf5::InputFile& file, Index max_haloes,
                    const std::function<bool(const Halo&)>& is_wanted, std::vector<Halo>& haloes) {
  constexpr Index rows_at_once = 1 << 16;
  const GroupColumns columns = columns_of(file);
  const Index groups = groups_in(file, columns.centres);
  for (Index begin = 0; begin < groups; begin += rows_at_once) {
    if (std::ssize(haloes) >= max_haloes) break;
    const hdf5::Rows rows{begin, std::min(rows_at_once, groups - begin)};
    for (const Halo& halo : read_groups(file, columns, {rows, groups})) {
      if (std::ssize(haloes) < max_haloes && (!is_wanted || is_wanted(halo)))
        haloes.push_back(halo);
    }
  }
  return groups;
}

/// What the files of one catalogue say alike.
struct CatalogueHeader {
  Vec3d box_length;
  std::optional<double> redshift;
  Index num_files = 1;
  std::optional<Index> num_groups;  ///< in all of them

  explicit CatalogueHeader(const hdf5::InputFile& file)
      : box_length(box_length_of(file)),
        redshift(redshift_of(file)),
        num_files(integer_of(file, "NumFiles", 1)) {
    if (const auto stated = file.integers("Header", "Ngroups_Total")) num_groups = stated->front();
  }
  bool operator==(const CatalogueHeader& other) const {
    return box_length == other.box_length && redshift == other.redshift &&
           num_files == other.num_files && num_groups == other.num_groups;
  }
};

void check_total(const HaloList& list, const CatalogueHeader& header) {
  if (!header.num_groups || *header.num_groups == list.num_total) return;
  throw FileError(
      fmt::format("'{}': the Header says {} groups in all, the {} file(s) of the catalogue have "
                  "{}: files are missing, or belong to another catalogue",
                  list.files.front(), *header.num_groups, list.files.size(), list.num_total));
}

}  // namespace

HaloList read_haloes(const std::string& path, Index max_haloes,
                     const std::function<bool(const Halo&)>& is_wanted) {
  const std::string first = first_catalogue_file(path);
  const hdf5::InputFile first_file(first);
  const CatalogueHeader header(first_file);
  HaloList list;
  list.box_length = header.box_length;
  list.redshift = header.redshift;
  list.files = all_chunks(first, holds_all(first_file) ? 1 : header.num_files, "catalogue");
  hdf5::Origins origins;
  for (const std::string& name : list.files) {
    const hdf5::InputFile file(name);
    if (!(CatalogueHeader(file) == header))
      throw InputError(
          fmt::format("'{}' is of another catalogue than '{}': their Headers differ in BoxSize, "
                      "Redshift, NumFiles or Ngroups_Total",
                      name, first));
    list.num_total += append_groups(file, max_haloes, is_wanted, list.haloes);
    origins.add(file.origins());
  }
  check_total(list, header);
  list.origins = all_origins(Communicator(), std::move(origins));
  return list;
}

}  // namespace zhalo::io
