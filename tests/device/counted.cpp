#include "tests/device/counted.hpp"

#include <cmath>
#include <functional>

#include "tests/device/runtime/profile.hpp"
#include "zhalo/catalogue/catalogue.hpp"
#include "zhalo/fof/fof.hpp"
#include "zhalo/ics/points.hpp"
#include "zhalo/knn/knn.hpp"

namespace zhalo::emulated {
namespace {

/// Particles in the memory of the device.
class Setup {
 public:
  Setup(const std::string& kind, Index num)
      : num_(num),
        rows_(to_exec(context_.exec,
                      Span<const float>(points::make_points(points::kind_of(kind), num).pos),
                      "positions")) {}

  Index num() const { return num_; }
  const Exec& exec() const { return context_.exec; }

  FofResult find_groups() const {
    return friends_of_friends(context_, particles(), box_, {.linking_length = linking_length()});
  }
  Domain<float> domain() const {
    return {context_, particles(), box_, {.min_length = linking_length()}};
  }
  FofResult find_groups(const Domain<float>& domain) const {
    return friends_of_friends(domain, {.linking_length = linking_length()});
  }
  KnnResult<float> find_neighbours(int k, Index chunk_bytes = 0) const {
    return knn(context_, particles(), box_, {.k = k, .chunk_bytes = chunk_bytes});
  }

 private:
  double linking_length() const { return 0.2 / std::cbrt(static_cast<double>(num_)); }
  Particles<float> particles() const {
    Particles<float> all;
    all.segments = {ParticleSegment<float>::interleaved(rows_.data(), num_, 3)};
    return all;
  }

  static Context on_device() {
    Context context;
    context.exec = cuda_exec();
    return context;
  }

  Index num_;
  Context context_ = on_device();
  Box box_ = Box::periodic_cube(1);
  Buffer<float> rows_;
};

/// In registers, and by selection.
constexpr int numbers_of_neighbours[] = {8, 64};

std::string knn_case(const std::string& kind, int k) {
  return "knn/self/" + kind + "/k" + std::to_string(k);
}

}  // namespace

Counted count_second(const Counted& what, const Exec& exec, const std::function<void()>& call) {
  call();
  call();  // now the pool has settled
  MemoryPool& pool = *memory(exec);
  pool.reset_peak();
  const Counts before = counts();
  call();
  Counted result{what.name, what.num, pool.peak_bytes(), counts()};
  for (std::size_t i = 0; i < num_events; ++i) result.counts.at(i) -= before.at(i);
  return result;
}

std::vector<Counted> count_cases(Index num) {
  std::vector<Counted> all;
  for (const std::string kind : {"uniform", "clustered"}) {
    const Setup setup(kind, num);
    const auto count = [&](const std::string& name, const std::function<void()>& call) {
      all.push_back(count_second({name, num}, setup.exec(), call));
    };
    count("fof/" + kind + "/b0.2", [&] { setup.find_groups(); });
    for (const int k : numbers_of_neighbours)
      count(knn_case(kind, k), [&] { setup.find_neighbours(k); });
    const Domain<float> domain = setup.domain();
    const FofResult groups = setup.find_groups(domain);
    count("catalogue/" + kind + "/b0.2", [&] { make_catalogue(domain, groups.label.span(), {}); });
  }
  return all;
}

CountedChunks count_chunks(Index num) {
  constexpr Index bytes_of_list = 8 * (sizeof(float) + sizeof(LocalIndex));
  const Setup setup("uniform", num);
  CountedChunks result;
  result.counted = count_second({"knn in chunks", num}, setup.exec(), [&] {
    result.num_chunks = setup.find_neighbours(8, num / 5 * bytes_of_list).statistics.chunks;
  });
  return result;
}

bool run_case(const std::string& name, Index num) {
  for (const std::string kind : {"uniform", "clustered"}) {
    for (const int k : numbers_of_neighbours)
      if (name == knn_case(kind, k)) return Setup(kind, num).find_neighbours(k), true;
    if (name == "fof/" + kind + "/b0.2") return Setup(kind, num).find_groups(), true;
    if (name == "catalogue/" + kind + "/b0.2") {
      const Setup setup(kind, num);
      const Domain<float> domain = setup.domain();
      const FofResult groups = setup.find_groups(domain);
      profile::clear();
      return make_catalogue(domain, groups.label.span(), {}), true;
    }
  }
  return run_mesh_case(name, num);
}

}  // namespace zhalo::emulated
