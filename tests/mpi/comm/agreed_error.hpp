/// Errors that all ranks must see alike.
#pragma once

#include <catch2/catch.hpp>
#include <string>

#include "zhalo/comm/context.hpp"
#include "zhalo/core/error.hpp"

namespace zhalo::testing {

/// The message of the InputError that every rank must throw.
template <class Work>
std::string input_error_of(const Context& context, const Work& work) {
  std::string message = "nothing was thrown";
  try {
    work();
  } catch (const InputError& error) {
    message = error.what();
  }
  CHECK(!context.comm.is_broken());
  CHECK(context.comm.broadcast(message) == message);
  return message;
}

}  // namespace zhalo::testing
