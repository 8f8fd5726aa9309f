/// An exchange of one array.
#pragma once

#include <string_view>
#include <utility>

#include "zhalo/comm/context.hpp"
#include "zhalo/core/buffer.hpp"

namespace zhalo {

/// What arrives if each rank sends these elements. Collective.
template <class T>
Buffer<T> bring(const Context& context, const ExchangePlan& plan, Span<const T> send,
                std::string_view purpose) {
  Buffer<T> received(context.exec, plan.num_received(), purpose);
  context.comm.exchange(context.exec, plan, send, received.span());
  return received;
}

/// The same; what was sent is freed.
template <class T>
Buffer<T> bring(const Context& context, const ExchangePlan& plan, Buffer<T> send,
                std::string_view purpose) {
  return bring(context, plan, std::as_const(send).span(), purpose);
}

/// The same for rows of `columns` elements.
template <class T>
Buffer<T> bring_rows(const Context& context, const ExchangePlan& plan, const Buffer<T>& send,
                     Index columns, std::string_view purpose) {
  ZHALO_EXPECT(send.size() == plan.num_sent() * columns);
  Buffer<T> received(context.exec, plan.num_received() * columns, purpose);
  context.comm.exchange(context.exec, plan,
                        {{send.data(), received.data(), columns * static_cast<Index>(sizeof(T))}});
  return received;
}

}  // namespace zhalo
