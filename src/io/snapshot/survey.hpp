/// What the files of a snapshot hold, each looked into by one rank.
#pragma once

#include <string>
#include <vector>

#include "src/io/snapshot/header.hpp"
#include "src/io/snapshot/state.hpp"
#include "zhalo/comm/communicator.hpp"

namespace zhalo::io {

/// What one file holds of one type.
struct TypeInFile {
  TypeLayout layout;  ///< without first_of_file; empty if there are no particles
  Index count = 0;
};

struct FileContents {
  std::string path;
  HeaderCounts header;
  std::vector<TypeInFile> types;
  std::vector<std::string> notes;  ///< for the user
};

/// Looks into the files number [files.first, files.first + files.count) of info.files. Throws for
/// one that is damaged or contradicts itself. Not collective.
std::vector<FileContents> look_into_files(const SnapshotInfo& info, Share files);

/// Fills state.layouts and state.info.types from what all files hold, in their order, and checks
/// the files against each other and their headers.
void combine_files(Snapshot::State& state, const std::vector<FileContents>& files,
                   const SnapshotOverrides& overrides);

/// As bytes that other ranks of the same program understand.
std::string to_bytes(Snapshot::State state);
std::string to_bytes(std::vector<FileContents> files);
Snapshot::State state_from_bytes(std::string bytes);
/// Of several texts of to_bytes(), one after the other.
std::vector<FileContents> contents_from_bytes(std::string bytes);

}  // namespace zhalo::io
