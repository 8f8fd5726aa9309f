/// Points that are no particles, such as queries for neighbours.
#pragma once

#include <optional>
#include <string>

#include "zhalo/io/load.hpp"

namespace zhalo::io {

/// An HDF5 file with a dataset `Coordinates` of shape (N, 3) at its root, float32 or float64.
struct QueryPoints {
  std::string path;
  Index count = 0;
  bool double_coordinates = false;
};

/// Empty if the path is no file with such a dataset, as where it is a snapshot. Rank 0 looks and
/// tells the others. Collective: FileError for a file that is damaged or no HDF5, InputError for a
/// dataset of another shape or kind.
std::optional<QueryPoints> find_query_points(const Communicator& comm, const std::string& path);

/// This rank's equal share of the points, one range of type no_type. Collective.
template <class Real>
LoadedParticles<Real> load_query_points(const Context& context, const QueryPoints& file);

extern template LoadedParticles<float> load_query_points(const Context&, const QueryPoints&);
extern template LoadedParticles<double> load_query_points(const Context&, const QueryPoints&);

}  // namespace zhalo::io
