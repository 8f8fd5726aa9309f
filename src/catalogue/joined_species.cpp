#include "src/catalogue/joined_species.hpp"

#include <utility>

#include "kernels/catalogue.hpp"
#include "kernels/on.hpp"
#include "kernels/particles.hpp"

namespace zhalo {

template <class Real>
JoinedSpecies::JoinedSpecies(const Domain<Real>& domain, const FofResult& groups,
                             const std::vector<AttachResult>& attached)
    : exec_(domain.context().exec) {
  add(groups.label, groups.parts);
  for (int s = 1; s < domain.num_species(); ++s) {
    const AttachResult& result = attached[static_cast<std::size_t>(s - 1)];
    if (result.label.empty() && domain.num(s) > 0) {
      leave_out(domain.num(s));
      continue;
    }
    validate(result.label.size() == domain.num(s),
             "there are {} labels for {} particles of species {}", result.label.size(),
             domain.num(s), s);
    if (!result.parts.root.empty()) validate_domain_of(result.parts, domain);
    add(result.label, result.parts);
  }
  label_ = joined(exec_, labels_);
  parts_.root = joined(exec_, roots_);
}

void JoinedSpecies::add(const Buffer<Index>& label, const LinkedParts& parts) {
  labels_.push_back(label.span());
  roots_.push_back(parts.root.span());
  parts_.crossing.insert(parts_.crossing.end(), parts.crossing.begin(), parts.crossing.end());
}

void JoinedSpecies::leave_out(Index num) {
  Buffer<Index>& label = no_labels_.emplace_back(exec_, num, "labels");
  LinkedParts& parts = no_parts_.emplace_back();
  parts.root = Buffer<LocalIndex>(exec_, num, "parts of groups");
  kernels::on(exec_, [&](const auto& e) {
    kernels::fill(e, label.span(), no_group);
    kernels::fill(e, parts.root.span(), kernels::no_root<LocalIndex>);
  });
  add(label, parts);
}

template JoinedSpecies::JoinedSpecies(const Domain<float>&, const FofResult&,
                                      const std::vector<AttachResult>&);
template JoinedSpecies::JoinedSpecies(const Domain<double>&, const FofResult&,
                                      const std::vector<AttachResult>&);

}  // namespace zhalo
