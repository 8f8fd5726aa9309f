/// Checks of what the user gave: always on, with a message that says what is wrong, where, and what
/// to do.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string_view>
#include <utility>
#include <variant>

#include "kernels/memory.hpp"
#include "zhalo/core/buffer.hpp"
#include "zhalo/core/error.hpp"
#include "zhalo/core/exec.hpp"
#include "zhalo/core/span.hpp"

namespace zhalo {

/// Throws InputError with the formatted message unless `holds`.
template <class... Args>
void validate(bool holds, fmt::format_string<Args...> message, Args&&... args) {
  if (!holds) throw InputError(fmt::format(message, std::forward<Args>(args)...));
}

/// Throws InputError unless `value` is an enumerator of an enum that counts from 0 to `last`. A
/// caller may have cast any number.
template <class Enum>
void validate_enumerator(Enum value, Enum last, const char* what) {
  const auto number = static_cast<Index>(value);
  validate(number >= 0 && number <= static_cast<Index>(last),
           "{} is number {}, which is no enumerator (they are 0 to {})", what, number,
           static_cast<Index>(last));
}

/// Throws InputError unless a domain of so many species has this one.
inline void validate_species(int species, int num_species) {
  validate(species >= 0 && species < num_species,
           "there is no species {} in the domain (there are {})", species, num_species);
}

/// Throws InputError unless a column has an element for each of the rank's `num` particles; `what`
/// begins the message.
inline void validate_column_size(const ColumnView& column, Index num,
                                 std::string_view what = "a column") {
  validate(column.num == num,
           "{} has {} elements on this rank, which has {} particles: it must have one for each",
           what, column.num, num);
}

// Memory that a device can use.

/// Throws InputError if the device of `exec` cannot use this address, which may be null; `what`
/// begins the message. Without the check a kernel would fail, and nothing could be done on the
/// device afterwards.
inline void validate_memory(const Exec& exec, const void* address, const char* what) {
  const auto* cuda = std::get_if<Cuda>(&exec);
  if (cuda == nullptr || address == nullptr) return;
  const kernels::MemoryOwner owner = kernels::owner_of(*cuda, address);
  validate(owner != kernels::MemoryOwner::host,
           "{} cannot be used by CUDA device {}, because the memory is the host's (copy it to the "
           "device, or compute on the host)",
           what, cuda->device);
  validate(
      owner != kernels::MemoryOwner::another_device,
      "{} cannot be used by CUDA device {}, because the memory is another device's (copy it there)",
      what, cuda->device);
}

/// The same of a column of numbers of `size` bytes. A device reads numbers at multiples of their
/// size only; else its kernel would fail.
inline void validate_numbers(const Exec& exec, const void* address, Index stride_bytes, Index size,
                             const char* what) {
  validate_memory(exec, address, what);
  if (!std::holds_alternative<Cuda>(exec)) return;
  validate(reinterpret_cast<std::uintptr_t>(address) % static_cast<std::uintptr_t>(size) == 0 &&
               stride_bytes % size == 0,
           "{} are numbers of {} bytes at address {}, {} bytes apart (on a device both must be "
           "multiples of {})",
           what, size, address, stride_bytes, size);
}
template <class T>
void validate_numbers(const Exec& exec, const Strided<T>& column, const char* what) {
  validate_numbers(exec, column.data, column.stride_bytes, static_cast<Index>(sizeof(T)), what);
}
inline void validate_numbers(const Exec& exec, const RealColumn& column, const char* what) {
  validate_numbers(exec, column.data(), column.stride_bytes(),
                   static_cast<Index>(column.is_double() ? sizeof(double) : sizeof(float)), what);
}

/// The same of an array, where it has elements: then its address must not be null.
template <class T>
void validate_memory(const Exec& exec, Span<T> array, const char* what) {
  if (array.empty()) return;
  validate(array.data() != nullptr, "{}: {} elements are given, and their address is null", what,
           array.size());
  validate_memory(exec, static_cast<const void*>(array.data()), what);
}

/// Throws InputError unless a column has an element for each of the rank's `num` particles, in
/// memory that `exec` can use.
inline void validate_column(const Exec& exec, const ColumnView& column, Index num) {
  validate(column.element_size > 0, "a column has elements of {} bytes", column.element_size);
  validate_column_size(column, num);
  if (num == 0) return;
  validate(column.data != nullptr, "a column of {} elements has no memory", num);
  validate_memory(exec, column.data, "values of a column");
}

}  // namespace zhalo
