/// A set of analyses, whose results must be those of one rank, bit for bit: for ranks that are
/// threads, in which Catch2's assertions must not be used.
#pragma once

#include <string>
#include <vector>

#include "tests/mpi/mesh/paint_case.hpp"
#include "tests/support/point_sets.hpp"
#include "tests/support/same_bits.hpp"
#include "zhalo/catalogue/catalogue.hpp"
#include "zhalo/comm/context.hpp"
#include "zhalo/core/error.hpp"
#include "zhalo/knn/knn.hpp"
#include "zhalo/mesh/modes.hpp"

namespace zhalo::testing {

/// An assertion of any thread: it fails the whole run.
inline void need(bool good, const std::string& what) {
  if (!good) throw Error("not so: " + what);
}

/// What all ranks have found, or this rank's part of it.
struct Analysed {
  std::vector<Index> label;
  std::uint64_t checksum = 0;
  std::vector<float> distance;
  std::vector<Index> neighbour;
  std::vector<double> painted;
  std::vector<double> transformed;  ///< there and back
};

inline Grid grid_of_analysis(const Box& box) { return {{{12, 10, 14}}, box}; }

inline PointSet<float> points_of_analysis() {
  PointSet<float> points{{}, Box::periodic_cube(1), 0.05};
  Random random(8);
  fill(points, random, Shape::blobs, 600);
  return points;
}

inline constexpr int k_of_analysis = 5;

/// Groups, catalogue, neighbours, painting and Fourier transform of points, of which this rank has
/// a part.
inline Analysed analyse(const Context& context, const PointSet<float>& points, const Share& part) {
  const std::vector<float> own = rows_of(points, part);
  const Buffer<float> rows = to_exec(context.exec, Span<const float>(own), "test");
  Particles<float> particles;
  particles.segments = {ParticleSegment<float>::interleaved(rows.data(), part.count)};
  Analysed found;
  const FofResult groups =
      friends_of_friends(context, particles, points.box, {.linking_length = points.linking_length});
  found.label = to_host(context.exec, groups.label);
  found.checksum =
      make_catalogue(context, particles, points.box, groups.label.span(), {.min_members = 2})
          .checksum;
  const KnnResult<float> nearest = knn(context, particles, points.box, {.k = k_of_analysis});
  found.distance = to_host(context.exec, nearest.distance);
  found.neighbour = to_host(context.exec, nearest.index);
  Field<double> field(context,
                      Decomposition(grid_of_analysis(points.box), context.comm.size(), {}));
  paint(context, particles, field);
  found.painted = own_cells(context, field);
  const Modes<double> modes = to_modes(context, field);
  to_field(context, modes, field);
  found.transformed = own_cells(context, field);
  return found;
}

/// Error unless this rank finds its part of what one rank has found.
inline void check_analysis(const Context& context, const PointSet<float>& points,
                           const Analysed& whole) {
  const Communicator& comm = context.comm;
  const Share part = part_of(points.num(), Cut::uneven, comm.rank(), comm.size());
  const Analysed found = analyse(context, points, part);
  const Share rows{k_of_analysis * part.first, k_of_analysis * part.count};
  const Grid grid = grid_of_analysis(points.box);
  const IndexBox cells = Decomposition(grid, comm.size(), {}).cells(comm.rank());
  need(found.label == slice(whole.label, part), "labels are those of one rank");
  need(found.checksum == whole.checksum, "the catalogue is that of one rank");
  need(same_bits(found.distance, slice(whole.distance, rows)), "distances are those of one rank");
  need(found.neighbour == slice(whole.neighbour, rows), "neighbours are those of one rank");
  need(same_bits(found.painted, cells_of(whole.painted, grid, cells)),
       "the painted field is that of one rank");
  need(same_bits(found.transformed, cells_of(whole.transformed, grid, cells)),
       "the transformed field is that of one rank");
}

}  // namespace zhalo::testing
