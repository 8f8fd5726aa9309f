/// A planned transform: its exchanges, its route through them, and its memory.
#pragma once

#include <array>
#include <complex>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kernels/fft.hpp"
#include "src/comm/exchange.hpp"
#include "zhalo/comm/communicator.hpp"
#include "zhalo/core/buffer.hpp"
#include "zhalo/fft/decomposition.hpp"
#include "zhalo/fft/fft.hpp"

namespace zhalo::fft {

/// The other side of an exchange, or this rank itself. Blocks are dense, sent plane by plane. Sizes
/// are in complex numbers.
struct ExchangePeer {
  int rank = 0;
  kernels::PlanePiece store;  ///< which part of this rank's planes the peer gets, and its strides
                              ///< in the block; without data
  kernels::PlanePiece load;   ///< which part of the next planes came from the peer, and its strides
                              ///< in the block; without data
  Index sent_per_plane = 0;   ///< of the sender's planes
  Index received_per_plane = 0;
  Index received_planes = 0;
  Index receive_buffer = 0;  ///< where the peer's block lies in this rank's receive buffer memory
  Index receive_buffer_there = 0;  ///< where this rank's block lies in the peer's
};

/// An exchange among a group of ranks, seen from one of them.
struct PlaneExchange {
  std::vector<ExchangePeer> peers;  ///< in the group's order, this rank among them
  std::size_t me = 0;
  Index num_planes = 0;  ///< that this rank sends
  Index max_planes = 0;  ///< that a rank of the group sends
  Index receive_buffer_size = 0;
  Index planes_per_part = 1;

  Index num_parts() const { return (max_planes + planes_per_part - 1) / planes_per_part; }
  const ExchangePeer& self() const { return peers[me]; }
  /// Complex numbers that a part sends to others.
  Index sent_per_part() const;
  /// Of a message of a part, to or from another rank, in complex numbers.
  Index longest_message() const;
};

/// What a rank keeps for itself lies among what others send it, or apart.
enum class OwnBlock { received, apart };

struct ExchangeGroup {
  std::vector<int> ranks;
  std::size_t me = 0;
  OwnBlock own = OwnBlock::received;
  Index bytes_per_part = 0;
  Index element_size = 0;
};

/// Planes and rows change roles: member s has planes[s] of all planes, and gets rows[s] of all
/// planes, which become its planes. Planes are `width` wide.
PlaneExchange swap_planes_and_rows(const ExchangeGroup& group, const std::vector<Share>& planes,
                                   const std::vector<Share>& rows, Index width);

/// All members have the same planes; member s has rows[s] of each, and gets columns[s] of all rows.
PlaneExchange rows_to_columns(const ExchangeGroup& group, Index num_planes,
                              const std::vector<Share>& rows, const std::vector<Share>& columns);
/// The way back.
PlaneExchange columns_to_rows(const ExchangeGroup& group, Index num_planes,
                              const std::vector<Share>& rows, const std::vector<Share>& columns);

enum class Direction { forward, backward };
/// Cells and modes are apart: what is transformed stays as it is. In place its memory is used, and
/// the result may be anywhere.
enum class Arrays { apart, in_place };

/// How a call is carried out: by the stages of its route, or on one rank by one transform in three
/// dimensions.
enum class Way { stages, grid };

/// Where a stage's planes come from or go to: one of the caller's arrays, or an exchange.
struct StageArray {
  enum class Kind { cells, modes, exchange } kind = Kind::cells;
  std::size_t exchange = 0;
};

struct FftStage {
  kernels::PlaneSteps steps;
  int plane_axis = 0;
  int row_axis = 1;
  Index num_planes = 0;
  StageArray from;
  StageArray to;
  bool is_scaled = false;  ///< multiplies by the norm
};

/// Where the block that a rank keeps in an exchange lies, if it is apart.
enum class OwnBlockStorage {
  none,
  output,  ///< where it belongs among the modes
  compact  ///< dense at the beginning of the array that is transformed in place
};

struct FftRoute {
  std::vector<FftStage> stages;
  std::vector<PlaneExchange> exchanges;
  OwnBlockStorage own_block_storage =
      OwnBlockStorage::none;  ///< in the only exchange for which it can be apart: the one between x
                              ///< and y
  std::size_t own_exchange = 0;
  /// Of the planes behind that exchange, the first that can be written without overwriting what is
  /// compact; those before it come last.
  Index first_safe_plane = 0;

  /// Complex numbers of receive buffer memory: exchanges use two memories in turn.
  Index receive_buffer_size(std::size_t memory) const;
  Index sent_per_part() const;
};

/// What a route depends on.
struct FftCase {
  const Decomposition& decomposition;
  int rank = 0;
  Spectrum spectrum = Spectrum::half;
  bool restore_order = false;
  Index bytes_per_part = 0;
  Index element_size = 0;  ///< of a complex number
  bool measure = false;
};

FftRoute make_route(const FftCase& fft_case, Direction direction, Arrays arrays);

/// What is planned for transforms of one decomposition with one set of options: the routes, the
/// plans of their stages, and the memory that ranks share.
template <class T>
class FftPlan {
 public:
  using Real = typename RealOf<T>::type;
  using Complex = std::complex<Real>;
  using Planes = kernels::PlanePlan<Real>;
  using WholeGrid = kernels::GridPlan<Real>;

  struct Stage {
    FftStage what;
    std::shared_ptr<const Planes> plan;
  };
  struct Route {
    FftRoute what;
    std::vector<Stage> stages;
    std::optional<kernels::PlaneSteps> mover_steps;  ///< if what is compact is in the way
    std::shared_ptr<const Planes> mover;
    Index plane_bytes = 0;                  ///< that the plans need
    std::shared_ptr<const WholeGrid> grid;  ///< null where the stages are the only way
  };
  /// Memory of one call.
  struct Workspace {
    std::byte* receive_buffer[2] = {nullptr, nullptr};
    std::array<std::byte*, 2> sending =
        {};                  ///< of the part that is made and of the one that travels
    Span<std::byte> planes;  ///< all there is for Way::grid
  };

  FftPlan(const Context& context, const Decomposition& decomposition, const FftOptions& options);

  /// The caller's memory for all calls that follow; empty: each call takes its own.
  void use_workspace(Span<std::byte> workspace);
  /// Makes ready for transforms of these arrays. If this fails nothing is ready, and the next call
  /// begins again. Collective.
  void make_ready(Arrays arrays);
  /// For one call; nothing if the caller gave enough. A whole grid may need more than there is:
  /// then it goes by stages.
  Buffer<std::byte> take_workspace(const Route& route, Way& way) const;
  /// Divides what was taken or, if that is nothing, what the caller gave.
  Workspace divide_workspace(const Route& route, Way way, Buffer<std::byte>& taken) const;

  const Context& context() const { return *context_; }
  const Decomposition& decomposition() const { return decomposition_; }
  const FftOptions& options() const { return options_; }
  const Route& route(Direction direction, Arrays arrays) const {
    return routes_.at({direction, arrays});
  }
  double norm(Direction direction) const { return norm_[direction == Direction::forward ? 0 : 1]; }
  const BoxLayout& cells() const { return cells_; }
  const BoxLayout& cells_in_place() const { return cells_in_place_; }
  const BoxLayout& modes() const { return modes_; }
  Index in_place_size() const;
  FftReport& report() { return report_; }
  std::string describe() const;

  bool is_shared() const { return shared_[0].is_there(); }
  /// After a wait that was given up: MPI may still receive into the buffers.
  void abandon_shared() {
    for (SharedMemory& memory : shared_) memory.abandon();
  }
  /// The receive buffer of an exchange in a rank's shared memory.
  std::byte* shared_buffer(std::size_t exchange, int rank) const {
    return shared_[exchange % 2].part(rank);
  }
  /// Whether this rank writes straight to where the other one reads.
  bool is_reached(int rank) const {
    return rank == context_->comm.rank() || shared_[0].reaches(rank);
  }
  /// On any rank.
  bool has_messages() const { return has_messages_; }

 private:
  void agree();
  void lay_out();
  Route make(Direction direction, Arrays arrays);
  void plan_stages();
  /// Calls use(steps, plan) for all plans of a route.
  template <class Use>
  void for_each_plan(Route& route, const Use& use) {
    for (Stage& stage : route.stages) use(stage.what.steps, stage.plan);
    if (route.mover_steps) use(*route.mover_steps, route.mover);
  }
  std::shared_ptr<const WholeGrid> plan_grid(Direction direction, Arrays arrays) const;
  void choose_exchange();
  void prepare(Arrays arrays);
  void share_memory(const std::array<bool, 2>& arrays);
  void find_messages();
  Index workspace_bytes(const Route& route, Way way) const;

  const Context* context_;
  Decomposition decomposition_;
  FftOptions options_;
  BoxLayout cells_;
  BoxLayout cells_in_place_;
  BoxLayout modes_;
  double norm_[2] = {1, 1};
  std::map<std::pair<Direction, Arrays>, Route> routes_;
  SharedMemory shared_[2];
  bool shares_memory_ = false;             ///< unless there is too little
  std::array<bool, 2> is_ready_for_ = {};  ///< by Arrays
  Index part_bytes_ = 0;
  bool has_messages_ = false;
  Span<std::byte> workspace_;
  FftReport report_;
};

/// Arrays of a call, without their types. In place they may be one.
struct FftArrays {
  void* cells = nullptr;
  void* modes = nullptr;
  BoxLayout cells_layout;
  BoxLayout modes_layout;
};

/// Transforms the fields of the batch, which have been validated. Collective.
template <class T>
void run_transforms(FftPlan<T>& plan, Direction direction, Arrays arrays, const FftArrays& first);

}  // namespace zhalo::fft
