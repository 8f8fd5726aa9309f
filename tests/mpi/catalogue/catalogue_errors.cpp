/// What fails on one rank while a catalogue is made is the same error on all.
#include <catch2/catch.hpp>

#include <cstdlib>

#include "tests/mpi/catalogue/catalogue_samples.hpp"
#include "zhalo/core/error.hpp"

namespace zhalo::testing {

TEST_CASE("an error on one rank at any collective is everybody's, and nobody waits") {
  int calls = 0;
  int stop_at = -1;
  CommunicatorOptions options;
  options.observer = [&](const char*) {
    if (++calls == stop_at) throw Interrupted("stopped");
  };
  const Context context = host_context(1, options);
  const int size = context.comm.size();
  const int rank = context.comm.rank();
  const Index num = 500;
  const auto part_of = [](Index i) { return i % 2 == 0 ? 0 : i / 10; };
  Sample sample = make_sample("interrupted", num, 0.1, part_of, with({2, 3, {0, 1}}));
  const Share share = share_of(num, rank, size);
  const Part<float> part(context.exec, sample, share, rank, Columns::mixed);
  const auto work = [&] {
    const auto catalogue =
        make_catalogue(context, part.particles(), sample.box, part.label(), sample.options);
    return in_group_order(context, catalogue, part.label()).size();
  };
  calls = 0;
  const Index num_members = work();
  const int num_calls = calls;
  CHECK(num_calls > (size > 1 ? 40 : 10));
  for (int n = 1; n <= num_calls; ++n) {
    const int culprit = n % size;
    calls = 0;
    stop_at = rank == culprit ? n : -1;
    std::string message;
    try {
      work();
    } catch (const Interrupted& error) {
      message = error.what();
    }
    stop_at = -1;
    CHECK(message == (size > 1 ? "rank " + std::to_string(culprit) + ": stopped" : "stopped"));
    CHECK(context.comm.sum(Index{1}) == size);
  }
  CHECK(work() == num_members);
}

namespace {

/// Allocations from the system until memory is gone; negative: never.
int allocations_left = -1;

void* allocate(std::size_t bytes) {
  if (allocations_left == 0) return nullptr;
  if (allocations_left > 0) --allocations_left;
  return std::malloc(bytes);
}

}  // namespace

TEST_CASE("memory that is gone on one rank is everybody's error") {
  const Context context = host_context();
  const int size = context.comm.size();
  const int rank = context.comm.rank();
  const Index num = 2000;
  const Sample sample = make_sample("out of memory", num, 0.1, [](Index i) { return i % 3; });
  const Part<float> part(context.exec, sample, share_of(num, rank, size), rank, Columns::all);
  bool failed = true;
  int n = 0;
  for (; failed; ++n) {
    Context small = host_context();
    const MemoryPool::Source source{&allocate, &std::free, [] { return std::size_t{0}; },
                                    "test memory"};
    small.exec = Host{1, std::make_shared<MemoryPool>(source)};
    allocations_left = rank == n % size ? n : -1;
    failed = false;
    try {
      make_catalogue(small, part.particles(), sample.box, part.label(), sample.options);
    } catch (const OutOfMemory& error) {
      failed = true;
      CHECK_THAT(error.what(), Catch::Contains("test memory"));
    }
    allocations_left = -1;
    CHECK(small.comm.sum(Index{failed ? 1 : 0}) == (failed ? size : 0));
  }
  CHECK(n > 5);
}

TEST_CASE("the first bad particle is that of all ranks") {
  const Context context = host_context();
  const int size = context.comm.size();
  const Index num = Index{100} * size;
  const auto own = [](Index i) { return i; };
  const Sample sample = make_sample("bad", num, 0, own, with({2, 3}));  // anywhere in the box
  const auto fails = [&](const Sample& given, const auto& text) {
    const Part<float> part(context.exec, given, {Index{100} * context.comm.rank(), 100},
                           context.comm.rank(), Columns::all);
    CHECK_THROWS_WITH(
        make_catalogue(context, part.particles(), given.box, part.label(), given.options), text);
  };
  for (Index first = 0; first < 100; first += 9) {
    Sample bad = sample;
    for (Index i = first; i < num; i += 50) bad.mass[static_cast<std::size_t>(i)] = -1;
    fails(bad, Catch::Contains("the first is particle " + std::to_string(first) + ";"));
    bad = sample;
    for (Index i = first; i < num; i += 50) bad.type[static_cast<std::size_t>(i)] = 3;
    fails(bad, Catch::EndsWith("num_types, 3; the first is particle " + std::to_string(first)));
  }
  // One type for all, as a domain finds by itself.
  const Part<float> part(context.exec, sample, {Index{100} * context.comm.rank(), 100},
                         context.comm.rank(), Columns::none);
  const std::uint8_t three = 3;
  Particles<float> of_one_type = part.particles();
  for (ParticleSegment<float>& segment : of_one_type.segments) segment.type = {&three, 0};
  CHECK_THROWS_WITH(make_catalogue(context, of_one_type, sample.box, part.label(), sample.options),
                    Catch::Contains("have a type that is not below num_types, 3;"));
}

TEST_CASE("bad input on one rank is the same error on all") {
  const Context context = host_context();
  const int size = context.comm.size();
  const int last = size - 1;
  const int rank = context.comm.rank();
  const Index num = Index{100} * size;
  Sample sample = make_sample("bad", num, 0.1, [](Index i) { return i / 7; });
  const auto run = [&](const Sample& given, const CatalogueOptions& options) {
    const Part<float> part(context.exec, given, {Index{100} * rank, 100}, rank, Columns::all);
    make_catalogue(context, part.particles(), given.box, part.label(), options);
  };
  const auto fails = [&](const Sample& given, const CatalogueOptions& options,
                         const std::string& text) {
    CHECK_THROWS_AS(run(given, options), InputError);
    CHECK_THROWS_WITH(run(given, options), Catch::Contains(text));
  };
  Sample bad = sample;
  bad.mass[static_cast<std::size_t>(num - 3)] = 0;
  fails(bad, sample.options, "1 of " + std::to_string(num) + " particles have a mass");
  fails(bad, sample.options, "the first is particle " + std::to_string(num - 3));
  bad = sample;
  bad.label[static_cast<std::size_t>(num - 3)] = num;
  bad.label[0] = -2;
  fails(bad, sample.options, "2 labels are neither no_group nor a global index");
  fails(sample, {0, 3}, "min_members is 0");
  fails(sample, {2, 0}, "num_types is 0 (must be 1 to 256");
  fails(sample, {2, 257}, "num_types is 257 (must be 1 to 256");
  fails(sample, {2, 1}, "have a type that is not below num_types, 1;");
  fails(sample, {2, 3, {3}}, "counted_types has type 3 (there are 0 to 2, by num_types)");
  fails(sample, {2, 3, {-1}}, "counted_types has type -1");
  if (size > 1) {
    fails(sample, {rank == last ? 3 : 2, 3},
          "ranks 0 and " + std::to_string(last) + " want catalogues with different");
    fails(sample, {2, 3, rank == last ? std::vector<int>{1} : std::vector<int>{}},
          "want catalogues with different");
    bad = sample;
    if (rank == last) bad.box.length[1] = 2;
    fails(bad, sample.options,
          "ranks 0 and " + std::to_string(last) + " want catalogues with different");
  }
  const Part<float> part(context.exec, sample, {Index{100} * rank, 100}, rank, Columns::all);
  const auto catalogue =
      make_catalogue(context, part.particles(), sample.box, part.label(), sample.options);
  const auto short_column = part.label().subspan(0, rank == last ? 99 : 100);
  CHECK_THROWS_WITH(in_group_order(context, catalogue, short_column),
                    Catch::Contains("a column has 99 elements on this rank, which has 100"));
  CHECK(in_group_order(context, catalogue, part.label()).size() == catalogue.members.size());
}

TEST_CASE("columns without memory, and of another domain, are the same error on all") {
  const Context context = host_context();
  const int size = context.comm.size();
  const Index num = Index{100} * size;
  const Sample sample = make_sample("columns", num, 0.1, [](Index i) { return i / 7; });
  const auto part_of = [&](Index count) {
    return Part<float>(context.exec, sample, {Index{100} * context.comm.rank(), count},
                       context.comm.rank(), Columns::all);
  };
  const Part<float> part = part_of(100), other = part_of(50);
  const Domain<float> domain(context, part.particles(), sample.box);
  const Catalogue catalogue =
      make_catalogue(domain, domain.to_domain_order(part.label()).span(), sample.options);
  std::vector<Index> room(static_cast<std::size_t>(num));
  const ColumnView nothing{nullptr, 100, sizeof(Index), 0};
  const ColumnView labels = column_view(part.label());
  const auto contains = Catch::Contains("has no memory");
  CHECK_THROWS_WITH(gather_in_group_order(domain, catalogue, {nothing}, room.data()), contains);
  CHECK_THROWS_WITH(gather_in_group_order(domain, catalogue, {labels}, nullptr), contains);
  CHECK_THROWS_WITH(gather_in_group_order(context, catalogue, nothing, room.data()), contains);
  CHECK_THROWS_WITH(gather_in_group_order(context, catalogue, labels, nullptr), contains);
  gather_in_group_order(domain, catalogue, {labels}, room.data());
  ColumnView no_size = labels;
  no_size.element_size = 0;
  CHECK_THROWS_WITH(gather_in_group_order(domain, catalogue, {no_size}, room.data()),
                    Catch::Contains("elements of 0 bytes"));
  CHECK_THROWS_WITH(gather_in_group_order(context, catalogue, no_size, room.data()),
                    Catch::Contains("elements of 0 bytes"));
  CHECK_THROWS_WITH(gather_in_group_order(context, Catalogue{}, {nullptr, 0, 8, 0}, nullptr),
                    Catch::Contains("the catalogue is empty"));
  const Catalogue of_particles =
      make_catalogue(context, part.particles(), sample.box, part.label(), sample.options);
  CHECK_THROWS_WITH(gather_in_group_order(domain, of_particles, {labels}, room.data()),
                    Catch::Contains("particles in the caller's order"));
  const Domain<float> of_others(context, other.particles(), sample.box);
  CHECK_THROWS_WITH(
      gather_in_group_order(of_others, catalogue, {column_view(other.label())}, room.data()),
      Catch::Contains("the catalogue is of 100 particles on this rank, the domain of 50"));
}

TEST_CASE("labels without memory on one rank are the same error on all") {
  const Context context = host_context();
  const Sample sample =
      make_sample("labels", Index{100} * context.comm.size(), 0.1, [](Index i) { return i / 7; });
  const Part<float> part(context.exec, sample, {Index{100} * context.comm.rank(), 100},
                         context.comm.rank(), Columns::all);
  const Domain<float> domain(context, part.particles(), sample.box);
  const Domain<float> of_two(context, {part.particles(), part.particles()}, sample.box);
  using Labels = Span<const Index>;
  const Buffer<Index> in_order = domain.to_domain_order(part.label());
  const auto spoilt = [&](Labels labels) {
    return context.comm.rank() == 0 ? Labels(nullptr, labels.size()) : labels;
  };
  const auto contains =
      Catch::Contains("labels: 100 elements are given, and their address is null");
  CHECK_THROWS_WITH(make_catalogue(domain, spoilt(in_order.span()), sample.options), contains);
  CHECK_THROWS_WITH(
      make_catalogue(context, part.particles(), sample.box, spoilt(part.label()), sample.options),
      contains);
  const std::vector<Index> none(static_cast<std::size_t>(of_two.num()), no_group);
  const std::vector<Labels> species{spoilt(none), none};
  CHECK_THROWS_WITH(make_catalogue(of_two, species, sample.options),
                    Catch::Contains("their address is null"));
  CHECK_NOTHROW(make_catalogue(domain, in_order.span(), sample.options));
}

}  // namespace zhalo::testing
