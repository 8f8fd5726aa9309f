#include "src/io/hdf5/input.hpp"

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string_view>

#include "zhalo/core/error.hpp"
#include "zhalo/core/memory.hpp"

namespace zhalo::io::hdf5 {
namespace {

/// "..., error message = 'No space left on device', ..." -> "No space left on device".
std::string system_words(std::string_view line) {
  constexpr std::string_view mark = "error message = '";
  const auto begin = line.find(mark);
  if (begin == std::string_view::npos) return {};
  const auto rest = line.substr(begin + mark.size());
  return std::string(rest.substr(0, rest.find('\'')));
}

struct Account {
  std::string innermost;
  std::string system;
  bool is_of_lock = false;
};

herr_t note_entry(unsigned, const H5E_error2_t* entry, void* data) {
  auto& account = *static_cast<Account*>(data);
  if (entry->desc == nullptr) return 0;
  if (account.innermost.empty()) account.innermost = entry->desc;
  if (account.system.empty()) account.system = system_words(entry->desc);
  if (std::string_view(entry->desc).find("lock file") != std::string_view::npos)
    account.is_of_lock = true;
  return 0;
}

Account last_account() {
  Account account;
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, note_entry, &account);
  return account;
}

/// For what a version of HDF5 cannot read of files that a newer one wrote.
std::string remedy_for(std::string_view reason) {
  if (reason.find("version number") == std::string_view::npos) return {};
  unsigned major = 0, minor = 0, release = 0;
  H5get_libversion(&major, &minor, &release);
  return fmt::format(
      " (a newer HDF5 than {}.{}.{}, which zhalo uses, wrote it, or it is damaged: write it in an "
      "older format, such as with libver=('earliest', 'v110') in h5py, or build zhalo with the "
      "newer HDF5)",
      major, minor, release);
}

}  // namespace

std::string last_error() {
  const Account account = last_account();
  if (!account.system.empty()) return account.system;
  if (account.innermost.empty()) return "HDF5 gives no reason";
  return account.innermost + remedy_for(account.innermost);
}

std::string trimmed(std::string text) {
  text.resize(std::strlen(text.c_str()));
  std::replace_if(
      text.begin(), text.end(), [](char c) { return (c >= 0 && c < ' ') || c == '\x7f'; }, '?');
  while (!text.empty() && text.back() == ' ') text.pop_back();
  return text;
}

}  // namespace zhalo::io::hdf5

namespace zhalo::io {

namespace fs = std::filesystem;

fs::file_status status_of(const std::string& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (status.type() == fs::file_type::none)
    throw FileError(fmt::format("'{}' cannot be opened: {}", path, error.message()));
  return status;
}

std::vector<std::string> files_in(const std::string& directory) {
  std::error_code error;
  std::vector<std::string> files;
  for (fs::directory_iterator at(directory, error), end; !error && at != end; at.increment(error)) {
    std::error_code ignored;  // of a link that leads nowhere
    if (at->is_regular_file(ignored)) files.push_back(at->path().string());
  }
  if (error)
    throw FileError(fmt::format("directory '{}' cannot be read: {}", directory, error.message()));
  return files;
}

}  // namespace zhalo::io

namespace zhalo::io::hdf5 {
namespace {

/// GADGET's own binary formats 1 and 2 begin with the length of their first record.
bool is_gadget_binary(const std::string& path) {
  std::array<char, 4> bytes{};
  std::ifstream file(path, std::ios::binary);
  if (!file.read(bytes.data(), bytes.size())) return false;
  const auto starts_with = [&](std::array<char, 4> mark) { return bytes == mark; };
  return starts_with({0, 1, 0, 0}) || starts_with({0, 0, 1, 0}) || starts_with({8, 0, 0, 0}) ||
         starts_with({0, 0, 0, 8});
}

/// Without opening it: a pipe would wait for its other end.
void check_is_file(const std::string& path) {
  const std::filesystem::file_status status = status_of(path);
  if (!std::filesystem::exists(status)) throw FileError(fmt::format("'{}': no such file", path));
  if (!std::filesystem::is_regular_file(status))
    throw FileError(fmt::format("'{}' is not a file", path));
}

/// Throws what is wrong with a file that HDF5 did not open, if it has no HDF5 in it.
void check_is_hdf5(const std::string& path) {
  if (!std::ifstream(path))
    throw FileError(fmt::format("'{}' cannot be read: {}", path, std::strerror(errno)));
  std::error_code ignored;
  if (std::filesystem::file_size(path, ignored) == 0)
    throw FileError(fmt::format("'{}' is empty", path));
  if (H5Fis_hdf5(path.c_str()) > 0) return;
  if (is_gadget_binary(path)) {
    throw FileError(fmt::format(
        "'{}' is in GADGET's binary format: zhalo reads HDF5 only (SnapFormat 3); convert it",
        path));
  }
  throw FileError(fmt::format("'{}' is not an HDF5 file, the only format that zhalo reads", path));
}

/// Of a file that HDF5 just did not open.
[[noreturn]] void refuse_to_open(const std::string& path) {
  const std::string reason = last_error();
  const bool is_of_lock = last_account().is_of_lock;
  check_is_hdf5(path);
  if (is_of_lock)
    throw LockError(fmt::format(
        "'{}' cannot be locked ({}): another program has it open for writing, or its file system "
        "has no locks (wait for the program, or set HDF5_USE_FILE_LOCKING=FALSE)",
        path, reason));
  const bool is_cut = reason.find("truncated file") != std::string::npos;
  throw FileError(fmt::format(
      "'{}' cannot be opened: {}", path,
      is_cut ? "it is truncated, parts of it are missing; copy or write it again" : reason));
}

/// HDF5 1.10 ends the process if it finds no memory for a file that it opens.
void check_room_for(const std::string& path) {
  constexpr std::size_t needed = 8 << 20;  // several times what it takes
  void* room = ::mmap(nullptr, needed, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (room == MAP_FAILED)
    throw OutOfMemory(fmt::format("'{}' cannot be opened: there are not {} MiB left for HDF5{}",
                                  path, needed >> 20, describe_memory_limit()));
  ::munmap(room, needed);
}

}  // namespace

InputFile::InputFile(std::string path, std::shared_ptr<CompleteDatasets> complete)
    : path_(std::move(path)), complete_(std::move(complete)) {
  const Session session;
  check_is_file(path_);
  check_room_for(path_);
  file_ = Handle(H5Fopen(path_.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose);
  if (!file_.valid()) refuse_to_open(path_);
  trail_ = std::make_shared<LinkTrail>();
}

void InputFile::fail(const std::string& what) const {
  throw FileError(fmt::format("'{}': {}: {}", path_, what, last_error()));
}

void InputFile::refuse(const std::string& what) const {
  throw FileError(fmt::format("'{}': {}", path_, what));
}

bool InputFile::has(const std::string& object) const {
  const Session session;
  // H5Lexists wants every group on the way to exist, so each is asked for in turn.
  for (std::size_t end = object.find('/', 1);; end = object.find('/', end + 1)) {
    const std::string part = object.substr(0, end);
    const htri_t linked = H5Lexists(file_.id(), part.c_str(), H5P_DEFAULT);
    if (linked < 0) refuse(why_nothing_is_below(file_.id(), part));
    if (linked == 0) return false;
    if (H5Oexists_by_name(file_.id(), part.c_str(), trail_->access()) <= 0)
      refuse(fmt::format("/{} is a link that leads nowhere: {}", part,
                         where_link_leads(file_.id(), part, path_)));
    trail_->note(file_.id(), part, origins_);
    if (end == std::string::npos) return true;
  }
}

bool InputFile::has_attribute(const std::string& object, const std::string& name) const {
  const Session session;
  if (!has(object)) return false;
  // HDF5 1.10 fails at the first question about a damaged object and answers the next ones.
  const htri_t found = H5Aexists_by_name(file_.id(), object.c_str(), name.c_str(), H5P_DEFAULT);
  if (found < 0) fail(fmt::format("the attributes of /{} cannot be read", object));
  return found > 0;
}

Handle InputFile::open_attribute(const std::string& object, const std::string& name) const {
  if (!has_attribute(object, name)) return {};
  Handle attribute(
      H5Aopen_by_name(file_.id(), object.c_str(), name.c_str(), H5P_DEFAULT, H5P_DEFAULT),
      H5Aclose);
  if (!attribute.valid()) fail(fmt::format("attribute {} of /{} cannot be read", name, object));
  return attribute;
}

template <class T>
std::optional<std::vector<T>> InputFile::numbers(const std::string& object, const std::string& name,
                                                 hid_t memory_type) const {
  const Handle attribute = open_attribute(object, name);
  if (!attribute.valid()) return std::nullopt;
  const Handle type(H5Aget_type(attribute.id()), H5Tclose);
  const Handle space(H5Aget_space(attribute.id()), H5Sclose);
  const hssize_t size = H5Sget_simple_extent_npoints(space.id());
  if (kind_of(type.id()) == Kind::other)
    refuse(fmt::format(
        "attribute {} of /{} holds no numbers that zhalo can read{}", name, object,
        H5Tget_class(type.id()) == H5T_STRING ? ", but text: write the attribute as numbers" : ""));
  if (size < 1) return std::nullopt;
  constexpr hssize_t max_size =
      1 << 20;  // of good files some dozens; damaged ones may claim any number
  if (size > max_size)
    refuse(fmt::format("attribute {} of /{} claims {} numbers (must be at most {})", name, object,
                       size, max_size));
  std::vector<T> values(static_cast<std::size_t>(size));
  if (H5Aread(attribute.id(), memory_type, values.data()) < 0) {
    fail(fmt::format("attribute {} of /{} cannot be read", name, object));
  }
  return values;
}

bool InputFile::holds_numbers(const std::string& object, const std::string& name) const {
  const Session session;
  const Handle attribute = open_attribute(object, name);
  if (!attribute.valid()) return false;
  const Handle type(H5Aget_type(attribute.id()), H5Tclose);
  const Handle space(H5Aget_space(attribute.id()), H5Sclose);
  return kind_of(type.id()) != Kind::other && H5Sget_simple_extent_npoints(space.id()) > 0;
}

std::optional<std::vector<double>> InputFile::reals(const std::string& object,
                                                    const std::string& name) const {
  const Session session;
  return numbers<double>(object, name, H5T_NATIVE_DOUBLE);
}

std::optional<std::vector<Index>> InputFile::integers(const std::string& object,
                                                      const std::string& name) const {
  const Session session;
  return numbers<Index>(object, name, H5T_NATIVE_INT64);
}

std::optional<std::string> InputFile::text(const std::string& object,
                                           const std::string& name) const {
  const Session session;
  const Handle attribute = open_attribute(object, name);
  if (!attribute.valid()) return std::nullopt;
  const Handle type(H5Aget_type(attribute.id()), H5Tclose);
  const Handle space(H5Aget_space(attribute.id()), H5Sclose);
  if (H5Tget_class(type.id()) != H5T_STRING || H5Sget_simple_extent_npoints(space.id()) != 1)
    return std::nullopt;
  const std::string unreadable = fmt::format("attribute {} of /{} cannot be read", name, object);
  if (H5Tis_variable_str(type.id()) > 0) {
    char* words = nullptr;
    if (H5Aread(attribute.id(), type.id(), &words) < 0) fail(unreadable);
    if (words == nullptr) return std::nullopt;
    std::string copy(words);
    H5free_memory(words);
    return trimmed(std::move(copy));
  }
  std::string words(H5Tget_size(type.id()) + 1, '\0');
  if (H5Aread(attribute.id(), type.id(), words.data()) < 0) fail(unreadable);
  return trimmed(std::move(words));
}

int InputFile::attribute_bytes(const std::string& object, const std::string& name) const {
  const Session session;
  const Handle attribute = open_attribute(object, name);
  if (!attribute.valid()) return 0;
  const Handle type(H5Aget_type(attribute.id()), H5Tclose);
  return static_cast<int>(H5Tget_size(type.id()));
}

std::optional<DatasetShape> InputFile::shape(const std::string& dataset) const {
  const Session session;
  if (!has(dataset)) return std::nullopt;
  const Handle set(H5Dopen2(file_.id(), dataset.c_str(), H5P_DEFAULT), H5Dclose);
  if (!set.valid()) fail(fmt::format("/{} is no dataset or cannot be opened", dataset));
  const Handle type(H5Dget_type(set.id()), H5Tclose);
  const Handle space(H5Dget_space(set.id()), H5Sclose);
  std::array<hsize_t, H5S_MAX_RANK> extent{};
  const int rank = H5Sget_simple_extent_dims(space.id(), extent.data(), nullptr);
  if (rank < 0) fail(fmt::format("the shape of /{} cannot be read", dataset));
  constexpr double max_size = 1e17;  // numbers: as many bytes still have an Index
  double claimed = 1;
  DatasetShape shape;
  for (int axis = 0; axis < rank; ++axis) {
    shape.extent.push_back(static_cast<Index>(extent[static_cast<std::size_t>(axis)]));
    claimed *= static_cast<double>(extent[static_cast<std::size_t>(axis)]);
  }
  if (claimed > max_size)
    refuse(fmt::format("/{} claims {:.3g} numbers (must be at most {:.3g})", dataset, claimed,
                       max_size));
  shape.kind = kind_of(type.id());
  shape.bytes = static_cast<int>(H5Tget_size(type.id()));
  shape.is_signed = shape.kind == Kind::integer && H5Tget_sign(type.id()) == H5T_SGN_2;
  return shape;
}

void InputFile::read(const std::string& dataset, Rows rows, hid_t memory_type, void* to) const {
  const Session session;
  const Handle set(H5Dopen2(file_.id(), dataset.c_str(), H5P_DEFAULT), H5Dclose);
  if (!set.valid()) fail(fmt::format("/{} cannot be opened", dataset));
  if (const std::string missing = missing_part(set.id(), path_, rows, complete_.get());
      !missing.empty())
    throw FileError(fmt::format("'{}': /{} is incomplete: {}", path_, dataset, missing));
  const Handle space(H5Dget_space(set.id()), H5Sclose);
  std::array<hsize_t, H5S_MAX_RANK> first{}, count{};
  if (H5Sget_simple_extent_dims(space.id(), count.data(), nullptr) < 1)
    fail(fmt::format("/{} is a scalar", dataset));
  first[0] = static_cast<hsize_t>(rows.first);
  count[0] = static_cast<hsize_t>(rows.count);
  const Handle memory(
      H5Screate_simple(H5Sget_simple_extent_ndims(space.id()), count.data(), nullptr), H5Sclose);
  const bool ok = H5Sselect_hyperslab(space.id(), H5S_SELECT_SET, first.data(), nullptr,
                                      count.data(), nullptr) >= 0 &&
                  H5Dread(set.id(), memory_type, memory.id(), space.id(), H5P_DEFAULT, to) >= 0;
  if (!ok) fail(fmt::format("/{} cannot be read", dataset));
}

void InputFile::check_readable(const std::string& dataset) const {
  const Session session;
  const Handle set(H5Dopen2(file_.id(), dataset.c_str(), H5P_DEFAULT), H5Dclose);
  const Handle properties(H5Dget_create_plist(set.id()), H5Pclose);
  if (!properties.valid()) fail(fmt::format("/{} cannot be opened", dataset));
  if (const std::string filter = missing_filter(properties.id()); !filter.empty())
    refuse(fmt::format("/{} is {}", dataset, filter));
  if (const std::string file = missing_file(set.id(), path_); !file.empty())
    throw FileError(
        fmt::format("'{}' is a virtual file, and its /{} lies in {}", path_, dataset, file));
  note_origins(set.id(), path_, origins_);
}

void InputFile::note_origins_of(const std::string& dataset) const {
  const Session session;
  const Handle set(H5Dopen2(file_.id(), dataset.c_str(), H5P_DEFAULT), H5Dclose);
  if (set.valid()) note_origins(set.id(), path_, origins_);
}

}  // namespace zhalo::io::hdf5
