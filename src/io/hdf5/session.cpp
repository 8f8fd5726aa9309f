#include "src/io/hdf5/session.hpp"

namespace zhalo::io::hdf5 {

Session::Turn& Session::turn() {
  static Turn made;
  return made;
}

// Only the outermost one calls HDF5: a call forgets what went wrong before.
Session::Session() : lock_(turn().mutex) {
  if (turn().depth++ > 0) return;
  H5Eget_auto2(H5E_DEFAULT, &function_, &data_);
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
}

Session::~Session() {
  if (--turn().depth == 0) H5Eset_auto2(H5E_DEFAULT, function_, data_);
}

namespace {

/// H5T_NATIVE_... are calls of HDF5.
template <class Type>
hid_t in_session(const Type& type) {
  const Session session;
  return type();
}

}  // namespace

hid_t native_type(double) {
  return in_session([] { return H5T_NATIVE_DOUBLE; });
}
hid_t native_type(float) {
  return in_session([] { return H5T_NATIVE_FLOAT; });
}
hid_t native_type(Index) {
  return in_session([] { return H5T_NATIVE_INT64; });
}
hid_t native_type(std::int32_t) {
  return in_session([] { return H5T_NATIVE_INT32; });
}
hid_t native_type(std::uint64_t) {
  return in_session([] { return H5T_NATIVE_UINT64; });
}

}  // namespace zhalo::io::hdf5
