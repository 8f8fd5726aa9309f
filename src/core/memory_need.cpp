#include "zhalo/core/memory_need.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

namespace zhalo {
namespace {

// Of elements.
constexpr double key_bytes = 8;     // of Z-order
constexpr double local_bytes = 4;   // a number on this rank: LocalIndex
constexpr double global_bytes = 8;  // a number over all ranks: Index
constexpr double number_bytes = 8;

/// Of all coarser levels of the tree: 1 / 32 + 1 / 32^2 + ...
constexpr double nodes_per_leaf = 1.04;
/// Of a radix sort, per element: the algorithm's own memory.
constexpr double sort_room = 1;
/// Tables, and what small buffers are rounded up to.
constexpr double tables = 16 << 10;
/// Of the index boxes that a Field exchanges.
constexpr double tables_of_field = 38400;

double real_bytes(bool is_double) { return is_double ? 8 : 4; }
/// Of a position with an index, on its way.
double record_bytes(bool is_double) { return 4 * real_bytes(is_double); }

/// Of one rank, and the bytes of one particle.
struct Each {
  double num;    ///< particles of a rank
  double pos;    ///< three coordinates
  double tree;   ///< leaves and nodes
  double order;  ///< indices of particles on the way to the domain and back
  bool is_alone;

  explicit Each(const SearchSize& size)
      : num(std::ceil(static_cast<double>(size.num_particles) / size.num_ranks)),
        pos(3 * real_bytes(size.double_positions)),
        tree(size.clustering.leaves * (2 * local_bytes + 2 * pos * nodes_per_leaf)),
        order(size.num_ranks > 1 ? 2 * local_bytes : local_bytes),
        is_alone(size.num_ranks == 1) {}

  /// Positions, order, and global indices where they are kept.
  double domain() const { return pos + order + (is_alone ? 0 : global_bytes); }
  MemoryNeed need(double peak, double kept) const { return {num * peak + tables, num * kept}; }
};

/// Of a sort of keys and local indices, besides these.
constexpr double sorting = key_bytes + local_bytes + sort_room;

}  // namespace

void MemoryTally::call(const MemoryNeed& need) {
  peak_ = std::max(peak_, in_use_ + need.peak);
  take(need.kept);
}

void MemoryTally::take(double bytes) {
  in_use_ += bytes;
  peak_ = std::max(peak_, in_use_);
}

// ---------------------------------------------------------------- groups

MemoryNeed domain_need(const SearchSize& size) {
  const Each each(size);
  const double sorted = key_bytes + local_bytes;
  double peak = sorted + std::max(sorting, each.pos);
  if (!each.is_alone) {
    // Records of what is sorted; what is sent, and what comes; then that is sorted.
    const double record = record_bytes(size.double_positions);
    const double arrived = record + each.order + global_bytes + key_bytes;
    peak = std::max({peak, sorted + each.pos + record, local_bytes + 2 * record,
                     arrived + std::max(sorting - key_bytes, each.pos)});
  }
  return each.need(peak, each.domain() + key_bytes);
}

namespace {

/// Of which `kept` bytes a particle are results.
MemoryNeed search_need(const Each& each, double kept) {
  // Without keys, which the tree was made of: union-find, smallest members and labels.
  const double smallest = each.is_alone ? local_bytes : global_bytes;
  const double searching = each.tree - key_bytes + local_bytes + smallest + global_bytes;
  return each.need(std::max(each.tree, searching), each.tree - key_bytes + kept);
}

}  // namespace

MemoryNeed groups_need(const SearchSize& size) {
  const Each each(size);
  return search_need(each, global_bytes + local_bytes);
}

MemoryNeed friends_of_friends_need(const SearchSize& size) {
  const Each each(size);
  MemoryTally tally;
  tally.call(domain_need(size));
  tally.call(search_need(each, global_bytes));
  // Labels travel back to where the particles came from, when global indices are needed no more.
  if (!each.is_alone) tally.call(each.need(global_bytes, 0));
  return {tally.peak(), each.num * global_bytes};
}

MemoryNeed columns_need(const SearchSize& size, double bytes, double longest_bytes) {
  const Each each(size);
  return each.need(bytes + (each.is_alone ? 0 : 2 * longest_bytes), bytes);
}

MemoryNeed catalogue_need(const SearchSize& size, bool of_labels) {
  const Each each(size);
  const double m = size.clustering.in_groups;
  if (each.is_alone) {
    const double kept = global_bytes + (local_bytes + global_bytes) * m;
    const double sorting_members = global_bytes + (2 * key_bytes + 2 * local_bytes + sort_room) * m;
    const double counting_members = global_bytes + local_bytes;
    return each.need(std::max({kept, sorting_members, counting_members}), kept);
  }
  const double kept = global_bytes + (2 * local_bytes + global_bytes) * m;
  if (!of_labels) {
    // Keys and indices of members here; then keys that arrive, and their sorting.
    const double ordering = (2 * key_bytes + 2 * local_bytes + sorting) * m;
    return each.need(global_bytes + std::max(2 * local_bytes, ordering), kept);
  }
  // Labels are sorted here, and those of all ranks on the rank that is asked for them.
  const double sorting_labels = local_bytes + key_bytes + sorting;
  const double asking =
      local_bytes + (2 * key_bytes + 3 * key_bytes + sort_room) * size.clustering.labels;
  return each.need(std::max(sorting_labels, asking), kept);
}

MemoryNeed group_order_need(const SearchSize& size, double bytes) {
  const Each each(size);
  const double kept = bytes * size.clustering.in_groups;
  return each.need(kept + (each.is_alone ? local_bytes * size.clustering.in_groups : 3 * bytes),
                   kept);
}

// ---------------------------------------------------------------- neighbours

namespace {

/// Particles of other ranks within the balls of a rank's queries. Balls reach beyond the rank's
/// part as far as the k-th neighbour and about two particles of a leaf. If the number of ranks is a
/// power of two, their parts are boxes, or a few. Otherwise some have more surface: 1.9 times as
/// much with 3 ranks.
double fetched_by(const Each& each, const SearchSize& size, int k) {
  if (each.is_alone) return 0;
  const double depth = std::cbrt(3.0 * k / (4 * 3.14159265)) + 1.8;
  const bool are_boxes = std::has_single_bit(static_cast<unsigned>(size.num_ranks));
  const double area =
      6 * (1 - 1.0 / size.num_ranks) * std::pow(each.num, 2.0 / 3.0) * (are_boxes ? 1 : 1.9);
  return std::min(area * depth, static_cast<double>(size.num_particles) - each.num);
}

/// A search that is under way, whose rows are returned in elements of so many bytes.
struct Searching {
  double domain;
  double in_use;  ///< domain, columns in its order, lists, and what was fetched
  double returned;

  Searching(const SearchSize& size, const NeighbourSize& search, double row_bytes) {
    const Each each(size);
    const double entry = real_bytes(size.double_positions) + local_bytes;
    const double queries = search.num_queries == 0
                               ? each.num
                               : static_cast<double>(search.num_queries) / size.num_ranks;
    constexpr double default_chunk_bytes = 512 << 20;
    const double chunk =
        search.chunk_bytes > 0 ? static_cast<double>(search.chunk_bytes) : default_chunk_bytes;
    const double at_once = std::min(queries, std::max(1.0, std::floor(chunk / entry / search.k)));
    const double nodes = size.clustering.leaves * nodes_per_leaf * global_bytes;
    domain = each.num * (each.pos + each.order + global_bytes + each.tree + nodes);
    if (search.num_queries > 0)
      domain += queries * (each.pos + each.order + global_bytes + each.tree);
    const double fetched = fetched_by(each, size, search.k) *
                           (each.pos + global_bytes + local_bytes + search.bytes_per_column);
    const double columns = each.num * search.bytes_per_column;
    in_use = domain + columns + fetched + at_once * (search.k * entry + local_bytes) + tables;
    // Rows, the order in which they go back, and what is sent and comes.
    returned =
        at_once * (each.is_alone ? row_bytes + local_bytes : 3 * row_bytes + 2 * local_bytes);
  }
};

double queries_of(const SearchSize& size, const NeighbourSize& search) {
  const Index all = search.num_queries == 0 ? size.num_particles : search.num_queries;
  return static_cast<double>(all) / size.num_ranks;
}

}  // namespace

MemoryNeed knn_need(const SearchSize& size, const NeighbourSize& search) {
  // On one rank lists are written where they belong.
  const bool returns_lists = search.lists && size.num_ranks > 1;
  const double list_bytes =
      search.lists ? search.k * (real_bytes(size.double_positions) + global_bytes) : 0;
  const Searching searching(size, search, returns_lists ? search.k * global_bytes : number_bytes);
  const double results =
      queries_of(size, search) * (list_bytes + search.num_quantities * number_bytes);
  const double returned = returns_lists || search.num_quantities > 0 ? searching.returned : 0;
  // Columns lie there while the domain is made. Then they are brought into its order, from several
  // ranks through what is sent and comes.
  const double columns = Each(size).num * search.bytes_per_column;
  const double beginning = std::max(domain_need(size).peak + columns,
                                    searching.domain + (size.num_ranks > 1 ? 4 : 2) * columns);
  return {std::max(results + searching.in_use + returned, beginning), results};
}

// ---------------------------------------------------------------- meshes

namespace {

/// Rows and columns of ranks.
std::array<int, 2> shape_of(const MeshSize& mesh) {
  return mesh.shape[0] > 0 ? mesh.shape : std::array<int, 2>{mesh.num_ranks, 1};
}

/// Of the rank with most.
double share(Index total, int parts) { return std::ceil(static_cast<double>(total) / parts); }

/// Whether ghosts that are images of a rank's own cells count.
enum class OwnImages { no, yes };

/// Cells of the rank with most, with so many ghosts behind them along axes that are divided.
double cells_of(const MeshSize& mesh, int ghosts = 0, OwnImages images = OwnImages::yes) {
  const auto along = [&](int axis, int parts) {
    const double cells = share(mesh.num[axis], parts) + (parts > 1 ? ghosts : 0);
    const auto of_grid = static_cast<double>(mesh.num[axis]);
    return images == OwnImages::yes ? cells : std::min(cells, of_grid);
  };
  const auto [rows, columns] = shape_of(mesh);
  return along(0, rows) * along(1, columns) * static_cast<double>(mesh.num[2]);
}

/// Whether slabs leave room in the array that is transformed for what a rank keeps of an exchange
/// from shares of one axis to shares of another (docs/fft.md).
bool has_room_for_own(Index from_axis, Index to_axis, Index ranks) {
  for (const Index from : {from_axis / ranks, (from_axis + ranks - 1) / ranks}) {
    for (const Index to : {to_axis / ranks, (to_axis + ranks - 1) / ranks}) {
      const Index safe = (from * to + from_axis - 1) / from_axis;
      if (2 * from > from_axis || 2 * safe > to) return false;
    }
  }
  return true;
}

/// Where a transform works beside its own memory: in what it transforms, or in what it makes.
enum class WorksIn { input, output };

/// What comes from others. What stays lies in the output, or in the input if there is room. Pencils
/// have two exchanges, with a memory each.
double exchange_bytes(const MeshSize& mesh, WorksIn works_in) {
  const double modes = modes_bytes(mesh);
  const auto [rows, columns] = shape_of(mesh);
  if (columns > 1) {
    const double received = works_in == WorksIn::output ? 1 - 1.0 / rows : 1;
    return modes * (1 + (rows > 1 ? received : 0));
  }
  const Index x = mesh.num[0], y = mesh.num[1], ranks = mesh.num_ranks;
  const bool has_room = works_in == WorksIn::output || ranks == 1 ||
                        (has_room_for_own(x, y, ranks) && has_room_for_own(y, x, ranks));
  return has_room ? modes * (1 - 1.0 / mesh.num_ranks) : modes;
}

/// Whether a transform is cuFFT's in three dimensions (docs/fft.md).
bool is_of_whole_grid(const MeshSize& mesh) {
  return mesh.num_ranks == 1 && mesh.num[0] > 1 && mesh.num[1] > 1 && mesh.num[2] % 2 == 0;
}

/// Of a transform: planes in two orders, and what is sent and comes. Or what cuFFT takes of a whole
/// grid: as much as the modes.
double workspace_bytes(const MeshSize& mesh, WorksIn works_in) {
  constexpr double part = 64 << 20;
  const double modes = modes_bytes(mesh);
  if (is_of_whole_grid(mesh)) return modes;
  const double half = std::floor(static_cast<double>(mesh.num[2]) / 2) + 1;
  const double plane = static_cast<double>(mesh.num[1]) * half * 2 * real_bytes(mesh.double_values);
  const double planes_at_once = std::max(part, plane);
  const auto [rows, columns] = shape_of(mesh);
  const double away = modes * (1 - 1.0 / std::max(rows, columns));  // of one exchange
  return 2 * std::min(modes, planes_at_once) + exchange_bytes(mesh, works_in) +
         2 * std::min(away, part);
}

}  // namespace

double field_bytes(const MeshSize& mesh) {
  return cells_of(mesh) * real_bytes(mesh.double_values) + tables_of_field;
}

double modes_bytes(const MeshSize& mesh) {
  const Index half = mesh.num[2] / 2 + 1;
  const auto [rows, columns] = shape_of(mesh);
  const double modes =
      share(mesh.num[1], rows) * static_cast<double>(mesh.num[0]) * share(half, columns);
  // They are made in the memory of cells.
  const double in_place =
      cells_of(mesh) / static_cast<double>(mesh.num[2]) * static_cast<double>(half);
  return std::max(modes, in_place) * 2 * real_bytes(mesh.double_values);
}

MemoryNeed paint_need(const SearchSize& size, const MeshSize& mesh, int window_order) {
  const Each each(size);
  if (each.is_alone) return {cells_of(mesh) * global_bytes + tables, 0};
  const int ghosts = window_order - 1;
  const double sums = cells_of(mesh, ghosts) * global_bytes + tables_of_field;
  // Clustered particles are not evenly over the cells' ranks.
  constexpr double max_sent = 1 << 23, max_received = 1 << 24, imbalance = 1.1;
  const double sent = std::min(each.num, max_sent);
  const double received = std::min(imbalance * each.num, max_received);
  const double row = each.pos + number_bytes;
  const double sorting_owners = key_bytes + local_bytes + sorting;
  const double under_way = 2 * local_bytes * sent + row * (sent + received);
  // Ghosts go to their owners, and others come.
  const double pushed = 2 * (cells_of(mesh, ghosts, OwnImages::no) - cells_of(mesh)) * global_bytes;
  return {sums + std::max({sorting_owners * sent, under_way, pushed}) + tables, 0};
}

MemoryNeed to_modes_need(const MeshSize& mesh) {
  return {modes_bytes(mesh) + workspace_bytes(mesh, WorksIn::output), modes_bytes(mesh)};
}

MemoryNeed to_field_need(const MeshSize& mesh) {
  return {workspace_bytes(mesh, WorksIn::input), 0};
}

MemoryNeed displace_need(const MeshSize& mesh, int order) {
  const double particles = cells_of(mesh) * (6 * real_bytes(mesh.double_values) + global_bytes);
  // A potential and a field of each order, and the modes that become the next field.
  const double peak = particles + order * (modes_bytes(mesh) + field_bytes(mesh)) +
                      modes_bytes(mesh) + to_field_need(mesh).peak;
  return {peak, particles};
}

}  // namespace zhalo
