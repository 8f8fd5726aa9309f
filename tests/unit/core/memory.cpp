/// MemoryPool and Buffer: reuse, counting, running out, ownership.
#include <sys/resource.h>
#include <unistd.h>
#include <catch2/catch.hpp>
#include <cstring>
#include <fstream>
#include <thread>

#include "tests/support/random.hpp"
#include "tests/unit/core/small_machine.hpp"
#include "zhalo/core/buffer.hpp"
#include "zhalo/core/error.hpp"

namespace {

using namespace zhalo;
using namespace zhalo::testing;
using Catch::Contains;

/// A limit on the addresses of this process, for the length of a test.
class AddressLimit {
 public:
  explicit AddressLimit(std::size_t bytes) {
    ::getrlimit(RLIMIT_AS, &before_);
    rlimit limit = before_;
    limit.rlim_cur = std::min<rlim_t>(bytes, before_.rlim_max);
    ::setrlimit(RLIMIT_AS, &limit);
  }
  ~AddressLimit() { ::setrlimit(RLIMIT_AS, &before_); }
  AddressLimit(const AddressLimit&) = delete;
  AddressLimit& operator=(const AddressLimit&) = delete;

 private:
  rlimit before_{};
};

std::size_t address_bytes() {
  std::size_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  return pages * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

}  // namespace

TEST_CASE("MemoryPool: blocks are aligned, distinct and writable") {
  MemoryPool pool;
  std::vector<char*> blocks;
  for (const std::size_t bytes : {0U, 1U, 63U, 64U, 65U, 1000U, 100'000U}) {
    char* block = static_cast<char*>(pool.allocate(bytes, "test"));
    CHECK(reinterpret_cast<std::uintptr_t>(block) % 64 == 0);
    std::memset(block, static_cast<int>(blocks.size()), bytes);
    CHECK(std::find(blocks.begin(), blocks.end(), block) == blocks.end());
    blocks.push_back(block);
  }
  CHECK(pool.bytes_in_use() >= 101'193);
  for (char* block : blocks) pool.deallocate(block);
  CHECK(pool.bytes_in_use() == 0);
}

TEST_CASE("MemoryPool: freed memory is used again, also cut and joined") {
  Machine::start(64 * mib);
  MemoryPool pool(Machine::source());
  void* a = pool.allocate(mib, "a");
  pool.deallocate(a);
  CHECK(pool.allocate(mib, "again") == a);
  pool.deallocate(a);
  CHECK(Machine::calls == 1);
  void* half = pool.allocate(512 * kib, "half");
  void* other_half = pool.allocate(512 * kib, "other half");
  CHECK(Machine::calls == 1);
  CHECK(half != other_half);
  pool.deallocate(half);
  pool.deallocate(other_half);
  CHECK(pool.allocate(mib, "whole again") == a);
  CHECK(Machine::calls == 1);
  CHECK(pool.bytes_in_use() == mib);
  CHECK(pool.peak_bytes() == mib);
  pool.deallocate(a);
}

TEST_CASE("MemoryPool: the peak is of what was in use at once, and can start anew") {
  MemoryPool pool;
  void* a = pool.allocate(mib, "a");
  void* b = pool.allocate(mib, "b");
  pool.deallocate(a);
  a = pool.allocate(mib, "a");
  CHECK(pool.peak_bytes() == 2 * mib);
  pool.deallocate(b);
  CHECK(pool.bytes_in_use() == mib);
  CHECK(pool.peak_bytes() == 2 * mib);
  pool.reset_peak();
  CHECK(pool.peak_bytes() == mib);
  pool.deallocate(a);
  CHECK(pool.peak_bytes() == mib);
  CHECK(pool.bytes_held() == 2 * mib);
  CHECK(pool.peak_held() == 2 * mib);
  pool.release();
  CHECK(pool.peak_held() == 2 * mib);
  pool.reset_peak();
  CHECK(pool.peak_held() == 0);
}

TEST_CASE("MemoryPool: what was in use at once is kept for the next time") {
  Machine::start(1024 * mib);
  MemoryPool pool(Machine::source());
  const auto use_ten = [&] {
    std::vector<void*> blocks;
    for (int i = 0; i < 10; ++i) blocks.push_back(pool.allocate(10 * mib, "many"));
    for (void* block : blocks) pool.deallocate(block);
  };
  use_ten();
  pool.deallocate(pool.allocate(11 * mib, "one that fits nowhere"));
  CHECK(Machine::calls == 11);
  use_ten();
  CHECK(Machine::calls == 11);
}

TEST_CASE("MemoryPool: what is kept for the next step does not depend on a peak that starts anew") {
  Machine::start(1024 * mib);
  MemoryPool pool(Machine::source());
  const auto use = [&] {
    pool.reset_peak();
    void* const first = pool.allocate(mib, "the first of a step");
    std::vector<void*> blocks(10);
    for (void*& block : blocks) block = pool.allocate(10 * mib, "many");
    for (void* const block : blocks) pool.deallocate(block);
    void* const odd = pool.allocate(11 * mib, "one that fits nowhere");
    pool.deallocate(odd);
    pool.deallocate(first);
  };
  use();
  CHECK(Machine::calls == 12);
  pool.reset_peak();
  void* const larger = pool.allocate(12 * mib, "one that fits nowhere, while little is in use");
  CHECK(pool.bytes_held() == 124 * mib);
  use();
  CHECK(Machine::calls == 13);
  pool.deallocate(larger);
}

TEST_CASE("MemoryPool: small blocks do not cut up large ones") {
  Machine::start(1024 * mib);
  MemoryPool pool(Machine::source());
  void* const large = pool.allocate(64 * mib, "large");
  pool.deallocate(large);
  void* const small = pool.allocate(mib, "small");
  CHECK(pool.allocate(64 * mib, "large again") == large);
  pool.deallocate(large);
  pool.deallocate(small);
}

TEST_CASE("MemoryPool: large requests beyond what is available are not even tried") {
  Machine::start(1024 * mib);
  MemoryPool::Source source = Machine::source();
  source.available = [] { return 100 * mib; };  // as Linux, which grants more than it has
  MemoryPool pool(source);
  CHECK_THROWS_AS(pool.allocate(101 * mib, "too much"), OutOfMemory);
  CHECK(Machine::calls == 0);
  pool.deallocate(pool.allocate(100 * mib, "all there is"));
}

TEST_CASE("available_host_bytes: within a limit on addresses it is what is left of them") {
  constexpr std::size_t left = 1024 * mib;
  const AddressLimit limit(address_bytes() + left);
  CHECK(available_host_bytes() <= left + 16 * mib);
  CHECK_FALSE(describe_memory_limit().empty());
}

TEST_CASE("MemoryPool: what it holds stays near the peak of what was in use") {
  Machine::start(1024 * mib);
  MemoryPool pool(Machine::source());
  for (std::size_t size = mib; size < 20 * mib; size += 3 * mib / 2)
    pool.deallocate(pool.allocate(size, "growing"));
  CHECK(Machine::given <= pool.peak_bytes() * 3 / 2 + 4 * kib);
  pool.release();
  CHECK(Machine::given == 0);
}

TEST_CASE("MemoryPool: release gives back what is not in use, and nothing else") {
  Machine::start(64 * mib);
  {
    MemoryPool pool(Machine::source());
    char* kept = static_cast<char*>(pool.allocate(mib, "kept"));
    pool.deallocate(pool.allocate(8 * mib, "freed"));
    std::memset(kept, 7, mib);
    pool.release();
    CHECK(Machine::given == mib);
    CHECK(kept[mib - 1] == 7);
    CHECK(pool.bytes_in_use() == mib);
    pool.deallocate(kept);
  }
  CHECK(Machine::given == 0);
}

TEST_CASE("MemoryPool: memory that is kept but not in use does not make an OutOfMemory") {
  Machine::start(10 * mib);
  MemoryPool pool(Machine::source());
  std::vector<void*> blocks;
  for (int i = 0; i < 9; ++i) blocks.push_back(pool.allocate(mib, "small"));
  for (void* block : blocks) pool.deallocate(block);
  void* large = pool.allocate(9 * mib, "large");
  CHECK(large != nullptr);
  pool.deallocate(large);
}

TEST_CASE(
    "MemoryPool: OutOfMemory says how much, for what, and what there is; the pool stays usable") {
  Machine::start(100 * mib);
  MemoryPool pool(Machine::source());
  void* a = pool.allocate(50 * mib, "positions");
  CHECK_THROWS_AS(pool.allocate(75 * mib, "ghosts"), OutOfMemory);
  CHECK_THROWS_WITH(pool.allocate(75 * mib, "ghosts"),
                    Contains("out of toy memory") && Contains("0.073 GiB are needed for ghosts") &&
                        Contains("0.049 GiB are available") && Contains("uses 0.049 GiB"));
  CHECK(pool.bytes_in_use() == 50 * mib);
  CHECK(pool.peak_bytes() == 50 * mib);
  void* b = pool.allocate(40 * mib, "fits");
  pool.deallocate(a);
  pool.deallocate(b);
}

TEST_CASE("MemoryPool: OutOfMemory does not say what there is where nobody knows") {
  Machine::start(10 * mib);
  MemoryPool::Source source = Machine::source();
  source.available = [] { return std::numeric_limits<std::size_t>::max(); };
  MemoryPool pool(source);
  CHECK_THROWS_WITH(pool.allocate(11 * mib, "staging"),
                    Contains("0.011 GiB are needed for staging and zhalo already uses 0.000 GiB"));
}

TEST_CASE("MemoryPool: what no machine has is refused without being tried") {
  MemoryPool pool;
  CHECK_THROWS_AS(pool.allocate(1'000'000'000'000'000, "a petabyte"), OutOfMemory);
  CHECK_THROWS_WITH(pool.allocate(1'000'000'000'000'000, "a petabyte"),
                    Contains("host memory") &&
                        Contains("931322.575 GiB are needed for a petabyte") &&
                        Contains("more ranks"));
  const Exec exec = host_exec(1);
  CHECK_THROWS_AS(Buffer<double>(exec, Index{1} << 61, "bytes beyond 64 bits"), OutOfMemory);
  CHECK_THROWS_AS(Buffer<double>(exec, std::numeric_limits<Index>::max(), "the most there is"),
                  OutOfMemory);
  CHECK(memory(exec)->bytes_in_use() == 0);
}

TEST_CASE("MemoryPool: random use never gives two owners the same bytes") {
  Machine::start(4096 * mib);
  {
    MemoryPool pool(Machine::source());
    testing::Random random(1);
    struct Block {
      unsigned char* at;
      std::size_t bytes;
      unsigned char mark;
    };
    std::vector<Block> blocks;
    std::size_t in_use = 0;
    const auto free_one = [&](std::size_t i) {
      const Block block = blocks[i];
      for (std::size_t k = 0; k < block.bytes; k += 97) REQUIRE(block.at[k] == block.mark);
      pool.deallocate(block.at);
      in_use -= block.bytes;
      blocks[i] = blocks.back();
      blocks.pop_back();
    };
    for (int step = 0; step < 3000; ++step) {
      if (!blocks.empty() && random.one_in(2)) {
        free_one(static_cast<std::size_t>(random.below(static_cast<Index>(blocks.size()))));
        continue;
      }
      const auto bytes = static_cast<std::size_t>(random.log_uniform(1, 1e6));
      const auto mark = static_cast<unsigned char>(random.below(256));
      blocks.push_back({static_cast<unsigned char*>(pool.allocate(bytes, "random")), bytes, mark});
      std::memset(blocks.back().at, mark, bytes);
      in_use += bytes;
      REQUIRE(pool.bytes_in_use() >= in_use);
      REQUIRE(pool.bytes_in_use() <= in_use + 256 * blocks.size());
      REQUIRE(pool.bytes_in_use() <= Machine::given);
    }
    while (!blocks.empty()) free_one(0);
    CHECK(pool.bytes_in_use() == 0);
    CHECK(Machine::calls < 1000);
    pool.release();
  }
  CHECK(Machine::given == 0);
}

TEST_CASE("MemoryPool: threads may share it") {
  MemoryPool pool;
  const auto work = [&](int seed) {
    for (int i = 0; i < 500; ++i) {
      const std::size_t bytes = static_cast<std::size_t>(seed * 100 + i);
      auto* block = static_cast<unsigned char*>(pool.allocate(bytes, "thread"));
      std::memset(block, seed, bytes);
      pool.deallocate(block);
    }
  };
  std::thread other(work, 1);
  work(2);
  other.join();
  CHECK(pool.bytes_in_use() == 0);
}

TEST_CASE("Buffer: owns, moves, gives back") {
  const Exec exec = host_exec(1);
  const MemoryPool& pool = *memory(exec);
  {
    Buffer<Index> a(exec, 10, "a");
    for (Index i = 0; i < 10; ++i) a.span()[i] = i;
    const Index* data = a.data();
    Buffer<Index> b(std::move(a));
    CHECK(b.data() == data);
    CHECK(b.size() == 10);
    CHECK(a.size() == 0);
    CHECK(a.empty());
    Buffer<Index> c(exec, 3, "c");
    c = std::move(b);
    CHECK(c.data() == data);
    CHECK(c.span()[9] == 9);
    Buffer<Index>& same = c;
    c = std::move(same);
    CHECK(c.size() == 10);
    CHECK(c.data() == data);
    c = {};
    CHECK(c.empty());
    CHECK(pool.bytes_in_use() == 0);
  }
  CHECK(pool.bytes_in_use() == 0);
}

TEST_CASE("Buffer: nothing of a size of zero, room behind the end, shrinking") {
  const Exec exec = host_exec(1);
  Buffer<float> none(exec, 0, "none");
  CHECK(none.empty());
  CHECK(none.span().empty());
  for (Index i = 0; i < Buffer<float>::padding; ++i) none.data()[i] = 1;
  Buffer<float> some(exec, 100, "some");
  for (Index i = 0; i < 100 + Buffer<float>::padding; ++i) some.data()[i] = 1;
  some.shrink(40);
  CHECK(some.size() == 40);
  if (ZHALO_CHECKED) {
    CHECK_THROWS_AS(some.shrink(41), ContractViolation);
    CHECK_THROWS_AS(some.shrink(-1), ContractViolation);
    CHECK_THROWS_AS(Buffer<float>(exec, -1, "less than none"), ContractViolation);
  }
  CHECK(some.size() == 40);
}

TEST_CASE("MemoryPool: each request is a block of its own, where tools are to see its ends") {
  Machine::start(mib);
  MemoryPool::Source source = Machine::source();
  source.separate = true;
  MemoryPool pool(source);
  void* const large = pool.allocate(10 * kib, "large");
  pool.deallocate(large);
  CHECK(Machine::blocks.empty());  // nothing is kept
  void* const odd = pool.allocate(1001, "odd");
  void* const small = pool.allocate(1, "small");
  CHECK(Machine::blocks == std::map<void*, std::size_t>{{odd, 1001}, {small, 1}});
  CHECK(pool.bytes_in_use() == 1002);
  pool.deallocate(odd);
  pool.deallocate(small);
  CHECK(Machine::given == 0);
}

TEST_CASE("Buffer: copies from and to the host") {
  const Exec exec = host_exec(1);
  const std::vector<double> values{1, 2, 3};
  const Buffer<double> buffer = to_exec(exec, Span<const double>(values), "values");
  CHECK(to_host(exec, buffer) == values);
  CHECK(to_host(exec, buffer.span().subspan(1, 2)) == std::vector<double>{2, 3});
  CHECK(to_host(exec, to_exec(exec, Span<const double>(), "nothing")).empty());
  const Span<const double> missing(nullptr, 3);
  CHECK_THROWS_AS(to_host(exec, missing), InputError);
  CHECK_THROWS_WITH(to_exec(exec, missing, "missing"), "24 bytes are to be copied from null");
}

TEST_CASE("Buffer: lives longer than the Exec that it was made with") {
  Buffer<int> buffer;
  {
    const Exec exec = host_exec(1);
    buffer = Buffer<int>(exec, 1000, "survivor");
  }
  buffer.span()[999] = 5;
  CHECK(buffer.span()[999] == 5);
}
