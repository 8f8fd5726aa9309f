#include "src/fft/fft_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <utility>

#include "kernels/on.hpp"
#include "src/comm/agreement.hpp"
#include "src/core/validate.hpp"

namespace zhalo::fft {
namespace {

constexpr Index default_part_bytes = Index{8} << 20;
// Launches cost microseconds: measured on an H200, transforms took 1.4 to 1.7 times as long with 8
// MiB, in which planes stay in its L2 cache, and with 1 GiB 0.8 to 1 times as long.
constexpr Index default_part_bytes_of_device = Index{64} << 20;
constexpr Index alignment = 64;

Index aligned(Index bytes) { return (bytes + alignment - 1) / alignment * alignment; }

void validate_case(const Context& context, const Decomposition& decomposition,
                   const FftOptions& options) {
  validate(decomposition.num_ranks() == context.comm.size(),
           "the decomposition is for {} ranks, but there are {}", decomposition.num_ranks(),
           context.comm.size());
  validate(options.batch >= 1, "the batch of a Fourier transform is {} fields (must be at least 1)",
           options.batch);
  validate(options.chunk_bytes >= 0,
           "the parts of an exchange have {} bytes (must be positive, or 0: chosen)",
           options.chunk_bytes);
  validate_enumerator(options.norm, Norm::orthonormal, "FftOptions::norm");
  validate_enumerator(options.effort, PlanEffort::measure, "FftOptions::effort");
  validate_enumerator(options.node_exchange, NodeExchange::messages, "FftOptions::node_exchange");
  const bool on_device = std::holds_alternative<Cuda>(context.exec);
  validate(!(on_device && options.node_exchange == NodeExchange::shared_memory),
           "a device exchanges by messages, not through memory that ranks share; choose "
           "NodeExchange::automatic");
}

/// Numbers of planes that a stage's plan is called for.
std::vector<Index> calls_of(const FftRoute& route, const FftStage& stage) {
  std::vector<Index> calls = {stage.num_planes};
  if (stage.to.kind == StageArray::Kind::exchange) {
    const Index per_part = route.exchanges[stage.to.exchange].planes_per_part;
    if (per_part < stage.num_planes)
      calls.insert(calls.end(), {per_part, stage.num_planes % per_part});
  }
  const bool from_compact = route.own_block_storage == OwnBlockStorage::compact &&
                            stage.from.kind == StageArray::Kind::exchange;
  if (from_compact)
    calls.insert(calls.end(), {route.first_safe_plane, stage.num_planes - route.first_safe_plane});
  return calls;
}

}  // namespace

// ---------------------------------------------------------------- planning

template <class T>
FftPlan<T>::FftPlan(const Context& context, const Decomposition& decomposition,
                    const FftOptions& options)
    : context_(&context), decomposition_(decomposition), options_(options) {
  const auto start = std::chrono::steady_clock::now();
  context.comm.together([&] {
    agree();
    lay_out();
    for (const Direction direction : {Direction::forward, Direction::backward})
      for (const Arrays arrays : {Arrays::apart, Arrays::in_place})
        routes_.emplace(std::pair(direction, arrays), make(direction, arrays));
    plan_stages();
    choose_exchange();
  });
  report_.plan_seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

template <class T>
void FftPlan<T>::agree() {
  const Communicator& comm = context_->comm;
  comm.together([&] { validate_case(*context_, decomposition_, options_); });
  const Index type =
      static_cast<Index>(sizeof(Real)) * (Fft<T>::spectrum == Spectrum::half ? 1 : -1);
  validate_equal(comm,
                 numbers_of(type, decomposition_.grid().num, decomposition_.shape(), options_.norm,
                            options_.restore_order, options_.batch, options_.effort,
                            options_.node_exchange, options_.chunk_bytes),
                 "type, grid, decomposition and options of a Fourier transform");
  // Some ranks may compute on devices, others not.
  const bool on_device = std::holds_alternative<Cuda>(context_->exec);
  part_bytes_ = options_.chunk_bytes;
  if (part_bytes_ == 0)
    part_bytes_ = comm.min(on_device ? default_part_bytes_of_device : default_part_bytes);
}

template <class T>
void FftPlan<T>::lay_out() {
  const int rank = context_->comm.rank();
  const ModeOrder order = options_.restore_order ? ModeOrder::natural : ModeOrder::transposed;
  const IndexBox index_box = decomposition_.cells(rank);
  const Index num_z = decomposition_.num_modes(Fft<T>::spectrum)[2];
  cells_ = layout_of(index_box);
  cells_in_place_ =
      layout_of(index_box, natural_order, Fft<T>::spectrum == Spectrum::half ? 2 * num_z : num_z);
  modes_ = decomposition_.modes_layout(rank, Fft<T>::spectrum, order);
  const auto num_cells = static_cast<double>(decomposition_.grid().size());
  if (options_.norm == Norm::forward) norm_[0] = 1 / num_cells;
  if (options_.norm == Norm::orthonormal) norm_[0] = norm_[1] = 1 / std::sqrt(num_cells);
}

template <class T>
auto FftPlan<T>::make(Direction direction, Arrays arrays) -> Route {
  const FftCase fft_case{decomposition_,
                         context_->comm.rank(),
                         Fft<T>::spectrum,
                         options_.restore_order,
                         part_bytes_,
                         static_cast<Index>(sizeof(Complex)),
                         options_.effort == PlanEffort::measure};
  Route route;
  route.what = make_route(fft_case, direction, arrays);
  for (FftStage& stage : route.what.stages) {
    stage.steps.calls = calls_of(route.what, stage);
    stage.steps.room_bytes = part_bytes_;
    route.stages.push_back({stage, nullptr});
  }
  if (route.what.own_block_storage == OwnBlockStorage::compact && route.what.first_safe_plane > 0) {
    const kernels::PlanePiece& own = route.what.exchanges[route.what.own_exchange].self().load;
    kernels::PlaneSteps& steps = route.mover_steps.emplace();
    steps.num_rows = own.num_rows;
    steps.num_columns = own.num_columns;
    steps.calls = {route.what.first_safe_plane};
    steps.room_bytes = part_bytes_;
    steps.measure = fft_case.measure;
  }
  if (decomposition_.num_ranks() == 1) route.grid = plan_grid(direction, arrays);
  return route;
}

/// Of one rank, which has cells and modes alike: x, y, z.
template <class T>
auto FftPlan<T>::plan_grid(Direction direction, Arrays arrays) const
    -> std::shared_ptr<const WholeGrid> {
  const GridIndex& num = decomposition_.grid().num;
  kernels::GridSteps steps;
  for (int axis = 0; axis < 3; ++axis) steps.num[axis] = num[axis];
  steps.is_real = Fft<T>::spectrum == Spectrum::half;
  steps.is_forward = direction == Direction::forward;
  steps.keeps_modes = arrays == Arrays::apart;
  const bool is_overwriting =
      !steps.is_forward && arrays == Arrays::in_place;  // or really in place
  if (arrays == Arrays::apart || is_overwriting) steps.row_strides.push_back(cells_.stride[1]);
  if (arrays == Arrays::in_place) steps.row_strides.push_back(cells_in_place_.stride[1]);
  return kernels::on(context_->exec, [&](const auto& exec) -> std::shared_ptr<const WholeGrid> {
    return kernels::plan_grid<Real>(exec, steps);
  });
}

/// All at once, each once.
template <class T>
void FftPlan<T>::plan_stages() {
  std::vector<kernels::PlaneSteps> steps;
  const auto find = [&](const kernels::PlaneSteps& wanted) {
    return std::find(steps.begin(), steps.end(), wanted);
  };
  for (auto& [kind, route] : routes_) {
    for_each_plan(route, [&](const kernels::PlaneSteps& wanted, const auto&) {
      if (find(wanted) == steps.end()) steps.push_back(wanted);
    });
  }
  const std::vector<std::shared_ptr<const Planes>> plans = kernels::on(
      context_->exec, [&](const auto& exec) { return kernels::plan_planes<Real>(exec, steps); });
  for (auto& each : routes_) {
    Route& route = each.second;
    for_each_plan(route, [&](const kernels::PlaneSteps& wanted, auto& plan) {
      plan = plans[static_cast<std::size_t>(find(wanted) - steps.begin())];
      route.plane_bytes = std::max(route.plane_bytes, plan->workspace_bytes());
    });
  }
}

template <class T>
void FftPlan<T>::choose_exchange() {
  const Communicator& comm = context_->comm;
  const bool on_device = std::holds_alternative<Cuda>(context_->exec);
  const bool has_neighbours = comm.max(Index{comm.node_size()}) > 1;
  const bool wanted = options_.node_exchange == NodeExchange::shared_memory ||
                      (options_.node_exchange == NodeExchange::automatic && has_neighbours);
  shares_memory_ = wanted && comm.min(Index{on_device ? 0 : 1}) == 1;
  prepare(Arrays::in_place);
}

template <class T>
void FftPlan<T>::make_ready(Arrays arrays) {
  if (!is_ready_for_[static_cast<std::size_t>(arrays)]) prepare(arrays);
}

template <class T>
void FftPlan<T>::prepare(Arrays arrays) {
  std::array<bool, 2> ready = std::exchange(is_ready_for_, {});
  ready[static_cast<std::size_t>(arrays)] = true;
  if (shares_memory_) share_memory(ready);
  if (!shares_memory_) ready = {true, true};
  find_messages();
  is_ready_for_ = ready;
}

/// What is not reached through shared memory gets messages, and these need room.
template <class T>
void FftPlan<T>::find_messages() {
  bool sends = false;
  for (const auto& [kind, route] : routes_)
    for (const PlaneExchange& exchange : route.what.exchanges)
      for (const ExchangePeer& peer : exchange.peers) sends = sends || !is_reached(peer.rank);
  has_messages_ = context_->comm.max(Index{sends ? 1 : 0}) == 1;
  report_.workspace_bytes = 0;
  for (const auto& [kind, route] : routes_)
    for (const Way way : {Way::stages, Way::grid})
      report_.workspace_bytes = std::max(report_.workspace_bytes, workspace_bytes(route, way));
}

/// Shared receive buffers for all transforms of these arrays; gives them up where there is no more
/// room.
template <class T>
void FftPlan<T>::share_memory(const std::array<bool, 2>& arrays) {
  for (SharedMemory& memory : shared_) memory = {};
  report_.shared_bytes = 0;
  for (const std::size_t memory : {std::size_t{0}, std::size_t{1}}) {
    Index max_size = 0;
    for (const auto& [kind, route] : routes_) {
      if (arrays[static_cast<std::size_t>(kind.second)])
        max_size = std::max(max_size, route.what.receive_buffer_size(memory));
    }
    const Index bytes = max_size * static_cast<Index>(sizeof(Complex));
    shared_[memory] = SharedMemory(context_->comm, bytes);
    if (!shared_[memory].is_there()) {
      validate(options_.node_exchange == NodeExchange::automatic,
               "ranks cannot share memory: {}; choose NodeExchange::automatic or messages",
               shared_[memory].why_not());
      shared_[0] = shared_[1] = {};
      report_.shared_bytes = 0;
      shares_memory_ = false;
      return;
    }
    report_.shared_bytes += bytes;
  }
}

// ---------------------------------------------------------------- memory

template <class T>
Index FftPlan<T>::in_place_size() const {
  const Index modes_size = modes_.size * (Fft<T>::spectrum == Spectrum::half ? 2 : 1);
  return std::max(cells_in_place_.size, modes_size);
}

template <class T>
Index FftPlan<T>::workspace_bytes(const Route& route, Way way) const {
  if (way == Way::grid) return route.grid == nullptr ? 0 : route.grid->workspace_bytes();
  const auto element = static_cast<Index>(sizeof(Complex));
  Index bytes = aligned(route.plane_bytes);
  if (has_messages_) bytes += 2 * aligned(route.what.sent_per_part() * element);
  if (!is_shared())
    bytes += aligned(route.what.receive_buffer_size(0) * element) +
             aligned(route.what.receive_buffer_size(1) * element);
  return bytes;
}

template <class T>
Buffer<std::byte> FftPlan<T>::take_workspace(const Route& route, Way& way) const {
  const Index bytes = workspace_bytes(route, way);
  if (workspace_.empty()) {
    try {
      return {context_->exec, bytes, "workspace of a Fourier transform"};
    } catch (const OutOfMemory&) {
      if (way != Way::grid) throw;
      way = Way::stages;
      return take_workspace(route, way);
    }
  }
  validate(workspace_.size() >= bytes,
           "the workspace of a Fourier transform has {} bytes, but {} are needed since there is no "
           "more memory that ranks share; give more, or choose NodeExchange::messages",
           workspace_.size(), bytes);
  return {};
}

template <class T>
auto FftPlan<T>::divide_workspace(const Route& route, Way way, Buffer<std::byte>& taken) const
    -> Workspace {
  const Span<std::byte> memory = workspace_.empty() ? taken.span() : workspace_;
  const auto element = static_cast<Index>(sizeof(Complex));
  Workspace workspace;
  if (way == Way::grid) {
    workspace.planes = memory;
    return workspace;
  }
  Index used = 0;
  const auto take = [&](Index bytes) {
    std::byte* const room = memory.data() + used;
    used += aligned(bytes);
    return room;
  };
  workspace.planes = {take(route.plane_bytes), route.plane_bytes};
  const Index bytes_of_part = route.what.sent_per_part() * element;
  if (has_messages_) workspace.sending = {take(bytes_of_part), take(bytes_of_part)};
  for (const std::size_t i : {std::size_t{0}, std::size_t{1}}) {
    workspace.receive_buffer[i] = is_shared() ? shared_[i].part(context_->comm.rank())
                                              : take(route.what.receive_buffer_size(i) * element);
  }
  ZHALO_EXPECT(used <= memory.size());
  return workspace;
}

template <class T>
void FftPlan<T>::use_workspace(Span<std::byte> workspace) {
  const bool is_aligned = reinterpret_cast<std::uintptr_t>(workspace.data()) % alignment == 0;
  validate(
      workspace.empty() || workspace.size() >= report_.workspace_bytes,
      "the workspace of a Fourier transform has {} bytes (must be at least workspace_bytes(), {})",
      workspace.size(), report_.workspace_bytes);
  validate(workspace.empty() || is_aligned,
           "the workspace of a Fourier transform must begin at a multiple of {} bytes", alignment);
  validate_memory(context_->exec, workspace, "the workspace of a Fourier transform");
  const auto* cuda = std::get_if<Cuda>(&context_->exec);
  if (cuda != nullptr && !workspace.empty()) {  // of cuFFT, and of messages between devices
    validate(kernels::owner_of(*cuda, workspace.data()) == kernels::MemoryOwner::device,
             "the workspace of a Fourier transform must be memory of CUDA device {} alone, as "
             "cudaMalloc gives it (not page-locked or managed memory)",
             cuda->device);
  }
  workspace_ = workspace;
}

template <class T>
std::string FftPlan<T>::describe() const {
  const char* kind = Fft<T>::spectrum == Spectrum::half ? "r2c" : "c2c";
  const char* precision = sizeof(Real) == sizeof(float) ? "float" : "double";
  std::string way = is_shared() ? "shared memory" : "messages";
  if (is_shared() && has_messages_) way += " and messages";
  if (has_messages_) way += fmt::format(", parts of {} bytes", part_bytes_);
  return fmt::format("{} {}, {}, {}{}", kind, precision, decomposition_.describe(), way,
                     options_.restore_order ? ", natural order" : "");
}

template class FftPlan<float>;
template class FftPlan<double>;
template class FftPlan<std::complex<float>>;
template class FftPlan<std::complex<double>>;

}  // namespace zhalo::fft
