/// From columns in memory to the datasets of the files, and to a few numbers about them.
#pragma once

#include "apps/cli/on_host.hpp"
#include "apps/knn/plan.hpp"
#include "zhalo/io/result_file.hpp"

namespace zhalo::knn_app {

/// The datasets, and how they were made, without values.
io::Results describe_results(const Plan& plan);

/// Over the finite numbers of all ranks; of lists the last column, that of the k-th neighbour.
/// Collective.
ColumnSummary summarise(const Communicator& comm, const io::ResultColumn& column);

io::ResultColumn distance_column(const Plan& plan,
                                 std::variant<Span<const float>, Span<const double>> values);
io::ResultColumn index_column(const Plan& plan, Span<const Index> values);
io::ResultColumn reduced_column(const Plan& plan, Quantity quantity, Span<const double> values);

}  // namespace zhalo::knn_app
