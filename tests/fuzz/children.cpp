#include "tests/fuzz/children.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <functional>
#include <new>
#include <stdexcept>

#include "tests/fuzz/plain.hpp"
#include "tests/fuzz/trial.hpp"

namespace zhalo::fuzz {

namespace fs = std::filesystem;

void empty_folder() {
  for (const auto& entry : fs::directory_iterator(".")) fs::remove_all(entry.path());
}

Children::Children(std::string folder, const std::vector<Seed>& seeds, ChildOptions options)
    : folder_(std::move(folder)),
      errors_(folder_ + ".errors"),
      seeds_(seeds),
      options_(std::move(options)) {
  void* memory =
      ::mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  need(memory != MAP_FAILED, "shared memory");
  shared_ = new (memory) Shared;
  fs::create_directories(folder_);
}

Children::~Children() {
  ::munmap(shared_, sizeof(Shared));
  std::error_code ignored;
  fs::remove_all(folder_, ignored);
  fs::remove(errors_, ignored);
}

namespace {

struct Found : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Standard error becomes a file that the parent reads, and HDF5 says nothing.
void become_quiet(const std::string& errors) {
  const int file = ::open(errors.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_APPEND, 0600);
  need(file >= 0 && ::dup2(file, STDERR_FILENO) >= 0, "standard error as a file");
  ::close(file);
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  // HDF5 keeps what it has taken: a sanitizer makes large blocks new each time.
  H5set_free_list_limits(-1, -1, -1, -1, -1, -1);
}

Status run_in_child(const std::function<void()>& work, Shared& shared) {
  const auto keep = [&](const char* words) {
    std::strncpy(shared.words, words, sizeof(shared.words) - 1);
  };
  try {
    work();
    limit_seconds(0);
    return has_leaks() ? Status::leak : Status::good;
  } catch (const Found& finding) {
    keep(finding.what());
    return Status::finding;
  } catch (const std::exception& error) {
    keep(error.what());
    return Status::own_fault;
  }
}

}  // namespace

template <class Work>
Ending Children::run(const Work& work) {
  std::memset(shared_->words, 0, sizeof(shared_->words));
  const pid_t child = ::fork();
  need(child >= 0, "a fork");
  if (child == 0) {
    become_quiet(errors_);
    fs::current_path(folder_);
    ::_exit(static_cast<int>(run_in_child(work, *shared_)));
  }
  int status = 0;
  while (::waitpid(child, &status, 0) < 0) need(errno == EINTR, "waiting for a child");
  Ending ending;
  ending.at = shared_->current;
  ending.is_made = shared_->is_made;
  if (WIFSIGNALED(status)) {
    ending.signal = WTERMSIG(status);
  } else {
    ending.status = static_cast<Status>(WEXITSTATUS(status));
  }
  ending.words = shared_->words;
  ending.report = bytes_of_file(errors_);
  return ending;
}

Mutant Children::write(Number number) const {
  shared_->current = number;
  shared_->is_made = false;
  empty_folder();
  Mutant mutant = write_mutant(number, seeds_);
  shared_->is_made = true;
  return mutant;
}

void Children::count(const Trial& trial, Number number) {
  Counts& counts = shared_->counts;
  ++counts.mutants;
  counts.snapshots += trial.any_type_read() ? 1U : 0U;
  counts.catalogues += trial.catalogue.succeeded() ? 1U : 0U;
  counts.points += trial.points.succeeded() && trial.points.is_there ? 1U : 0U;
  counts.tables += trial.table.succeeded() ? 1U : 0U;
  if (options_.save.empty() || !trial.any_type_read() || counts.saved >= options_.max_saved) return;
  ++counts.saved;
  save_success(trial, fmt::format("{}/{}", options_.save, number));
}

void Children::try_one(Number number) {
  limit_seconds(options_.seconds);
  const Mutant mutant = write(number);
  const Trial trial = try_mutant(mutant);
  if (!trial.finding.empty()) {
    ++shared_->counts.mutants;
    throw Found(trial.finding);
  }
  count(trial, number);
}

Ending Children::try_numbers(Numbers numbers) {
  return run([&] {
    for (Number i = 0; i < numbers.num; ++i) try_one(numbers.first + i);
  });
}

Ending Children::ask_hdf5(Number number) {
  return run([&] {
    limit_seconds(options_.seconds);
    const Mutant mutant = write(number);
    const LeftOverHandles handles;
    ask_everything(*mutant.seed);
    if (const std::string words = handles.words(); !words.empty()) throw Found(words);
  });
}

Ending Children::ask_hdf5_twice(Number number) {
  return run([&] {
    limit_seconds(options_.seconds);
    const Mutant mutant = write(number);
    if (numbers_change(*mutant.seed)) throw Found("HDF5 reads other numbers the second time");
  });
}

void Children::try_seed(const Seed& seed) const {
  limit_seconds(options_.seconds);
  empty_folder();
  const Mutant mutant = write_unchanged(seed);
  std::size_t before = 0, after = 0;
  for (int i = 0; i < 5; ++i) {
    before = after;
    const Trial trial = try_mutant(mutant);
    if (!trial.finding.empty()) throw Found(fmt::format("{}: {}", seed.name, trial.finding));
    const bool is_read = seed.kind == Kind::snapshot    ? trial.any_type_read()
                         : seed.kind == Kind::catalogue ? trial.catalogue.succeeded()
                         : seed.kind == Kind::points
                             ? trial.points.succeeded() && trial.points.is_there
                             : trial.table.succeeded();
    if (!is_read)
      throw Found(fmt::format("{} is not read: {}", seed.name, words_of(trial.snapshot)));
    H5garbage_collect();
    after = bytes_in_use();
  }
  if (after > before)
    throw Found(
        fmt::format("{}: {} bytes more are in use after each reading", seed.name, after - before));
}

Ending Children::try_seeds() {
  return run([&] {
    for (const Seed& seed : seeds_) try_seed(seed);
  });
}

}  // namespace zhalo::fuzz
