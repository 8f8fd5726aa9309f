// Ranks that are processes of MPI.
#include <algorithm>
#include <array>
#include <numeric>
#include <string>
#include <vector>

#include "src/comm/network.hpp"
#include "zhalo/core/error.hpp"

namespace zhalo {
namespace {

void check_mpi(int code, const char* call) {
  if (code == MPI_SUCCESS) return;
  std::array<char, MPI_MAX_ERROR_STRING> text{};
  int length = 0;
  MPI_Error_string(code, text.data(), &length);
  throw CommunicationError(
      std::string(call) + " failed: " + std::string(text.data(), static_cast<std::size_t>(length)));
}

/// After that a call of MPI ends the process.
bool is_finalised() {
  int finalised = 0;
  MPI_Finalized(&finalised);
  return finalised != 0;
}

class MpiRequest final : public NetworkRequest {
 public:
  enum class Kind { send, receive, collective };

  explicit MpiRequest(Kind kind) : kind_(kind) {}
  MpiRequest(const MpiRequest&) = delete;
  MpiRequest& operator=(const MpiRequest&) = delete;
  /// As little as possible shall still come: what cannot be cancelled any more is written on
  /// arrival. MPI knows no end of a collective but its own.
  ~MpiRequest() override {
    if (request_ == MPI_REQUEST_NULL || kind_ == Kind::collective || is_finalised()) return;
    if (kind_ == Kind::receive) MPI_Cancel(&request_);
    MPI_Request_free(&request_);
  }

  MPI_Request* handle() { return &request_; }
  bool is_done() override {
    int done = 0;
    check_mpi(MPI_Test(&request_, &done, MPI_STATUS_IGNORE), "MPI_Test");
    return done != 0;
  }

 private:
  Kind kind_;
  MPI_Request request_ = MPI_REQUEST_NULL;
};

/// Calls start(request).
template <class Start>
std::unique_ptr<NetworkRequest> started(MpiRequest::Kind kind, const char* call,
                                        const Start& start) {
  auto request = std::make_unique<MpiRequest>(kind);
  check_mpi(start(request->handle()), call);
  return request;
}

/// In log2(size) steps of messages: MPI_Iexscan of Open MPI passes sums on from rank to rank. In
/// each step a rank receives what the rank `distance` below has added up, and the distance doubles.
class SumOfLowerRanks final : public NetworkRequest {
 public:
  SumOfLowerRanks(Network& network, Span<Index> in_place, Span<Index> room)
      : network_(network),
        lower_(in_place),
        with_own_(room.subspan(0, in_place.size())),
        received_(room.subspan(in_place.size(), in_place.size())) {
    std::copy(lower_.begin(), lower_.end(), with_own_.begin());
    std::fill(lower_.begin(), lower_.end(), Index{0});
    start();
  }

  bool is_done() override {
    while (distance_ < network_.layout().size) {
      if (sent_ && sent_->is_done()) sent_.reset();
      if (arriving_ && arriving_->is_done()) {
        arriving_.reset();
        has_arrived_ = true;
      }
      if (sent_ || arriving_) return false;
      if (has_arrived_) add_received();
      distance_ *= 2;
      start();
    }
    return true;
  }

 private:
  void start() {
    const Network::RankLayout& own = network_.layout();
    const int above = own.rank + distance_, below = own.rank - distance_;
    if (above < own.size) sent_ = network_.send(parcel(with_own_, above));
    if (below >= 0) arriving_ = network_.receive(parcel(received_, below));
  }
  static Parcel parcel(Span<Index> numbers, int peer) {
    return {numbers.data(), static_cast<std::size_t>(numbers.size()) * sizeof(Index), peer,
            prefix_tag};
  }
  void add_received() {
    has_arrived_ = false;
    for (Index i = 0; i < received_.size(); ++i) {
      lower_[i] += received_[i];
      with_own_[i] += received_[i];
    }
  }

  static constexpr int prefix_tag = 6;

  Network& network_;
  Span<Index> lower_;
  Span<Index> with_own_;
  Span<Index> received_;
  int distance_ = 1;
  bool has_arrived_ = false;
  std::unique_ptr<NetworkRequest> sent_;
  std::unique_ptr<NetworkRequest> arriving_;
};

MPI_Op op_of(RankReduction reduction) {
  switch (reduction) {
    case RankReduction::sum: return MPI_SUM;
    case RankReduction::min: return MPI_MIN;
    case RankReduction::max: break;
  }
  return MPI_MAX;
}

class MpiNetwork final : public Network {
 public:
  using Kind = MpiRequest::Kind;

  explicit MpiNetwork(MPI_Comm parent) {
    // Without the caller's hints: it may have promised what does not hold here.
    check_mpi(MPI_Comm_dup_with_info(parent, MPI_INFO_NULL, &comm_), "MPI_Comm_dup_with_info");
    check_mpi(MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
    RankLayout layout;
    check_mpi(MPI_Comm_rank(comm_, &layout.rank), "MPI_Comm_rank");
    check_mpi(MPI_Comm_size(comm_, &layout.size), "MPI_Comm_size");
    MPI_Comm node = MPI_COMM_NULL;
    check_mpi(MPI_Comm_split_type(comm_, MPI_COMM_TYPE_SHARED, layout.rank, MPI_INFO_NULL, &node),
              "MPI_Comm_split_type");
    MPI_Comm_rank(node, &layout.node_rank);
    MPI_Comm_size(node, &layout.node_size);
    MPI_Comm_free(&node);
    set_layout(layout);
  }
  /// After MPI_Finalize the duplicate is gone already, and with messages under way MPI_Comm_free
  /// may wait for ever.
  ~MpiNetwork() override {
    if (!is_finalised() && !is_given_up_ && comm_ != MPI_COMM_NULL) MPI_Comm_free(&comm_);
  }

  MpiNetwork(const MpiNetwork&) = delete;
  MpiNetwork& operator=(const MpiNetwork&) = delete;

  MPI_Comm mpi_comm() const override { return comm_; }
  bool keeps_memory() const override { return true; }
  bool is_of_threads() const override { return false; }
  bool is_over() const override { return is_finalised(); }

  std::unique_ptr<NetworkRequest> send(const Parcel& parcel) override {
    return started(Kind::send, "MPI_Isend", [&](MPI_Request* request) {
      return MPI_Isend(parcel.data, static_cast<int>(parcel.bytes), MPI_BYTE, parcel.peer,
                       parcel.tag, comm_, request);
    });
  }
  std::unique_ptr<NetworkRequest> send_synchronously(const Parcel& parcel) override {
    return started(Kind::send, "MPI_Issend", [&](MPI_Request* request) {
      return MPI_Issend(parcel.data, static_cast<int>(parcel.bytes), MPI_BYTE, parcel.peer,
                        parcel.tag, comm_, request);
    });
  }
  std::unique_ptr<NetworkRequest> receive(const Parcel& parcel) override {
    return started(Kind::receive, "MPI_Irecv", [&](MPI_Request* request) {
      return MPI_Irecv(parcel.data, static_cast<int>(parcel.bytes), MPI_BYTE, parcel.peer,
                       parcel.tag, comm_, request);
    });
  }
  std::optional<int> find_arrived(int tag) override {
    int arrived = 0;
    MPI_Status status;
    check_mpi(MPI_Iprobe(MPI_ANY_SOURCE, tag, comm_, &arrived, &status), "MPI_Iprobe");
    return arrived != 0 ? std::optional<int>(status.MPI_SOURCE) : std::nullopt;
  }

  std::unique_ptr<NetworkRequest> barrier() override {
    return started(Kind::collective, "MPI_Ibarrier",
                   [&](MPI_Request* request) { return MPI_Ibarrier(comm_, request); });
  }
  std::unique_ptr<NetworkRequest> reduce(Span<Index> in_place, RankReduction reduction) override {
    return started(Kind::collective, "MPI_Iallreduce", [&](MPI_Request* request) {
      return MPI_Iallreduce(MPI_IN_PLACE, in_place.data(), static_cast<int>(in_place.size()),
                            MPI_INT64_T, op_of(reduction), comm_, request);
    });
  }
  std::unique_ptr<NetworkRequest> reduce(Span<double> in_place, RankReduction reduction) override {
    return started(Kind::collective, "MPI_Iallreduce", [&](MPI_Request* request) {
      return MPI_Iallreduce(MPI_IN_PLACE, in_place.data(), static_cast<int>(in_place.size()),
                            MPI_DOUBLE, op_of(reduction), comm_, request);
    });
  }
  std::unique_ptr<NetworkRequest> exclusive_sum(Span<Index> in_place, Span<Index> room) override {
    return std::make_unique<SumOfLowerRanks>(*this, in_place, room);
  }
  std::unique_ptr<NetworkRequest> broadcast(Span<char> bytes, int root) override {
    return started(Kind::collective, "MPI_Ibcast", [&](MPI_Request* request) {
      return MPI_Ibcast(bytes.data(), static_cast<int>(bytes.size()), MPI_BYTE, root, comm_,
                        request);
    });
  }
  std::unique_ptr<NetworkRequest> all_gather(Span<const char> record, Span<char> all) override {
    return started(Kind::collective, "MPI_Iallgather", [&](MPI_Request* request) {
      const int count = static_cast<int>(record.size());
      return MPI_Iallgather(record.data(), count, MPI_BYTE, all.data(), count, MPI_BYTE, comm_,
                            request);
    });
  }
  std::unique_ptr<NetworkRequest> all_to_all(Span<const Index> sent,
                                             Span<Index> received) override {
    return started(Kind::collective, "MPI_Ialltoall", [&](MPI_Request* request) {
      return MPI_Ialltoall(sent.data(), 1, MPI_INT64_T, received.data(), 1, MPI_INT64_T, comm_,
                           request);
    });
  }

  std::unique_ptr<Network> split(int colour) override {
    MPI_Comm part = MPI_COMM_NULL;
    check_mpi(MPI_Comm_split(comm_, colour, layout().rank, &part), "MPI_Comm_split");
    return made_of(part);
  }
  std::unique_ptr<Network> split_by_machine() override {
    MPI_Comm part = MPI_COMM_NULL;
    check_mpi(MPI_Comm_split_type(comm_, MPI_COMM_TYPE_SHARED, layout().rank, MPI_INFO_NULL, &part),
              "MPI_Comm_split_type");
    return made_of(part);
  }
  std::vector<int> ranks_of(const Network& part) const override {
    MPI_Group members = MPI_GROUP_NULL, all = MPI_GROUP_NULL;
    check_mpi(MPI_Comm_group(part.mpi_comm(), &members), "MPI_Comm_group");
    check_mpi(MPI_Comm_group(comm_, &all), "MPI_Comm_group");
    std::vector<int> own(static_cast<std::size_t>(part.layout().size)), ranks(own.size());
    std::iota(own.begin(), own.end(), 0);
    const int code =
        MPI_Group_translate_ranks(members, part.layout().size, own.data(), all, ranks.data());
    MPI_Group_free(&members);
    MPI_Group_free(&all);
    check_mpi(code, "MPI_Group_translate_ranks");
    return ranks;
  }

  /// The others cannot be told: they wait until their own limits.
  void give_up(const std::string&) noexcept override { is_given_up_ = true; }

 private:
  /// Takes over `part`, which is freed.
  static std::unique_ptr<Network> made_of(MPI_Comm part) {
    auto network = std::make_unique<MpiNetwork>(part);
    MPI_Comm_free(&part);
    return network;
  }

  MPI_Comm comm_ = MPI_COMM_NULL;
  bool is_given_up_ = false;
};

}  // namespace

std::unique_ptr<Network> make_mpi_network(MPI_Comm parent) {
  return std::make_unique<MpiNetwork>(parent);
}

}  // namespace zhalo
