/// Files that hold one text, or the bytes of a picture.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "zhalo/io/staged_files.hpp"

namespace zhalo::app {

/// "-", or any other name of it.
bool is_standard_output(const std::string& path);
/// Whether it names a file that this process has open, such as /dev/stderr: only that one is meant.
bool is_open_already(const std::string& path);

class Stream;

/// A file that appears whole or not at all. "-", or any name of it, is standard output, and a file
/// that is no regular one (a pipe, a device) is written to as it is. A pipe waits until somebody
/// reads it. Rank 0 looks at the path and writes.
class TextFile {
 public:
  /// Makes sure that the file can be written, in a folder that exists or in the one of -o, which is
  /// made if it is missing; an empty path is no file. `option` with which the user named it, for
  /// messages. Collective; FileError. The communicator must outlive it.
  TextFile(const Communicator& comm, const std::string& option, const std::string& path,
           const std::string& output_folder = "");

  /// Takes rank 0's text, and writes it beside its final path if it has one. Collective; FileError.
  void put(const std::string& text);
  /// Where it waits for its commit; nullptr if it is no file that appears whole.
  io::StagedFiles* staged() { return files_ ? &*files_ : nullptr; }
  /// Whether it goes to a pipe or a device; the same on all ranks.
  bool is_stream() const { return target_ == Target::file_as_it_is; }
  /// Opens a pipe or a device: waits until somebody reads the pipe. Collective; Interrupted.
  void open();
  /// Writes it where it cannot be taken back: to a pipe, a device or standard output. Collective;
  /// FileError, Interrupted.
  void send();
  /// Renames it to its final path if it was not sent. Collective; FileError.
  void commit();

  /// Its path, or nothing if there is no file of that name: none, or standard output.
  std::optional<std::string> name() const;

 private:
  enum class Target { none, standard_output, file_as_it_is, staged_file, folder };
  static Target target_of(const std::string& path);
  void put_out(const std::string& path) const;
  bool open_output();

  const Communicator* comm_;
  std::string option_;
  std::string path_;
  std::string text_;
  Target target_ = Target::none;  ///< as rank 0 sees it; the same on all ranks
  std::string temporary_;
  std::shared_ptr<Stream> stream_;  ///< on rank 0: a pipe or a device
  bool sent_ = false;               ///< on rank 0
  std::optional<io::StagedFiles> files_;
};

}  // namespace zhalo::app
