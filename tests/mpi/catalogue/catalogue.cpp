/// The catalogue on several ranks: against the definitions, and against one rank.
#include <catch2/catch.hpp>

#include <chrono>
#include <cmath>
#include <functional>
#include <thread>

#include "tests/mpi/catalogue/catalogue_samples.hpp"
#include "tests/parity/backends.hpp"
#include "tests/support/same_bits.hpp"
#include "zhalo/catalogue/catalogue.hpp"

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
          c.mass_by_type,
          c.properties};
}

template <class T>
std::vector<T> part_of(const std::vector<T>& all, Share share, Index width = 1) {
  return {all.begin() + share.first * width, all.begin() + (share.first + share.count) * width};
}

/// Equal but for rounding, of which sums of numbers as large as `scale` have some.
bool close(double a, double b, double scale) {
  return std::abs(a - b) <= 1e-12 * std::abs(b) + 2e-15 * scale;
}

bool close(const Vec3d& a, const Vec3d& b, double scale, const Vec3d& period = {}) {
  for (int axis = 0; axis < 3; ++axis) {
    double apart = std::abs(a[axis] - b[axis]);
    if (period[axis] > 0) apart = std::min(apart, std::abs(apart - period[axis]));
    if (!(apart <= 1e-12 * scale)) return false;
  }
  return true;
}

bool is_unknown(double number) { return std::isnan(number); }
bool is_unknown(const Vec3d& vector) { return std::isnan(vector[0]); }

/// Calls f(property) for each property of velocities in the table.
template <class F>
void for_each_of_velocity(const F& f) {
  for (const HaloColumn& column : halo_columns) {
    INFO(column.dataset);
    if (column.unit.velocity != 0) std::visit(f, column.property);
  }
}

/// A position is also right if it is one box away.
bool is_right(const HaloColumn& column, const Vec3d& found, const Vec3d& expected,
              const Sample& sample) {
  if (column.unit.velocity != 0) return close(found, expected, 300);
  Vec3d period;
  for (int axis = 0; axis < 3; ++axis)
    period[axis] = sample.box.periodic[axis] ? sample.box.length[axis] : 0;
  return close(found, expected, sample.box.length[0], period);
}
bool is_right(const HaloColumn& column, double found, double expected, const Sample& sample) {
  const double length = column.unit.length != 0 ? sample.box.length[0] : 0;
  return close(found, expected, column.unit.velocity != 0 ? 300 : length);
}

/// Every property that is in the table.
void check_properties(const HaloProperties& found, const HaloProperties& expected,
                      const Sample& sample, bool has_velocities) {
  for (const HaloColumn& column : halo_columns) {
    if (column.unit.velocity != 0 && !has_velocities) continue;
    INFO(column.dataset);
    std::visit(
        [&](const auto property) {
          CHECK(is_right(column, found.*property, expected.*property, sample));
        },
        column.property);
  }
  if (has_velocities) return;
  for_each_of_velocity([&](const auto property) { CHECK(is_unknown(found.*property)); });
}

/// The table of one rank, against the definitions.
void check_alone(const Table& found, const Table& expected, const Sample& sample,
                 bool has_velocities) {
  CHECK(found.length == expected.length);
  CHECK(found.label == expected.label);
  CHECK(found.offset == expected.offset);
  CHECK(found.members == expected.members);
  CHECK(found.group_of == expected.group_of);
  CHECK(found.length_by_type == expected.length_by_type);
  REQUIRE(found.mass_by_type.size() == expected.mass_by_type.size());
  for (std::size_t i = 0; i < found.mass_by_type.size(); ++i)
    CHECK(close(found.mass_by_type[i], expected.mass_by_type[i], 0));
  REQUIRE(found.properties.size() == expected.properties.size());
  for (std::size_t g = 0; g < found.properties.size(); ++g)
    check_properties(found.properties[g], expected.properties[g], sample, has_velocities);
}

/// Rows, members and particles of this rank are those of `all`, bit for bit.
void check_part(const Table& mine, const Table& all, const Catalogue& table, Share particles) {
  const Share rows{table.first_group, static_cast<Index>(mine.length.size())};
  const Share members{table.first_member, static_cast<Index>(mine.members.size())};
  const Index num_types = table.num_types;
  CHECK(mine.length == part_of(all.length, rows));
  CHECK(mine.label == part_of(all.label, rows));
  CHECK(mine.offset == part_of(all.offset, rows));
  CHECK(mine.members == part_of(all.members, members));
  CHECK(mine.group_of == part_of(all.group_of, particles));
  CHECK(mine.length_by_type == part_of(all.length_by_type, rows, num_types));
  CHECK(mine.mass_by_type == part_of(all.mass_by_type, rows, num_types));
  CHECK(same_bits(mine.properties, part_of(all.properties, rows)));
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

/// A rank that has all velocities, beside ranks of which some have none.
void forget_velocities(Table& table) {
  constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
  for (HaloProperties& halo : table.properties)
    for_each_of_velocity([&](const auto property) { halo.*property = halo.*property * unknown; });
}

template <class Real>
void check_sample(const Context& context, Sample sample, const std::vector<Index>& counts,
                  Columns columns) {
  INFO(sample.name << ", columns " << static_cast<int>(columns) << ", rank 0 has " << counts[0]);
  settle_columns(sample, counts, columns);
  const int rank = context.comm.rank();
  const Share share{std::accumulate(counts.begin(), counts.begin() + rank, Index{0}),
                    counts[static_cast<std::size_t>(rank)]};
  const Part<Real> part(context.exec, sample, share, rank, columns);
  const auto found =
      make_catalogue(context, part.particles(), sample.box, part.label(), sample.options);

  Context alone;
  alone.exec = context.exec;
  const Part<Real> whole(alone.exec, sample, {0, sample.num()}, 0, Columns::all);
  const auto one =
      make_catalogue(alone, whole.particles(), sample.box, whole.label(), sample.options);
  Table of_one = table_of(alone.exec, one);
  const auto order = domain_order(alone, whole.particles(), sample.box);
  check_alone(of_one, Arithmetic(sample, order).table(), sample, one.has_velocities);
  if (!found.has_velocities) forget_velocities(of_one);

  const auto num_groups = static_cast<Index>(of_one.length.size());
  const auto num_members = static_cast<Index>(of_one.members.size());
  CHECK(found.num_groups_total == num_groups);
  CHECK(found.num_members_total == num_members);
  CHECK(found.num_types == sample.options.num_types);
  const Share rows = share_of(num_groups, rank, context.comm.size());
  const Share members = share_of(num_members, rank, context.comm.size());
  CHECK(found.first_group == rows.first);
  CHECK(static_cast<Index>(found.length.size()) == rows.count);
  CHECK(found.first_member == members.first);
  CHECK(found.members.size() == members.count);
  if (found.has_velocities) CHECK(found.checksum == one.checksum);
  check_part(table_of(context.exec, found), of_one, found, share);
  check_columns(context, found, share);
}

constexpr Columns every_choice[] = {Columns::all, Columns::single, Columns::mixed, Columns::none,
                                    Columns::uniform_by_rank};

/// Every sample; distributions and columns in turn, so that each meets each in some sample.
template <class Real>
void check_all(const Context& context) {
  int turn = 0;
  for (const Sample& sample : all_samples(context.comm.size())) {
    for (const auto& counts : distributions(sample.num(), context.comm.size())) {
      check_sample<Real>(context, sample, counts, every_choice[turn++ % 5]);
    }
  }
}

}  // namespace

TEST_CASE("the catalogue of any number of ranks is that of one: float") {
  check_all<float>(host_context());
}
TEST_CASE("the catalogue of any number of ranks is that of one: double") {
  check_all<double>(host_context());
}

TEST_CASE("the catalogue of a device's particles on several ranks") {
  if (!OnCuda::exec()) return;  // has said so
  Context context = host_context();
  context.exec = cuda_exec(context.comm.node_rank() % query_devices().num_devices);
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
  const Context context = host_context(1, options);
  const Index num = 3000;
  const auto sample = make_sample("a giant, delayed", num, 0.3,
                                  [](Index i) { return i % 3 != 0 ? Index{-1} : i / 12; });
  for (const Columns columns : every_choice) {
    for (const auto& counts : distributions(num, context.comm.size()))
      check_sample<float>(context, sample, counts, columns);
    check_sample<double>(context, sample, distributions(num, context.comm.size())[3], columns);
  }
}

TEST_CASE("masses have one unit on all ranks, that of the largest") {
  const Context context = host_context();
  const Context alone;
  Sample sample = make_sample("light and one heavy", 600, 0.2, any_of(20));
  for (double& mass : sample.mass) mass *= 1e-9;
  sample.mass[77] = 1;
  const auto checksum_of = [&](const Context& on) {
    const int rank = on.comm.rank();
    const Part<float> part(on.exec, sample, share_of(sample.num(), rank, on.comm.size()), rank,
                           Columns::all);
    return make_catalogue(on, part.particles(), sample.box, part.label(), sample.options).checksum;
  };
  CHECK(checksum_of(context) == checksum_of(alone));
}

TEST_CASE("velocities that some particles lack are velocities of no group") {
  const Context context = host_context();
  const auto sample = make_sample(
      "pairs", 300, 0.1, [](Index i) { return i / 2; }, with({1, 2}));
  const Share share = share_of(sample.num(), context.comm.rank(), context.comm.size());
  const bool last = context.comm.rank() == context.comm.size() - 1;
  for (const bool any_without : {false, true}) {
    const Part<float> part(context.exec, sample, share, 0,
                           any_without && last ? Columns::none : Columns::single);
    const auto found =
        make_catalogue(context, part.particles(), sample.box, part.label(), sample.options);
    CHECK(found.has_velocities == !any_without);
    for (const HaloProperties& halo : found.properties) {
      for_each_of_velocity(
          [&](const auto property) { CHECK(is_unknown(halo.*property) == any_without); });
    }
  }
}

TEST_CASE("lost digits of velocities: the groups of all ranks, and the fastest of them") {
  const Context context = host_context();
  const int size = context.comm.size();
  Catalogue catalogue;
  catalogue.num_groups_total = size;
  catalogue.largest = {1, 1, 1e20};
  catalogue.length = {10};
  HaloProperties halo;
  halo.mass = 10;
  const double part = (context.comm.rank() + 1.0) / size;
  halo.velocity = Vec3d{{3, 0, 0}} * part;
  halo.velocity_dispersion = 4 / std::sqrt(3.0) * part;  // along each of three axes
  catalogue.properties = {halo};
  const std::vector<LostDigits> lost = find_lost_digits(context.comm, catalogue);
  REQUIRE(lost.size() == 1);
  CHECK(lost[0].of == LostDigits::Of::velocities);
  CHECK(lost[0].num_groups == size);
  CHECK(lost[0].largest == 1e20);
  CHECK(lost[0].typical == Approx(5));
}

TEST_CASE("what a rank needs does not grow with the ranks, whatever the groups are") {
  Context context = host_context();
  const Index per_rank = 4000;
  const int size = context.comm.size();
  const Index num = per_rank * size;
  const auto peak = [&](const char* name, const std::function<Index(Index)>& part) {
    Sample sample = make_sample(name, num, 0.1, part, [](Sample& s) { s.options = {1, 1}; });
    Context measured = host_context();
    const Share share{Index{context.comm.rank()} * per_rank, per_rank};
    const Part<float> mine(context.exec, sample, share, 0, Columns::single);
    const auto catalogue =
        make_catalogue(measured, mine.particles(), sample.box, mine.label(), sample.options);
    CHECK(catalogue.num_members_total == num);
    return static_cast<double>(memory(measured.exec)->peak_bytes()) / static_cast<double>(per_rank);
  };
  // A particle needs some 200 bytes, most of it for the domain. A group needs some 450 while it is
  // summed: that counts where each particle is a group.
  CHECK(peak("one group", [](Index) { return Index{0}; }) < 250);
  CHECK(peak("groups of 20", [](Index i) { return i / 20; }) < 250);
  CHECK(peak("groups of the members of all ranks", [&](Index i) { return i % (per_rank / 20); }) <
        250);
  CHECK(peak("all labels are the first rank's, every rank has each",
             [&](Index i) { return i % per_rank; }) < 700);
  CHECK(peak("pairs far apart", [&](Index i) { return std::min(i, num - 1 - i); }) < 700);
  CHECK(peak("singles", [](Index i) { return i; }) < 700);
}

}  // namespace zhalo::testing
