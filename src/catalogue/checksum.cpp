// A hash of each row and of each member, added up: a sum does not ask who has which part.
#include "src/catalogue/checksum.hpp"

#include <array>
#include <bit>

#include "kernels/catalogue.hpp"
#include "kernels/on.hpp"

namespace zhalo {
namespace {

std::uint64_t hash_of_row(const Catalogue& catalogue, std::size_t g) {
  static_assert(sizeof(HaloProperties) % sizeof(std::uint64_t) == 0);
  using Words = std::array<std::uint64_t, sizeof(HaloProperties) / sizeof(std::uint64_t)>;
  const auto num_types = static_cast<std::size_t>(catalogue.num_types);
  kernels::Hash hash;
  hash.add(static_cast<std::uint64_t>(catalogue.first_group) + g);
  hash.add(static_cast<std::uint64_t>(catalogue.length[g]));
  hash.add(static_cast<std::uint64_t>(catalogue.label[g]));
  for (const std::uint64_t word : std::bit_cast<Words>(catalogue.properties[g])) hash.add(word);
  for (std::size_t t = g * num_types; t < (g + 1) * num_types; ++t) {
    if (catalogue.length_by_type[t] == 0) continue;
    hash.add(static_cast<std::uint64_t>(catalogue.length_by_type[t]));
    hash.add(std::bit_cast<std::uint64_t>(catalogue.mass_by_type[t]));
  }
  return hash.value();
}

}  // namespace

std::uint64_t checksum_of(const Context& context, const Catalogue& catalogue) {
  std::uint64_t sum = kernels::on(context.exec, [&](const auto& e) {
    return kernels::hash_members(e, catalogue.members.span(), catalogue.first_member);
  });
  for (std::size_t g = 0; g < catalogue.length.size(); ++g) sum += hash_of_row(catalogue, g);
  std::uint64_t total = 0;
  for (const std::uint64_t of_rank : context.comm.all_gather(sum)) total += of_rank;
  return total;
}

}  // namespace zhalo
