// HDF5 by one thread at a time, and a driver for files on POSIX systems.
//
// The driver is as HDF5's own, but HDF5 does not hear of failures. (It could not stand before
// HDF5's own and hand calls on: each call of HDF5 forgets what went wrong before.)
#include "src/io/hdf5/input.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <iterator>
#include <limits>
#include <memory>
#include <new>
#include <utility>

#include "src/io/hdf5/output.hpp"

namespace zhalo::io::hdf5 {

// Calls of HDF5 by several threads (input.hpp).

Session::Turn& Session::turn() {
  static Turn made;
  return made;
}

// Only the outermost one calls HDF5: a call forgets what went wrong before.
Session::Session() : lock_(turn().mutex) {
  if (turn().depth++ > 0) return;
  unsigned is_second = 1;
  H5Eauto_is_v2(H5E_DEFAULT, &is_second);
  if (is_second != 0) {
    H5Eget_auto2(H5E_DEFAULT, &function_, &data_);
  } else {
    H5Eget_auto1(&first_function_, &data_);
  }
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
}

Session::~Session() {
  if (--turn().depth != 0) return;
  if (first_function_ != nullptr) {
    H5Eset_auto1(first_function_, data_);
  } else {
    H5Eset_auto2(H5E_DEFAULT, function_, data_);
  }
}

// The driver (output.hpp).

namespace {

/// HDF5 sees the first member only.
struct ClosableFile {
  H5FD_t seen_by_hdf5{};
  int descriptor = -1;
  haddr_t end_of_addresses = 0;  ///< that HDF5 has given away
  haddr_t end_of_file = 0;
  dev_t device = 0;
  ino_t inode = 0;
  std::shared_ptr<FileState> state = std::make_shared<FileState>();

  ~ClosableFile() {
    if (descriptor >= 0) ::close(descriptor);
  }
  ClosableFile() = default;
  ClosableFile(const ClosableFile&) = delete;
  ClosableFile& operator=(const ClosableFile&) = delete;
};

ClosableFile& whole(H5FD_t* file) { return *reinterpret_cast<ClosableFile*>(file); }
const ClosableFile& whole(const H5FD_t* file) {
  return *reinterpret_cast<const ClosableFile*>(file);
}

/// Tells HDF5 the system's reason in the words that its own drivers use (last_error() knows them).
herr_t failed(int line, const char* what) {
  const int reason = errno;
  H5Epush2(H5E_DEFAULT, __FILE__, "", static_cast<unsigned>(line), H5E_ERR_CLS, H5E_IO,
           H5E_CANTINIT, "%s, error message = '%s'", what, std::strerror(reason));
  return -1;
}

/// Of an open file: HDF5 hears of it only while nobody else would.
herr_t note_failure(FileState& state, int line, const char* what) {
  if (!state.is_watched) return failed(line, what);
  if (state.failure == 0) state.failure = errno;
  state.abandoned = true;
  return 0;
}

H5FD_t* open_file(const char* name, unsigned flags, hid_t, haddr_t) {
  int how = O_CLOEXEC | ((flags & H5F_ACC_RDWR) != 0 ? O_RDWR : O_RDONLY);
  if ((flags & H5F_ACC_TRUNC) != 0) how |= O_TRUNC;
  if ((flags & H5F_ACC_CREAT) != 0) how |= O_CREAT;
  if ((flags & H5F_ACC_EXCL) != 0) how |= O_EXCL;
  std::unique_ptr<ClosableFile> file(new (std::nothrow) ClosableFile);
  if (file == nullptr) return nullptr;
  constexpr mode_t for_all = 0666;
  struct stat found {};
  file->descriptor = ::open(name, how, for_all);
  if (file->descriptor < 0 || ::fstat(file->descriptor, &found) != 0) {
    failed(__LINE__, "open failed");
    return nullptr;
  }
  file->end_of_file = static_cast<haddr_t>(found.st_size);
  file->device = found.st_dev;
  file->inode = found.st_ino;
  return &file.release()->seen_by_hdf5;
}

herr_t close_file(H5FD_t* file) {
  const std::unique_ptr<ClosableFile> last(&whole(file));
  return ::close(std::exchange(last->descriptor, -1)) == 0
             ? 0
             : note_failure(*last->state, __LINE__, "close failed");
}

int compare(const H5FD_t* a, const H5FD_t* b) {
  const auto of_a = std::pair(whole(a).device, whole(a).inode),
             of_b = std::pair(whole(b).device, whole(b).inode);
  return of_a < of_b ? -1 : (of_b < of_a ? 1 : 0);
}

/// Those of HDF5's own driver that decide where things lie in a file.
herr_t query(const H5FD_t*, unsigned long* flags) {
  *flags = H5FD_FEAT_AGGREGATE_METADATA | H5FD_FEAT_ACCUMULATE_METADATA | H5FD_FEAT_DATA_SIEVE |
           H5FD_FEAT_AGGREGATE_SMALLDATA | H5FD_FEAT_DEFAULT_VFD_COMPATIBLE;
  return 0;
}

haddr_t end_of_addresses(const H5FD_t* file, H5FD_mem_t) { return whole(file).end_of_addresses; }
haddr_t end_of_file(const H5FD_t* file, H5FD_mem_t) { return whole(file).end_of_file; }

herr_t set_end_of_addresses(H5FD_t* file, H5FD_mem_t, haddr_t end) {
  whole(file).end_of_addresses = end;
  return 0;
}

herr_t handle_of(H5FD_t* file, hid_t, void** handle) {
  *handle = &whole(file);
  return 0;
}

// NOLINTNEXTLINE(readability-function-size): HDF5 counts the parameters
herr_t read_bytes(H5FD_t* file, H5FD_mem_t, hid_t, haddr_t first, std::size_t num, void* bytes) {
  auto* to = static_cast<char*>(bytes);
  while (num > 0) {
    const ssize_t done = ::pread(whole(file).descriptor, to, num, static_cast<off_t>(first));
    if (done < 0 && errno == EINTR) continue;
    if (done < 0 && note_failure(*whole(file).state, __LINE__, "read failed") != 0) return -1;
    if (done <= 0) break;
    to += done;
    num -= static_cast<std::size_t>(done);
    first += static_cast<haddr_t>(done);
  }
  std::fill_n(to, num, '\0');  // room behind the end that nobody has written
  return 0;
}

// NOLINTNEXTLINE(readability-function-size): HDF5 counts the parameters
herr_t write_bytes(H5FD_t* file, H5FD_mem_t, hid_t, haddr_t first, std::size_t num,
                   const void* bytes) {
  const auto* from = static_cast<const char*>(bytes);
  while (num > 0 && !whole(file).state->abandoned) {
    const ssize_t done = ::pwrite(whole(file).descriptor, from, num, static_cast<off_t>(first));
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) return note_failure(*whole(file).state, __LINE__, "write failed");
    from += done;
    num -= static_cast<std::size_t>(done);
    first += static_cast<haddr_t>(done);
    whole(file).end_of_file = std::max(whole(file).end_of_file, first);
  }
  return 0;
}

/// Makes the file as long as HDF5 takes it to be.
herr_t set_length(H5FD_t* file, hid_t, hbool_t) {
  ClosableFile& own = whole(file);
  if (own.state->abandoned || own.end_of_file == own.end_of_addresses) return 0;
  if (::ftruncate(own.descriptor, static_cast<off_t>(own.end_of_addresses)) != 0)
    return note_failure(*own.state, __LINE__, "truncation failed");
  own.end_of_file = own.end_of_addresses;
  return 0;
}

/// From HDF5 1.13 on classes of drivers say of which form they are, and which number they go by.
template <class Class>
void tell_version(Class& driver) {
  constexpr int first_for_anybody = 256;
  if constexpr (requires { driver.version; }) driver.version = 1;
  if constexpr (requires { driver.value; }) driver.value = first_for_anybody;
}

H5FD_class_t driver_class() {
  H5FD_class_t driver{};
  tell_version(driver);
  driver.name = "closable";
  driver.maxaddr = static_cast<haddr_t>(std::numeric_limits<off_t>::max());
  driver.fc_degree = H5F_CLOSE_WEAK;
  driver.open = open_file;
  driver.close = close_file;
  driver.cmp = compare;
  driver.query = query;
  driver.get_eoa = end_of_addresses;
  driver.set_eoa = set_end_of_addresses;
  driver.get_eof = end_of_file;
  driver.get_handle = handle_of;
  driver.read = read_bytes;
  driver.write = write_bytes;
  driver.truncate = set_length;
  constexpr std::array<H5FD_mem_t, H5FD_MEM_NTYPES> raw_data_apart = H5FD_FLMAP_DICHOTOMY;
  std::copy(raw_data_apart.begin(), raw_data_apart.end(), std::begin(driver.fl_map));
  return driver;
}

ClosableFile* find(hid_t file) {
  void* handle = nullptr;
  if (H5Fget_vfd_handle(file, H5P_DEFAULT, &handle) < 0) return nullptr;
  return static_cast<ClosableFile*>(handle);
}

}  // namespace

Handle closable_driver() {
  const Session session;
  const H5FD_class_t driver = driver_class();
  return {H5FDregister(&driver), H5FDunregister};
}

std::shared_ptr<FileState> state_of(hid_t file) {
  const ClosableFile* known = find(file);
  if (known == nullptr) return std::make_shared<FileState>();
  known->state->is_watched = true;
  return known->state;
}

int descriptor_of(hid_t file) {
  const ClosableFile* known = find(file);
  return known == nullptr ? -1 : known->descriptor;
}

}  // namespace zhalo::io::hdf5
