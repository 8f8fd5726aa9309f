/// Which cases there are. Their names are in docs/benchmarks.md; scripts rely on them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "fof_case.hpp"
#include "knn_case.hpp"
#include "mesh_case.hpp"
#include "transform_case.hpp"

namespace zhalo::bench {

/// The caller's own points.
struct PointsFile {
  std::string path;
  std::optional<double> box_length;  ///< of the periodic cube that holds them; none: 1
  std::optional<double>
      linking_length;  ///< in the file's unit; none: fractions of the mean separation
};

struct Cases {
  std::vector<FofCase> fof;
  std::vector<KnnCase> knn;
  std::vector<MeshCase> mesh;
  std::vector<TransformCase> fft;
};

/// Cases of one points follow each other.
Cases generated_cases();

/// Of the caller's points; with a linking length only groups.
Cases file_cases(const PointsFile& file);

/// The k nearest neighbours of the caller's points, on one thread.
KnnCase neighbours_case(const PointsFile& file, int k);

}  // namespace zhalo::bench
