// In a build without CUDA no Exec is a Cuda: these are linked, and never called.
#include "kernels/common/backend.hpp"
#include "kernels/memory.hpp"
#include "zhalo/core/buffer.hpp"
#include "zhalo/core/span.hpp"

namespace zhalo::kernels {

template <class F>
void for_each(const Cuda&, Index, F) {
  select_device(0);
}
template <class T, class Map, class Combine>
T transform_reduce(const Cuda&, Index, T init, Map, Combine) {
  select_device(0);
  return init;
}
inline Index exclusive_scan(const Cuda&, Span<Index>) {
  select_device(0);
  return 0;
}
template <class Condition>
Buffer<LocalIndex> select(const Cuda&, Index, Condition) {
  select_device(0);
  return {};
}
template <class T, class Map, class Combine>
void queue_reduce(const Cuda&, Index, const MapReduce<T, Map, Combine>&, T*) {
  select_device(0);
}
inline void queue_scan(const Cuda&, Span<Index>) { select_device(0); }
template <class Condition>
void queue_select(const Cuda&, Index, Condition, LocalIndex*, Index*) {
  select_device(0);
}

}  // namespace zhalo::kernels

#define ZHALO_EXEC Cuda
#include "tests/parity/loops.inl.hpp"
