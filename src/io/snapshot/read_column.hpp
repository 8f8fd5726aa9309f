/// Columns that are read from files.
#pragma once

#include <variant>

#include "zhalo/core/buffer.hpp"

namespace zhalo::io {

/// A column in the memory of `exec`, read straight into place on the host.
template <class T, class Read>
Buffer<T> read_column(const Exec& exec, Index size, const char* purpose, const Read& read) {
  if (std::holds_alternative<Host>(exec)) {
    Buffer<T> column(exec, size, purpose);
    read(column.span());
    return column;
  }
  Buffer<T> staging(host_exec(), size, purpose);
  read(staging.span());
  return to_exec<T>(exec, staging.span(), purpose);
}

}  // namespace zhalo::io
