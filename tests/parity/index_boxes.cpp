// Moving, adding and clearing index boxes on every Exec, against loops over their words.

#include "tests/parity/backends.hpp"
#include "tests/support/random_moves.hpp"

namespace zhalo::testing {
namespace {

/// Moves in the memory of an Exec.
struct UploadedList {
  Buffer<kernels::BoxMove> moves;
  Index num_words;

  UploadedList(const Exec& exec, const RandomMoves& list)
      : moves(upload(exec, list.moves)), num_words(list.num_words) {}
  kernels::BoxMoves view() const { return {moves.span(), num_words}; }
};

struct alignas(16) Wide {
  std::int32_t at[4];
  friend bool operator==(const Wide&, const Wide&) = default;
};

template <class Word>
std::vector<Word> random_words(Random& random, Index size) {
  std::vector<Word> words(static_cast<std::size_t>(size));
  auto* bytes = reinterpret_cast<unsigned char*>(words.data());
  for (std::size_t i = 0; i < words.size() * sizeof(Word); ++i)
    bytes[i] = static_cast<unsigned char>(random.below(256));
  return words;
}

template <class Word>
void check_copy(const Exec& exec, const RandomMoves& list, Random& random) {
  const std::vector<Word> from = random_words<Word>(random, list.from_size);
  const std::vector<Word> before = random_words<Word>(random, list.to_size);
  const UploadedList moves(exec, list);
  const Buffer<Word> source = upload(exec, from);
  Buffer<Word> target = upload(exec, before);
  on(exec, [&](const auto& e) {
    kernels::copy_boxes(e, moves.view(), {source.data(), target.data(), sizeof(Word)});
  });
  CHECK(to_host(exec, target) == list.copied(from, before));

  on(exec,
     [&](const auto& e) { kernels::zero_boxes(e, moves.view(), target.data(), sizeof(Word)); });
  CHECK(to_host(exec, target) == list.copied(std::vector<Word>(from.size()), before));
}

template <class T>
void check_add(const Exec& exec, const RandomMoves& list, Random& random) {
  std::vector<T> from;
  std::vector<T> expected;
  for (const std::int32_t value : list.words(random, list.from_size))
    from.push_back(static_cast<T>(value) / 8);
  for (const std::int32_t value : list.words(random, list.to_size))
    expected.push_back(static_cast<T>(value) / 8);
  const UploadedList moves(exec, list);
  const Buffer<T> source = upload(exec, from);
  Buffer<T> target = upload(exec, expected);
  on(exec,
     [&](const auto& e) { kernels::add_boxes(e, moves.view(), source.data(), target.data()); });
  list.for_words([&](std::size_t a, std::size_t b) { expected[b] += from[a]; });
  CHECK(to_host(exec, target) == expected);
}

}  // namespace

TEMPLATE_TEST_CASE("index boxes are copied and cleared, in words of any size", "[parity][small]",
                   ON_EVERY_EXEC) {
  const auto exec = TestType::exec();
  if (!exec) return;  // has said so
  Random random(5);
  for (int i = 0; i < 20; ++i) {
    const RandomMoves list(random);
    check_copy<std::uint8_t>(*exec, list, random);
    check_copy<std::uint16_t>(*exec, list, random);
    check_copy<std::uint32_t>(*exec, list, random);
    check_copy<std::uint64_t>(*exec, list, random);
    check_copy<Wide>(*exec, list, random);
  }
}

TEMPLATE_TEST_CASE("index boxes are added", "[parity][small]", ON_EVERY_EXEC) {
  const auto exec = TestType::exec();
  if (!exec) return;  // has said so
  Random random(6);
  for (int i = 0; i < 20; ++i) {
    const RandomMoves list(random);
    check_add<std::int32_t>(*exec, list, random);
    check_add<Index>(*exec, list, random);
    check_add<float>(*exec, list, random);
    check_add<double>(*exec, list, random);
  }
}

}  // namespace zhalo::testing
