/// HDF5 without leaks and without noise: handles that close themselves, and its errors as text.
#pragma once

#include <hdf5.h>

#include <string>
#include <utility>

namespace zhalo::io::hdf5 {

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
    return closer_(std::exchange(id_, H5I_INVALID_HID)) >= 0;
  }

 private:
  hid_t id_ = H5I_INVALID_HID;
  Closer closer_ = nullptr;
};

/// While it lives HDF5 prints nothing; it restores what was set before.
class QuietErrors {
 public:
  QuietErrors() {
    H5Eget_auto2(H5E_DEFAULT, &function_, &data_);
    H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  }
  ~QuietErrors() { H5Eset_auto2(H5E_DEFAULT, function_, data_); }
  QuietErrors(const QuietErrors&) = delete;
  QuietErrors& operator=(const QuietErrors&) = delete;

 private:
  H5E_auto2_t function_ = nullptr;
  void* data_ = nullptr;
};

/// Why the HDF5 call that just failed did so: the system's words ("No space left on device") if
/// there are any, else the innermost line of HDF5's own account.
std::string last_error();

}  // namespace zhalo::io::hdf5
