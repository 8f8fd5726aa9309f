// With parallel HDF5. Its collective calls know no errors of single ranks and no timeout, so as
// little as may be is collective: opening and closing, before which the ranks ask whether all are
// there. Rows, which are contiguous in the file, each rank writes for itself: of collective
// transfers some MPI libraries lose a rank's failure, so that cells are missing and nobody knows,
// and in others the rest waits.
#include "src/io/hdf5/output.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "src/comm/state.hpp"
#include "zhalo/core/error.hpp"

namespace zhalo::io::hdf5 {

namespace {

/// A block of a dataset, contiguous in memory.
struct Piece {
  std::vector<hsize_t> start;
  std::vector<hsize_t> size;
  const std::byte* data = nullptr;
};

/// Appends parts [first, first + num) along an axis of `whole`, of which each has `bytes` at
/// `data`.
void cut(std::vector<Piece>& pieces, const Piece& whole, std::size_t axis, Index bytes,
         Index max_bytes) {
  const auto num = static_cast<Index>(whole.size[axis]);
  const Index max_num = std::max<Index>(1, max_bytes / bytes);
  for (Index part = 0; part < num; part += max_num) {
    Piece piece = whole;
    piece.start[axis] += static_cast<hsize_t>(part);
    piece.size[axis] = static_cast<hsize_t>(std::min(max_num, num - part));
    piece.data += part * bytes;
    pieces.push_back(std::move(piece));
  }
}

/// Whole rows, or lines of a row if one is too large.
std::vector<Piece> pieces_of(const PlacedRows& rows, Index max_bytes) {
  const DatasetView& cells = rows.cells;
  Piece whole;
  whole.size = extent_of(cells.rows, cells);
  whole.start.assign(whole.size.size(), 0);
  whole.start[0] = static_cast<hsize_t>(rows.first);
  whole.data = cells.data;
  std::vector<Piece> pieces;
  if (cells.bytes > max_bytes && !cells.row_shape.empty()) {
    std::vector<Piece> single;
    cut(single, whole, 0, cells.bytes, cells.bytes);
    for (const Piece& row : single)
      cut(pieces, row, 1, cells.bytes / cells.row_shape[0], max_bytes);
  } else {
    cut(pieces, whole, 0, cells.bytes, max_bytes);
  }
  return pieces;
}

/// Why a call failed, if the system refused it: MPI-IO has no words for that. Other values of errno
/// may be anybody's.
std::string system_reason(int error) {
  constexpr std::array<int, 6> of_disks{ENOSPC, EDQUOT, EFBIG, EIO, EROFS, ESTALE};
  return std::find(of_disks.begin(), of_disks.end(), error) == of_disks.end()
             ? std::string()
             : std::strerror(error);
}

/// With the system's own words. MPI-IO opens files of its own, too: where there is no room for
/// them, it waits for ever.
void check_writable(const NamedFile& file) {
  constexpr int files_of_mpi = 8;
  std::vector<int> descriptors;
  int failed = 0;
  for (int i = 0; i < files_of_mpi && failed == 0; ++i) {
    const int descriptor = ::open(file.path.c_str(), O_RDWR | O_CLOEXEC);
    if (descriptor < 0) failed = errno;
    if (descriptor >= 0) descriptors.push_back(descriptor);
  }
  for (const int descriptor : descriptors) ::close(descriptor);
  if (failed != 0)
    throw FileError(fmt::format("'{}' cannot be written: {}", file.shown, std::strerror(failed)));
}

class SharedFile {
 public:
  SharedFile(const Communicator& ranks, const NamedFile& name) : ranks_(ranks), name_(name) {}
  /// To be called by all ranks alike.
  ~SharedFile() {
    // Closing waits for all ranks, so a file without them stays open.
    if (torn_ || ranks_.is_broken()) file_.release();
  }
  SharedFile(const SharedFile&) = delete;
  SharedFile& operator=(const SharedFile&) = delete;

  void open();
  void write(const PlacedRows& rows, Index max_bytes) const;
  void close();

 private:
  void need(bool ok, const char* guess = "") const;
  void write_piece(const Handle& set, hid_t type, const Piece& piece) const;

  Session session_;  // the ranks are processes
  const Communicator& ranks_;
  const NamedFile& name_;
  Handle file_;
  bool torn_ = false;  // open on some ranks only
};

void SharedFile::need(bool ok, const char* guess) const {
  if (ok) return;
  const std::string system = system_reason(errno);
  throw FileError(fmt::format(
      "'{}' cannot be written by its {} ranks at once: {}; a file per rank needs no MPI-IO",
      name_.shown, ranks_.size(), system.empty() ? last_error() + guess : system));
}

void SharedFile::open() {
  check_writable(name_);
  const Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
  ranks_.barrier();
  need(H5Pset_fapl_mpio(access.id(), mpi_handle(ranks_), MPI_INFO_NULL) >=
       0);  // duplicates the communicator
  ranks_.barrier();
  file_ = Handle(H5Fopen(name_.path.c_str(), H5F_ACC_RDWR, access.id()), H5Fclose);
  const bool ok = file_.valid();
  torn_ = ranks_.min(ok ? Index{1} : Index{0}) == 0;
  need(ok);
}

void SharedFile::write_piece(const Handle& set, hid_t type, const Piece& piece) const {
  const Handle rows(H5Dget_space(set.id()), H5Sclose);
  const Handle memory = simple_space(piece.size);
  need(H5Sselect_hyperslab(rows.id(), H5S_SELECT_SET, piece.start.data(), nullptr,
                           piece.size.data(), nullptr) >= 0);
  errno = 0;
  need(H5Dwrite(set.id(), type, memory.id(), rows.id(), H5P_DEFAULT, piece.data) >= 0,
       " (is the disk or a quota full?)");
}

void SharedFile::write(const PlacedRows& rows, Index max_bytes) const {
  const std::vector<Piece> pieces = pieces_of(rows, max_bytes);
  Handle set(H5Dopen2(file_.id(), rows.dataset.c_str(), H5P_DEFAULT), H5Dclose);
  need(set.valid());
  for (const Piece& piece : pieces) write_piece(set, rows.cells.type, piece);
  need(set.close());
}

void SharedFile::close() {
  ranks_.barrier();
  need(file_.close());
}

}  // namespace

bool can_write_at_once() { return true; }

void write_at_once(const Communicator& ranks, const NamedFile& file,
                   const std::vector<PlacedRows>& rows, Index max_bytes) {
  SharedFile shared(ranks, file);  // whatever happens below, all ranks leave it alike
  ranks.together([&] {
    shared.open();
    for (const PlacedRows& of_one : rows) shared.write(of_one, max_bytes);
    shared.close();
  });
}

}  // namespace zhalo::io::hdf5
