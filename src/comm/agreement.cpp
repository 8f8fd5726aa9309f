#include "src/comm/agreement.hpp"

#include <bit>
#include <cstdint>

#include "src/core/validate.hpp"

namespace zhalo {

Index bits_of(double value) { return std::bit_cast<Index>(value); }

void append_text(std::vector<Index>& numbers, std::string_view text) {
  numbers.push_back(static_cast<Index>(text.size()));
  for (const char letter : text) numbers.push_back(static_cast<unsigned char>(letter));
}

void validate_equal(const Communicator& comm, const std::vector<Index>& numbers,
                    std::string_view what) {
  // FNV-1a: equal numbers have equal digests, and different ones hardly ever.
  std::uint64_t digest = 14695981039346656037U;
  for (const Index number : numbers) {
    for (int byte = 0; byte < 8; ++byte)
      digest = (digest ^ (static_cast<std::uint64_t>(number) >> (8 * byte) & 255)) * 1099511628211U;
  }
  const auto word = static_cast<Index>(digest);
  const Index least = comm.min(word);
  validate(comm.max(word) == least, "{} differ between ranks (must be the same on all)", what);
}

}  // namespace zhalo
