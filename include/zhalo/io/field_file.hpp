/// Writing fields on grids (docs/formats.md).
#pragma once

#include <string>
#include <vector>

#include "zhalo/io/result_file.hpp"
#include "zhalo/mesh/field.hpp"

namespace zhalo::io {

/// What is written besides the cells, and to which files; the same on all ranks.
struct FieldRecord {
  std::string name;  ///< of the files, without ".hdf5"
  std::string dataset = "Density";
  Meaning meaning{};
  std::vector<Note> notes{};       ///< attributes of the dataset
  std::vector<Note> parameters{};  ///< how it was made: written to /Parameters
  WriteOptions files{};
};

/// Stages `NAME.hdf5`, or `NAME.0.hdf5` and so on if there are several files. Dataset /DATASET has
/// the shape (n_x, n_y, n_z), or that of the planes x which the file holds. Its attributes are
/// GridSize, BoxCorner, BoxSize and FirstPlane. With several files and WriteOptions::master,
/// `NAME.hdf5` shows them as one. Time and units are those of `snapshot`.
///
/// The field may have any decomposition and ghosts. If ranks do not hold whole planes without
/// ghosts, cells are first copied once, into planes. With parallel HDF5, ranks that share a file
/// write it at the same time. If a rank is lost meanwhile, the others wait without limit. Without
/// parallel HDF5 they write in turns. The bytes are the same. Collective over files.comm(), whose
/// ranks must be those of the context. Throws as write_results(). T: float or double.
template <class T>
void write_field(StagedFiles& files, const Context& context, const Field<T>& field,
                 const FieldRecord& record, const SnapshotInfo& snapshot);

}  // namespace zhalo::io
