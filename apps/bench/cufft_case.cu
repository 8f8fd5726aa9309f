// cuFFT's own transforms of a cube, timed beside ours.
#include <cufft.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

#include "apps/bench/cases.hpp"
#include "apps/bench/footprint.hpp"
#include "zhalo/core/buffer.hpp"
#include "zhalo/core/error.hpp"
#include "zhalo/fft/fft.hpp"

namespace zhalo::bench {
namespace {

void check(cufftResult result, const char* call) {
  if (result == CUFFT_SUCCESS) return;
  const std::string what =
      std::string(call) + " failed with code " + std::to_string(static_cast<int>(result));
  if (result == CUFFT_ALLOC_FAILED) throw OutOfMemory(what);
  throw DeviceError(what);
}

/// A plan of a cube whose work area is given to it. Rows are `in_row` and `out_row` apart, in
/// elements of their kinds.
class Plan {
 public:
  Plan(const Cuda& exec, Index num, cufftType type, long long in_row, long long out_row) {
    check(cufftCreate(&handle_), "cufftCreate");
    const long long n = num;
    long long length[3] = {n, n, n};
    long long in_embed[3] = {n, n, in_row};
    long long out_embed[3] = {n, n, out_row};
    check(cufftSetAutoAllocation(handle_, 0), "cufftSetAutoAllocation");
    check(cufftMakePlanMany64(handle_, 3, length, in_embed, 1, n * n * in_row, out_embed, 1,
                              n * n * out_row, type, 1, &work_bytes_),
          "cufftMakePlanMany64");
    check(cufftSetStream(handle_, exec.stream), "cufftSetStream");
  }
  ~Plan() { cufftDestroy(handle_); }
  Plan(const Plan&) = delete;
  Plan& operator=(const Plan&) = delete;

  cufftHandle handle() const { return handle_; }
  std::size_t work_bytes() const { return work_bytes_; }

 private:
  cufftHandle handle_{};
  std::size_t work_bytes_ = 0;
};

void run_forward(cufftHandle plan, float* field) {
  check(cufftExecR2C(plan, field, reinterpret_cast<cufftComplex*>(field)), "cufftExecR2C");
}
void run_forward(cufftHandle plan, double* field) {
  check(cufftExecD2Z(plan, field, reinterpret_cast<cufftDoubleComplex*>(field)), "cufftExecD2Z");
}
void run_backward(cufftHandle plan, float* field) {
  check(cufftExecC2R(plan, reinterpret_cast<cufftComplex*>(field), field), "cufftExecC2R");
}
void run_backward(cufftHandle plan, double* field) {
  check(cufftExecZ2D(plan, reinterpret_cast<cufftDoubleComplex*>(field), field), "cufftExecZ2D");
}

/// A real field to its half spectrum and back, in place and without any factor: one plan in three
/// dimensions each way. Rows of cells and of modes have room for num / 2 + 1 complex numbers, and
/// nothing lies between them. T: float or double.
template <class T>
class CufftCube {
 public:
  CufftCube(const Cuda& exec, Index num)
      : num_(num),
        forward_(exec, num, is_float ? CUFFT_R2C : CUFFT_D2Z, 2 * (num / 2 + 1), num / 2 + 1),
        backward_(exec, num, is_float ? CUFFT_C2R : CUFFT_Z2D, num / 2 + 1, 2 * (num / 2 + 1)),
        work_(Exec(exec),
              static_cast<Index>(
                  std::max({forward_.work_bytes(), backward_.work_bytes(), std::size_t{1}})),
              "work area of cuFFT") {
    check(cufftSetWorkArea(forward_.handle(), work_.data()), "cufftSetWorkArea");
    check(cufftSetWorkArea(backward_.handle(), work_.data()), "cufftSetWorkArea");
  }

  /// Of the field, in reals.
  Index size() const { return num_ * num_ * 2 * (num_ / 2 + 1); }
  Index workspace_bytes() const { return work_.size(); }
  /// Both only queue their work.
  void forward(T* field) { run_forward(forward_.handle(), field); }
  void backward(T* field) { run_backward(backward_.handle(), field); }

 private:
  static constexpr bool is_float = std::is_same_v<T, float>;

  Index num_;
  Plan forward_;
  Plan backward_;
  Buffer<std::byte> work_;
};

/// Exact in float, in [-1/2, 1/2): high bits of a linear congruential generator.
template <class T>
std::vector<T> random_values(Index num) {
  std::vector<T> values(static_cast<std::size_t>(num));
  std::uint64_t state = 1;
  for (T& value : values) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    value = static_cast<T>(static_cast<double>(state >> 40) * 0x1p-24 - 0.5);
  }
  return values;
}

/// A cube's cells or modes without gaps, taken out of a layout or put into it.
template <class Work>
void for_all(Index num, Index row, const BoxLayout& layout, const Work& work) {
  Index element = 0;
  for (Index x = 0; x < num; ++x) {
    for (Index y = 0; y < num; ++y) {
      for (Index z = 0; z < row; ++z, ++element)
        work(static_cast<std::size_t>(element),
             static_cast<std::size_t>(layout.offset({{x, y, z}})));
    }
  }
}

BoxLayout padded(Index num, Index row, Index pitch) {
  return layout_of({{{0, 0, 0}}, {{num, num, row}}}, natural_order, pitch);
}

/// Where a library has cells and modes in one memory of `size` reals.
struct InPlace {
  BoxLayout cells;
  BoxLayout modes;
  Index size = 0;
};

/// The spectrum that `transform` makes of a cube in place, without gaps.
template <class T, class Transform>
std::vector<std::complex<T>> spectrum(const Exec& exec, const std::vector<T>& cube, Index num,
                                      const InPlace& in_place, const Transform& transform) {
  std::vector<T> values(static_cast<std::size_t>(in_place.size));
  for_all(num, num, in_place.cells,
          [&](std::size_t from, std::size_t to) { values[to] = cube[from]; });
  Buffer<T> field = to_exec(exec, Span<const T>(values), "field");
  transform(field);
  wait(exec);
  values = to_host(exec, field);
  const Index row = num / 2 + 1;
  std::vector<std::complex<T>> result(static_cast<std::size_t>(num * num * row));
  for_all(num, row, in_place.modes, [&](std::size_t to, std::size_t from) {
    result[to] = {values[2 * from], values[2 * from + 1]};
  });
  return result;
}

/// Root of the summed squares of the differences, over that of the squares.
template <class T>
double difference(const std::vector<std::complex<T>>& a, const std::vector<std::complex<T>>& b) {
  double differences = 0;
  double squares = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const std::complex<double> wanted(a[i]);
    differences += std::norm(std::complex<double>(b[i]) - wanted);
    squares += std::norm(wanted);
  }
  return std::sqrt(differences / squares);
}

/// Between the spectra of a random field that cuFFT and zhalo make.
template <class T>
double difference_to_ours(const Context& context, CufftCube<T>& cufft, Index num) {
  FftOptions options;
  options.norm = Norm::none;
  Fft<T> ours(context, Decomposition(Grid::cube(num), 1), options);
  const std::vector<T> cube = random_values<T>(num * num * num);
  const Index row = num / 2 + 1;
  const InPlace their_layout{padded(num, num, 2 * row), padded(num, row, row), cufft.size()};
  const auto theirs = spectrum(context.exec, cube, num, their_layout,
                               [&](Buffer<T>& field) { cufft.forward(field.data()); });
  const InPlace our_layout{ours.cells_in_place(), ours.modes(), ours.in_place_size()};
  const auto wanted = spectrum(context.exec, cube, num, our_layout,
                               [&](Buffer<T>& field) { ours.forward_in_place(field.span()); });
  return difference(wanted, theirs);
}

template <class T>
void run_as(benchmark::State& state, const TransformCase& transform_case) {
  Context context;
  context.exec = transform_case.make_exec();
  const Index num = transform_case.num;
  const Clock::time_point before = Clock::now();
  CufftCube<T> cufft(std::get<Cuda>(context.exec), num);
  state.counters["plan_ms"] = 1e3 * seconds_since(before);
  state.counters["workspace_MB"] = static_cast<double>(cufft.workspace_bytes()) * 1e-6;
  state.counters["difference"] = difference_to_ours(context, cufft, num);

  // Zeros, as in the cases of our own transforms: nothing overflows, however often it runs.
  const std::vector<T> zeros(static_cast<std::size_t>(cufft.size()));
  Buffer<T> field = to_exec(context.exec, Span<const T>(zeros), "field");
  const auto both = [&] {
    cufft.forward(field.data());
    cufft.backward(field.data());
    wait(context.exec);
  };
  time_transforms(state, num, sizeof(T), both);
}

}  // namespace

void run_cufft(benchmark::State& state, const TransformCase& transform_case) {
  if (transform_case.is_float) {
    run_as<float>(state, transform_case);
  } else {
    run_as<double>(state, transform_case);
  }
}

}  // namespace zhalo::bench
