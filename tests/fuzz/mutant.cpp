#include "tests/fuzz/mutant.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>
#include <stdexcept>

#include "tests/fuzz/mutate_bytes.hpp"

namespace zhalo::fuzz {

namespace fs = std::filesystem;

std::string Mutant::description() const {
  return fmt::format("mutant {}, of {}: {}", number, seed->name, fmt::join(words, "; "));
}

namespace {

void write_files(const Seed& seed) {
  for (const SeedFile& file : seed.files) write_file("./" + file.name, file.bytes);
}

/// One of several files is as good as one file for most damage, and takes longer.
const Seed& choose_seed(Random& random, const std::vector<Seed>& seeds) {
  const Seed& seed = choose(random, seeds);
  return seed.files.size() > 1 ? choose(random, seeds) : seed;
}

/// The steps of a mutant.
struct Plan {
  int structure = 0;
  int bytes = 0;
  bool files = false;  ///< one of them is moved or lost
};

Plan plan_for(Random& random, const Seed& seed) {
  const Index dice = random.below(100);
  const int few = 1 + static_cast<int>(random.one_in(2) ? 0 : random.below(4));
  if (seed.kind == Kind::power_table) return {0, few};
  if (dice < 47) return {0, few};
  if (dice < 79) return {1, 0};
  if (dice < 88) return {1 + static_cast<int>(random.below(3)), 0};
  if (dice < 96) return {1, few};
  return {static_cast<int>(random.below(2)), 0, true};
}

void damage_file(Random& random, const Seed& seed, Mutant& mutant) {
  const SeedFile& file = choose(random, seed.files);
  const std::string path = "./" + file.name;
  std::string bytes = bytes_of_file(path);
  const bool as_text = seed.kind == Kind::power_table && random.below(4) > 0;
  const std::string words =
      as_text ? damage_text(random, bytes) : damage_bytes(random, file, bytes);
  write_file(path, bytes);
  mutant.words.push_back(seed.files.size() > 1 ? fmt::format("{}: {}", file.name, words) : words);
}

/// Only the first change must be possible. Returns whether there may be another.
bool change_file(Random& random, const Seed& seed, Mutant& mutant) {
  const SeedFile& file = choose(random, seed.files);
  const bool first = mutant.words.empty();
  mutant.expect = Expect::anything;
  try {
    const Step step = change_structure(random, file);
    mutant.words.push_back(seed.files.size() > 1 ? fmt::format("{}: {}", file.name, step.words)
                                                 : step.words);
    if (first) mutant.expect = step.expect;
    mutant.dataset = step.dataset;
    return !step.is_last;
  } catch (const std::runtime_error& error) {
    if (first) throw;
    mutant.words.push_back(fmt::format("what is not possible any more ({})", error.what()));
    return true;
  }
}

void move_file(Random& random, const Seed& seed, Mutant& mutant) {
  const std::string name = "./" + choose(random, seed.files).name;
  const std::string other = "./" + choose(random, seed.files).name;
  switch (random.below(6)) {
    case 0:
      fs::remove(name);
      mutant.words.push_back(name + " is missing");
      break;
    case 1:
      write_file(name, "");
      mutant.words.push_back(name + " is empty");
      break;
    case 2:
      write_file(name, bytes_of_file(other));
      mutant.words.push_back(name + " is " + other);
      break;
    case 3:
      fs::remove(name);
      fs::create_directory(name);
      mutant.words.push_back(name + " is a folder");
      break;
    case 4:
      fs::remove(name);
      fs::create_symlink(fs::path(name).filename(), name);
      mutant.words.push_back(name + " is a link to itself");
      break;
    default:
      fs::permissions(name, fs::perms::none);
      mutant.words.push_back(name + " has no permissions");
  }
  mutant.expect = Expect::anything;
}

}  // namespace

Mutant write_mutant(Number number, const std::vector<Seed>& seeds) {
  Random random(number);
  const Seed& seed = choose_seed(random, seeds);
  const Plan plan = plan_for(random, seed);
  Mutant mutant{number, &seed, {}};
  write_files(seed);
  for (int i = 0; i < plan.structure; ++i)
    if (!change_file(random, seed, mutant)) break;
  if (plan.bytes > 0 || plan.files) mutant.expect = Expect::anything;
  for (int i = 0; i < plan.bytes; ++i) damage_file(random, seed, mutant);
  if (plan.files) move_file(random, seed, mutant);
  return mutant;
}

Mutant write_unchanged(const Seed& seed) {
  write_files(seed);
  return {0, &seed, {"nothing"}};
}

}  // namespace zhalo::fuzz
