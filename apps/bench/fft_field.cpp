#include "fft_field.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>

namespace zhalo::bench {
namespace {

/// The finaliser of splitmix64: every bit depends on the whole index.
std::uint64_t mixed(std::uint64_t index) {
  std::uint64_t bits = index + 0x9e3779b97f4a7c15U;
  bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9U;
  bits = (bits ^ (bits >> 27)) * 0x94d049bb133111ebU;
  return bits ^ (bits >> 31);
}

std::uint64_t place(const GridIndex& index, Index num) {
  return static_cast<std::uint64_t>((index[0] * num + index[1]) * num + index[2]);
}

/// Exact in float: 24 bits.
double value_at(const GridIndex& cell, Index num) {
  return static_cast<double>(mixed(place(cell, num)) >> 40) * 0x1p-24 - 0.5;
}

/// Calls work(index, offset) for all elements of a index box.
template <class Work>
void for_all(const BoxLayout& layout, const Work& work) {
  const IndexBox& index_box = layout.index_box;
  for (Index x = index_box.lo[0]; x < index_box.hi[0]; ++x) {
    for (Index y = index_box.lo[1]; y < index_box.hi[1]; ++y) {
      const Index row = layout.offset({{x, y, index_box.lo[2]}});
      for (Index z = index_box.lo[2]; z < index_box.hi[2]; ++z)
        work(GridIndex{{x, y, z}}, row + (z - index_box.lo[2]) * layout.stride[2]);
    }
  }
}

}  // namespace

template <class T>
void fill(RealTransform<T>& transform, Index num) {
  T* field = transform.field().data();
  std::fill_n(field, transform.field().size(), T{0});
  for_all(transform.cells(), [&](const GridIndex& cell, Index offset) {
    field[offset] = static_cast<T>(value_at(cell, num));
  });
}

template <class T>
void scale(RealTransform<T>& transform, double factor) {
  const Span<T> field = transform.field();
  std::transform(field.data(), field.data() + field.size(), field.data(),
                 [f = static_cast<T>(factor)](T value) { return f * value; });
}

template <class T>
double round_trip_error(const Communicator& comm, RealTransform<T>& transform, Index num) {
  const T* field = transform.field().data();
  const double factor = 1 / static_cast<double>(num * num * num);
  double squares = 0;
  double differences = 0;
  for_all(transform.cells(), [&](const GridIndex& cell, Index offset) {
    const double value = value_at(cell, num);
    squares += value * value;
    differences += std::pow(static_cast<double>(field[offset]) * factor - value, 2);
  });
  return std::sqrt(comm.sum(differences) / comm.sum(squares));
}

template <class T>
SpectrumMark mark_of(const Communicator& comm, RealTransform<T>& transform, Index num) {
  const auto* modes = reinterpret_cast<const std::complex<T>*>(transform.field().data());
  SpectrumMark mark;
  SpectrumMark row;  // summed apart: millions of terms one by one would lose digits
  const Index last = transform.modes().index_box.hi[2] - 1;
  for_all(transform.modes(), [&](const GridIndex& mode, Index offset) {
    const std::complex<double> value(modes[offset]);
    const double sign = (mixed(place(mode, num)) & 1) != 0 ? 1 : -1;
    row.real += sign * value.real();
    row.imaginary += sign * value.imag();
    row.power += std::norm(value);
    if (mode[2] < last) return;
    mark.real += row.real;
    mark.imaginary += row.imaginary;
    mark.power += row.power;
    row = {};
  });
  return {comm.sum(mark.real), comm.sum(mark.imaginary), comm.sum(mark.power)};
}

double difference(const SpectrumMark& a, const SpectrumMark& b) {
  return std::hypot(a.real - b.real, a.imaginary - b.imaginary) /
         std::sqrt(std::max(a.power, b.power));
}

template void fill(RealTransform<float>& transform, Index num);
template void fill(RealTransform<double>& transform, Index num);
template void scale(RealTransform<float>& transform, double factor);
template void scale(RealTransform<double>& transform, double factor);
template double round_trip_error(const Communicator& comm, RealTransform<float>& transform,
                                 Index num);
template double round_trip_error(const Communicator& comm, RealTransform<double>& transform,
                                 Index num);
template SpectrumMark mark_of(const Communicator& comm, RealTransform<float>& transform, Index num);
template SpectrumMark mark_of(const Communicator& comm, RealTransform<double>& transform,
                              Index num);

}  // namespace zhalo::bench
