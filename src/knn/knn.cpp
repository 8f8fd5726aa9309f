#include "zhalo/knn/knn.hpp"

#include <fmt/format.h>

#include <optional>
#include <type_traits>
#include <utility>

#include "kernels/on.hpp"
#include "kernels/particles.hpp"
#include "src/comm/agreement.hpp"
#include "src/core/instantiate.hpp"
#include "src/core/validate.hpp"
#include "src/domain/domain_state.hpp"
#include "src/knn/row_search.hpp"
#include "zhalo/comm/context.hpp"
#include "zhalo/core/memory_need.hpp"
#include "zhalo/knn/reduce.hpp"
#include "zhalo/knn/within.hpp"

namespace zhalo {

template <class Real>
Buffer<Index> count_within_of(const Context& context, const KnnTargets<Real>& targets,
                              const Box& box, const WithinOptions& options) {
  return together(context, [&] {
    NeighbourSearch search = options.search();
    search.counts_only = true;
    const PhaseTimer timer(context, "results");
    NeighbourLists<Real> lists(context, targets, box, search);
    Buffer<Index> result(context.exec, lists.num_queries(), "counts of neighbours");
    while (lists.queue_next())
      lists.put(lists.rows().num_within.data(), static_cast<Index>(sizeof(Index)), result.data());
    synchronise(context.exec);
    return result;
  });
}

ZHALO_FOR_REALS(count_within_of);

namespace {

/// What is wanted of a search, and from what.
template <class Real>
struct Wanted {
  const KnnOutput& output;
  const QuantityInput<Real>& quantity_input;
  const Buffer<ParticleLocation>& location;

  /// Of the search: those of the output, then of the quantities, then the locations.
  std::vector<ColumnView> columns() const {
    std::vector<ColumnView> all = output.columns;
    const std::vector<ColumnView>& of_quantities = quantity_input.columns();
    all.insert(all.end(), of_quantities.begin(), of_quantities.end());
    if (output.locations) all.push_back(column_view(location));
    return all;
  }
  int first_of_quantities() const { return static_cast<int>(output.columns.size()); }
  int locations() const {
    return first_of_quantities() + static_cast<int>(quantity_input.columns().size());
  }
};

/// What is asked for, and one chunk of it on its way.
template <class Real>
class ResultWriter {
 public:
  ResultWriter(const Context& context, NeighbourLists<Real>& lists, int k,
               const Wanted<Real>& wanted)
      : context_(context), lists_(lists), wanted_(wanted), output_(wanted.output) {
    result_.k = k;
    const KnnOutput& output = wanted.output;
    const bool sorted = output.order == RowOrder::domain;
    result_.num_rows = sorted ? lists.num_searched() : lists.num_queries();
    const Index num = result_.num_rows * k;
    if (output.distances)
      result_.distance = Buffer<Real>(context.exec, num, "distances of neighbours");
    if (output.indices) result_.index = Buffer<Index>(context.exec, num, "indices of neighbours");
    if (output.locations)
      result_.location = Buffer<ParticleLocation>(context.exec, num, "locations of neighbours");
    for (const ColumnView& column : output.columns)
      result_.columns.emplace_back(context.exec, num * column.element_size,
                                   "columns of neighbours");
    for (std::size_t i = 0; i < output.quantities.size(); ++i)
      result_.quantities.emplace_back(context.exec, result_.num_rows, "quantities of neighbours");
    if (sorted) result_.query = Buffer<Index>(context.exec, result_.num_rows, "indices of queries");
  }

  void write_chunk() {
    const NeighbourRows<Real>& rows = lists_.rows();
    if (output_.distances || output_.indices) write_rows();
    for (std::size_t i = 0; i < output_.columns.size(); ++i)
      write_column({static_cast<int>(i), output_.columns[i].element_size},
                   {result_.columns[i].data(), 0});
    if (output_.locations)
      write_column({wanted_.locations(), sizeof(ParticleLocation)},
                   {result_.location.data(), 0xff});
    for (std::size_t i = 0; i < output_.quantities.size(); ++i) write_quantity(i);
    if (output_.order == RowOrder::domain) {
      queue_copy(context_.exec, result_.query.data() + done_, rows.query_index,
                 static_cast<std::size_t>(rows.num) * sizeof(Index));
    }
    done_ += rows.num;
  }

  KnnResult<Real> take() {
    result_.statistics = lists_.statistics();
    return std::move(result_);
  }

 private:
  /// Distances and indices: at once where they belong, if that is on this rank.
  void write_rows() {
    const NeighbourRows<Real>& rows = lists_.rows();
    kernels::RowOutput<Real> to{result_.distance.span(), result_.index.span(), lists_.result_rows(),
                                rows.unit};
    if (output_.order == RowOrder::domain) {
      const Index first = done_ * rows.k;
      if (output_.distances) to.distance = to.distance.subspan(first, rows.num * rows.k);
      if (output_.indices) to.index = to.index.subspan(first, rows.num * rows.k);
      to.result_row = {};
    } else if (context_.comm.size() > 1) {
      return send_rows(rows);
    }
    kernels::on(context_.exec, [&](const auto& e) { kernels::write_rows(e, rows, to); });
  }

  /// One after the other, which takes less memory than both at once.
  void send_rows(const NeighbourRows<Real>& rows) {
    if (output_.distances) send_values(rows, &kernels::RowOutput<Real>::distance, result_.distance);
    if (output_.indices) send_values(rows, &kernels::RowOutput<Real>::index, result_.index);
  }

  template <class T>
  void send_values(const NeighbourRows<Real>& rows, Span<T> kernels::RowOutput<Real>::*which,
                   Buffer<T>& to) {
    Buffer<T> values(context_.exec, rows.num * rows.k, "a chunk of results");
    kernels::RowOutput<Real> output;
    output.unit = rows.unit;
    output.*which = values.span();
    kernels::on(context_.exec, [&](const auto& e) { kernels::write_rows(e, rows, output); });
    keep(values.data(), rows.k * static_cast<Index>(sizeof(T)), to.data());
  }

  struct Column {
    int number;
    Index element_size;
  };

  void write_column(const Column& column, const kernels::MissingBytes& to) {
    const NeighbourRows<Real>& rows = lists_.rows();
    const Index row_bytes = rows.k * column.element_size;
    Buffer<std::byte> values(context_.exec, rows.num * row_bytes, "a chunk of results");
    const SearchColumnView from = lists_.column_view(column.number, column.element_size);
    kernels::on(context_.exec, [&](const auto& e) {
      kernels::gather_neighbours(e, from, rows, {values.data(), to.missing});
    });
    keep(values.data(), row_bytes, to.to);
  }

  void write_quantity(std::size_t i) {
    const PhaseTimer timer(context_, "reduce");
    const NeighbourRows<Real>& rows = lists_.rows();
    Buffer<double> values(context_.exec, rows.num, "a chunk of quantities");
    const kernels::QuantityColumns columns =
        wanted_.quantity_input.at_neighbours(lists_, wanted_.first_of_quantities());
    kernels::on(context_.exec, [&](const auto& e) {
      kernels::reduce_rows(e, rows, columns, output_.quantities[i], values.span());
    });
    keep(values.data(), static_cast<Index>(sizeof(double)), result_.quantities[i].data());
  }

  /// Rows of so many bytes go where they belong.
  void keep(const void* values, Index row_bytes, void* to) {
    if (output_.order == RowOrder::caller) return lists_.put(values, row_bytes, to);
    queue_copy(context_.exec, static_cast<std::byte*>(to) + done_ * row_bytes, values,
               static_cast<std::size_t>(lists_.rows().num * row_bytes));
  }

  const Context& context_;
  NeighbourLists<Real>& lists_;
  const Wanted<Real>& wanted_;
  const KnnOutput& output_;
  KnnResult<Real> result_;
  Index done_ = 0;  ///< rows
};

/// What must be the same on all ranks, or some would wait for results that others do not send.
void validate_output(const Communicator& comm, const KnnOutput& output) {
  validate_enumerator(output.order, RowOrder::domain, "the order of rows");
  for (const QuantityOptions& wanted : output.quantities) {
    validate_enumerator(wanted.quantity, Quantity::velocity_dispersion, "a quantity of neighbours");
    validate_enumerator(wanted.kernel, SphKernel::wendland_c4, "the kernel of a density");
  }
  validate(are_equal(comm, numbers_of(output.distances, output.indices, output.locations,
                                      output.order == RowOrder::domain)),
           "the ranks do not want the same results; give all ranks the same");
  std::vector<Index> quantities;
  for (const QuantityOptions& wanted : output.quantities) {
    append_numbers(quantities, wanted.quantity);
    append_numbers(quantities, wanted.kernel);
  }
  validate(are_equal(comm, quantities),
           "the ranks do not want the same quantities; give all ranks the same");
}

/// Of the particles that may be neighbours, in the order in which columns are given.
template <class Real>
Buffer<ParticleLocation> locations_of(const Context& context, const KnnTargets<Real>& targets) {
  const int species = targets.species.targets;
  const Index num =
      targets.domain != nullptr ? targets.domain->num_origin(species) : targets.particles->num();
  Buffer<ParticleLocation> of_caller(context.exec, num, "locations of particles");
  kernels::on(context.exec, [&](const auto& e) {
    kernels::number_locations(e, context.comm.rank(), of_caller.span());
  });
  if (targets.domain == nullptr) return of_caller;
  return targets.domain->to_domain_order(of_caller, species);
}

/// Domain::particles() would also make positions in the caller's unit, and keep them.
template <class Real>
Particles<Real> particles_of(const KnnTargets<Real>& targets) {
  if (targets.domain == nullptr) return *targets.particles;
  const int species = targets.species.targets;
  targets.domain->num(species);  // InputError if there is no such species
  Particles<Real> stored = stored_particles(*targets.domain->state());
  stored.segments = {stored.segments[static_cast<std::size_t>(species)]};
  return stored;
}

/// Whether anything is wanted of each neighbour.
bool has_lists(const KnnOutput& output) {
  return output.distances || output.indices || output.locations || !output.columns.empty();
}

/// The memory of a device during a search. Collective.
template <class Real>
DeviceMemoryScope look_after_memory(const Context& context, const KnnTargets<Real>& targets,
                                    const KnnOptions& options, const KnnOutput& output,
                                    const QuantityNeeds& needs) {
  const bool in_domain = targets.domain != nullptr;
  const Index num = context.comm.sum(targets.num_particles());
  // Ranks that do not agree on whether there are queries find out later.
  const Index queries = context.comm.sum(targets.has_queries() ? targets.num_queries() : 0);
  const NeighbourSize search{.num_queries = queries,
                             .k = options.k,
                             .chunk_bytes = options.chunk_bytes,
                             .bytes_per_column = needs.bytes_per_particle(),
                             .lists = has_lists(output),
                             .num_quantities = static_cast<int>(output.quantities.size())};
  return {context, fmt::format("{} neighbours among {} particles", options.k, num), [=](int ranks) {
            const SearchSize size{num, ranks, std::is_same_v<Real, double>};
            return knn_need(size, search).peak - (in_domain ? domain_need(size).kept : 0);
          }};
}

}  // namespace

const std::byte* bytes_of_column(const std::vector<Buffer<std::byte>>& columns, int i, Index num,
                                 Index element_size) {
  validate(i >= 0 && static_cast<std::size_t>(i) < columns.size(),
           "there is no column {} (there are {})", i, columns.size());
  const Buffer<std::byte>& column = columns[static_cast<std::size_t>(i)];
  validate(column.size() == num * element_size,
           "column {} has {} bytes, but {} elements of {} bytes are asked for", i, column.size(),
           num, element_size);
  return column.data();
}

template <class Real>
KnnResult<Real> knn_of(const Context& context, const KnnTargets<Real>& targets, const Box& box,
                       const KnnOptions& options, const KnnOutput& output) {
  return together(context, [&] {
    validate(options.k >= 1 && options.k <= max_neighbours, "k is {} (must be 1 to {})", options.k,
             max_neighbours);
    validate_output(context.comm, output);
    QuantityNeeds needs = needs_of(output.quantities);
    std::optional<kernels::EqualMasses> equal_masses;
    if (needs.masses) {
      equal_masses =
          together(context.comm, [&] { return equal_masses_of(context, particles_of(targets)); });
      needs.masses = !equal_masses;
    }
    const auto memory = look_after_memory(context, targets, options, output, needs);
    const PhaseTimer timer(context, "results");
    KnnOutput in_order = output;
    // Rows of a domain are in its order in any case. Numbers alone go without the queries' indices,
    // which would take as much memory as one of them.
    if (targets.domain != nullptr && has_lists(output)) in_order.order = RowOrder::domain;
    QuantityInput<Real> input = together(context.comm, [&] {
      return QuantityInput<Real>(context, particles_of(targets), equal_masses, needs);
    });
    if (needs.masses) input.validate_masses(context, targets);
    const Buffer<ParticleLocation> location =
        output.locations ? locations_of(context, targets) : Buffer<ParticleLocation>();
    const Wanted<Real> wanted{in_order, input, location};
    NeighbourLists<Real> lists(context, targets, box, {options, wanted.columns()});
    if (targets.domain == nullptr) input.release();
    ResultWriter<Real> writer(context, lists, options.k, wanted);
    while (lists.queue_next()) writer.write_chunk();
    return writer.take();
  });
}

ZHALO_FOR_REALS(knn_of);

}  // namespace zhalo
