#include <algorithm>
#include <filesystem>
#include <iterator>
#include <map>
#include <optional>
#include <utility>

#include "src/comm/exchange.hpp"
#include "src/io/hdf5/places.hpp"
#include "src/io/snapshot/state.hpp"
#include "zhalo/core/error.hpp"

namespace zhalo::io {

using hdf5::Origins;
using hdf5::VirtualPart;

namespace {

std::optional<hdf5::InputFile> open_part(const VirtualPart& part) {
  if (part.file == ".") return hdf5::InputFile(part.holder);
  for (const std::filesystem::path& path : hdf5::virtual_paths(part.file, part.holder)) {
    std::error_code unknown;
    if (!std::filesystem::exists(path, unknown)) continue;
    try {
      return hdf5::InputFile(path.string());
    } catch (const FileError&) {  // HDF5 goes on to the next one
    }
  }
  return std::nullopt;
}

/// What one file of parts draws on, and that file itself. What is wrong with a part says who reads
/// it, if anybody does.
void look_into_parts(const std::vector<VirtualPart>& parts, Origins& found) {
  const auto ignoring_faults = [](const auto& look) {
    try {
      look();
    } catch (const FileError&) {
    }
  };
  ignoring_faults([&] {
    const auto file = open_part(parts.front());
    if (!file) return;
    found.files.insert(file->path());
    for (const VirtualPart& part : parts) {
      ignoring_faults([&] {
        if (file->has(part.dataset)) file->note_origins_of(part.dataset);
      });
    }
    found.add(file->origins());
  });
}

/// The parts in one file are one task.
std::vector<std::vector<VirtualPart>> by_file(const std::set<VirtualPart>& parts) {
  std::map<std::pair<std::string, std::string>, std::vector<VirtualPart>> files;
  for (const VirtualPart& part : parts) files[{part.holder, part.file}].push_back(part);
  std::vector<std::vector<VirtualPart>> tasks;
  tasks.reserve(files.size());
  for (auto& [_, of_file] : files) tasks.push_back(std::move(of_file));
  return tasks;
}

/// What all ranks found, on rank 0.
Origins on_first_rank(const Communicator& comm, const Origins& found) {
  const std::string bytes = to_bytes(found);
  std::vector<std::vector<char>> for_ranks(static_cast<std::size_t>(comm.size()));
  for_ranks.front().assign(bytes.begin(), bytes.end());
  const std::vector<char> all = exchanged(comm, for_ranks).elements;
  return origins_from_bytes({all.begin(), all.end()});
}

}  // namespace

std::vector<std::string> all_origins(const Communicator& comm, Origins found) {
  const bool is_first = comm.rank() == 0;
  std::set<VirtualPart> known;  // on rank 0
  for (int level = 0;; ++level) {
    Origins next;
    if (is_first) {
      std::set_difference(found.parts.begin(), found.parts.end(), known.begin(), known.end(),
                          std::inserter(next.parts, next.parts.end()));
      known.insert(next.parts.begin(), next.parts.end());
      if (level > hdf5::max_virtual_levels) next.parts.clear();  // reading refuses them
      if (next.parts.empty()) next.files = found.files;
    }
    next = origins_from_bytes(comm.broadcast(is_first ? to_bytes(next) : std::string()));
    if (next.parts.empty()) return {next.files.begin(), next.files.end()};
    const auto tasks = by_file(next.parts);
    const Share mine = share_of(std::ssize(tasks), comm.rank(), comm.size());
    Origins here;
    for (Index i = mine.first; i < mine.first + mine.count; ++i)
      look_into_parts(tasks[static_cast<std::size_t>(i)], here);
    found.add(on_first_rank(comm, here));
  }
}

}  // namespace zhalo::io
