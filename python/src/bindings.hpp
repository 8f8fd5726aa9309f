/// What the files of the Python module share: calls of the C interface, and numpy arrays.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/array.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>
#include <zhalo/zhalo.h>

#include <array>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace zhalo::python {

namespace nb = nanobind;

/// What a call of the C interface returned, with its message. Python sees the exception that
/// belongs to the status.
class StatusError : public std::runtime_error {
 public:
  StatusError(int status, const std::string& message)
      : std::runtime_error(message), status_(status) {}
  int status() const { return status_; }

 private:
  int status_;
};

/// Throws what Python sees as zhalo.InputError.
[[noreturn]] inline void refuse(const std::string& message) {
  throw StatusError(ZHALO_INPUT_ERROR, message);
}

/// Python sees zhalo.UnknownColumn, which is a KeyError.
class UnknownColumn : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A handle of the C interface, destroyed with its Python object.
template <class Handle, void (*destroy)(Handle*)>
class Owned {
 public:
  /// create(&handle) is the call that makes it, with this context.
  template <class Context, class Create>
  Owned(const Context& context, const Create& create) {
    context.run([&] { return create(&handle_); });
  }
  Owned(Owned&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  Owned& operator=(Owned&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  Owned(const Owned&) = delete;
  Owned& operator=(const Owned&) = delete;
  ~Owned() { destroy(handle_); }

  Handle* get() const { return handle_; }

 private:
  Handle* handle_ = nullptr;
};

/// ZHALO_FLOAT or ZHALO_DOUBLE for "float32" and "float64", a numpy.dtype or numpy's types.
int precision_of(nb::handle dtype);

using Array = nb::ndarray<nb::ro, nb::device::cpu>;
/// What was given as an array of numpy, aligned, in this machine's byte order and with positive
/// strides of whole elements: without a copy where it is that already. InputError for masked
/// elements.
nb::object as_numpy(nb::handle values);
/// Whether it is a number (or what else numpy takes for one value), and no array.
bool is_one_value(nb::handle value);
/// The same as nanobind sees it, which keeps the memory alive.
Array as_array(const nb::object& numpy_array);
/// The precision of an array's numbers; InputError for other numbers than float32 and float64.
int precision_of(const Array& values, const char* what);
/// One axis of an array of rows.
zhalo_column column_of(const Array& rows, int precision, std::size_t axis);

/// Where the elements of an array of numpy begin.
inline void* address_of(const nb::object& numpy_array) {
  return reinterpret_cast<void*>(nb::cast<std::uintptr_t>(numpy_array.attr("ctypes").attr("data")));
}

inline bool is_any(PyObject* /*object*/) { return true; }
/// An array that is returned: what signatures call it.
class NumpyArray : public nb::object {
  NB_OBJECT_DEFAULT(NumpyArray, object, "numpy.ndarray", is_any)
};

/// A new array of numpy, whose elements are not set yet.
template <class T>
struct NewArray {
  explicit NewArray(std::vector<std::size_t> shape) : shape_(std::move(shape)) {
    for (const std::size_t length : shape_) size_ *= length;
    values_.reset(new (std::nothrow) T[size_]);
    if (values_ == nullptr) {
      throw StatusError(ZHALO_OUT_OF_MEMORY, "an array of " + std::to_string(size_) +
                                                 " numbers does not fit into memory");
    }
  }

  T* data() { return values_.get(); }
  std::int64_t size() const { return static_cast<std::int64_t>(size_); }
  /// The array as Python sees it, which owns the memory from now on.
  NumpyArray release() {
    T* const values = values_.release();
    const nb::capsule owner(values,
                            [](void* memory) noexcept { delete[] static_cast<T*>(memory); });
    const nb::ndarray<nb::numpy, T> array(values, shape_.size(), shape_.data(), owner);
    return nb::borrow<NumpyArray>(nb::cast(array));
  }

 private:
  std::vector<std::size_t> shape_;
  std::size_t size_ = 1;
  std::unique_ptr<T[]> values_;
};

// The parts of the module, each in a file of its own.
void bind_context(nb::module_& module);
void bind_domain(nb::module_& module);
void bind_groups(nb::module_& module);
void bind_neighbours(nb::module_& module);
void bind_fields(nb::module_& module);

}  // namespace zhalo::python
