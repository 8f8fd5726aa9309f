/// Collective work on the context's Exec.
#pragma once

#include <type_traits>

#include "src/core/synchronise.hpp"
#include "zhalo/comm/context.hpp"

namespace zhalo {

/// together() for work that queues something: it is done, or its error is every rank's, before any
/// rank leaves.
template <class Work>
auto finish_together(const Context& context, const Work& work) -> decltype(work()) {
  if constexpr (std::is_void_v<decltype(work())>) {
    context.comm.together([&] {
      work();
      synchronise(context.exec);
    });
  } else {
    return together(context.comm, [&] {
      auto result = work();
      synchronise(context.exec);
      return result;
    });
  }
}

}  // namespace zhalo
