#include "tests/fuzz/mutate_bytes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace zhalo::fuzz {

namespace {

bool lies_in_numbers(const Contents& contents, std::size_t at) {
  return std::any_of(contents.numbers.begin(), contents.numbers.end(),
                     [&](const auto& range) { return at >= range.begin && at < range.end; });
}

/// Where to damage: close behind the beginning of a structure, or anywhere, but seldom in the
/// numbers.
std::size_t offset_of_damage(Random& random, const SeedFile& file, std::size_t size) {
  const Contents& contents = file.contents;
  if (!contents.structures.empty() && random.below(2) == 0) {
    const std::size_t reach = std::size_t{8} << random.below(7);
    const std::size_t begin = choose(random, contents.structures);
    return std::min(begin + offset_below(random, reach), size - 1);
  }
  std::size_t at = offset_below(random, size);
  for (int again = 0; again < 5 && lies_in_numbers(contents, at); ++again)
    at = offset_below(random, size);
  return at;
}

std::size_t some_length(Random& random, std::size_t max_length) {
  return std::min<std::size_t>(1 + offset_below(random, std::size_t{1} << random.below(12)),
                               max_length);
}

std::string flip_bit(Random& random, std::string& bytes, std::size_t at) {
  const auto bit = static_cast<unsigned>(random.below(8));
  bytes[at] = static_cast<char>(static_cast<unsigned char>(bytes[at]) ^ (1U << bit));
  return fmt::format("bit {} of byte {} flipped", bit, at);
}

std::string overwrite_byte(Random& random, std::string& bytes, std::size_t at) {
  bytes[at] = static_cast<char>(random.below(256));
  return fmt::format("byte {} becomes {}", at, static_cast<unsigned char>(bytes[at]));
}

/// Little-endian, as HDF5 has its sizes and addresses.
std::string overwrite_integer(Random& random, std::string& bytes, std::size_t at) {
  const std::size_t width = std::min(std::size_t{1} << random.below(4), bytes.size() - at);
  std::uint64_t value = 0;
  std::memcpy(&value, &bytes[at], width);
  switch (random.below(4)) {
    case 0: value += static_cast<std::uint64_t>(random.below(17)) - 8; break;
    case 1:
      value = static_cast<std::uint64_t>(random.below(static_cast<Index>(bytes.size())));
      break;
    default: value = odd_integer(random);
  }
  std::memcpy(&bytes[at], &value, width);
  return fmt::format("{} bytes at {} become the integer {}", width, at, value);
}

std::string clear_block(Random& random, std::string& bytes, std::size_t at) {
  const std::size_t length = some_length(random, bytes.size() - at);
  const char with = random.one_in(2) ? '\0' : '\xff';
  std::fill_n(bytes.begin() + static_cast<std::ptrdiff_t>(at), length, with);
  return fmt::format("{} bytes at {} cleared", length, at);
}

std::string insert_zeros(Random& random, std::string& bytes, std::size_t at) {
  const std::size_t length = some_length(random, 4096);
  bytes.insert(at, length, '\0');
  return fmt::format("{} zeros inserted at {}", length, at);
}

std::string remove_bytes(Random& random, std::string& bytes, std::size_t at) {
  const std::size_t length = some_length(random, bytes.size() - at);
  bytes.erase(at, length);
  return fmt::format("{} bytes at {} removed", length, at);
}

std::string truncate(Random&, std::string& bytes, std::size_t at) {
  bytes.resize(at);
  return fmt::format("truncated to {} bytes", at);
}

std::string splice(Random& random, std::string& bytes, std::size_t at) {
  const std::size_t from = offset_below(random, bytes.size());
  const std::size_t length = some_length(random, bytes.size() - std::max(at, from));
  const std::string block = bytes.substr(from, length);
  bytes.replace(at, length, block);
  return fmt::format("{} bytes from {} copied to {}", length, from, at);
}

using Damage = std::string (*)(Random&, std::string&, std::size_t);

/// Integers most often: they are sizes, types and offsets.
const std::vector<Damage>& damages() {
  static const std::vector<Damage> all{flip_bit,
                                       flip_bit,
                                       overwrite_byte,
                                       overwrite_byte,
                                       overwrite_integer,
                                       overwrite_integer,
                                       overwrite_integer,
                                       overwrite_integer,
                                       clear_block,
                                       insert_zeros,
                                       remove_bytes,
                                       truncate,
                                       splice,
                                       splice};
  return all;
}

std::string replace_word(Random& random, std::string& text) {
  const std::size_t at = text.find_first_of(" \n\t", offset_below(random, text.size()));
  if (at == std::string::npos) return "nothing";
  const std::size_t end = std::min(text.find_first_of(" \n\t", at + 1), text.size());
  const std::vector<std::string> words{"nan",
                                       "inf",
                                       "-1",
                                       "0",
                                       "1e400",
                                       "1e-400",
                                       "0x10",
                                       "#",
                                       "1e5",
                                       "1e",
                                       "--",
                                       "1,5",
                                       "9999999999999999999",
                                       "\r\n",
                                       "\n\n",
                                       std::string(1, '\0'),
                                       "\xff\xfe",
                                       "1e-320",
                                       std::string(5000, '9'),
                                       ""};
  const std::string word = choose(random, words);
  text.replace(at + 1, end - at - 1, word);
  return fmt::format("the word behind byte {} becomes '{:.20}'", at, word);
}

std::string swap_lines(Random& random, std::string& text) {
  const std::size_t begin = text.find('\n', offset_below(random, text.size()));
  if (begin == std::string::npos) return "nothing";
  const std::string tail = text.substr(begin + 1);
  text = tail + text.substr(0, begin + 1);
  return fmt::format("the lines behind byte {} come first", begin);
}

}  // namespace

std::string damage_bytes(Random& random, const SeedFile& file, std::string& bytes) {
  if (bytes.empty()) return "nothing";
  const std::size_t at = offset_of_damage(random, file, bytes.size());
  return choose(random, damages())(random, bytes, at);
}

std::string damage_text(Random& random, std::string& text) {
  if (random.one_in(4)) return swap_lines(random, text);
  return replace_word(random, text);
}

}  // namespace zhalo::fuzz
