/// What a thread of an emulated kernel sees of itself and of its warp.
#pragma once

#include <cstdint>

/// threadIdx and the like: along one axis, as all of the house's grids are.
struct emulated_index {
  unsigned x = 0;
};

extern constinit thread_local emulated_index threadIdx;
extern constinit thread_local emulated_index blockIdx;
extern constinit thread_local emulated_index blockDim;
extern constinit thread_local emulated_index gridDim;

namespace zhalo::emulated {

std::uint64_t ballot(unsigned mask, bool bit);
bool any(unsigned mask, bool bit);
/// The bits that any lane brought.
std::uint64_t reduce_or(unsigned mask, std::uint64_t bits);
std::uint64_t reduce_add(unsigned mask, std::uint64_t value);
/// The bits that the lane brought whose number differs from this one's in the bits of `argument`.
std::uint64_t shuffle_xor(unsigned mask, std::uint64_t bits, unsigned argument);
/// The bits that lane number `lane` brought, the same number in all lanes.
std::uint64_t shuffle_from(unsigned mask, std::uint64_t bits, unsigned lane);
void sync_warp(unsigned mask);
/// Of those on memory of a device, not on that of a block.
void count_atomic(const void* at);

}  // namespace zhalo::emulated
