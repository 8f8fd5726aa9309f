/// Whether the numbers of a dataset exist. Where they do not, HDF5 reads zeros or a fill value
/// without a word.
#pragma once

#include <string>

#include "src/io/hdf5/input.hpp"

namespace zhalo::io::hdf5 {

/// What is missing of these rows of an open dataset, in words; empty if nothing is. `path` is the
/// dataset's file.
///
/// Looks at chunks and contiguous data that were never written, at external files that are missing
/// or too short, and at virtual datasets: at gaps between their parts, and at what the files of
/// these parts hold. HDF5 does not say whether a part of a contiguous or compact dataset was
/// written.
std::string missing_part(hid_t dataset, const std::string& path, Rows rows);

/// A quicker look, at virtual datasets only: the first file of their parts that does not exist;
/// empty if all do.
std::string missing_file(hid_t dataset, const std::string& path);

}  // namespace zhalo::io::hdf5
