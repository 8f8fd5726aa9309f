#include "zhalo/catalogue/attach.hpp"

#include <algorithm>
#include <unordered_map>
#include <vector>

#include "kernels/catalogue.hpp"
#include "kernels/on.hpp"
#include "kernels/particles.hpp"
#include "src/catalogue/members.hpp"
#include "src/comm/agreement.hpp"
#include "src/comm/exchange.hpp"
#include "src/core/validate.hpp"
#include "src/domain/domain_state.hpp"
#include "zhalo/knn/knn.hpp"

namespace zhalo {

namespace {

/// One species on this rank: the labels of its particles, and the index of its first one among
/// those of all species.
struct LabelledSpecies {
  Span<const Index> label;
  Index first;
};

/// `find` gives the nearest linked particle of each, with its label and more columns, for these
/// options.
template <class Find>
auto find_nearest(const Context& context, Span<const Index> label,
                  const std::vector<ColumnView>& more_columns, double radius, const Find& find) {
  validate(radius >= 0,
           "the radius within which particles are attached is {} (must not be negative)", radius);
  validate_memory(context.exec, label, "labels");
  KnnOptions nearest;
  nearest.k = 1;
  nearest.max_radius = radius;
  KnnOutput wanted;
  wanted.distances = false;
  wanted.columns = {column_view(label)};
  wanted.columns.insert(wanted.columns.end(), more_columns.begin(), more_columns.end());
  return find(nearest, wanted);
}

template <class Real>
AttachResult result_of(const Context& context, const KnnResult<Real>& found) {
  AttachResult result;
  result.num_wrapped = found.statistics.num_wrapped;
  result.label = Buffer<Index>(context.exec, found.num_rows, "labels of attached particles");
  const auto candidate = found.template column<Index>(0);
  kernels::on(context.exec, [&](const auto& e) {
    kernels::take_labels(e, found.index.span(), candidate, result.label.span());
  });
  synchronise(context.exec);
  return result;
}

/// Columns of the neighbours are labels, roots, and on several ranks their ranks.
template <class Real>
kernels::NeighboursOnRanks neighbours_of(const Context& context, const KnnResult<Real>& found) {
  kernels::NeighboursOnRanks neighbours{
      found.index.span(), {}, static_cast<LocalIndex>(context.comm.rank())};
  if (context.comm.size() > 1) neighbours.rank_of = found.template column<LocalIndex>(2);
  return neighbours;
}

/// Tells ranks which of their roots others have met; returns those that this rank is told.
/// Collective.
std::vector<LocalIndex> tell_roots(const Communicator& comm, const std::vector<LocalIndex>& ranks,
                                   const std::vector<LocalIndex>& roots) {
  std::vector<std::vector<LocalIndex>> of_ranks(static_cast<std::size_t>(comm.size()));
  for (std::size_t i = 0; i < ranks.size(); ++i) of_ranks[ranks[i]].push_back(roots[i]);
  for (std::vector<LocalIndex>& of_rank : of_ranks) {
    std::sort(of_rank.begin(), of_rank.end());
    of_rank.erase(std::unique(of_rank.begin(), of_rank.end()), of_rank.end());
  }
  return exchanged(comm, of_ranks).elements;
}

/// Particles with a neighbour on another rank are in a part of their own for each label. There the
/// neighbour's part may then have members on this rank. Collective.
template <class Real>
void add_parts_elsewhere(const Context& context, const KnnResult<Real>& found,
                         const LabelledSpecies& of, LinkedParts& parts) {
  const Exec& exec = context.exec;
  const Buffer<LocalIndex> at = kernels::on(exec, [&](const auto& e) {
    return kernels::select_elsewhere(e, neighbours_of(context, found));
  });
  const std::vector<LocalIndex> indices = to_host(exec, at);
  const std::vector<Index> labels = to_host(exec, gathered(exec, of.label, at.span()));
  std::unordered_map<Index, LocalIndex> root_of_label;
  std::vector<LocalIndex> own_roots;
  for (std::size_t i = 0; i < indices.size(); ++i) {
    const auto root = static_cast<LocalIndex>(of.first + indices[i]);
    const auto [known, is_new] = root_of_label.try_emplace(labels[i], root);
    if (is_new) parts.crossing.push_back(root);
    own_roots.push_back(known->second);
  }
  const auto roots = to_exec(exec, Span<const LocalIndex>(own_roots), "parts of groups");
  kernels::on(exec, [&](const auto& e) {
    kernels::scatter(e, column_view(roots), at.span(), parts.root.data());
  });
  const auto chosen = [&](int column) {
    return to_host(exec, gathered(exec, found.template column<LocalIndex>(column), at.span()));
  };
  auto others = tell_roots(context.comm, chosen(2), chosen(1));
  std::sort(others.begin(), others.end());
  parts.crossing.insert(parts.crossing.end(), others.begin(),
                        std::unique(others.begin(), others.end()));
  synchronise(exec);
}

template <class Real>
LinkedParts parts_of(const Context& context, const KnnResult<Real>& found,
                     const LabelledSpecies& of) {
  LinkedParts parts;
  parts.root = Buffer<LocalIndex>(context.exec, of.label.size(), "parts of groups");
  kernels::on(context.exec, [&](const auto& e) {
    kernels::take_roots(e, neighbours_of(context, found), found.template column<LocalIndex>(1),
                        parts.root.span());
  });
  if (context.comm.size() > 1) add_parts_elsewhere(context, found, of, parts);
  synchronise(context.exec);
  return parts;
}

void validate_labels(Span<const Index> label, Index num_linked) {
  validate(label.size() == num_linked, "there are {} labels for {} linked particles", label.size(),
           num_linked);
}

}  // namespace

template <class Real>
AttachResult attach_particles(const Context& context, const LabelledParticles<Real>& linked,
                              const Particles<Real>& others, const Box& box, double radius) {
  return together(context, [&] {
    validate_labels(linked.label, linked.particles.num());
    const auto find = [&](const KnnOptions& nearest, const KnnOutput& wanted) {
      return knn(context, Queries{others, linked.particles}, box, nearest, wanted);
    };
    return result_of(context, find_nearest(context, linked.label, {}, radius, find));
  });
}

template <class Real>
AttachResult attach_particles(const Domain<Real>& domain, Span<const Index> label, double radius,
                              const KnnSpecies& species) {
  return together(domain.context(), [&] {
    validate_labels(label, domain.num(species.targets));
    const auto find = [&](const KnnOptions& nearest, const KnnOutput& wanted) {
      return knn(domain, nearest, wanted, species);
    };
    return result_of(domain.context(), find_nearest(domain.context(), label, {}, radius, find));
  });
}

template <class Real>
AttachResult attach_particles(const Domain<Real>& domain, const FofResult& groups, double radius,
                              int species) {
  const Context& context = domain.context();
  return together(context, [&] {
    validate_groups(domain, groups);
    validate(species > 0,
             "species {} is to be attached to the groups of species 0; name another one", species);
    Buffer<LocalIndex> rank;
    std::vector<ColumnView> columns{column_view(groups.parts.root)};
    if (context.comm.size() > 1) {
      rank = Buffer<LocalIndex>(context.exec, groups.label.size(), "ranks of linked particles");
      kernels::on(context.exec, [&](const auto& e) {
        kernels::fill(e, rank.span(), static_cast<LocalIndex>(context.comm.rank()));
      });
      columns.push_back(column_view(rank));
    }
    const auto find = [&](const KnnOptions& nearest, const KnnOutput& wanted) {
      return knn(domain, nearest, wanted, KnnSpecies{.queries = species, .targets = 0});
    };
    const auto found = find_nearest(context, groups.label.span(), columns, radius, find);
    AttachResult result = result_of(context, found);
    result.parts =
        parts_of(context, found, {result.label.span(), first_of_species(domain, species)});
    result.parts.domain = groups.parts.domain;
    result.parts.search = groups.parts.search;
    return result;
  });
}

template AttachResult attach_particles(const Domain<float>&, Span<const Index>, double,
                                       const KnnSpecies&);
template AttachResult attach_particles(const Domain<double>&, Span<const Index>, double,
                                       const KnnSpecies&);
template AttachResult attach_particles(const Domain<float>&, const FofResult&, double, int);
template AttachResult attach_particles(const Domain<double>&, const FofResult&, double, int);
template AttachResult attach_particles(const Context&, const LabelledParticles<float>&,
                                       const Particles<float>&, const Box&, double);
template AttachResult attach_particles(const Context&, const LabelledParticles<double>&,
                                       const Particles<double>&, const Box&, double);

}  // namespace zhalo
