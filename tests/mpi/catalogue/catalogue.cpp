/// The catalogue on several ranks: against the definitions, and against one rank.
#include <catch2/catch.hpp>

#include <chrono>
#include <functional>
#include <thread>

#include "tests/mpi/catalogue/catalogue_samples.hpp"
#include "tests/parity/backends.hpp"

namespace zhalo::testing {
namespace {

/// Particles per rank.
std::vector<std::vector<Index>> distributions(Index num, int size) {
  const auto last = static_cast<std::size_t>(size - 1);
  std::vector<std::vector<Index>> all(4, std::vector<Index>(last + 1));
  Random random(3);
  for (int rank = 0; rank < size; ++rank)
    all[0][static_cast<std::size_t>(rank)] = share_of(num, rank, size).count;
  all[1][last] = num;
  all[2][last / 2] = num;
  for (Index i = 0; i < num; ++i)
    ++all[3][static_cast<std::size_t>(random.below(random.below(size) + 1))];
  return all;
}

// ---------------------------------------------------------------- running and comparing

struct Odd {
  std::uint8_t byte[3];
  static Odd of(Index i) {
    return {{static_cast<std::uint8_t>(i), static_cast<std::uint8_t>(i >> 8),
             static_cast<std::uint8_t>(7)}};
  }
};

Table table_of(const Exec& exec, const Catalogue& c) {
  return {c.length,
          c.label,
          c.offset,
          to_host(exec, c.members),
          to_host(exec, c.group_of),
          c.length_by_type,
          c.mass,
          c.velocity_dispersion,
          c.rms_radius,
          c.max_radius,
          c.mass_by_type,
          c.centre,
          c.velocity};
}

template <class T>
std::vector<T> part_of(const std::vector<T>& all, Share share, Index width = 1) {
  return {all.begin() + share.first * width, all.begin() + (share.first + share.count) * width};
}

/// Equal but for rounding, of which sums of numbers as large as `scale` have some.
bool close(const std::vector<double>& a, const std::vector<double>& b, double scale) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (!(std::abs(a[i] - b[i]) <= 1e-12 * std::abs(b[i]) + 2e-15 * scale)) return false;
  }
  return true;
}

bool close(const std::vector<Vec3d>& a, const std::vector<Vec3d>& b, double scale, const Box& box) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    for (int axis = 0; axis < 3; ++axis) {
      double apart = std::abs(a[i][axis] - b[i][axis]);
      if (box.periodic[axis] && scale == box.length[0])
        apart = std::min(apart, std::abs(apart - box.length[axis]));
      if (!(apart <= 1e-12 * scale)) return false;
    }
  }
  return true;
}

/// `rows`, `members` and `particles`: those of `all` that belong to this rank.
void check_part(const Table& mine, const Table& all, const Sample& readout, const Catalogue& table,
                Share particles) {
  const Share rows{table.first_group, static_cast<Index>(mine.length.size())};
  const Share members{table.first_member, static_cast<Index>(mine.members.size())};
  const Index num_types = readout.options.num_types;
  CHECK(mine.length == part_of(all.length, rows));
  CHECK(mine.label == part_of(all.label, rows));
  CHECK(mine.offset == part_of(all.offset, rows));
  CHECK(mine.members == part_of(all.members, members));
  CHECK(mine.group_of == part_of(all.group_of, particles));
  CHECK(mine.length_by_type == part_of(all.length_by_type, rows, num_types));
  const double length = readout.box.length[0];
  CHECK(close(mine.mass, part_of(all.mass, rows), 0));
  CHECK(close(mine.mass_by_type, part_of(all.mass_by_type, rows, num_types), 0));
  CHECK(close(mine.centre, part_of(all.centre, rows), length, readout.box));
  if (table.has_velocities) {
    CHECK(close(mine.velocity, part_of(all.velocity, rows), 300, readout.box));
    CHECK(close(mine.velocity_dispersion, part_of(all.velocity_dispersion, rows), 300));
  } else {
    CHECK((mine.velocity.empty() && mine.velocity_dispersion.empty()));
  }
  CHECK(close(mine.rms_radius, part_of(all.rms_radius, rows), length));
  CHECK(close(mine.max_radius, part_of(all.max_radius, rows), length));
}

void check_columns(const Context& context, const Catalogue& catalogue, Share particles) {
  std::vector<Index> index(static_cast<std::size_t>(particles.count));
  std::iota(index.begin(), index.end(), particles.first);
  std::vector<Odd> odd;
  odd.reserve(index.size());
  for (const Index i : index) odd.push_back(Odd::of(i));
  const auto index_there = to_exec(context.exec, Span<const Index>(index), "test");
  const auto odd_there = to_exec(context.exec, Span<const Odd>(odd), "test");
  const auto members = to_host(context.exec, catalogue.members);
  CHECK(to_host(context.exec, in_group_order(context, catalogue, index_there.span())) == members);
  bool alike = true;
  const auto ordered = to_host(context.exec, in_group_order(context, catalogue, odd_there.span()));
  REQUIRE(ordered.size() == members.size());
  for (std::size_t m = 0; m < members.size(); ++m) {
    const Odd expected = Odd::of(members[m]);
    alike = alike && std::equal(expected.byte, expected.byte + 3, ordered[m].byte);
  }
  CHECK(alike);
}

template <class Real>
void check_readout(const Context& context, Sample readout, const std::vector<Index>& counts,
                   Columns columns) {
  INFO(readout.name << ", columns " << static_cast<int>(columns) << ", rank 0 has " << counts[0]);
  settle_columns(readout, counts, columns);
  const int rank = context.comm.rank();
  const Share share{std::accumulate(counts.begin(), counts.begin() + rank, Index{0}),
                    counts[static_cast<std::size_t>(rank)]};
  const Part<Real> part(context.exec, readout, share, rank, columns);
  const auto found =
      make_catalogue(context, part.particles(), readout.box, part.label(), readout.options);

  Context alone;
  alone.exec = context.exec;
  const Part<Real> whole(alone.exec, readout, {0, readout.num()}, 0, Columns::all);
  const auto one =
      make_catalogue(alone, whole.particles(), readout.box, whole.label(), readout.options);
  const Table of_one = table_of(alone.exec, one);
  const Arithmetic arithmetic(readout);
  check_part(of_one, arithmetic.table(), readout, one, {0, readout.num()});

  const auto num_groups = static_cast<Index>(of_one.length.size());
  const auto num_members = static_cast<Index>(of_one.members.size());
  CHECK(found.num_groups_total == num_groups);
  CHECK(found.num_members_total == num_members);
  CHECK(found.num_types == readout.options.num_types);
  const Share rows = share_of(num_groups, rank, context.comm.size());
  const Share members = share_of(num_members, rank, context.comm.size());
  CHECK(found.first_group == rows.first);
  CHECK(static_cast<Index>(found.length.size()) == rows.count);
  CHECK(found.first_member == members.first);
  CHECK(found.members.size() == members.count);
  check_part(table_of(context.exec, found), of_one, readout, found, share);
  check_columns(context, found, share);
}

constexpr Columns every_choice[] = {Columns::all, Columns::single, Columns::mixed, Columns::none,
                                    Columns::uniform_by_rank};

/// Every sample; distributions and columns in turn, so that each meets each in some sample.
template <class Real>
void check_all(const Context& context) {
  int turn = 0;
  for (const Sample& readout : all_samples(context.comm.size())) {
    for (const auto& counts : distributions(readout.num(), context.comm.size())) {
      check_readout<Real>(context, readout, counts, every_choice[turn++ % 5]);
    }
  }
}

}  // namespace

TEST_CASE("the catalogue of any number of ranks is that of one: float") {
  check_all<float>(make_context());
}
TEST_CASE("the catalogue of any number of ranks is that of one: double") {
  check_all<double>(make_context());
}

TEST_CASE("the catalogue of a device's particles on several ranks") {
  const auto exec = OnCuda::exec();
  if (!exec) return;  // has said so
  Context context = make_context();
  context.exec = *exec;
  check_all<float>(context);
}

TEST_CASE("every choice of columns, in short messages and with delays") {
  CommunicatorOptions options;
  options.chunk_bytes = 1000 * 8;
  SECTION("direct") {}
  SECTION("staged") { options.transport = Transport::staged; }
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  Random random(static_cast<std::uint64_t>(rank) + 1);
  options.observer = [&](const char*) {
    std::this_thread::sleep_for(std::chrono::microseconds(random.below(300)));
  };
  const Context context = make_context(options);
  const Index num = 3000;
  const auto readout = make_sample("a giant, delayed", num, 0.3,
                                   [](Index i) { return i % 3 != 0 ? Index{-1} : i / 12; });
  for (const Columns columns : every_choice) {
    for (const auto& counts : distributions(num, context.comm.size()))
      check_readout<float>(context, readout, counts, columns);
    check_readout<double>(context, readout, distributions(num, context.comm.size())[3], columns);
  }
}

TEST_CASE("velocities that some particles lack are velocities of no group") {
  const Context context = make_context();
  const auto readout = make_sample(
      "pairs", 300, 0.1, [](Index i) { return i / 2; }, with({1, 2}));
  const Share share = share_of(readout.num(), context.comm.rank(), context.comm.size());
  const bool last = context.comm.rank() == context.comm.size() - 1;
  for (const bool any_without : {false, true}) {
    const Part<float> part(context.exec, readout, share, 0,
                           any_without && last ? Columns::none : Columns::single);
    const auto found =
        make_catalogue(context, part.particles(), readout.box, part.label(), readout.options);
    CHECK(found.has_velocities == !any_without);
    CHECK(found.velocity.size() == (any_without ? 0 : found.length.size()));
    CHECK(found.velocity_dispersion.size() == found.velocity.size());
  }
}

TEST_CASE("what a rank needs does not grow with the ranks, whatever the groups are") {
  Context context = make_context();
  const Index per_rank = 4000;
  const int size = context.comm.size();
  const Index num = per_rank * size;
  const auto peak = [&](const char* name, const std::function<Index(Index)>& part) {
    Sample readout = make_sample(name, num, 0.1, part, [](Sample& s) { s.options = {1, 1}; });
    Context measured = make_context();
    const Share share{Index{context.comm.rank()} * per_rank, per_rank};
    const Part<float> mine(context.exec, readout, share, 0, Columns::single);
    const auto catalogue =
        make_catalogue(measured, mine.particles(), readout.box, mine.label(), readout.options);
    CHECK(catalogue.num_members_total == num);
    return static_cast<double>(memory(measured.exec)->peak_bytes()) / static_cast<double>(per_rank);
  };
  const std::vector<double> bytes{
      peak("singles", [](Index i) { return i; }),
      peak("all labels are the first rank's, every rank has each",
           [&](Index i) { return i % per_rank; }),
      peak("one group", [](Index) { return Index{0}; }),
      peak("pairs far apart", [&](Index i) { return std::min(i, num - 1 - i); }),
  };
  // What one rank takes for as many particles that are all groups of their own, and a little.
  for (const double of_case : bytes) CHECK(of_case < 320);
}

}  // namespace zhalo::testing
