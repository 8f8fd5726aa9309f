/// Transforms over ranks: what holds of every Fourier transform, whatever computes it.
#include <mpi.h>

#include <optional>

#include "tests/mpi/fft/fft_case.hpp"

namespace {

using namespace zhalo;
using namespace zhalo::testing;

const GridIndex even_and_odd = {{12, 9, 10}};

Decomposition decomposition_of(const Context& context, const GridIndex& num,
                               const DecompositionOptions& split = {}) {
  return Decomposition(Grid{num}, context.comm.size(), split);
}

template <class T>
double cell_squared(T value) {
  return std::norm(std::complex<double>(value));
}

/// exp(2 pi i turns_of_axis / num_of_axis), over all axes.
std::complex<double> phase(const GridIndex& turns, const GridIndex& num) {
  std::complex<long double> product = 1;
  for (int axis = 0; axis < 3; ++axis) {
    const Index turn = turns[axis] % num[axis];
    product *= unit_root(turn < 0 ? turn + num[axis] : turn, num[axis]);
  }
  return {static_cast<double>(product.real()), static_cast<double>(product.imag())};
}

/// Modes of all ranks, on each: for tests only. Modes that nobody holds are 0.
template <class Complex>
ComplexValues gathered(const Placement& placement, const GridIndex& num,
                       const std::vector<Complex>& modes) {
  ComplexValues all(static_cast<std::size_t>(num[0] * num[1] * num[2]));
  placement.for_each([&](Index, const GridIndex& k, std::size_t i) {
    all[index_on(num, k)] = std::complex<double>(modes[i]);
  });
  MPI_Allreduce(MPI_IN_PLACE, all.data(), static_cast<int>(2 * all.size()), MPI_DOUBLE, MPI_SUM,
                MPI_COMM_WORLD);
  return all;
}

ValueAt values_of(const ComplexValues& all, const GridIndex& num) {
  return [&all, num](Index, const GridIndex& at) { return all[index_on(num, at)]; };
}

}  // namespace

#define EVERY_TYPE float, double, std::complex<float>, std::complex<double>

TEMPLATE_TEST_CASE("fft: linear", "", EVERY_TYPE) {
  const Context context = make_context();
  FftRun<TestType> run(context, decomposition_of(context, even_and_odd));
  const auto a = run.forward([](Index, const GridIndex& x) { return noise(0, x); });
  const auto b = run.forward([](Index, const GridIndex& x) { return noise(1, x); });
  const auto both =
      run.forward([](Index, const GridIndex& x) { return 2.0 * noise(0, x) - 0.5 * noise(1, x); });
  auto sum = a;
  for (std::size_t i = 0; i < sum.size(); ++i) sum[i] = TestType(2) * a[i] - TestType(0.5F) * b[i];
  const ComplexValues expected = gathered(run.modes(), even_and_odd, sum);
  // Three transforms' errors, of norms 2, 1/2 and their like.
  CHECK(relative_error(context.comm, both, run.modes(), values_of(expected, even_and_odd)) <=
        3 * error_bound<TestType>(even_and_odd));
}

TEMPLATE_TEST_CASE(
    "fft: Parseval, with every mode of the half spectrum that stands for two counted twice", "",
    EVERY_TYPE) {
  const Context context = make_context();
  for (const GridIndex& num : {even_and_odd, GridIndex{{9, 8, 7}}}) {
    FftRun<TestType> run(context, decomposition_of(context, num), {.norm = Norm::orthonormal});
    const auto modes = run.forward(noise);
    double of_modes = 0;
    run.modes().for_each([&](Index, const GridIndex& k, std::size_t i) {
      const bool alone = k[2] == 0 || 2 * k[2] == num[2] || !is_real<TestType>;
      of_modes += (alone ? 1 : 2) * cell_squared(modes[i]);
    });
    double of_cells = 0;
    for (const TestType cell : arranged<TestType>(run.cells(), noise))
      of_cells += cell_squared(cell);
    of_cells = context.comm.sum(of_cells);
    CHECK(std::abs(context.comm.sum(of_modes) / of_cells - 1) <= 2 * error_bound<TestType>(num));
  }
}

TEMPLATE_TEST_CASE("fft: a shifted field has the same modes with other phases", "", EVERY_TYPE) {
  const Context context = make_context();
  FftRun<TestType> run(context, decomposition_of(context, even_and_odd, {.split = Split::pencil}));
  const ComplexValues modes = gathered(run.modes(), even_and_odd, run.forward(noise));
  for (const GridIndex& shift :
       {GridIndex{{1, 0, 0}}, GridIndex{{0, 2, 0}}, GridIndex{{0, 0, 3}}, GridIndex{{-4, 5, 7}}}) {
    const auto shifted = run.forward(
        [&](Index, const GridIndex& x) { return noise(0, wrapped(x - shift, even_and_odd)); });
    const ValueAt turned = [&](Index, const GridIndex& k) {
      return modes[index_on(even_and_odd, k)] * std::conj(phase(product(k, shift), even_and_odd));
    };
    CHECK(relative_error(context.comm, shifted, run.modes(), turned) <=
          2 * error_bound<TestType>(even_and_odd));
  }
}

TEMPLATE_TEST_CASE(
    "fft: the full spectrum of a real field is Hermitian, and the half of it is what a real "
    "transform gives",
    "", float, double) {
  using Complex = std::complex<TestType>;
  const Context context = make_context();
  for (const GridIndex& num : {even_and_odd, GridIndex{{7, 8, 9}}}) {
    const double bound = 2 * error_bound<TestType>(num);
    FftRun<Complex> full(context, decomposition_of(context, num));
    const auto modes = full.forward(noise_in<TestType>);
    const ComplexValues all = gathered(full.modes(), num, modes);
    const ValueAt mirror = [&](Index, const GridIndex& k) {
      return std::conj(all[index_on(num, mirrored(k, num))]);
    };
    CHECK(relative_error(context.comm, modes, full.modes(), mirror) <= bound);
    FftRun<TestType> half(context, decomposition_of(context, num));
    CHECK(relative_error(context.comm, half.forward(noise_in<TestType>), half.modes(),
                         values_of(all, num)) <= bound);
  }
}

TEMPLATE_TEST_CASE("fft: a plane wave is one mode", "", std::complex<float>, std::complex<double>) {
  const Context context = make_context();
  const GridIndex num = {{8, 6, 5}};
  const double bound = error_bound<TestType>(num);
  for (const bool restore_order : {false, true}) {
    FftRun<TestType> run(context, decomposition_of(context, num),
                         {.norm = Norm::forward, .restore_order = restore_order});
    for (const GridIndex& wave : {GridIndex{}, GridIndex{{1, 0, 0}}, GridIndex{{0, 3, 0}},
                                  GridIndex{{7, 5, 2}}, GridIndex{{4, 1, 4}}}) {
      const auto modes =
          run.forward([&](Index, const GridIndex& x) { return phase(product(wave, x), num); });
      const ValueAt one = [&](Index, const GridIndex& k) { return k == wave ? 1.0 : 0.0; };
      CHECK(relative_error(context.comm, modes, run.modes(), one) <= bound);
      const auto cells = run.backward(one);
      CHECK(relative_error(context.comm, cells, run.cells(), [&](Index, const GridIndex& x) {
              return phase(product(wave, x), num);
            }) <= bound);
    }
  }
}

TEMPLATE_TEST_CASE("fft: a cosine is two half modes, or a whole one where they are the same", "",
                   float, double) {
  const Context context = make_context();
  const GridIndex num = {{8, 6, 10}};
  FftRun<TestType> run(context, decomposition_of(context, num, {.split = Split::pencil}),
                       {.norm = Norm::forward});
  for (const GridIndex& wave : {GridIndex{}, GridIndex{{1, 2, 0}}, GridIndex{{4, 3, 5}},
                                GridIndex{{7, 5, 2}}, GridIndex{{4, 0, 0}}}) {
    const auto modes =
        run.forward([&](Index, const GridIndex& x) { return phase(product(wave, x), num).real(); });
    const ValueAt halves = [&](Index, const GridIndex& k) {
      return 0.5 * (k == wave) + 0.5 * (k == mirrored(wave, num));
    };
    CHECK(relative_error(context.comm, modes, run.modes(), halves) <= error_bound<TestType>(num));
  }
}

TEMPLATE_TEST_CASE("fft: imaginary parts that a real field's modes cannot have count as 0", "",
                   float, double) {
  check_imaginary_parts<TestType>(make_context());
}

TEMPLATE_TEST_CASE("fft: a hundred times there and back", "", EVERY_TYPE) {
  const Context context = make_context();
  const Norm norm = GENERATE(Norm::forward, Norm::orthonormal);
  const bool in_place = GENERATE(false, true);
  FftRun<TestType> run(context, decomposition_of(context, even_and_odd), {.norm = norm});
  const Placement placement = in_place ? run.cells_in_place() : run.cells();
  using Complex = typename FftRun<TestType>::Complex;
  GuardedArray<TestType> cells(context.exec, arranged<TestType>(placement, noise),
                               static_cast<Index>(sizeof(Complex)));
  GuardedArray<Complex> modes(context.exec, run.modes().size());
  for (int round = 0; round < 100; ++round) {
    if (in_place) {
      run.fft().forward_in_place(cells.span());
      run.fft().backward_in_place(cells.span());
    } else {
      run.fft().forward(cells.span(), modes.span());
      run.fft().backward(modes.span(), cells.span());
    }
  }
  // The rounding errors of one transform know nothing of the others': their squares add. (Of the
  // norm's factor each round makes the same error, of at most a few eps.)
  const double bound = std::sqrt(200.0) * error_bound<TestType>(even_and_odd);
  CHECK(relative_error(context.comm, cells.values(), placement, noise_in<TestType>) <= bound);
  CHECK((cells.guards_intact() && modes.guards_intact()));
}

TEMPLATE_TEST_CASE("fft: the spectrum of all ranks is that of one", "", EVERY_TYPE) {
  const Context context = make_context();
  Context alone;
  alone.exec = host_exec(1);
  for (const GridIndex& num : {GridIndex{{24, 20, 18}}, GridIndex{{3, 4, 5}}}) {
    FftRun<TestType> one(alone, Decomposition(Grid{num}, 1));
    ComplexValues spectrum(static_cast<std::size_t>(num[0] * num[1] * num[2]));
    const auto modes = one.forward(noise);
    one.modes().for_each([&](Index, const GridIndex& k, std::size_t i) {
      spectrum[index_on(num, k)] = std::complex<double>(modes[i]);
    });
    for (const DecompositionOptions& split : shapes(context.comm.size())) {
      FftRun<TestType> run(context, decomposition_of(context, num, split));
      CHECK(relative_error(context.comm, run.forward(noise), run.modes(),
                           values_of(spectrum, num)) <= 2 * error_bound<TestType>(num));
    }
  }
}

TEMPLATE_TEST_CASE("fft: threads and ways to exchange change no bit", "", EVERY_TYPE) {
  const GridIndex num =
      GENERATE(GridIndex{{12, 20, 14}}, GridIndex{{131, 3, 4}}, GridIndex{{3, 131, 4}});
  for (const DecompositionOptions& split : shapes(make_context().comm.size())) {
    std::optional<std::vector<typename Fft<TestType>::Complex>> modes;
    std::optional<std::vector<TestType>> cells;
    const auto check = [&](int threads, const CommunicatorOptions& communication,
                           const FftOptions& options) {
      Context context = make_context(communication);
      context.exec = host_exec(threads);
      FftRun<TestType> run(context, decomposition_of(context, num, split), options);
      INFO(run.fft().describe() << ", " << threads << " threads");
      if (!modes) modes = run.forward(noise);
      if (!cells) cells = run.backward(noise);
      CHECK(equal_bytes(run.forward(noise), *modes));
      CHECK(equal_bytes(run.backward(noise), *cells));
    };
    check(1, {}, {});
    check(3, {}, {});
    check(1, {}, {.node_exchange = NodeExchange::messages});
    check(1, {}, {.node_exchange = NodeExchange::shared_memory});
    check(2, {}, {.node_exchange = NodeExchange::messages, .chunk_bytes = 500});
    check(2, {}, {.node_exchange = NodeExchange::shared_memory, .chunk_bytes = 900});
    check(1, {.chunk_bytes = 1000, .transport = Transport::staged},
          {.node_exchange = NodeExchange::messages});
  }
}

TEMPLATE_TEST_CASE("fft: the same again is the same, bit for bit", "", EVERY_TYPE) {
  const Context context = make_context();
  for (const FftOptions& options : option_mix()) {
    const Decomposition decomposition =
        decomposition_of(context, even_and_odd, {.split = Split::pencil});
    FftRun<TestType> run(context, decomposition, options);
    FftRun<TestType> other(context, decomposition, options);
    const auto modes = run.forward(noise);
    CHECK(equal_bytes(run.forward(noise), modes));
    CHECK(equal_bytes(other.forward(noise), modes));
    CHECK(equal_bytes(other.backward(noise), run.backward(noise)));
  }
}
