/// Comparing over ranks what must be the same on all of them, and telling them later what failed on
/// one.
#pragma once

#include <bit>
#include <exception>
#include <iterator>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "kernels/on.hpp"
#include "src/core/validate.hpp"
#include "zhalo/comm/communicator.hpp"
#include "zhalo/comm/context.hpp"
#include "zhalo/core/types.hpp"

namespace zhalo {

/// Appends numbers that tell values of one type apart: of a number, an enumerator, a text, an
/// optional number, or several of these.
template <class T>
void append_numbers(std::vector<Index>& numbers, const T& value) {
  if constexpr (std::is_floating_point_v<T>) {
    numbers.push_back(std::bit_cast<Index>(static_cast<double>(value)));
  } else if constexpr (std::is_arithmetic_v<T> || std::is_enum_v<T>) {
    numbers.push_back(static_cast<Index>(value));
  } else if constexpr (requires { value.value_or(0); }) {
    append_numbers(numbers, value.has_value());
    append_numbers(numbers, value.value_or(0));
  } else {
    append_numbers(numbers, std::size(value));
    for (const auto& one : value) append_numbers(numbers, one);
  }
}
template <class T, int N>
void append_numbers(std::vector<Index>& numbers, const Vec<T, N>& value) {
  for (const T& one : value.at) append_numbers(numbers, one);
}
inline void append_numbers(std::vector<Index>& numbers, const Box& box) {
  append_numbers(numbers, box.dimensions);
  for (int axis = 0; axis < box.dimensions && axis < 3; ++axis) {
    append_numbers(numbers, box.lo[axis]);
    append_numbers(numbers, box.length[axis]);
    append_numbers(numbers, box.periodic[axis]);
  }
}

/// Of several values.
template <class... T>
std::vector<Index> numbers_of(const T&... values) {
  std::vector<Index> numbers;
  (append_numbers(numbers, values), ...);
  return numbers;
}

/// Whether the numbers are the same on all ranks. Collective.
bool are_equal(const Communicator& comm, const std::vector<Index>& numbers);

/// InputError unless they are; `what` begins the message. Collective.
void validate_equal(const Communicator& comm, const std::vector<Index>& numbers,
                    std::string_view what);

/// InputError unless what was given here is what was given to another rank; `what` begins the
/// message.
template <class T>
void validate_same(std::string_view what, const T& here, const T& elsewhere) {
  validate(here == elsewhere,
           "{} is not the same on all ranks: {} here, {} elsewhere; give all ranks the same", what,
           here, elsewhere);
}
inline void validate_same(const Box& here, const Box& elsewhere) {
  validate(here.dimensions == elsewhere.dimensions,
           "the number of dimensions is not the same on all ranks: {} here, {} elsewhere; give all "
           "ranks the same, also those without particles",
           here.dimensions, elsewhere.dimensions);
  validate(here == elsewhere, "the box is not the same on all ranks; give all ranks the same");
}

/// Particles of all ranks that cannot be used.
struct NumAndFirst {
  Index num = 0;
  Index first = 0;  ///< as a global index; without meaning if there are none
};

/// Of `num` on this rank. If there are any, `first` is the first of them, counted from this rank's
/// particle with the global index `index_of_rank`. Collective.
NumAndFirst bad_of_ranks(const Communicator& comm, Index num, Index first, Index index_of_rank = 0);

/// Work on this rank whose errors are told later.
struct Attempt {
  std::string error;  ///< empty: none so far

  /// Does nothing after an error.
  template <class Work>
  void try_to(const Work& work) {
    try {
      if (error.empty()) work();
    } catch (const std::exception& e) {
      error = e.what();
    }
  }
};

/// together() for work that queues something. An error leaves when that is done, because it may
/// read what the caller frees then. A device that waits for ranks that were lost is not done.
template <class Work>
auto together(const Context& context, const Work& work) -> decltype(work()) {
  try {
    if constexpr (std::is_void_v<decltype(work())>) {
      context.comm.together(work);
    } else {
      return together(context.comm, work);
    }
  } catch (const CommunicationError&) {
    throw;
  } catch (...) {
    wait(context.exec);
    throw;
  }
}

/// The same; also results leave when all is done.
template <class Work>
auto finish_together(const Context& context, const Work& work) -> decltype(work()) {
  if constexpr (std::is_void_v<decltype(work())>) {
    together(context, [&] {
      work();
      synchronise(context.exec);
    });
  } else {
    return together(context, [&] {
      auto result = work();
      synchronise(context.exec);
      return result;
    });
  }
}

}  // namespace zhalo
