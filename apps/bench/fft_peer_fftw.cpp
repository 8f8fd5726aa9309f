#include <fftw3-mpi.h>

#include <fmt/format.h>

#include "apps/bench/fft_bench.hpp"
#include "zhalo/core/error.hpp"

namespace zhalo::bench {
namespace {

/// FFTW's functions for a type, under one name for both.
template <class T>
struct Fftw;

template <>
struct Fftw<double> {
  using Complex = fftw_complex;
  using Plan = fftw_plan;
  static constexpr auto allocate = &fftw_alloc_real;
  static constexpr auto release = &fftw_free;
  static constexpr auto execute = &fftw_execute;
  static constexpr auto destroy = &fftw_destroy_plan;
  static constexpr auto forget_wisdom = &fftw_forget_wisdom;
  static constexpr auto init_threads = &fftw_init_threads;
  static constexpr auto plan_with_threads = &fftw_plan_with_nthreads;
  static constexpr auto forward = &fftw_plan_dft_r2c_3d;
  static constexpr auto backward = &fftw_plan_dft_c2r_3d;
  static constexpr auto init_mpi = &fftw_mpi_init;
  static constexpr auto local_size = &fftw_mpi_local_size_3d_transposed;
  static constexpr auto forward_mpi = &fftw_mpi_plan_dft_r2c_3d;
  static constexpr auto backward_mpi = &fftw_mpi_plan_dft_c2r_3d;
};

template <>
struct Fftw<float> {
  using Complex = fftwf_complex;
  using Plan = fftwf_plan;
  static constexpr auto allocate = &fftwf_alloc_real;
  static constexpr auto release = &fftwf_free;
  static constexpr auto execute = &fftwf_execute;
  static constexpr auto destroy = &fftwf_destroy_plan;
  static constexpr auto forget_wisdom = &fftwf_forget_wisdom;
  static constexpr auto init_threads = &fftwf_init_threads;
  static constexpr auto plan_with_threads = &fftwf_plan_with_nthreads;
  static constexpr auto forward = &fftwf_plan_dft_r2c_3d;
  static constexpr auto backward = &fftwf_plan_dft_c2r_3d;
  static constexpr auto init_mpi = &fftwf_mpi_init;
  static constexpr auto local_size = &fftwf_mpi_local_size_3d_transposed;
  static constexpr auto forward_mpi = &fftwf_mpi_plan_dft_r2c_3d;
  static constexpr auto backward_mpi = &fftwf_mpi_plan_dft_c2r_3d;
};

/// What falls to this rank, and the room that it needs.
struct Part {
  BoxLayout cells;
  BoxLayout modes;
  Index reals = 0;
};

Part whole(Index num) {
  const Index kept = num / 2 + 1;
  const IndexBox all = Grid::cube(num).index_box();
  return {layout_of(all, natural_order, 2 * kept), layout_of({{}, {{num, num, kept}}}),
          num * num * 2 * kept};
}

/// Slabs along x, transposed to slabs along y.
template <class T>
Part slab(Index num) {
  const Index kept = num / 2 + 1;
  std::ptrdiff_t x_count = 0;
  std::ptrdiff_t x_first = 0;
  std::ptrdiff_t y_count = 0;
  std::ptrdiff_t y_first = 0;
  const std::ptrdiff_t elements =
      Fftw<T>::local_size(num, num, kept, MPI_COMM_WORLD, &x_count, &x_first, &y_count, &y_first);
  const IndexBox cells{{{x_first, 0, 0}}, {{x_first + x_count, num, num}}};
  const IndexBox modes{{{0, y_first, 0}}, {{num, y_first + y_count, kept}}};
  return {layout_of(cells, natural_order, 2 * kept), layout_of(modes, {1, 0, 2}), 2 * elements};
}

template <class T>
class FftwTransform : public RealTransform<T> {
 public:
  FftwTransform(const Communicator& comm, const TransformRequest& request)
      : alone_(comm.size() == 1), threads_(request.threads) {
    if (threads_ > 1 && Api::init_threads() == 0) throw Error("FFTW cannot start its threads");
    if (!alone_) Api::init_mpi();
    part_ = alone_ ? whole(request.num) : slab<T>(request.num);
    field_ = Api::allocate(static_cast<std::size_t>(part_.reals));
    if (field_ == nullptr) throw OutOfMemory("there is no memory for FFTW's field");
    make_plans(request);
    // FFTW's settings are the process's: zhalo's plans must not inherit them.
    if (threads_ > 1) Api::plan_with_threads(1);
    Api::forget_wisdom();
    if (forward_ == nullptr || backward_ == nullptr) throw Error("FFTW makes no plan");
  }
  ~FftwTransform() override {
    Api::destroy(backward_);
    Api::destroy(forward_);
    Api::release(field_);
  }
  FftwTransform(const FftwTransform&) = delete;
  FftwTransform& operator=(const FftwTransform&) = delete;

  Span<T> field() override { return {field_, part_.reals}; }
  const BoxLayout& cells() const override { return part_.cells; }
  const BoxLayout& modes() const override { return part_.modes; }
  void forward() override { Api::execute(forward_); }
  void backward() override { Api::execute(backward_); }
  std::optional<FftReport> report() const override { return std::nullopt; }
  std::string describe() const override {
    return fmt::format("{}, {} thread{}", alone_ ? "FFTW's own transform" : "FFTW's MPI transform",
                       threads_, threads_ > 1 ? "s" : "");
  }

 private:
  using Api = Fftw<T>;

  /// Wisdom from plans that were made before would be a gift: it is forgotten.
  void make_plans(const TransformRequest& request) {
    Api::forget_wisdom();
    if (threads_ > 1) Api::plan_with_threads(threads_);
    const unsigned effort = request.effort == PlanEffort::measure ? FFTW_MEASURE : FFTW_ESTIMATE;
    auto* modes = reinterpret_cast<typename Api::Complex*>(field_);
    if (alone_) {
      const int num = static_cast<int>(request.num);
      forward_ = Api::forward(num, num, num, field_, modes, effort);
      backward_ = Api::backward(num, num, num, modes, field_, effort);
    } else {
      const std::ptrdiff_t num = request.num;
      forward_ = Api::forward_mpi(num, num, num, field_, modes, MPI_COMM_WORLD,
                                  effort | FFTW_MPI_TRANSPOSED_OUT);
      backward_ = Api::backward_mpi(num, num, num, modes, field_, MPI_COMM_WORLD,
                                    effort | FFTW_MPI_TRANSPOSED_IN);
    }
  }

  bool alone_ = true;
  int threads_ = 1;
  Part part_;
  T* field_ = nullptr;
  typename Api::Plan forward_ = nullptr;
  typename Api::Plan backward_ = nullptr;
};

}  // namespace

template <class T>
std::unique_ptr<RealTransform<T>> make_peer(const Communicator& comm,
                                            const TransformRequest& request) {
  return std::make_unique<FftwTransform<T>>(comm, request);
}
template std::unique_ptr<RealTransform<float>> make_peer(const Communicator& comm,
                                                         const TransformRequest& request);
template std::unique_ptr<RealTransform<double>> make_peer(const Communicator& comm,
                                                          const TransformRequest& request);

std::optional<std::string> peer_name() { return std::string(fftw_version); }

}  // namespace zhalo::bench
