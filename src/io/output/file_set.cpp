#include "src/io/output/file_set.hpp"

#include <fmt/format.h>

#include <filesystem>

#include "src/io/hdf5/at_once.hpp"

namespace zhalo::io {

using hdf5::OutputFile;

namespace {

std::string numbered(const std::string& prefix, Index number) {
  return fmt::format("{}.{}.hdf5", prefix, number);
}
std::string master_of(const std::string& prefix) { return prefix + ".hdf5"; }

bool is_single(const FileShares& shares, const FileSet& set) {
  return set.single_is_whole && shares.num_files() == 1;
}

std::string file_name(const FileShares& shares, const FileSet& set, Index number) {
  return is_single(shares, set) ? master_of(set.prefix) : numbered(set.prefix, number);
}

/// As the user will know the file, for messages.
std::string shown(const StagedFiles& files, const std::string& name) {
  return files.directory() + "/" + name;
}

void write_meanings(OutputFile& file, const FileSet& set, const FileView& view) {
  for (const FileColumn& column : set.columns) {
    if (column.meaning) write_meaning(file, column.name, set.units, *column.meaning);
    write_notes(file, column.name, column.notes);
    if (!column.first_row.empty())
      file.attribute(column.name, column.first_row, column.placement->in_files(view.files).first);
  }
}

/// All of a numbered file but the rows.
void write_frame(OutputFile& file, const FileSet& set, const FileView& view) {
  set.write_header(file, view);
  for (const FileColumn& column : set.columns)
    file.make_dataset(column.name, column.cells, column.placement->in_files(view.files).count);
  write_meanings(file, set, view);
}

/// This rank's part of one file; the first rank of the file makes it.
void write_part(StagedFiles& files, const FileShares& shares, const FileSet& set, Index number) {
  const std::string name = file_name(shares, set, number);
  const bool first = shares.turn() == 0;
  OutputFile file(first ? files.stage(name) : files.join(name), shown(files, name),
                  first ? hdf5::Open::new_file : hdf5::Open::existing);
  if (first) write_frame(file, set, {{number, 1}, shares.num_files()});
  for (const FileColumn& column : set.columns)
    file.write_rows(column.name, column.placement->row(number),
                    column.cells.part(column.placement->mine(number)));
  file.close();
}

void write_in_turns(StagedFiles& files, const FileShares& shares, const FileSet& set) {
  for (int turn = 0; turn < shares.num_turns(); ++turn) {
    files.comm().together([&] {  // a turn ends when all ranks are here
      if (turn != shares.turn()) return;
      const Share mine = shares.files();
      for (Index number = mine.first; number < mine.first + mine.count; ++number)
        write_part(files, shares, set, number);
    });
  }
}

/// The first rank of each file makes it, as in turns, and then all write their rows: the bytes are
/// the same. To be called with one file or less per rank.
void write_at_once(StagedFiles& files, const FileShares& shares, const FileSet& set) {
  const Index number = shares.files().first;
  const std::string name = file_name(shares, set, number);
  hdf5::NamedFile named{{}, shown(files, name)};
  files.comm().together([&] {
    const bool first = shares.turn() == 0;
    named.path = first ? files.stage(name) : files.join(name);
    if (!first) return;
    OutputFile file(named.path, named.shown);
    write_frame(file, set, {{number, 1}, shares.num_files()});
    file.close();
  });
  std::vector<hdf5::PlacedRows> rows;
  for (const FileColumn& column : set.columns)
    rows.push_back({column.name, column.placement->row(number),
                    column.cells.part(column.placement->mine(number))});
  hdf5::write_at_once(files.comm().split(static_cast<int>(number)), named, rows);
}

/// HDF5 looks for the sources in the master's own directory.
void write_master(StagedFiles& files, const FileShares& shares, const FileSet& set) {
  const std::string name = master_of(set.prefix);
  const std::string base = std::filesystem::path(set.prefix).filename().string();
  OutputFile file(files.stage(name, StagedFiles::Appears::last), shown(files, name));
  const FileView all{{0, shares.num_files()}, 1};
  set.write_header(file, all);
  for (const FileColumn& column : set.columns) {
    std::vector<hdf5::SourceRows> sources;
    for (Index number = 0; number < shares.num_files(); ++number)
      sources.push_back({numbered(base, number), column.placement->in_files({number, 1}).count});
    file.make_virtual_dataset(column.name, column.cells, sources);
  }
  write_meanings(file, set, all);
  file.close();
}

}  // namespace

void write_file_set(StagedFiles& files, const FileShares& shares, const FileSet& set, bool master) {
  const Communicator& comm = files.comm();
  const bool single = is_single(shares, set);
  files.claim_numbered(set.prefix, single ? 0 : shares.num_files());
  if (!single && !master) files.retire(master_of(set.prefix));
  if (set.at_once && shares.num_turns() > 1 && hdf5::can_write_at_once()) {
    write_at_once(files, shares, set);
  } else {
    write_in_turns(files, shares, set);
  }
  if (master && !single && comm.rank() == 0) write_master(files, shares, set);
}

void retire_file_set(StagedFiles& files, const std::string& prefix) {
  files.claim_numbered(prefix, 0);
  files.retire(master_of(prefix));
}

}  // namespace zhalo::io
