/// HDF5 by one thread at a time, what lies at a path, and one HDF5 file that is open for reading.
#pragma once

#include <hdf5.h>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "zhalo/core/error.hpp"
#include "zhalo/core/types.hpp"

namespace zhalo::io::hdf5 {

// Calls of HDF5 by several threads.

/// While it lives this thread is the only one that uses HDF5, which may be built for one thread at
/// a time, and HDF5 prints nothing. May be nested. Nobody may wait meanwhile for another rank that
/// can be a thread of this process.
class Session {
 public:
  Session();
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

 private:
  /// Of the process, as HDF5 is.
  struct Turn {
    std::recursive_mutex mutex;
    int depth = 0;
  };
  static Turn& turn();

  std::lock_guard<std::recursive_mutex> lock_;
  // The caller's handler of errors, of either version.
  H5E_auto2_t function_ = nullptr;
  H5E_auto1_t first_function_ = nullptr;
  void* data_ = nullptr;
};

/// HDF5's names of types are calls.
template <class T>
hid_t native_type(T) {
  const Session session;
  if constexpr (std::is_same_v<T, double>) {
    return H5T_NATIVE_DOUBLE;
  } else if constexpr (std::is_same_v<T, float>) {
    return H5T_NATIVE_FLOAT;
  } else if constexpr (std::is_same_v<T, Index>) {
    return H5T_NATIVE_INT64;
  } else if constexpr (std::is_same_v<T, std::int32_t>) {
    return H5T_NATIVE_INT32;
  } else {
    static_assert(std::is_same_v<T, std::uint64_t>, "no other type is read or written");
    return H5T_NATIVE_UINT64;
  }
}

}  // namespace zhalo::io::hdf5

namespace zhalo::io {

// What the system says of paths.

/// FileError if the system does not say what lies there, as in a folder that may not be read or
/// behind links that lead to each other.
std::filesystem::file_status status_of(const std::string& path);

/// Paths of the files in a folder, in any order. FileError if it cannot be read.
std::vector<std::string> files_in(const std::string& directory);

}  // namespace zhalo::io

namespace zhalo::io::hdf5 {

// Reading.

/// Owns one HDF5 identifier.
class Handle {
 public:
  using Closer = herr_t (*)(hid_t);

  Handle() = default;
  Handle(hid_t id, Closer closer) : id_(id), closer_(closer) {}
  Handle(Handle&& other) noexcept
      : id_(std::exchange(other.id_, H5I_INVALID_HID)), closer_(other.closer_) {}
  Handle& operator=(Handle&& other) noexcept {
    close();
    id_ = std::exchange(other.id_, H5I_INVALID_HID);
    closer_ = other.closer_;
    return *this;
  }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  ~Handle() { close(); }

  hid_t id() const { return id_; }
  bool valid() const { return id_ >= 0; }
  /// Forgets the identifier, which has been closed already.
  void release() { id_ = H5I_INVALID_HID; }
  /// False if HDF5 reports a failure, as it does when buffered data cannot be written any more.
  bool close() {
    if (!valid()) return true;
    const Session session;
    return closer_(std::exchange(id_, H5I_INVALID_HID)) >= 0;
  }

 private:
  hid_t id_ = H5I_INVALID_HID;
  Closer closer_ = nullptr;
};

/// Why the HDF5 call that just failed did so: the system's words ("No space left on device") if
/// there are any, else the innermost line of HDF5's own account.
std::string last_error();

/// A text of a file without what pads it, and without bytes that a terminal would obey.
std::string trimmed(std::string text);
/// "compressed with" the first filter that these properties of a dataset need and HDF5 lacks here,
/// and what to do; empty if none is missing.
std::string missing_filter(hid_t properties);
/// Of H5Lexists, which just failed for this object: there is something else in place of its group,
/// or HDF5's reason.
std::string why_nothing_is_below(hid_t file, const std::string& object);
/// Of a link of the file at `path`, in which HDF5 just found nothing behind it: what it names, what
/// is wrong there, and what to do.
std::string where_link_leads(hid_t file, const std::string& link, const std::string& path);

enum class Kind { real, integer, other };
/// Of a type of HDF5; `other` also if its description makes no sense.
Kind kind_of(hid_t type);

/// What a dataset looks like from outside.
struct DatasetShape {
  std::vector<Index> extent;
  Kind kind = Kind::other;
  int bytes = 0;  ///< per element
  bool is_signed = false;
};

/// Rows [first, first + count) of a dataset; a row is an element of the first axis.
struct Rows {
  Index first = 0;
  Index count = 0;
};

/// Chunked datasets of which all chunks were written. To count the chunks takes time for each one:
/// who reads a dataset in many pieces counts once. Threads may share one.
class CompleteDatasets {
 public:
  bool has(const std::string& file, const std::string& dataset) const;
  void add(const std::string& file, const std::string& dataset);

 private:
  mutable std::mutex mutex_;
  std::set<std::pair<std::string, std::string>> names_;
};

/// A part of a virtual dataset, as that one names it: `file` is "." for the holder itself.
struct VirtualPart {
  std::string holder;  ///< the file of the virtual dataset
  std::string file;
  std::string dataset;

  bool operator<(const VirtualPart& other) const {
    return std::tie(holder, file, dataset) < std::tie(other.holder, other.file, other.dataset);
  }
};

/// Other files that a file draws on.
struct Origins {
  std::set<std::string> files;  ///< on the way of external links, or of external storage
  std::set<VirtualPart> parts;  ///< which may draw on further files

  void add(const Origins& others) {
    files.insert(others.files.begin(), others.files.end());
    parts.insert(others.parts.begin(), others.parts.end());
  }
};

/// So far virtual datasets that show parts of others are followed. Some lead to themselves.
constexpr int max_virtual_levels = 8;

class LinkTrail;

/// What is missing of these rows of an open dataset, in words; empty if nothing is. Where numbers
/// are missing, HDF5 reads zeros or a fill value without a word. `path` is the dataset's file;
/// `complete` may be null.
///
/// Looks at chunks and contiguous data that were never written, at external files that are missing
/// or too short, and at virtual datasets: at gaps between their parts, and at what the files of
/// these parts hold. HDF5 does not say whether a part of a contiguous or compact dataset was
/// written.
std::string missing_part(hid_t dataset, const std::string& path, Rows rows,
                         CompleteDatasets* complete = nullptr);
/// A quicker look, at virtual datasets only: the first file of their parts that does not exist or
/// cannot be seen, and why; empty if there is none.
std::string missing_file(hid_t dataset, const std::string& path);

/// The file is there, but another program writes it, or its file system has no locks.
class LockError : public FileError {
 public:
  using FileError::FileError;
};

/// Throws FileError with the path in every message. Several threads may read files, also the same
/// one, each by an object of its own.
class InputFile {
 public:
  explicit InputFile(std::string path, std::shared_ptr<CompleteDatasets> complete = nullptr);

  const std::string& path() const { return path_; }

  /// The object exists, and so does what it links to.
  bool has(const std::string& object) const;
  bool has_attribute(const std::string& object, const std::string& name) const;

  /// Whether there is such an attribute with numbers that zhalo can read.
  bool holds_numbers(const std::string& object, const std::string& name) const;

  /// Attributes of any shape and numeric type; nothing if absent or of no elements. FileError if
  /// there is one that holds no numbers.
  std::optional<std::vector<double>> reals(const std::string& object,
                                           const std::string& name) const;
  std::optional<std::vector<Index>> integers(const std::string& object,
                                             const std::string& name) const;
  std::optional<std::string> text(const std::string& object, const std::string& name) const;
  /// Bytes per element; 0 if absent.
  int attribute_bytes(const std::string& object, const std::string& name) const;

  /// Empty if there is no such dataset.
  std::optional<DatasetShape> shape(const std::string& dataset) const;
  /// Reads rows and converts them to `memory_type`. Throws if some of them were never written, or
  /// lie in another file that lacks them.
  void read(const std::string& dataset, Rows rows, hid_t memory_type, void* to) const;
  /// Throws if the dataset needs a filter that HDF5 does not have here, or is virtual and one of
  /// its source files is missing.
  void check_readable(const std::string& dataset) const;
  /// Adds what the dataset draws on to the origins. check_readable() does so, too.
  void note_origins_of(const std::string& dataset) const;
  /// Other files that hold what was asked for so far, and those of the datasets that were noted. No
  /// file is opened for this that was not opened before.
  const Origins& origins() const { return origins_; }

 private:
  Handle open_attribute(const std::string& object, const std::string& name) const;
  template <class T>
  std::optional<std::vector<T>> numbers(const std::string& object, const std::string& name,
                                        hid_t memory_type) const;
  /// With HDF5's reason for the call that failed.
  [[noreturn]] void fail(const std::string& what) const;
  /// What HDF5 reads, but zhalo does not take.
  [[noreturn]] void refuse(const std::string& what) const;

  std::string path_;
  std::shared_ptr<CompleteDatasets> complete_;  ///< may be null
  Handle file_;
  std::shared_ptr<LinkTrail> trail_;  ///< HDF5 knows its address
  mutable Origins origins_;
};

// Where HDF5 finds what a file leaves to other files: behind external links, in parts of virtual
// datasets, and in external storage.

/// The file that holds the dataset or group, which was found in the one at `path`. Others that it
/// names are looked for beside it.
std::string file_of(hid_t object, const std::string& path);

/// The name of a dataset or group in its file; empty if HDF5 does not know it.
std::string name_in_file(hid_t object);

// Virtual datasets.

/// As the creation properties of a virtual dataset have them: the file and the dataset of a part.
std::string virtual_file(hid_t properties, std::size_t part);
std::string virtual_dataset(hid_t properties, std::size_t part);

/// In the names of parts "%%" is a percent sign. False for "%b", which stands for numbers of files
/// that go on without end.
bool unescape(std::string& name);

/// Where HDF5 looks for a file that holds a part of the dataset in the file at `path`, in this
/// order (H5F_prefix_open_file). Of an absolute name that leads nowhere it looks for the last part.
std::vector<std::filesystem::path> virtual_paths(const std::string& file, const std::string& path);

/// The first of these paths that has a file which HDF5 can open; `file` becomes its path.
Handle open_source(std::string& file, const std::string& path);

// External storage.

/// The path of a file that holds bytes of a dataset in the file at `path`.
std::filesystem::path external_path(const std::string& name, const std::string& path);

// All of them.

/// Adds the files to which an open dataset, found in the one at `path`, leaves its numbers. Opens
/// none of them.
void note_origins(hid_t dataset, const std::string& path, Origins& origins);

/// Notes which files HDF5 opens as it follows external links.
class LinkTrail {
 public:
  LinkTrail();
  ~LinkTrail() = default;
  LinkTrail(const LinkTrail&) = delete;
  LinkTrail& operator=(const LinkTrail&) = delete;

  /// Properties of access to what is looked for, so that links on the way are seen.
  hid_t access() const { return access_.id(); }

  /// After a look at an object of an open file: if external links led there, adds all files on the
  /// way to the origins.
  void note(hid_t file, const std::string& object, Origins& origins);

 private:
  Handle access_;
  std::set<std::string> passed_;  ///< files whose links were followed since the last note
  std::set<std::string> noted_;   ///< objects: each is asked for many times
};

}  // namespace zhalo::io::hdf5
