/// Columns where the writers can see them.
#pragma once

#include <variant>
#include <vector>

#include "zhalo/core/buffer.hpp"

namespace zhalo::app {

/// A copy of device memory, or the host memory itself.
template <class T>
class OnHost {
 public:
  OnHost(const Exec& exec, Span<const T> column) : view_(column) {
    if (std::holds_alternative<Host>(exec)) return;
    copy_ = to_host(exec, column);
    view_ = copy_;
  }
  OnHost(const Exec& exec, const Buffer<T>& column) : OnHost(exec, column.span()) {}
  Span<const T> view() const { return view_; }

 private:
  std::vector<T> copy_;
  Span<const T> view_;
};

}  // namespace zhalo::app
