// How a call goes through the stages of its route.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <functional>

#include "src/core/synchronise.hpp"
#include "src/core/validate.hpp"
#include "src/fft/fft_plan.hpp"
#include "zhalo/core/buffer.hpp"
#include "zhalo/core/error.hpp"

namespace zhalo::mesh {
namespace {

/// Planes that together are larger than this are written past the cache.
constexpr Index max_cached_bytes = Index{32} << 20;

using Clock = std::chrono::steady_clock;
double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

}  // namespace

// ---------------------------------------------------------------- pieces

template <class T>
auto FftPlan<T>::array_piece(const Call& call, const FftStage& stage, const StageArray& place) const
    -> Piece {
  const bool is_cells = place.kind == StageArray::Kind::cells;
  const BoxLayout& layout = is_cells ? call.arrays.cells_layout : call.arrays.modes_layout;
  Piece piece;
  piece.data = is_cells ? call.arrays.cells : call.arrays.modes;
  piece.num_rows = stage.steps.num_rows;
  piece.num_columns = stage.steps.num_columns;
  piece.plane_stride = layout.stride[stage.plane_axis];
  piece.row_stride = layout.stride[stage.row_axis];
  return piece;
}

/// As the next stage reads what this rank kept: its rows are x.
template <class T>
auto FftPlan<T>::own_load(const Call& call, std::size_t exchange) const -> Piece {
  const ExchangePeer& self = call.route.what.exchanges[exchange].self();
  Piece piece = self.load;
  if (!is_own_apart(call, exchange)) {
    piece.data = receive_buffer(call, exchange) + self.receive_buffer;
    return piece;
  }
  piece.data = call.arrays.modes;
  if (call.route.what.own_block_storage == OwnBlockStorage::compact) return piece;
  const GridIndex& stride = call.arrays.modes_layout.stride;
  if (call.arrays.modes != nullptr)
    piece.data = static_cast<Complex*>(call.arrays.modes) + self.load.first_row * stride[0];
  piece.plane_stride = stride[1];
  piece.row_stride = stride[0];
  return piece;
}

template <class T>
auto FftPlan<T>::own_store(const Call& call, std::size_t exchange) const -> Piece {
  Piece piece = call.route.what.exchanges[exchange].self().store;
  const Piece kept = own_load(call, exchange);
  piece.data = kept.data;
  if (is_own_apart(call, exchange) &&
      call.route.what.own_block_storage == OwnBlockStorage::output) {
    piece.plane_stride = kept.row_stride;
    piece.row_stride = kept.plane_stride;
  }
  return piece;
}

template <class T>
auto FftPlan<T>::load_pieces(const Call& call, const FftStage& stage) const -> std::vector<Piece> {
  if (stage.from.kind != StageArray::Kind::exchange) return {array_piece(call, stage, stage.from)};
  const PlaneExchange& exchange = call.route.what.exchanges[stage.from.exchange];
  std::vector<Piece> pieces;
  for (std::size_t p = 0; p < exchange.peers.size(); ++p) {
    Piece& piece = pieces.emplace_back(exchange.peers[p].load);
    piece.data = receive_buffer(call, stage.from.exchange) + exchange.peers[p].receive_buffer;
    if (p == exchange.me) piece = own_load(call, stage.from.exchange);
  }
  return pieces;
}

// ---------------------------------------------------------------- stages

template <class T>
kernels::PlaneJob<typename FftPlan<T>::Real> FftPlan<T>::job_of(const Stage& stage,
                                                                Direction direction) const {
  kernels::PlaneJob<Real> job;
  const kernels::PlaneSteps& steps = stage.what.steps;
  const auto element = static_cast<Index>(sizeof(Complex));
  job.num_planes = stage.what.num_planes;
  job.factor = stage.what.is_scaled
                   ? static_cast<Real>(norm_[direction == Direction::forward ? 0 : 1])
                   : Real{1};
  job.is_large =
      stage.what.num_planes * steps.num_rows * steps.num_columns * element > max_cached_bytes;
  return job;
}

template <class T>
void FftPlan<T>::run_to_array(const Call& call, const Stage& stage) const {
  const std::vector<Piece> load = load_pieces(call, stage.what);
  const Piece store = array_piece(call, stage.what, stage.what.to);
  kernels::PlaneJob<Real> job = job_of(stage, call.direction);
  job.load = {load.data(), static_cast<Index>(load.size())};
  job.store = {&store, 1};
  const bool from_compact = stage.what.from.kind == StageArray::Kind::exchange &&
                            is_own_apart(call, stage.what.from.exchange) &&
                            call.route.what.own_block_storage == OwnBlockStorage::compact;
  if (from_compact) return run_behind_compact(call, stage, job);
  stage.plan->run(job, call.workspace.planes);
}

/// Writes the planes behind what is compact at the front of the array; then moves what is in the
/// way of the first planes to where these planes have been read from, and writes the first planes.
template <class T>
void FftPlan<T>::run_behind_compact(const Call& call, const Stage& stage,
                                    kernels::PlaneJob<Real> job) const {
  const FftRoute& route = call.route.what;
  const Index safe = route.first_safe_plane;
  job.first_plane = safe;
  job.num_planes = stage.what.num_planes - safe;
  stage.plan->run(job, call.workspace.planes);
  if (safe == 0) return;
  const PlaneExchange& exchange = route.exchanges[route.own_exchange];
  const Piece compact = own_load(call, route.own_exchange);
  Piece moved = compact;
  moved.data = receive_buffer(call, route.own_exchange) + safe * compact.plane_stride;
  Piece from = compact;
  Piece to = moved;
  from.first_row = to.first_row = 0;
  kernels::PlaneJob<Real> move;
  move.num_planes = safe;
  move.load = {&from, 1};
  move.store = {&to, 1};
  move.is_large = job.is_large;
  call.route.mover->run(move, call.workspace.planes);
  std::vector<Piece> load(job.load.begin(), job.load.end());
  load[exchange.me] = moved;
  job.load = {load.data(), static_cast<Index>(load.size())};
  job.first_plane = 0;
  job.num_planes = safe;
  stage.plan->run(job, call.workspace.planes);
}

namespace {

/// Without messages all planes are one part.
Index planes_per_part(const PlaneExchange& exchange, bool has_messages) {
  return has_messages ? exchange.planes_per_part : std::max<Index>(exchange.max_planes, 1);
}

}  // namespace

/// One part of what the stage sends: the planes to compute, and the messages that belong to them.
template <class T>
auto FftPlan<T>::part_of(const Call& call, const Stage& stage, Index number) const -> Part {
  const std::size_t index = stage.what.to.exchange;
  const PlaneExchange& exchange = call.route.what.exchanges[index];
  const auto element = static_cast<Index>(sizeof(Complex));
  const Index per_part = planes_per_part(exchange, has_messages_);
  const auto planes_of = [&](Index planes) {
    return std::clamp<Index>(planes - number * per_part, 0, per_part);
  };
  Part part;
  part.load = load_pieces(call, stage.what);
  part.job = job_of(stage, call.direction);
  part.job.first_plane = number * per_part;
  part.job.num_planes = planes_of(exchange.num_planes);
  const auto half = static_cast<std::size_t>(number % 2);
  auto* room = reinterpret_cast<Complex*>(call.workspace.sending[half]);
  const std::size_t size = exchange.peers.size();  // first the next rank: not all send to one
  for (std::size_t step = 0; step < size; ++step) {
    const ExchangePeer& to = exchange.peers[(exchange.me + step) % size];
    Piece& piece = part.store.emplace_back(to.store);
    if (step == 0) {
      piece = own_store(call, index);
    } else if (is_reached(to.rank)) {
      auto* const shared = shared_[index % 2].part(to.rank);
      piece.data = reinterpret_cast<Complex*>(shared) + to.receive_buffer_there;
    } else {
      piece.data = room;
      piece.first_plane = part.job.first_plane;
      room += per_part * to.sent_per_plane;
      part.messages.sends.push_back(
          {to.rank, piece.data, part.job.num_planes * to.sent_per_plane * element});
    }
    const ExchangePeer& from = exchange.peers[(exchange.me + size - step) % size];
    if (is_reached(from.rank)) continue;
    const Index per_plane = from.received_per_plane;
    Complex* const to_plane =
        receive_buffer(call, index) + from.receive_buffer + part.job.first_plane * per_plane;
    part.messages.receives.push_back(
        {from.rank, to_plane, planes_of(from.received_planes) * per_plane * element});
  }
  return part;
}

template <class T>
template <class Wait>
void FftPlan<T>::waiting(const Wait& wait) {
  const auto start = Clock::now();
  wait();
  report_.exchange_seconds += seconds_since(start);
}

template <class T>
void FftPlan<T>::run_part(const Call& call, const Stage& stage, Part& part) const {
  part.job.load = {part.load.data(), static_cast<Index>(part.load.size())};
  part.job.store = {part.store.data(), static_cast<Index>(part.store.size())};
  if (part.job.num_planes > 0) stage.plan->run(part.job, call.workspace.planes);
  synchronise(context_->exec);
}

/// What fails on one rank is told when the messages are through, which others wait for: they
/// travel, whatever is in them.
template <class T>
void FftPlan<T>::run_with_messages(const Call& call, const Stage& stage) {
  const PlaneExchange& exchange = call.route.what.exchanges[stage.what.to.exchange];
  PartExchange messages(context_->comm, context_->exec,
                        exchange.longest_message() * static_cast<Index>(sizeof(Complex)));
  const bool on_host = std::holds_alternative<Host>(context_->exec);
  const std::function<void()> between = [&] { messages.advance(); };
  std::exception_ptr failure;
  for (Index number = 0; number < exchange.num_parts(); ++number) {
    if (number >= 2) waiting([&] { messages.finish(number - 2); });  // its room is used again
    Part part = part_of(call, stage, number);
    if (on_host) part.job.between = &between;
    try {
      if (!failure) run_part(call, stage, part);
    } catch (const CommunicationError&) {
      throw;  // of the messages themselves
    } catch (...) {
      failure = std::current_exception();
    }
    messages.start(part.messages);
  }
  waiting([&] { messages.finish_all(); });
  if (failure) std::rethrow_exception(failure);
}

template <class T>
void FftPlan<T>::run_to_exchange(const Call& call, const Stage& stage) {
  const PlaneExchange& exchange = call.route.what.exchanges[stage.what.to.exchange];
  const auto element = static_cast<Index>(sizeof(Complex));
  for (const ExchangePeer& peer : exchange.peers) {
    if (peer.rank != context_->comm.rank())
      report_.bytes_sent += peer.sent_per_plane * exchange.num_planes * element;
  }
  if (has_messages_) {
    run_with_messages(call, stage);
  } else {
    Part part = part_of(call, stage, 0);
    run_part(call, stage, part);
  }
  if (is_shared()) waiting([&] { context_->comm.barrier(); });
}

// ---------------------------------------------------------------- calls

template <class T>
void FftPlan<T>::run_field(const Call& call) {
  for (const Stage& stage : call.route.stages) {
    if (stage.what.to.kind == StageArray::Kind::exchange) {
      run_to_exchange(call, stage);
    } else {
      run_to_array(call, stage);
    }
  }
}

/// For one call; nothing if the caller gave enough.
template <class T>
Buffer<std::byte> FftPlan<T>::take_workspace(const Route& route) const {
  const Index bytes = workspace_bytes(route);
  if (workspace_.empty()) return {context_->exec, bytes, "workspace of a Fourier transform"};
  validate(workspace_.size() >= bytes,
           "the workspace of a Fourier transform has {} bytes, but {} are needed since there is no "
           "more memory that ranks share; "
           "give more, or choose NodeExchange::messages",
           workspace_.size(), bytes);
  return {};
}

template <class T>
void FftPlan<T>::run(Direction direction, Arrays arrays, const FftArrays& first) {
  const auto start = Clock::now();
  const Communicator& comm = context_->comm;
  const Route& route = routes_.at({direction, arrays});
  comm.together([&] {
    if (!is_ready_for_[static_cast<std::size_t>(arrays)]) prepare(arrays);
    Buffer<std::byte> taken = together(comm, [&] { return take_workspace(route); });
    Call call{route, direction, first,
              workspace_in(route, workspace_.empty() ? taken.span() : workspace_)};
    const Index cells_size = arrays == Arrays::in_place ? in_place_size() : first.cells_layout.size;
    const Index modes_bytes = arrays == Arrays::in_place
                                  ? cells_size * static_cast<Index>(sizeof(T))
                                  : modes_.size * static_cast<Index>(sizeof(Complex));
    for (Index field = 0; field < options_.batch; ++field) {
      // Others may still read what they were sent for the field before.
      if (is_shared() && field > 0) waiting([&] { comm.barrier(); });
      call.arrays.cells = static_cast<T*>(first.cells) + field * cells_size;
      call.arrays.modes = static_cast<std::byte*>(first.modes) + field * modes_bytes;
      run_field(call);
    }
    synchronise(context_->exec);
  });
  report_.num_transforms += options_.batch;
  report_.transform_seconds += seconds_since(start);
}

template <class T>
template <class Element>
void FftPlan<T>::check_array(const char* name, Span<const Element> array, Index field_size) const {
  validate_memory(context_->exec, array, name);
  validate(array.size() == options_.batch * field_size,
           "the array of {} has {} elements (must have {}: {} of {})", name, array.size(),
           options_.batch * field_size,
           options_.batch == 1 ? "one field" : fmt::format("{} fields", options_.batch),
           field_size);
}

/// Modes are written while cells of other planes are still to be read.
template <class T>
void FftPlan<T>::check_apart(Span<const T> cells, Span<const Complex> modes) const {
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

template <class T>
void FftPlan<T>::forward(Span<const T> cells, Span<Complex> modes) {
  context_->comm.together([&] {
    check_array("cells", Span<const T>(cells), cells_.size);
    check_array("modes", Span<const Complex>(modes), modes_.size);
    check_apart(cells, modes);
  });
  run(Direction::forward, Arrays::apart,
      {const_cast<T*>(cells.data()), modes.data(), cells_, modes_});
}

template <class T>
void FftPlan<T>::backward(Span<const Complex> modes, Span<T> cells) {
  context_->comm.together([&] {
    check_array("modes", Span<const Complex>(modes), modes_.size);
    check_array("cells", Span<const T>(cells), cells_.size);
    check_apart(cells, modes);
  });
  run(Direction::backward, Arrays::apart,
      {cells.data(), const_cast<Complex*>(modes.data()), cells_, modes_});
}

template <class T>
void FftPlan<T>::transform_in_place(Span<T> field, Direction direction) {
  context_->comm.together(
      [&] { check_array("cells and modes in place", Span<const T>(field), in_place_size()); });
  run(direction, Arrays::in_place, {field.data(), field.data(), cells_in_place_, modes_});
}

template class FftPlan<float>;
template class FftPlan<double>;
template class FftPlan<std::complex<float>>;
template class FftPlan<std::complex<double>>;

}  // namespace zhalo::mesh
