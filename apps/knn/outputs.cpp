#include "apps/knn/knn.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <algorithm>
#include <cmath>
#include <limits>

namespace zhalo::knn_app {
namespace {

/// What a reader of any of the datasets must know.
std::vector<io::Note> common_notes(const Plan& plan) {
  const Options& options = plan.options;
  return {{"K", Index{options.k}},
          {"SelfIncluded", Index{!plan.query && options.include_self ? 1 : 0}},
          {"Periodic", Index{plan.box.any_periodic() ? 1 : 0}},
          {"MaxRadius", options.max_radius}};
}

std::vector<io::Note> list_notes(const Plan& plan, io::Note missing) {
  std::vector<io::Note> notes = common_notes(plan);
  notes.push_back(
      {"Order", std::string("by squared distance in the precision of the search, then by index")});
  notes.push_back(std::move(missing));
  return notes;
}

std::vector<int> sorted(std::vector<int> types) {
  std::sort(types.begin(), types.end());
  return types;
}

std::string meaning_of_index(const Plan& plan) {
  const std::vector<int> types = sorted(plan.options.types);
  if (types.size() == 1)
    return fmt::format("row in PartType{} of the snapshot, counted over its files", types[0]);
  return fmt::format(
      "number over the particles of types {}: all of the lowest type first, each type in the order "
      "of the snapshot's files; those of a type begin at FirstIndex of /Parameters",
      fmt::join(types, ", "));
}

/// Index of the first particle of each type, and the number of all.
std::vector<Index> first_indices(const Plan& plan, const std::vector<int>& types) {
  std::vector<Index> first{0};
  for (const int type : types)
    first.push_back(first.back() + plan.snapshot.types.at(static_cast<std::size_t>(type)).count);
  return first;
}

}  // namespace

io::Results describe_results(const Plan& plan) {
  const std::vector<int> types = sorted(plan.options.types);
  io::Results results;
  results.types = types;
  results.parameters = common_notes(plan);
  results.parameters.push_back({"Types", types});
  results.parameters.push_back({"FirstIndex", first_indices(plan, types)});
  results.parameters.push_back(
      {"Precision", std::string(plan.double_positions ? "float64" : "float32")});
  if (!plan.query) return results;
  results.types =
      plan.query->is_snapshot ? sorted(plan.query->types) : std::vector<int>{io::no_type};
  results.parameters.push_back({"Query", app::whole_path(plan.query->path)});
  return results;
}

io::ResultColumn distance_column(const Plan& plan,
                                 std::variant<Span<const float>, Span<const double>> values) {
  io::ResultColumn column;
  column.name = "Distances";
  std::visit([&](const auto& span) { column.values = span; }, values);
  column.width = plan.options.k;
  column.meaning = {.a = 1, .h = -1, .length = 1, .text = "Distances of the K nearest particles"};
  column.notes = list_notes(plan, {"Missing", std::numeric_limits<double>::infinity()});
  return column;
}

io::ResultColumn index_column(const Plan& plan, Span<const Index> values) {
  io::ResultColumn column;
  column.name = "Indices";
  column.values = values;
  column.width = plan.options.k;
  column.meaning = {.text = "Which the K nearest particles are: " + meaning_of_index(plan)};
  column.notes = list_notes(plan, {"Missing", Index{-1}});
  return column;
}

io::ResultColumn reduced_column(const Plan& plan, Quantity quantity, Span<const double> values) {
  const QuantityTraits& traits = traits_of(quantity);
  io::ResultColumn column;
  column.name = traits.dataset;
  column.values = values;
  column.meaning = io::meaning_of(traits.unit, traits.text);
  column.notes = common_notes(plan);
  if (quantity == Quantity::density)
    column.notes.push_back({"Kernel", name_of(plan.options.kernel)});
  return column;
}

namespace {

struct Sums {
  double min = std::numeric_limits<double>::infinity();
  double max = -std::numeric_limits<double>::infinity();
  double sum = 0;
  Index finite = 0;
  Index total = 0;
};

template <class T>
Sums sums_of(Span<const T> values, Index width) {
  Sums sums;
  for (Index i = width - 1; i < values.size(); i += width) {
    const auto value = static_cast<double>(values[i]);
    ++sums.total;
    if (!std::isfinite(value)) continue;
    ++sums.finite;
    sums.sum += value;
    sums.min = std::min(sums.min, value);
    sums.max = std::max(sums.max, value);
  }
  return sums;
}

}  // namespace

ColumnSummary summarise(const Communicator& comm, const io::ResultColumn& column) {
  const Sums mine = std::visit(
      [&](const auto& values) { return sums_of(values, std::max(column.width, Index{1})); },
      column.values);
  ColumnSummary summary;
  summary.name = column.name;
  summary.finite = comm.sum(mine.finite);
  summary.total = comm.sum(mine.total);
  const double min = comm.min(mine.min), max = comm.max(mine.max), sum = comm.sum(mine.sum);
  if (summary.finite == 0) return summary;
  summary.min = min;
  summary.max = max;
  summary.mean = sum / static_cast<double>(summary.finite);
  return summary;
}

}  // namespace zhalo::knn_app
