/// Writing fields on grids (docs/formats.md).
#pragma once

#include <string>
#include <vector>

#include "zhalo/io/result_file.hpp"
#include "zhalo/mesh/field.hpp"

namespace zhalo::io {

/// What is written besides the cells, and where; the same on all ranks.
struct FieldRecord {
  std::string name;  ///< of the files, without ".hdf5"
  std::string dataset = "Density";
  Meaning meaning{};
  std::vector<Note> notes{};       ///< attributes of the dataset
  std::vector<Note> parameters{};  ///< how it was made: goes into /Parameters
  WriteOptions files{};
};

/// Stages `NAME.hdf5`, or `NAME.0.hdf5` and so on if there are to be several: dataset /DATASET of
/// shape (n_x, n_y, n_z), or of the planes x that a file holds; attributes of the dataset:
/// GridSize, BoxCorner, BoxSize, FirstPlane. With several files and WriteOptions::master,
/// `NAME.hdf5` shows them as one. `snapshot` is the one whose time and units hold. The field's
/// decomposition and ghosts may be any: pencils, or cells between ghosts, are first brought
/// together to planes, for which they are copied once. Ranks that share a file write it at once if
/// zhalo was built with parallel HDF5 (then a wait for a rank that is lost while it writes has no
/// limit), else in turns: the bytes are the same. Collective over files.comm(), whose ranks are the
/// context's; errors as write_results. T: float or double.
template <class T>
void write_field(StagedFiles& files, const Context& context, const Field<T>& field,
                 const FieldRecord& record, const SnapshotInfo& snapshot);

}  // namespace zhalo::io
