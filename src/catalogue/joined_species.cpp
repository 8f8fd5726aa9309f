#include "src/catalogue/joined_species.hpp"

#include "kernels/catalogue.hpp"
#include "kernels/on.hpp"
#include "kernels/particles.hpp"
#include "src/domain/domain_state.hpp"

namespace zhalo {

template <class Real>
JoinedSpecies::JoinedSpecies(const Domain<Real>& domain, const FofResult& groups,
                             const std::vector<AttachResult>& attached)
    : exec_(domain.context().exec) {
  const Index num = num_of_species(domain);
  label_ = Buffer<Index>(exec_, num, "labels");
  parts_.root = Buffer<LocalIndex>(exec_, num, "parts of groups");
  validate(groups.label.size() == domain.num(0), "there are {} labels for {} particles",
           groups.label.size(), domain.num(0));
  put(0, groups.label, groups.parts);
  Index first = domain.num(0);
  for (int s = 1; s < domain.num_species(); first += domain.num(s++)) {
    const AttachResult& result = attached[static_cast<std::size_t>(s - 1)];
    if (result.label.empty() && domain.num(s) > 0) {
      leave_out(first, domain.num(s));
      continue;
    }
    validate(result.label.size() == domain.num(s),
             "there are {} labels for {} particles of species {}", result.label.size(),
             domain.num(s), s);
    // Without particles of the species, a rank may still have parts that others' particles join.
    validate((result.parts.root.empty() && result.parts.crossing.empty()) ||
                 result.parts.search == groups.parts.search,
             "particles of species {} are attached to other groups; attach them to these groups, "
             "or give labels alone",
             s);
    put(first, result.label, result.parts);
  }
}

void JoinedSpecies::put(Index first, const Buffer<Index>& label, const LinkedParts& parts) {
  const auto num = static_cast<std::size_t>(label.size());
  validate_memory(exec_, label.span(), "labels");
  queue_copy(exec_, label_.data() + first, label.data(), num * sizeof(Index));
  parts_.crossing.insert(parts_.crossing.end(), parts.crossing.begin(), parts.crossing.end());
  if (parts.root.size() != label.size()) {
    lacks_parts_ = true;
  } else {
    queue_copy(exec_, parts_.root.data() + first, parts.root.data(), num * sizeof(LocalIndex));
  }
}

void JoinedSpecies::leave_out(Index first, Index num) {
  kernels::on(exec_, [&](const auto& e) {
    kernels::fill(e, label_.span().subspan(first, num), no_group);
    kernels::fill(e, parts_.root.span().subspan(first, num), kernels::no_root<LocalIndex>);
  });
}

template JoinedSpecies::JoinedSpecies(const Domain<float>&, const FofResult&,
                                      const std::vector<AttachResult>&);
template JoinedSpecies::JoinedSpecies(const Domain<double>&, const FofResult&,
                                      const std::vector<AttachResult>&);

}  // namespace zhalo
