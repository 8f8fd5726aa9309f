/// From columns in memory to the datasets of the files, and to a few numbers about them.
#pragma once

#include <string>
#include <variant>

#include "apps/knn/plan.hpp"
#include "zhalo/comm/communicator.hpp"
#include "zhalo/io/result_file.hpp"

namespace zhalo::knn_app {

/// The datasets, and how they were made, without values.
io::Results describe_results(const Plan& plan);

io::ResultColumn distance_column(const Plan& plan,
                                 std::variant<Span<const float>, Span<const double>> values);
io::ResultColumn index_column(const Plan& plan, Span<const Index> values);
io::ResultColumn reduced_column(const Plan& plan, Quantity quantity, Span<const double> values);

/// Numbers of one dataset over all ranks.
struct ColumnSummary {
  std::string name;
  double min = 0;   ///< of the finite ones
  double mean = 0;  ///< of the finite ones
  double max = 0;   ///< of the finite ones
  Index finite = 0;
  Index total = 0;
};

/// Over the finite numbers of all ranks; of lists the last column, that of the k-th neighbour.
/// Collective.
ColumnSummary summarise(const Communicator& comm, const io::ResultColumn& column);

}  // namespace zhalo::knn_app
