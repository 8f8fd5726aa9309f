#include <cstring>
#include <exception>
#include <typeinfo>

#include "bindings.hpp"

namespace zhalo::python {
namespace {

/// A class of exceptions in the module.
nb::object make_exception(nb::module_& module, const char* name, const nb::tuple& bases,
                          const char* text) {
  const std::string full_name = std::string("zhalo.") + name;
  PyObject* made = PyErr_NewExceptionWithDoc(full_name.c_str(), text, bases.ptr(), nullptr);
  if (made == nullptr) throw nb::python_error();
  module.attr(name) = nb::steal(made);
  return module.attr(name);
}

const char* exception_of(int status) {
  switch (status) {
    case ZHALO_INPUT_ERROR: return "InputError";
    case ZHALO_OUT_OF_MEMORY: return "OutOfMemory";
    case ZHALO_DEVICE_ERROR: return "DeviceError";
    case ZHALO_COMMUNICATION_ERROR: return "CommunicationError";
    default: return "Error";
  }
}

/// Sets Python's error to one of the module's. A name in the message may not be UTF-8.
void raise(const char* name, const char* message) {
  const nb::object type = nb::module_::import_("zhalo._zhalo").attr(name);
  const nb::object text = nb::steal(
      PyUnicode_DecodeUTF8(message, static_cast<Py_ssize_t>(std::strlen(message)), "replace"));
  PyErr_SetObject(type.ptr(), text.ptr());
}

void bind_exceptions(nb::module_& module) {
  const nb::handle runtime_error = PyExc_RuntimeError;
  const nb::object error = make_exception(module, "Error", nb::make_tuple(runtime_error),
                                          "Base class of the errors of zhalo.");
  make_exception(module, "InputError", nb::make_tuple(error, nb::handle(PyExc_ValueError)),
                 "Values or options that cannot be used as given.");
  const nb::object unknown =
      make_exception(module, "UnknownColumn",
                     nb::make_tuple(module.attr("InputError"), nb::handle(PyExc_KeyError)),
                     "A catalogue has no column of this name.");
  // KeyError would show its message in quotes.
  unknown.attr("__str__") = nb::handle(PyExc_Exception).attr("__str__");
  make_exception(module, "OutOfMemory", nb::make_tuple(error, nb::handle(PyExc_MemoryError)),
                 "The message says how much was needed, and for what.");
  make_exception(module, "DeviceError", nb::make_tuple(error), "A device is missing or failed.");
  make_exception(module, "CommunicationError", nb::make_tuple(error),
                 "Ranks are lost, or MPI failed. The context cannot be used any more.");
  nb::register_exception_translator([](const std::exception_ptr& thrown, void*) {
    try {
      std::rethrow_exception(thrown);
    } catch (const std::bad_cast&) {
      raise("InputError", "an argument is of a kind that zhalo cannot use");
    } catch (const UnknownColumn& failed) {
      raise("UnknownColumn", failed.what());
    } catch (const StatusError& failed) {
      raise(exception_of(failed.status()), failed.what());
    }
  });
}

}  // namespace
}  // namespace zhalo::python

NB_MODULE(_zhalo, module) {
  using namespace zhalo::python;
  // Objects that live until the process ends are no concern of the user.
  nanobind::set_leak_warnings(false);
  bind_exceptions(module);
  bind_context(module);
  bind_domain(module);
  bind_groups(module);
  bind_neighbours(module);
  bind_fields(module);
}
