/// The timed cases and their point sets. Scripts rely on the cases' names (docs/benchmarks.md).
#pragma once

#include <benchmark/benchmark.h>

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "zhalo/core/buffer.hpp"
#include "zhalo/core/exec.hpp"
#include "zhalo/core/types.hpp"
#include "zhalo/domain/particles.hpp"
#include "zhalo/mesh/field.hpp"
#include "zhalo/mesh/modes.hpp"

namespace zhalo::bench {

/// Float positions, (num, 3), in a periodic cube.
struct PointSet {
  std::vector<float> pos;
  double box_length = 1;

  Index num() const { return static_cast<Index>(pos.size() / 3); }
  double mean_separation() const;
};

/// Raw little-endian float32, (N, 3). FileError if the file cannot be read or has another size.
PointSet read_points(const std::string& path, double box_length);

/// Makes or reads a point set when its first case runs.
struct PointSource {
  std::string key;
  std::function<PointSet()> make;
};

/// Keeps the point set that was used last: consecutive cases share it, and memory holds only one.
class PointStore {
 public:
  const PointSet& get(const PointSource& source);

 private:
  std::string key_;
  PointSet points_;
};

/// A point set as particles in the memory of an Exec. On the host this is the set's own memory,
/// which must outlive this object; on a device it is a copy.
class BoundPoints {
 public:
  BoundPoints(const Exec& exec, const PointSet& points);

  const Particles<float>& particles() const { return particles_; }

 private:
  Buffer<float> on_device_;
  Particles<float> particles_;
};

struct FofCase {
  std::string name;
  PointSource source;
  /// Linking length, in units of the mean separation or, if absolute, of the positions.
  double linking_length = 0.2;
  bool absolute = false;
  std::function<Exec()> make_exec;

  double length_for(const PointSet& points) const {
    return absolute ? linking_length : linking_length * points.mean_separation();
  }
};

/// The function that google-benchmark calls. Counters: docs/benchmarks.md.
void run(benchmark::State& state, const FofCase& fof_case, PointStore& point_sets);

/// For each particle the smallest index in its group: one call, not timed.
std::vector<Index> labels(const FofCase& fof_case, const PointSet& points);

/// The point sets that were used last.
struct KnnPoints {
  PointStore particles;
  PointStore queries;
};

struct KnnCase {
  std::string name;
  PointSource particles;
  std::optional<PointSource> queries;  ///< none: the particles themselves
  int k = 8;
  bool reduce = false;  ///< to the k-th radius, instead of lists of distances and indices
  std::function<Exec()> make_exec;
};

/// The function that google-benchmark calls. Counters: docs/benchmarks.md.
void run(benchmark::State& state, const KnnCase& knn_case, KnnPoints& point_sets);

/// The neighbours of each particle, row by row, in its own order.
struct NeighbourTable {
  std::vector<float> distance;  ///< (num, k)
  std::vector<Index> index;     ///< (num, k)
};

/// One call, not timed.
NeighbourTable neighbours(const KnnCase& knn_case, const PointSet& points);

/// Painting; a field at the points; from points to their power spectrum.
enum class MeshWork { paint, readout, power };

struct MeshCase {
  std::string name;
  PointSource source;
  MeshWork work = MeshWork::paint;
  Window window = Window::cic;
  Compensation compensation = Compensation::window;  ///< of a power spectrum
  bool in_z_order = false;
  Index num_cells = 256;  ///< along each axis
  std::function<Exec()> make_exec;
};

/// The function that google-benchmark calls. Counters: docs/benchmarks.md.
void run(benchmark::State& state, const MeshCase& mesh_case, PointStore& point_sets);

/// Unit masses in each cell, the last axis fastest: one call, not timed.
std::vector<float> painted(const MeshCase& mesh_case, const PointSet& points);

/// Of each bin its mean wave number, power, and number of modes: one call, not timed.
std::vector<double> power(const MeshCase& mesh_case, const PointSet& points);

struct TransformCase {
  std::string name;
  Index num = 0;  ///< cells along each axis
  bool is_float = false;
  bool by_cufft = false;  ///< cuFFT's own transform in three dimensions, else ours
  std::function<Exec()> make_exec;
};

/// The function that google-benchmark calls. Counters: docs/benchmarks.md.
void run(benchmark::State& state, const TransformCase& transform_case);
/// The same of a case of cuFFT's.
void run_cufft(benchmark::State& state, const TransformCase& transform_case);
/// Times a transform of num^3 reals and the one back. Each reads and writes the field three times
/// at least where nothing stays in a cache: the rate is of these bytes.
void time_transforms(benchmark::State& state, Index num, std::size_t real_bytes,
                     const std::function<void()>& both);

/// A copy of memory of an Exec within it: the speed that bounds all that reads and writes much.
struct CopyCase {
  std::string name;
  Index num_bytes = 0;
  std::function<Exec()> make_exec;
};

/// The function that google-benchmark calls. Counters: docs/benchmarks.md.
void run(benchmark::State& state, const CopyCase& copy_case);

/// The caller's own points.
struct PointsFile {
  std::string path;
  std::optional<double> box_length;  ///< of the periodic cube that holds them; none: 1
  std::optional<double>
      linking_length;                ///< in the file's unit; none: fractions of the mean separation
  Index num_cells = 128;             ///< of a mesh, along each axis
  std::vector<Index> threads{1, 2};  ///< a case for each of these numbers
};

struct Cases {
  std::vector<FofCase> fof;
  std::vector<KnnCase> knn;
  std::vector<MeshCase> mesh;
  std::vector<TransformCase> fft;
  std::vector<CopyCase> copies;
};

/// Cases of one point set follow each other.
Cases generated_cases();

/// Of the caller's points; with a linking length only groups.
Cases file_cases(const PointsFile& file);

/// The k nearest neighbours of the caller's points, on one thread.
KnnCase neighbours_case(const PointsFile& file, int k);

/// A mesh of the caller's points, on one thread.
MeshCase mesh_case_of(const PointsFile& file, MeshWork work, Window window);

}  // namespace zhalo::bench
