#include "zhalo/fft/fft.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <chrono>
#include <complex>
#include <cstdio>
#include <exception>
#include <functional>
#include <limits>

#include "kernels/on.hpp"
#include "kernels/particles.hpp"
#include "src/comm/agreement.hpp"
#include "src/core/validate.hpp"
#include "src/fft/fft_plan.hpp"
#include "zhalo/core/buffer.hpp"

namespace zhalo {
namespace {

template <class T, class Element>
void check_array(fft::FftPlan<T>& plan, const char* name, Span<const Element> array,
                 Index field_size) {
  const Index batch = plan.options().batch;
  validate_memory(plan.context().exec, array, name);
  validate(array.size() == batch * field_size,
           "the array of {} has {} elements (must have {}: {} of {})", name, array.size(),
           batch * field_size, batch == 1 ? "one field" : fmt::format("{} fields", batch),
           field_size);
}

/// Modes are written while cells of other planes are still to be read.
template <class T, class Complex>
void check_apart(Span<const T> cells, Span<const Complex> modes) {
  const auto* const first = static_cast<const void*>(cells.data());
  const auto* const last = static_cast<const void*>(cells.data() + cells.size());
  const auto* const first_mode = static_cast<const void*>(modes.data());
  const auto* const last_mode = static_cast<const void*>(modes.data() + modes.size());
  const bool overlap = !cells.empty() && !modes.empty() && std::less<>{}(first, last_mode) &&
                       std::less<>{}(first_mode, last);
  validate(!overlap,
           "the arrays of cells and of modes overlap in memory; take forward_in_place() or "
           "backward_in_place(), or two arrays");
}

template <class T, class Complex>
void check_arrays(fft::FftPlan<T>& plan, Span<const T> cells, Span<const Complex> modes) {
  plan.context().comm.together([&] {
    check_array(plan, "cells", cells, plan.cells().size);
    check_array(plan, "modes", modes, plan.modes().size);
    check_apart(cells, modes);
  });
}

template <class T>
void transform_in_place(fft::FftPlan<T>& plan, Span<T> field, fft::Direction direction) {
  plan.context().comm.together([&] {
    check_array(plan, "cells and modes in place", Span<const T>(field), plan.in_place_size());
  });
  run_transforms(plan, direction, fft::Arrays::in_place,
                 {field.data(), field.data(), plan.cells_in_place(), plan.modes()});
}

}  // namespace

template <class T>
Fft<T>::Fft(const Context& context, const Decomposition& decomposition, const FftOptions& options)
    : plan_(std::make_unique<fft::FftPlan<T>>(context, decomposition, options)) {}
template <class T>
Fft<T>::~Fft() = default;
template <class T>
Fft<T>::Fft(Fft&& other) noexcept = default;
template <class T>
Fft<T>& Fft<T>::operator=(Fft&& other) noexcept = default;

template <class T>
const Decomposition& Fft<T>::decomposition() const {
  return plan_->decomposition();
}
template <class T>
const BoxLayout& Fft<T>::cells() const {
  return plan_->cells();
}
template <class T>
const BoxLayout& Fft<T>::cells_in_place() const {
  return plan_->cells_in_place();
}
template <class T>
const BoxLayout& Fft<T>::modes() const {
  return plan_->modes();
}
template <class T>
Index Fft<T>::in_place_size() const {
  return plan_->in_place_size();
}
template <class T>
Index Fft<T>::workspace_bytes() const {
  return plan_->report().workspace_bytes;
}
template <class T>
void Fft<T>::use_workspace(Span<std::byte> workspace) {
  plan_->use_workspace(workspace);
}
template <class T>
void Fft<T>::forward(Span<const T> cells, Span<Complex> modes) {
  check_arrays(*plan_, cells, Span<const Complex>(modes));
  run_transforms(*plan_, fft::Direction::forward, fft::Arrays::apart,
                 {const_cast<T*>(cells.data()), modes.data(), plan_->cells(), plan_->modes()});
}
template <class T>
void Fft<T>::backward(Span<const Complex> modes, Span<T> cells) {
  check_arrays(*plan_, Span<const T>(cells), modes);
  run_transforms(
      *plan_, fft::Direction::backward, fft::Arrays::apart,
      {cells.data(), const_cast<Complex*>(modes.data()), plan_->cells(), plan_->modes()});
}
template <class T>
void Fft<T>::backward_overwriting(Span<Complex> modes, Span<T> cells) {
  check_arrays(*plan_, Span<const T>(cells), Span<const Complex>(modes));
  run_transforms(*plan_, fft::Direction::backward, fft::Arrays::in_place,
                 {cells.data(), modes.data(), plan_->cells(), plan_->modes()});
}
template <class T>
void Fft<T>::forward_in_place(Span<T> field) {
  transform_in_place(*plan_, field, fft::Direction::forward);
}
template <class T>
void Fft<T>::backward_in_place(Span<T> field) {
  transform_in_place(*plan_, field, fft::Direction::backward);
}
template <class T>
const FftReport& Fft<T>::report() const {
  return plan_->report();
}
template <class T>
std::string Fft<T>::describe() const {
  return plan_->describe();
}

template class Fft<float>;
template class Fft<double>;
template class Fft<std::complex<float>>;
template class Fft<std::complex<double>>;

// The tuner.

namespace {

constexpr std::size_t max_shapes = 12;
constexpr Index parts_to_try[] = {Index{2} << 20, Index{8} << 20, Index{32} << 20};

/// The shapes that the model likes best, of all that there are.
std::vector<Decomposition> shapes_to_try(const Grid& grid, int num_ranks) {
  std::vector<std::array<int, 2>> shapes;
  for (int rows = 1; rows <= num_ranks; ++rows) {
    if (num_ranks % rows == 0) shapes.push_back({rows, num_ranks / rows});
  }
  std::stable_sort(shapes.begin(), shapes.end(), [&](const auto& a, const auto& b) {
    return modelled_seconds(grid, a) < modelled_seconds(grid, b);
  });
  shapes.resize(std::min(shapes.size(), max_shapes));
  std::vector<Decomposition> decompositions;
  decompositions.reserve(shapes.size());
  for (const auto& shape : shapes)
    decompositions.emplace_back(grid, num_ranks, DecompositionOptions{Split::automatic, shape});
  return decompositions;
}

/// What is left open by the caller's options, once a shape is chosen: other ways than the automatic
/// one.
std::vector<FftOptions> ways_to_try(const FftOptions& options, int num_ranks) {
  std::vector<FftOptions> ways;
  if (num_ranks == 1) return ways;
  const bool open = options.node_exchange == NodeExchange::automatic;
  FftOptions way = options;
  if (open) way.node_exchange = NodeExchange::messages;
  if (options.chunk_bytes > 0) {
    if (open) ways.push_back(way);
    return ways;
  }
  for (const Index bytes : parts_to_try) {
    way.chunk_bytes = bytes;
    ways.push_back(way);
  }
  return ways;
}

template <class T>
FftTrial try_way(const Context& context, const Decomposition& decomposition,
                 const FftOptions& options, int repetitions) {
  using Clock = std::chrono::steady_clock;
  using Real = typename Fft<T>::Real;
  const Communicator& comm = context.comm;
  Fft<T> fft(context, decomposition, options);
  const Index size = fft.in_place_size() * options.batch;
  Buffer<T> field = together(
      comm, [&] { return Buffer<T>(context.exec, size, "field to time Fourier transforms with"); });
  const Span<Real> reals(reinterpret_cast<Real*>(field.data()),
                         size * (Fft<T>::spectrum == Spectrum::half ? 1 : 2));
  kernels::on(context.exec, [&](const auto& exec) { kernels::fill(exec, reals, Real{0}); });
  FftTrial trial{decomposition, options, comm.max(fft.report().plan_seconds),
                 std::numeric_limits<double>::infinity()};
  for (int repetition = 0; repetition <= repetitions; ++repetition) {
    comm.barrier();
    const auto start = Clock::now();
    fft.forward_in_place(field.span());
    fft.backward_in_place(field.span());
    const double seconds = comm.max(std::chrono::duration<double>(Clock::now() - start).count());
    if (repetition > 0) trial.seconds = std::min(trial.seconds, seconds);  // the first one warms up
  }
  return trial;
}

bool is_faster(const FftTrial& a, const FftTrial& b) { return a.seconds < b.seconds; }

/// Of the shapes of a grid, and of the ways to exchange in the fastest one. What needs more memory
/// than there is is left out. Throws the last error if all are. An error is the same on all ranks.
template <class T>
std::vector<FftTrial> all_trials(const Context& context, const Grid& grid,
                                 const FftOptions& options, int repetitions) {
  const Communicator& comm = context.comm;
  std::vector<FftTrial> trials;
  std::exception_ptr failed;
  const auto add = [&](const Decomposition& shape, const FftOptions& way) {
    try {
      trials.push_back(
          together(comm, [&] { return try_way<T>(context, shape, way, repetitions); }));
    } catch (const OutOfMemory&) {
      failed = std::current_exception();
    }
  };
  comm.together([&] {
    const std::vector<Decomposition> shapes =
        together(comm, [&] { return shapes_to_try(grid, comm.size()); });
    for (const Decomposition& shape : shapes) add(shape, options);
    if (trials.empty()) std::rethrow_exception(failed);
    const Decomposition best_shape =
        std::min_element(trials.begin(), trials.end(), is_faster)->decomposition;
    for (const FftOptions& way : ways_to_try(options, comm.size())) add(best_shape, way);
  });
  return trials;
}

const char* name_of(NodeExchange way) {
  switch (way) {
    case NodeExchange::automatic: return "automatic";
    case NodeExchange::shared_memory: return "shared memory";
    case NodeExchange::messages: return "messages";
  }
  return "";
}

}  // namespace

std::string FftChoice::describe() const {
  std::string table = fmt::format("{:<44} {:<14} {:>12} {:>10} {:>10}\n", "decomposition",
                                  "on a machine", "part [bytes]", "plan [ms]", "both [ms]");
  for (const FftTrial& trial : trials) {
    const std::string part =
        trial.options.chunk_bytes > 0 ? fmt::format("{}", trial.options.chunk_bytes) : "default";
    table += fmt::format("{:<44} {:<14} {:>12} {:>10.1f} {:>10.2f}\n",
                         trial.decomposition.describe(), name_of(trial.options.node_exchange), part,
                         1e3 * trial.plan_seconds, 1e3 * trial.seconds);
  }
  return table;
}

FftTuner::FftTuner(const Context& context, FftTunerOptions options)
    : context_(&context), options_(std::move(options)) {
  validate(options_.repetitions >= 1, "a tuner is to repeat trials {} times (must be at least 1)",
           options_.repetitions);
  if (!options_.print) {
    options_.print = [](const std::string& table) { fmt::print(stderr, "{}", table); };
  }
}

template <class T>
const FftChoice& FftTuner::choose(const Grid& grid, const FftOptions& options) {
  const Communicator& comm = context_->comm;
  const std::vector<Index> question = numbers_of(
      grid.num, grid.box, options.norm, options.restore_order, options.batch, options.effort,
      options.node_exchange, options.chunk_bytes, sizeof(T), Fft<T>::spectrum);
  const auto known = choices_.find(question);
  comm.together([&] {
    validate(are_equal(comm, numbers_of(question, known != choices_.end())),
             "ranks ask a tuner different questions; ask for the same grid, type and options on "
             "all ranks, in the same order");
  });
  if (known != choices_.end()) return known->second;
  std::vector<FftTrial> trials = all_trials<T>(*context_, grid, options, options_.repetitions);
  // The seconds are the slowest rank's, the same numbers on all: so is the order.
  std::stable_sort(trials.begin(), trials.end(), is_faster);
  const FftChoice& choice =
      choices_.emplace(question, FftChoice{trials[0].decomposition, trials[0].options, trials})
          .first->second;
  comm.together([&] {
    if (comm.rank() == 0) options_.print(choice.describe());
  });
  return choice;
}

template const FftChoice& FftTuner::choose<float>(const Grid&, const FftOptions&);
template const FftChoice& FftTuner::choose<double>(const Grid&, const FftOptions&);
template const FftChoice& FftTuner::choose<std::complex<float>>(const Grid&, const FftOptions&);
template const FftChoice& FftTuner::choose<std::complex<double>>(const Grid&, const FftOptions&);

}  // namespace zhalo
