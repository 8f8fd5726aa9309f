/// A planned transform: routes, plans of planes, memory, and how a call goes through them.
#pragma once

#include <array>
#include <complex>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "src/comm/part_exchange.hpp"
#include "src/comm/shared_memory.hpp"
#include "src/fft/fft_route.hpp"
#include "zhalo/core/buffer.hpp"
#include "zhalo/fft/fft.hpp"

namespace zhalo::mesh {

/// Arrays of a call, without their types. In place both are one.
struct FftArrays {
  void* cells = nullptr;
  void* modes = nullptr;
  BoxLayout cells_layout;
  BoxLayout modes_layout;
};

template <class T>
class FftPlan {
 public:
  using Real = typename RealOf<T>::type;
  using Complex = std::complex<Real>;

  FftPlan(const Context& context, const Decomposition& decomposition, const FftOptions& options);

  void forward(Span<const T> cells, Span<Complex> modes);
  void backward(Span<const Complex> modes, Span<T> cells);
  void transform_in_place(Span<T> field, Direction direction);
  void use_workspace(Span<std::byte> workspace);

  const Decomposition& decomposition() const { return decomposition_; }
  const BoxLayout& cells() const { return cells_; }
  const BoxLayout& cells_in_place() const { return cells_in_place_; }
  const BoxLayout& modes() const { return modes_; }
  Index in_place_size() const;
  const FftReport& report() const { return report_; }
  std::string describe() const;

 private:
  using Piece = kernels::PlanePiece;
  using Planes = kernels::PlanePlan<Real>;

  struct Stage {
    FftStage what;
    std::shared_ptr<const Planes> plan;
  };
  struct Route {
    FftRoute what;
    std::vector<Stage> stages;
    std::shared_ptr<const Planes> mover;  ///< of what is compact and in the way, if there is any
    Index plane_bytes = 0;                ///< that the plans need
  };
  /// Memory of one call.
  struct Workspace {
    std::byte* receive_buffer[2] = {nullptr, nullptr};
    std::array<std::byte*, 2> sending =
        {};  ///< of the part that is made and of the one that travels
    Span<std::byte> planes;
  };
  struct Call {
    const Route& route;
    Direction direction = Direction::forward;
    FftArrays arrays;
    Workspace workspace;
  };
  /// What is computed at a time and then sent.
  struct Part {
    std::vector<Piece> load;
    std::vector<Piece> store;
    kernels::PlaneJob<Real> job;
    MessagePart messages;
  };

  Index part_bytes() const { return part_bytes_; }
  void agree();
  void lay_out();
  Route make(Direction direction, Arrays arrays);
  std::shared_ptr<const Planes> plan_for(const kernels::PlaneSteps& steps);
  void choose_exchange();
  void prepare(Arrays arrays);
  void share_memory(const std::array<bool, 2>& arrays);
  void find_messages();
  bool is_shared() const { return shared_[0].is_there(); }
  /// Whether this rank writes straight to where the other one reads.
  bool is_reached(int rank) const {
    return rank == context_->comm.rank() || shared_[0].reaches(rank);
  }
  Index workspace_bytes(const Route& route) const;
  Buffer<std::byte> take_workspace(const Route& route) const;
  Workspace workspace_in(const Route& route, Span<std::byte> workspace) const;

  template <class Element>
  void check_array(const char* name, Span<const Element> array, Index field_size) const;
  void check_apart(Span<const T> cells, Span<const Complex> modes) const;
  void run(Direction direction, Arrays arrays, const FftArrays& first);
  void run_field(const Call& call);
  void run_to_array(const Call& call, const Stage& stage) const;
  void run_behind_compact(const Call& call, const Stage& stage, kernels::PlaneJob<Real> job) const;
  void run_to_exchange(const Call& call, const Stage& stage);
  void run_with_messages(const Call& call, const Stage& stage);
  Part part_of(const Call& call, const Stage& stage, Index number) const;
  void run_part(const Call& call, const Stage& stage, Part& part) const;
  kernels::PlaneJob<Real> job_of(const Stage& stage, Direction direction) const;
  template <class Wait>
  void waiting(const Wait& wait);

  Piece array_piece(const Call& call, const FftStage& stage, const StageArray& place) const;
  std::vector<Piece> load_pieces(const Call& call, const FftStage& stage) const;
  Piece own_load(const Call& call, std::size_t exchange) const;
  Piece own_store(const Call& call, std::size_t exchange) const;
  bool is_own_apart(const Call& call, std::size_t exchange) const {
    return call.route.what.own_block_storage != OwnBlockStorage::none &&
           call.route.what.own_exchange == exchange;
  }
  Complex* receive_buffer(const Call& call, std::size_t exchange) const {
    return reinterpret_cast<Complex*>(call.workspace.receive_buffer[exchange % 2]);
  }

  const Context* context_;
  Decomposition decomposition_;
  FftOptions options_;
  BoxLayout cells_;
  BoxLayout cells_in_place_;
  BoxLayout modes_;
  double norm_[2] = {1, 1};
  std::vector<std::pair<kernels::PlaneSteps, std::shared_ptr<const Planes>>> plans_;
  std::map<std::pair<Direction, Arrays>, Route> routes_;
  SharedMemory shared_[2];
  bool shares_memory_ = false;             ///< unless there is too little
  std::array<bool, 2> is_ready_for_ = {};  ///< by Arrays
  Index part_bytes_ = 0;
  bool has_messages_ = false;  ///< on any rank
  Span<std::byte> workspace_;
  FftReport report_;
};

}  // namespace zhalo::mesh
