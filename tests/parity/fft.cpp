/// Transforms on every Exec against direct sums: one rank.
#include "tests/parity/backends.hpp"
#include "tests/support/run_fft.hpp"

namespace zhalo::testing {

TEMPLATE_TEST_CASE("transforms of small grids with every option", "[parity][small]",
                   ON_EVERY_EXEC) {
  const auto exec = TestType::exec();
  if (!exec) return;
  Context context;
  context.exec = *exec;
  const std::vector<FftOptions> options = option_mix(*exec);
  std::size_t next = 0;
  for (const GridIndex& num :
       {GridIndex{{1, 1, 1}}, GridIndex{{2, 2, 2}}, GridIndex{{5, 5, 5}}, GridIndex{{17, 1, 2}},
        GridIndex{{1, 1, 13}}, GridIndex{{3, 5, 50}}}) {
    const AllSignals signals(num, 3);
    for (int i = 0; i < 3; ++i) signals.check_all(context, {}, options[next++ % options.size()]);
  }
  const AllSignals signals({{8, 9, 10}}, 3);
  for (const FftOptions& each : options) signals.check_all(context, {}, each);
}

TEMPLATE_TEST_CASE("transforms of a larger grid", "[parity]", ON_EVERY_EXEC) {
  const auto exec = TestType::exec();
  if (!exec) return;
  Context context;
  context.exec = *exec;
  const AllSignals signals({{30, 17, 44}}, 3);
  signals.check_all(context, {});
  signals.check_all(context, {}, {.norm = Norm::orthonormal, .restore_order = true, .batch = 3});
}

TEMPLATE_TEST_CASE("transforms of more planes than fit a device's workspace at once", "[parity]",
                   ON_EVERY_EXEC) {
  const auto exec = TestType::exec();
  if (!exec) return;
  Context context;
  context.exec = *exec;
  const Signals signals({{100, 70, 256}}, Signals::Kind::real);  // 58 of 100 planes, then 40 of 70
  FftRun<double> run(context, Decomposition(Grid{signals.num()}, 1),
                     {.chunk_bytes = Index{8} << 20});
  check_transforms(run, signals);
}

TEMPLATE_TEST_CASE("transforms of arrays that are aligned as whole complex numbers",
                   "[parity][small]", ON_EVERY_EXEC) {
  const auto exec = TestType::exec();
  if (!exec) return;
  Context context;
  context.exec = *exec;
  const auto check = [&]<class T>(T, const Signals& signals, const FftOptions& options) {
    FftRun<T> run(context, Decomposition(Grid{signals.num()}, 1), options);
    run.align();
    check_in_workspace(run, signals);
  };
  for (const GridIndex& num : {GridIndex{{1, 1, 1}}, GridIndex{{2, 2, 2}}, GridIndex{{5, 3, 4}},
                               GridIndex{{4, 6, 7}}, GridIndex{{1, 4, 2}}, GridIndex{{8, 9, 10}}}) {
    const AllSignals signals(num, 3);
    for (const FftOptions& options : option_mix(*exec)) {
      check(float{}, signals.real, options);
      check(double{}, signals.real, options);
      check(std::complex<float>{}, signals.complex, options);
      check(std::complex<double>{}, signals.complex, options);
    }
  }
}

TEMPLATE_TEST_CASE("imaginary parts that a real field's modes cannot have count as 0",
                   "[parity][small]", ON_EVERY_EXEC) {
  const auto exec = TestType::exec();
  if (!exec) return;
  Context context;
  context.exec = *exec;
  for (const GridIndex& num :
       {GridIndex{{6, 4, 8}}, GridIndex{{4, 4, 5}}, GridIndex{{1, 1, 2}}, GridIndex{{3, 5, 2}}}) {
    const Signals signals(num, Signals::Kind::real);
    // Where k_z is its own mirror, each mode is to be the conjugate of its mirror: these are not.
    const ValueAt spoilt = [&](Index field, const GridIndex& k) {
      const bool has_mirror = 2 * k[2] % num[2] == 0;
      const auto own = static_cast<double>(2 * k[0] % num[0] == 0) + 2;
      return signals.mode()(field, k) + std::complex<double>(0, has_mirror ? own : 0);
    };
    FftRun<double> run(context, Decomposition(Grid{num}, 1), {.norm = Norm::forward});
    const ValueAt back = signals.cell(static_cast<double>(num[0] * num[1] * num[2]));
    for (const bool is_aligned : {false, true}) {
      if (is_aligned) run.align();
      CHECK(relative_error(context.comm, run.backward(spoilt), run.cells(), back) <=
            error_bound<double>(num));
      CHECK(relative_error(context.comm, run.backward_overwriting(spoilt), run.cells(), back) <=
            error_bound<double>(num));
    }
    CHECK(relative_error(context.comm, run.backward_in_place(spoilt), run.cells_in_place(), back) <=
          error_bound<double>(num));
  }
}

TEMPLATE_TEST_CASE("a transform in the caller's workspace, full of NaN", "[parity][small]",
                   ON_EVERY_EXEC) {
  const auto exec = TestType::exec();
  if (!exec) return;
  Context context;
  context.exec = *exec;
  const Signals signals({{6, 8, 10}}, Signals::Kind::real, 3);
  for (const FftOptions& options : option_mix(*exec)) {
    FftRun<float> run(context, Decomposition(Grid{signals.num()}, 1), options);
    check_in_workspace(run, signals);
  }
}

}  // namespace zhalo::testing
