/// Whether what zhalo read is what an independent reader reads from the same files.
#pragma once

#include <string>

#include "tests/fuzz/readers.hpp"

namespace zhalo::fuzz {

// Each returns what differs, or nothing; for readings that succeeded.
std::string difference(const SnapshotReading& reading);
std::string difference(const CatalogueReading& reading, const std::string& path);
std::string difference(const QueryPointsReading& reading, const std::string& path);
std::string difference(const TableReading& reading, const std::string& path);

}  // namespace zhalo::fuzz
