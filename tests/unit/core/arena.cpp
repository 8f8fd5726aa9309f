/// MemoryPool as an arena of a device: repeated calls, and what is said when it is full.
#include <catch2/catch.hpp>

#include <string>
#include <vector>

#include "tests/support/random.hpp"
#include "tests/unit/core/small_machine.hpp"

namespace {

using namespace zhalo;
using namespace zhalo::testing;
using Catch::Contains;

/// What a call does: takes blocks of many sizes and frees them in any order, but for the last one.
struct Request {
  std::size_t bytes;      ///< 0: frees a block
  std::size_t which = 0;  ///< of those that are there
};

std::vector<Request> random_call(std::uint64_t seed, std::size_t unit) {
  Random random(seed);
  std::vector<Request> call;
  std::size_t num = 0;
  for (int i = 0; i < 200; ++i) {
    const bool frees = num > 0 && (num > 12 || random.uniform() < 0.45);
    if (frees) {
      call.push_back({0, static_cast<std::size_t>(random.uniform() * static_cast<double>(num))});
      --num;
    } else {
      const double large = random.uniform();
      call.push_back({unit + static_cast<std::size_t>(large * large * 100.0) * unit});
      ++num;
    }
  }
  return call;
}

void run(MemoryPool& pool, const std::vector<Request>& call) {
  std::vector<void*> blocks;
  for (const Request& request : call) {
    if (request.bytes > 0) {
      blocks.push_back(pool.allocate(request.bytes, "test"));
    } else {
      pool.deallocate(blocks[request.which]);
      blocks.erase(blocks.begin() + static_cast<std::ptrdiff_t>(request.which));
    }
  }
  for (void* block : blocks) pool.deallocate(block);
}

}  // namespace

TEST_CASE("MemoryPool: a repeated call allocates nothing of an arena") {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    INFO("seed " << seed);
    Machine::start(1000 * mib);
    MemoryPool::Source source = Machine::arena();
    source.keep_bytes = 1000 * mib;  // nothing is given back
    MemoryPool pool(source);
    void* other = pool.allocate(3 * kib, "what is there before");
    const std::vector<Request> call = random_call(seed, kib);
    run(pool, call);
    const int calls = Machine::calls;
    CHECK(calls > 1);
    for (int repeat = 0; repeat < 3; ++repeat) run(pool, call);
    CHECK(Machine::calls == calls);
    CHECK(pool.peak_held() == Machine::given);
    CHECK(pool.bytes_held() == Machine::given);
    CHECK(pool.available_bytes() == Machine::available() + Machine::given - pool.bytes_in_use());
    pool.deallocate(other);
    pool.release();
    CHECK(Machine::given == 0);
  }
}

TEST_CASE("MemoryPool: an arena gives memory back before it holds far more than is used") {
  Machine::start(1000 * mib);
  MemoryPool pool(Machine::arena());
  for (std::size_t size = 1; size < 40; ++size)
    pool.deallocate(pool.allocate(size * mib, "ever more"));
  CHECK(pool.peak_held() <= 2 * pool.peak_bytes());
  CHECK(pool.peak_bytes() == 39 * mib);
}

TEST_CASE("MemoryPool: the error of a full machine has the remedy that was set") {
  Machine::start(mib);
  MemoryPool pool(Machine::arena());
  std::size_t needed = 0, capacity = 0;
  pool.set_remedy([&](std::size_t in_use, std::size_t max_bytes) {
    needed = in_use;
    capacity = max_bytes;
    return std::string("buy one");
  });
  void* block = pool.allocate(mib / 2, "half");
  CHECK_THROWS_WITH(pool.allocate(mib, "more"),
                    Contains("needed for more") && Contains("; buy one"));
  CHECK(needed == mib + mib / 2);
  CHECK(capacity == mib);
  CHECK(static_cast<bool>(pool.set_remedy({})));
  CHECK_THROWS_WITH(pool.allocate(mib, "more"), Contains("use more ranks"));
  pool.deallocate(block);
}

TEST_CASE("MemoryPool: abandoned blocks are never used again or given back") {
  Machine::start(1000 * mib);
  void* block = nullptr;
  {
    MemoryPool pool(Machine::arena());
    block = pool.allocate(mib, "what MPI may still write");
    pool.abandon_used();
    pool.deallocate(block);
    void* other = pool.allocate(mib, "the same again");
    CHECK(other != block);
    pool.deallocate(other);
    pool.release();
    CHECK(pool.bytes_in_use() == mib);
  }
  CHECK(Machine::given >= mib);
  Machine::deallocate(block);  // it is where its chunk begins
}

TEST_CASE("MemoryPool: what is kept lives until memory is released") {
  MemoryPool pool;
  pool.kept<std::vector<int>>().push_back(7);
  CHECK(pool.kept<std::vector<int>>().size() == 1);
  CHECK(pool.kept<std::vector<double>>().empty());
  pool.release();
  CHECK(pool.kept<std::vector<int>>().empty());
}
