/// From files to a catalogue on disk, against the catalogue of another code.
#include "src/io/hdf5/input.hpp"
#include "tests/unit/io/source.hpp"
#include "zhalo/catalogue/catalogue.hpp"
#include "zhalo/fof/fof.hpp"
#include "zhalo/io/catalogue_file.hpp"
#include "zhalo/io/load.hpp"

using namespace zhalo;
using namespace zhalo::io;

namespace {

struct Outcome {
  std::vector<Index> length;
  std::vector<Index> group_of;
  double mass_of_first = 0;
};

template <class Real>
Outcome run(const Snapshot& snapshot, const std::string& rule, const std::string& out) {
  const Context context;
  const SnapshotInfo& info = snapshot.info();
  const std::vector<int> types{1};
  const auto separation =
      mean_separation(matter_of(info, types), summarise_masses(context.comm, snapshot, types),
                      parse_mean_separation(rule));
  const double linking_length = 0.2 * separation.chosen;
  const Box box = simulation_box(info);
  const auto loaded = load_particles<Real>(context, snapshot, types);
  const auto fof =
      friends_of_friends(context, loaded.particles, box, {.linking_length = linking_length});
  const auto catalogue =
      make_catalogue(context, loaded.particles, box, fof.label.span(),
                     {.min_members = 32, .num_types = static_cast<int>(info.types.size())});
  const auto member_ids =
      to_host(context.exec, in_group_order(context, catalogue, loaded.id.span()));
  const auto group_of = to_host(context.exec, catalogue.group_of);
  const auto ids = to_host(context.exec, loaded.id);
  const RunRecord record{linking_length, 0.2, separation.chosen, separation.how, 32, types, {}, 0,
                         false,          true};
  if (!out.empty()) {
    StagedFiles files(context.comm, std::string(ZHALO_SCRATCH_DIR) + "/" + out);
    const WriteOptions layout{.num_files = 3, .master = true};
    write_catalogue(files, {catalogue, member_ids}, info, record, layout);
    write_membership(files, {loaded.ranges, group_of, ids}, info, record, layout);
    files.commit();
  }
  return {catalogue.length, group_of, catalogue.properties.at(0).mass};
}

Outcome run(const std::string& path, const std::string& rule = "auto",
            const std::string& out = "") {
  const Snapshot snapshot = Snapshot::open(path);
  return snapshot.info().types[1].double_coordinates ? run<double>(snapshot, rule, out)
                                                     : run<float>(snapshot, rule, out);
}

/// The snapshot of GADGET-4 is stored group by group: group i is rows offset[i] to offset[i] +
/// length[i].
struct Gadget4 {
  std::vector<Index> length;
  std::vector<Index> group_of;

  explicit Gadget4(const std::string& name) {
    const hdf5::InputFile file(source::data + "/gadget4-dm64/" + name);
    const Index num_groups = file.shape("Group/GroupLen").value().extent[0];
    length.resize(static_cast<std::size_t>(num_groups));
    file.read("Group/GroupLen", {0, num_groups}, H5T_NATIVE_INT64, length.data());
    std::vector<Index> offset(2 * length.size());
    file.read("Group/GroupOffsetType", {0, num_groups}, H5T_NATIVE_INT64, offset.data());
    group_of.assign(source::num, no_group);
    for (std::size_t group = 0; group < length.size(); ++group) {
      for (Index row = 0; row < length[group]; ++row)
        group_of[static_cast<std::size_t>(offset[2 * group + 1] + row)] = static_cast<Index>(group);
    }
  }
};

/// Rows of equal length may be in another order: each of ours must be one of theirs as a set.
bool same_groups(const std::vector<Index>& ours, const std::vector<Index>& theirs,
                 std::size_t num_groups) {
  std::vector<Index> partner(num_groups, no_group), back(num_groups, no_group);
  for (std::size_t i = 0; i < ours.size(); ++i) {
    if ((ours[i] == no_group) != (theirs[i] == no_group)) return false;
    if (ours[i] == no_group) continue;
    Index& mine = partner[static_cast<std::size_t>(ours[i])];
    Index& other = back[static_cast<std::size_t>(theirs[i])];
    if (mine == no_group) mine = theirs[i];
    if (other == no_group) other = ours[i];
    if (mine != theirs[i] || other != ours[i]) return false;
  }
  return true;
}

}  // namespace

TEST_CASE("the verifier sees a particle in the wrong group") {
  const std::vector<Index> groups{0, 0, 1, 1, no_group};
  CHECK(same_groups(groups, {1, 1, 0, 0, no_group}, 2));
  CHECK_FALSE(same_groups(groups, {0, 1, 1, 1, no_group}, 2));
  CHECK_FALSE(same_groups(groups, {0, 0, 1, 1, 1}, 2));
  CHECK_FALSE(same_groups(groups, {0, 0, 0, 0, no_group}, 2));
}

TEST_CASE("GADGET-4's groups, member for member, from every style of file") {
  const Gadget4 expected("fof_tab_001.hdf5");
  REQUIRE(expected.length.size() == 468);
  const std::vector<std::string> styles{source::data + "/gadget4-dm64/snapshot_001.hdf5",
                                        source::good("split"),
                                        source::good("double"),
                                        source::good("ids64"),
                                        source::good("gadget2"),
                                        source::good("arepo/snapdir_001"),
                                        source::good("eagle/snapshot_001_z000p000"),
                                        source::good("gizmo/snapdir_001"),
                                        source::good("swift"),
                                        source::good("swift_distributed/snap_0001.hdf5")};
  for (const auto& path : styles) {
    INFO(path);
    const Outcome found = run(path, "auto", path == source::good("split") ? "split" : "");
    CHECK(found.length == expected.length);
    CHECK(same_groups(found.group_of, expected.group_of, expected.length.size()));
  }
}

TEST_CASE("GADGET-4's groups at z = 1.02") {
  const Gadget4 expected("fof_tab_000.hdf5");
  const Outcome found = run(source::data + "/gadget4-dm64/snapshot_000.hdf5", "rho");
  CHECK(found.length.size() == 357);
  CHECK(found.length == expected.length);
  CHECK(same_groups(found.group_of, expected.group_of, expected.length.size()));
}

TEST_CASE("SWIFT's groups, member for member") {
  const std::string path = source::data + "/swift-dm64/snap_0000.hdf5";
  std::vector<Index> theirs(source::num);
  hdf5::InputFile(path).read("PartType1/FOFGroupIDs", {0, source::num}, H5T_NATIVE_INT64,
                             theirs.data());
  for (Index& group : theirs) group = group == 2147483647 ? no_group : group - 1;
  const Outcome found = run(path, "rho");
  REQUIRE(found.length.size() == 452);
  CHECK(same_groups(found.group_of, theirs, 452));
  CHECK(std::vector<Index>(found.length.begin(), found.length.begin() + 6) ==
        std::vector<Index>{4121, 3752, 2622, 2094, 2061, 1553});
}

TEST_CASE("positions at the upper edge are wrapped") {
  const Context context;
  const Snapshot snapshot = Snapshot::open(source::snapshots + "/edge/snapshot_003");
  const auto loaded = load_particles<float>(context, snapshot, {1});
  const auto fof = friends_of_friends(context, loaded.particles, simulation_box(snapshot.info()),
                                      {.linking_length = 0.15});
  Index at_edge = 0;
  for (Index i = 0; i < loaded.particles.num(); ++i) {
    for (std::size_t axis = 0; axis < 3; ++axis)
      at_edge += loaded.particles.segments[0].pos[axis][i] == 50.0f ? 1 : 0;
  }
  CHECK(at_edge > 0);
  CHECK(fof.num_wrapped > 0);
  CHECK(fof.num_wrapped <= at_edge);
}
