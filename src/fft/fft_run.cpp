// How a call goes through the stages of its route.

#include <algorithm>
#include <chrono>
#include <exception>
#include <functional>

#include "kernels/on.hpp"
#include "src/comm/agreement.hpp"
#include "src/comm/exchange.hpp"
#include "src/fft/fft_plan.hpp"
#include "zhalo/core/buffer.hpp"
#include "zhalo/core/error.hpp"

namespace zhalo::fft {
namespace {

/// Planes that together are larger than this are written past the cache.
constexpr Index max_cached_bytes = Index{32} << 20;

using Clock = std::chrono::steady_clock;
double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// Without messages all planes are one part.
Index planes_per_part(const PlaneExchange& exchange, bool has_messages) {
  return has_messages ? exchange.planes_per_part : std::max<Index>(exchange.max_planes, 1);
}

/// One call: how it goes through the stages of its route.
template <class T>
class FftRun {
 public:
  using Plan = FftPlan<T>;
  using Real = typename Plan::Real;
  using Complex = typename Plan::Complex;

  FftRun(Plan& plan, Direction direction, Arrays arrays)
      : plan_(plan), route_(plan.route(direction, arrays)), direction_(direction) {}

  /// How a call with these arrays is carried out.
  Way way_of(const FftArrays& first) const {
    return route_.grid != nullptr && route_.grid->suits(grid_job(first)) ? Way::grid : Way::stages;
  }
  /// Of all fields of the batch.
  void run(const FftArrays& first, Way way, const typename Plan::Workspace& workspace);

 private:
  using Stage = typename Plan::Stage;
  using Piece = kernels::PlanePiece;
  using Job = kernels::PlaneJob<Real>;
  /// What is computed at a time and then sent.
  struct Part {
    std::vector<Piece> load;
    std::vector<Piece> store;
    Job job;
    kernels::MessageGroup messages;
  };

  kernels::GridJob<Real> grid_job(const FftArrays& arrays) const {
    return {arrays.cells, arrays.modes, arrays.cells_layout.stride[1],
            static_cast<Real>(plan_.norm(direction_))};
  }
  void run_field();
  void run_to_array(const Stage& stage) const;
  void run_behind_compact(const Stage& stage, Job job) const;
  void run_to_exchange(const Stage& stage);
  void run_with_messages(const Stage& stage);
  Part part_of(const Stage& stage, Index number) const;
  void run_part(const Stage& stage, Part& part) const;
  Job job_of(const Stage& stage) const;
  template <class Wait>
  void waiting(const Wait& wait);

  Piece array_piece(const FftStage& stage, const StageArray& array) const;
  std::vector<Piece> load_pieces(const FftStage& stage) const;
  Piece own_load(std::size_t exchange) const;
  Piece own_store(std::size_t exchange) const;
  bool is_own_apart(std::size_t exchange) const {
    return route_.what.own_block_storage != OwnBlockStorage::none &&
           route_.what.own_exchange == exchange;
  }
  Complex* receive_buffer(std::size_t exchange) const {
    return reinterpret_cast<Complex*>(workspace_.receive_buffer[exchange % 2]);
  }

  Plan& plan_;
  const typename Plan::Route& route_;
  Direction direction_;
  FftArrays arrays_;
  typename Plan::Workspace workspace_;
};

// ---------------------------------------------------------------- pieces

template <class T>
auto FftRun<T>::array_piece(const FftStage& stage, const StageArray& array) const -> Piece {
  const bool is_cells = array.kind == StageArray::Kind::cells;
  const BoxLayout& layout = is_cells ? arrays_.cells_layout : arrays_.modes_layout;
  Piece piece;
  piece.data = is_cells ? arrays_.cells : arrays_.modes;
  piece.num_rows = stage.steps.num_rows;
  piece.num_columns = stage.steps.num_columns;
  piece.plane_stride = layout.stride[stage.plane_axis];
  piece.row_stride = layout.stride[stage.row_axis];
  return piece;
}

/// As the next stage reads what this rank kept: its rows are x.
template <class T>
auto FftRun<T>::own_load(std::size_t exchange) const -> Piece {
  const ExchangePeer& self = route_.what.exchanges[exchange].self();
  Piece piece = self.load;
  if (!is_own_apart(exchange)) {
    piece.data = receive_buffer(exchange) + self.receive_buffer;
    return piece;
  }
  piece.data = arrays_.modes;
  if (route_.what.own_block_storage == OwnBlockStorage::compact) return piece;
  const GridIndex& stride = arrays_.modes_layout.stride;
  if (arrays_.modes != nullptr)
    piece.data = static_cast<Complex*>(arrays_.modes) + self.load.first_row * stride[0];
  piece.plane_stride = stride[1];
  piece.row_stride = stride[0];
  return piece;
}

template <class T>
auto FftRun<T>::own_store(std::size_t exchange) const -> Piece {
  Piece piece = route_.what.exchanges[exchange].self().store;
  const Piece kept = own_load(exchange);
  piece.data = kept.data;
  if (is_own_apart(exchange) && route_.what.own_block_storage == OwnBlockStorage::output) {
    piece.plane_stride = kept.row_stride;
    piece.row_stride = kept.plane_stride;
  }
  return piece;
}

template <class T>
auto FftRun<T>::load_pieces(const FftStage& stage) const -> std::vector<Piece> {
  if (stage.from.kind != StageArray::Kind::exchange) return {array_piece(stage, stage.from)};
  const PlaneExchange& exchange = route_.what.exchanges[stage.from.exchange];
  std::vector<Piece> pieces;
  for (std::size_t p = 0; p < exchange.peers.size(); ++p) {
    Piece& piece = pieces.emplace_back(exchange.peers[p].load);
    piece.data = receive_buffer(stage.from.exchange) + exchange.peers[p].receive_buffer;
    if (p == exchange.me) piece = own_load(stage.from.exchange);
  }
  return pieces;
}

// ---------------------------------------------------------------- stages

template <class T>
auto FftRun<T>::job_of(const Stage& stage) const -> Job {
  Job job;
  const kernels::PlaneSteps& steps = stage.what.steps;
  const auto element = static_cast<Index>(sizeof(Complex));
  job.num_planes = stage.what.num_planes;
  job.factor = stage.what.is_scaled ? static_cast<Real>(plan_.norm(direction_)) : Real{1};
  job.is_large =
      stage.what.num_planes * steps.num_rows * steps.num_columns * element > max_cached_bytes;
  return job;
}

template <class T>
void FftRun<T>::run_to_array(const Stage& stage) const {
  const std::vector<Piece> load = load_pieces(stage.what);
  const Piece store = array_piece(stage.what, stage.what.to);
  Job job = job_of(stage);
  job.load = {load.data(), static_cast<Index>(load.size())};
  job.store = {&store, 1};
  const bool from_compact = stage.what.from.kind == StageArray::Kind::exchange &&
                            is_own_apart(stage.what.from.exchange) &&
                            route_.what.own_block_storage == OwnBlockStorage::compact;
  if (from_compact) return run_behind_compact(stage, job);
  stage.plan->run(job, workspace_.planes);
}

/// Writes the planes behind what is compact at the front of the array; then moves what is in the
/// way of the first planes to where these planes have been read from, and writes the first planes.
template <class T>
void FftRun<T>::run_behind_compact(const Stage& stage, Job job) const {
  const FftRoute& route = route_.what;
  const Index safe = route.first_safe_plane;
  job.first_plane = safe;
  job.num_planes = stage.what.num_planes - safe;
  stage.plan->run(job, workspace_.planes);
  if (safe == 0) return;
  const PlaneExchange& exchange = route.exchanges[route.own_exchange];
  const Piece compact = own_load(route.own_exchange);
  Piece moved = compact;
  moved.data = receive_buffer(route.own_exchange) + safe * compact.plane_stride;
  Piece from = compact;
  Piece to = moved;
  from.first_row = to.first_row = 0;
  Job move;
  move.num_planes = safe;
  move.load = {&from, 1};
  move.store = {&to, 1};
  move.is_large = job.is_large;
  route_.mover->run(move, workspace_.planes);
  std::vector<Piece> load(job.load.begin(), job.load.end());
  load[exchange.me] = moved;
  job.load = {load.data(), static_cast<Index>(load.size())};
  job.first_plane = 0;
  job.num_planes = safe;
  stage.plan->run(job, workspace_.planes);
}

/// One part of what the stage sends: the planes to compute, and the messages that belong to them.
template <class T>
auto FftRun<T>::part_of(const Stage& stage, Index number) const -> Part {
  const std::size_t index = stage.what.to.exchange;
  const PlaneExchange& exchange = route_.what.exchanges[index];
  const auto element = static_cast<Index>(sizeof(Complex));
  const Index per_part = planes_per_part(exchange, plan_.has_messages());
  const auto planes_of = [&](Index planes) {
    return std::clamp<Index>(planes - number * per_part, 0, per_part);
  };
  Part part;
  part.load = load_pieces(stage.what);
  part.job = job_of(stage);
  part.job.first_plane = number * per_part;
  part.job.num_planes = planes_of(exchange.num_planes);
  const auto half = static_cast<std::size_t>(number % 2);
  auto* room = reinterpret_cast<Complex*>(workspace_.sending[half]);
  const std::size_t size = exchange.peers.size();  // first the next rank: not all send to one
  for (std::size_t step = 0; step < size; ++step) {
    const ExchangePeer& to = exchange.peers[(exchange.me + step) % size];
    Piece& piece = part.store.emplace_back(to.store);
    if (step == 0) {
      piece = own_store(index);
    } else if (plan_.is_reached(to.rank)) {
      auto* const shared = plan_.shared_buffer(index, to.rank);
      piece.data = reinterpret_cast<Complex*>(shared) + to.receive_buffer_there;
    } else {
      piece.data = room;
      piece.first_plane = part.job.first_plane;
      room += per_part * to.sent_per_plane;
      part.messages.send({to.rank, piece.data, part.job.num_planes * to.sent_per_plane * element});
    }
    const ExchangePeer& from = exchange.peers[(exchange.me + size - step) % size];
    if (plan_.is_reached(from.rank)) continue;
    const Index per_plane = from.received_per_plane;
    Complex* const to_plane =
        receive_buffer(index) + from.receive_buffer + part.job.first_plane * per_plane;
    part.messages.receive(
        {from.rank, to_plane, planes_of(from.received_planes) * per_plane * element});
  }
  return part;
}

template <class T>
template <class Wait>
void FftRun<T>::waiting(const Wait& wait) {
  const auto start = Clock::now();
  wait();
  plan_.report().exchange_seconds += seconds_since(start);
}

template <class T>
void FftRun<T>::run_part(const Stage& stage, Part& part) const {
  part.job.load = {part.load.data(), static_cast<Index>(part.load.size())};
  part.job.store = {part.store.data(), static_cast<Index>(part.store.size())};
  if (part.job.num_planes > 0) stage.plan->run(part.job, workspace_.planes);
  if (plan_.has_messages()) synchronise(plan_.context().exec);  // what is sent has been written
}

/// What fails on one rank is told when the messages are through, which others wait for: they
/// travel, whatever is in them.
template <class T>
void FftRun<T>::run_with_messages(const Stage& stage) {
  const PlaneExchange& exchange = route_.what.exchanges[stage.what.to.exchange];
  PartExchange messages(plan_.context().comm, plan_.context().exec,
                        exchange.longest_message() * static_cast<Index>(sizeof(Complex)));
  const bool on_host = std::holds_alternative<Host>(plan_.context().exec);
  const std::function<void()> between = [&] { messages.advance(); };
  std::exception_ptr failure;
  for (Index number = 0; number < exchange.num_parts(); ++number) {
    if (number >= 2) waiting([&] { messages.finish(number - 2); });  // its room is used again
    Part part = part_of(stage, number);
    if (on_host) part.job.between = &between;
    try {
      if (!failure) run_part(stage, part);
    } catch (const CommunicationError&) {
      throw;  // of the messages themselves
    } catch (...) {
      failure = std::current_exception();
    }
    messages.start(std::move(part.messages));
  }
  waiting([&] { messages.finish_all(failure); });
}

template <class T>
void FftRun<T>::run_to_exchange(const Stage& stage) {
  const PlaneExchange& exchange = route_.what.exchanges[stage.what.to.exchange];
  const auto element = static_cast<Index>(sizeof(Complex));
  for (const ExchangePeer& peer : exchange.peers) {
    if (peer.rank != plan_.context().comm.rank())
      plan_.report().bytes_sent += peer.sent_per_plane * exchange.num_planes * element;
  }
  if (plan_.has_messages()) {
    try {
      run_with_messages(stage);
    } catch (...) {
      if (plan_.context().comm.is_broken()) plan_.abandon_shared();
      throw;
    }
  } else {
    Part part = part_of(stage, 0);
    run_part(stage, part);
  }
  if (plan_.is_shared()) waiting([&] { plan_.context().comm.barrier(); });
}

// ---------------------------------------------------------------- calls

template <class T>
void FftRun<T>::run_field() {
  for (const Stage& stage : route_.stages) {
    if (stage.what.to.kind == StageArray::Kind::exchange) {
      run_to_exchange(stage);
    } else {
      run_to_array(stage);
    }
  }
}

template <class T>
void FftRun<T>::run(const FftArrays& first, Way way, const typename Plan::Workspace& workspace) {
  arrays_ = first;
  workspace_ = workspace;
  const bool is_one_array = first.cells == first.modes;
  const Index cells_size = is_one_array ? plan_.in_place_size() : first.cells_layout.size;
  const Index modes_bytes = is_one_array
                                ? cells_size * static_cast<Index>(sizeof(T))
                                : first.modes_layout.size * static_cast<Index>(sizeof(Complex));
  for (Index field = 0; field < plan_.options().batch; ++field) {
    // Others may still read what they were sent for the field before.
    if (plan_.is_shared() && field > 0) waiting([&] { plan_.context().comm.barrier(); });
    arrays_.cells = static_cast<T*>(first.cells) + field * cells_size;
    arrays_.modes = static_cast<std::byte*>(first.modes) + field * modes_bytes;
    if (way == Way::grid) {
      route_.grid->run(grid_job(arrays_), workspace_.planes);
    } else {
      run_field();
    }
  }
  synchronise(plan_.context().exec);
}

}  // namespace

template <class T>
void run_transforms(FftPlan<T>& plan, Direction direction, Arrays arrays, const FftArrays& first) {
  const auto start = Clock::now();
  const Communicator& comm = plan.context().comm;
  together(plan.context(), [&] {
    plan.make_ready(arrays);
    FftRun<T> run(plan, direction, arrays);
    const auto& route = plan.route(direction, arrays);
    Way way = run.way_of(first);
    Buffer<std::byte> taken = together(comm, [&] { return plan.take_workspace(route, way); });
    run.run(first, way, plan.divide_workspace(route, way, taken));
  });
  plan.report().num_transforms += plan.options().batch;
  plan.report().transform_seconds += seconds_since(start);
}

template void run_transforms(FftPlan<float>&, Direction, Arrays, const FftArrays&);
template void run_transforms(FftPlan<double>&, Direction, Arrays, const FftArrays&);
template void run_transforms(FftPlan<std::complex<float>>&, Direction, Arrays, const FftArrays&);
template void run_transforms(FftPlan<std::complex<double>>&, Direction, Arrays, const FftArrays&);

}  // namespace zhalo::fft
