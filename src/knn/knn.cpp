#include "zhalo/knn/knn.hpp"

#include <utility>

#include "kernels/knn.hpp"
#include "kernels/on.hpp"
#include "kernels/particles.hpp"
#include "src/core/validate.hpp"
#include "src/knn/memory_of_search.hpp"
#include "zhalo/knn/neighbour_lists.hpp"
#include "zhalo/knn/within.hpp"

namespace zhalo {
namespace {

template <class Real>
Buffer<Index> count(const Context& context, const KnnTargets<Real>& targets, const Box& box,
                    const WithinOptions& options) {
  return together(context.comm, [&] {
    NeighbourSearch search = options.search();
    search.counts_only = true;
    const PhaseTimer timer(context, "results");
    NeighbourLists<Real> lists(context, targets, box, search);
    Buffer<LocalIndex> counts(context.exec, lists.num_queries(), "counts of neighbours");
    while (lists.queue_next())
      lists.put(lists.rows().count.data(), static_cast<Index>(sizeof(LocalIndex)), counts.data());
    Buffer<Index> result(context.exec, counts.size(), "counts of neighbours");
    kernels::on(context.exec, [&](const auto& e) {
      kernels::make_global(e, Span<const LocalIndex>(counts.span()), 0, result.span());
    });
    synchronise(context.exec);
    return result;
  });
}

}  // namespace

template <class Real>
Buffer<Index> count_within(const Context& context, const Particles<Real>& particles, const Box& box,
                           const WithinOptions& options) {
  return count<Real>(context, particles, box, options);
}

template <class Real>
Buffer<Index> count_within(const Context& context, const Queries<Real>& among, const Box& box,
                           const WithinOptions& options) {
  return count<Real>(context, among, box, options);
}

template <class Real>
Buffer<Index> count_within(const Domain<Real>& domain, const WithinOptions& options,
                           const KnnSpecies& species) {
  return count<Real>(domain.context(), {domain, species}, domain.box(), options);
}

template Buffer<Index> count_within(const Domain<float>&, const WithinOptions&, const KnnSpecies&);
template Buffer<Index> count_within(const Domain<double>&, const WithinOptions&, const KnnSpecies&);
template Buffer<Index> count_within(const Context&, const Particles<float>&, const Box&,
                                    const WithinOptions&);
template Buffer<Index> count_within(const Context&, const Particles<double>&, const Box&,
                                    const WithinOptions&);
template Buffer<Index> count_within(const Context&, const Queries<float>&, const Box&,
                                    const WithinOptions&);
template Buffer<Index> count_within(const Context&, const Queries<double>&, const Box&,
                                    const WithinOptions&);

namespace {

/// What is asked for, and one chunk of it on its way.
template <class Real>
class ResultWriter {
 public:
  ResultWriter(const Context& context, NeighbourLists<Real>& lists, const KnnOptions& options,
               const KnnOutput& output)
      : context_(context), lists_(lists), output_(output) {
    result_.k = options.k;
    const bool sorted = output.order == RowOrder::domain;
    result_.num_rows = sorted ? lists.num_searched() : lists.num_queries();
    const Index num = result_.num_rows * options.k;
    if (output.distances)
      result_.distance = Buffer<Real>(context.exec, num, "distances of neighbours");
    if (output.indices) result_.index = Buffer<Index>(context.exec, num, "indices of neighbours");
    if (output.locations)
      result_.location = Buffer<ParticleLocation>(context.exec, num, "locations of neighbours");
    for (const ColumnView& column : output.columns)
      result_.columns.emplace_back(context.exec, num * column.element_size,
                                   "columns of neighbours");
    if (sorted) result_.query = Buffer<Index>(context.exec, result_.num_rows, "indices of queries");
  }

  void write_chunk() {
    const NeighbourRows<Real>& rows = lists_.rows();
    write_rows();
    for (std::size_t i = 0; i < output_.columns.size(); ++i)
      write_column(static_cast<int>(i), result_.columns[i].data(), 0);
    if (output_.locations)
      write_column(static_cast<int>(output_.columns.size()), result_.location.data(), 0xff);
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
    keep(values.data(), static_cast<Index>(sizeof(T)), to.data());
  }

  void write_column(int i, void* to, unsigned char missing) {
    const NeighbourRows<Real>& rows = lists_.rows();
    const Index size = i < static_cast<int>(output_.columns.size())
                           ? output_.columns[static_cast<std::size_t>(i)].element_size
                           : static_cast<Index>(sizeof(ParticleLocation));
    Buffer<std::byte> values(context_.exec, rows.num * rows.k * size, "a chunk of results");
    const SearchColumnView column = lists_.column_view(i, size);
    kernels::on(context_.exec, [&](const auto& e) {
      kernels::gather_neighbours(e, column, rows, {values.data(), missing});
    });
    keep(values.data(), size, to);
  }

  /// k elements of each row go where they belong.
  void keep(const void* values, Index size, void* to) {
    const NeighbourRows<Real>& rows = lists_.rows();
    if (output_.order == RowOrder::caller) return lists_.put(values, size * rows.k, to);
    queue_copy(context_.exec, static_cast<std::byte*>(to) + done_ * rows.k * size, values,
               static_cast<std::size_t>(rows.num * rows.k * size));
  }

  const Context& context_;
  NeighbourLists<Real>& lists_;
  const KnnOutput& output_;
  KnnResult<Real> result_;
  Index done_ = 0;  ///< rows
};

/// What must be the same on all ranks, or some would wait for results that others do not send.
void validate_output(const Communicator& comm, const KnnOutput& output) {
  const auto word = Index{output.distances ? 1 : 0} + (output.indices ? 2 : 0) +
                    (output.locations ? 4 : 0) + (output.order == RowOrder::domain ? 8 : 0);
  validate(comm.min(word) == comm.max(word),
           "the ranks do not want the same results; give all ranks the same");
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
  return targets.domain->to_domain_order(Span<const ParticleLocation>(of_caller.span()), species);
}

template <class Real>
KnnResult<Real> find(const Context& context, const KnnTargets<Real>& targets, const Box& box,
                     const KnnOptions& options, const KnnOutput& output) {
  return together(context.comm, [&] {
    validate(options.k >= 1 && options.k <= max_neighbours, "k is {} (must be 1 to {})", options.k,
             max_neighbours);
    validate_output(context.comm, output);
    const auto memory = look_after_memory(context, targets, options, knn_need);
    const PhaseTimer timer(context, "results");
    NeighbourSearch search(options, output.columns);
    const Buffer<ParticleLocation> locations =
        output.locations ? locations_of(context, targets) : Buffer<ParticleLocation>();
    if (output.locations) search.columns.push_back(column_view(locations));
    KnnOutput wanted = output;
    if (targets.domain != nullptr) wanted.order = RowOrder::domain;
    NeighbourLists<Real> lists(context, targets, box, search);
    ResultWriter<Real> writer(context, lists, options, wanted);
    while (lists.queue_next()) writer.write_chunk();
    return writer.take();
  });
}

}  // namespace

template <class Real>
KnnResult<Real> knn(const Context& context, const Particles<Real>& particles, const Box& box,
                    const KnnOptions& options, const KnnOutput& output) {
  return find<Real>(context, particles, box, options, output);
}

template <class Real>
KnnResult<Real> knn(const Context& context, const Queries<Real>& among, const Box& box,
                    const KnnOptions& options, const KnnOutput& output) {
  return find<Real>(context, among, box, options, output);
}

template <class Real>
KnnResult<Real> knn(const Domain<Real>& domain, const KnnOptions& options, const KnnOutput& output,
                    const KnnSpecies& species) {
  return find<Real>(domain.context(), {domain, species}, domain.box(), options, output);
}

template KnnResult<float> knn(const Domain<float>&, const KnnOptions&, const KnnOutput&,
                              const KnnSpecies&);
template KnnResult<double> knn(const Domain<double>&, const KnnOptions&, const KnnOutput&,
                               const KnnSpecies&);
template KnnResult<float> knn(const Context&, const Particles<float>&, const Box&,
                              const KnnOptions&, const KnnOutput&);
template KnnResult<double> knn(const Context&, const Particles<double>&, const Box&,
                               const KnnOptions&, const KnnOutput&);
template KnnResult<float> knn(const Context&, const Queries<float>&, const Box&, const KnnOptions&,
                              const KnnOutput&);
template KnnResult<double> knn(const Context&, const Queries<double>&, const Box&,
                               const KnnOptions&, const KnnOutput&);

}  // namespace zhalo
