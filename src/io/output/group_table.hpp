/// A catalogue's rows as the columns of /Group.
#pragma once

#include <vector>

#include "src/io/output/file_set.hpp"

namespace zhalo::io {

/// This rank's rows in the types and units of the files. Holds what differs from the catalogue, and
/// views the rest of it: the catalogue must outlive it.
class GroupTable {
 public:
  /// Collective.
  GroupTable(const Communicator& comm, const Catalogue& catalogue, const SnapshotInfo& snapshot,
             const RunRecord& run);
  ~GroupTable() = default;
  GroupTable(const GroupTable&) = delete;
  GroupTable& operator=(const GroupTable&) = delete;

  /// `placement` is that of the groups.
  std::vector<FileColumn> columns(const Placement& placement) const;

 private:
  void append_numbers(std::vector<FileColumn>& columns, const Placement& placement) const;
  void append_properties(std::vector<FileColumn>& columns, const Placement& placement) const;
  hdf5::DatasetView lengths(const std::vector<Index>& wide, const std::vector<std::int32_t>& narrow,
                            Index columns) const;

  const Catalogue* catalogue_;
  Index num_columns_;  // of types
  bool wide_ = false;  // some group anywhere is too large for int32
  std::vector<Index> length_by_type_;
  std::vector<Index> offset_by_type_;
  std::vector<std::int32_t> narrow_length_;
  std::vector<std::int32_t> narrow_length_by_type_;
  std::vector<std::int32_t> num_subs_;
  std::vector<std::int32_t> first_sub_;
  std::vector<double> mass_by_type_;
  std::vector<std::vector<double>> properties_;  // by halo_columns
};

}  // namespace zhalo::io
