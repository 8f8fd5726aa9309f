#include "apps/report/results.hpp"

#include <algorithm>
#include <filesystem>
#include <set>
#include <tuple>

#include "apps/cli/process.hpp"
#include "zhalo/io/staged_files.hpp"

namespace zhalo::app {
namespace {

/// The names of all ranks, in their order; empty on other ranks than 0. Collective.
std::vector<std::string> names_on_rank_0(const Communicator& comm,
                                         const std::vector<std::string>& names) {
  std::vector<char> sent;
  for (const std::string& name : names)
    sent.insert(sent.end(), name.c_str(), name.c_str() + name.size() + 1);
  const std::vector<char> received = on_rank_0(comm, sent);
  std::vector<std::string> all;
  for (std::size_t at = 0; at < received.size(); at += all.back().size() + 1)
    all.emplace_back(received.data() + at);
  return all;
}

/// The files of each kind by their numbers, and last the master, which shows what they hold.
void sort_by_kind_and_number(std::vector<std::string>& paths) {
  const std::set<std::string> all(paths.begin(), paths.end());
  const auto key_of = [&](const std::string& path) {
    const std::filesystem::path kind = std::filesystem::path(path).replace_extension();
    const std::string number = kind.extension().string();  // ".3"
    const bool is_master = all.count(kind.string() + ".0.hdf5") > 0;
    const bool is_numbered = !is_master && number.size() > 1 &&
                             number.find_first_not_of("0123456789", 1) == std::string::npos;
    if (!is_numbered) return std::tuple(kind.string(), std::string::npos, std::string());
    return std::tuple((kind.parent_path() / kind.stem()).string(), number.size(), number);
  };
  std::sort(paths.begin(), paths.end(),
            [&](const std::string& a, const std::string& b) { return key_of(a) < key_of(b); });
}

}  // namespace

std::vector<std::string> sync_to_disk(const Context& context, const Results& results) {
  check_interrupted();
  const ScopedTimer timer(context.timers, "commit");
  std::vector<std::string> names;
  for (io::StagedFiles* files : results.files) {
    files->sync();
    std::vector<std::string> paths = names_on_rank_0(context.comm, files->final_paths());
    sort_by_kind_and_number(paths);
    names.insert(names.end(), paths.begin(), paths.end());
  }
  for (const TextFile* text : results.texts) {
    if (const auto path = text->name()) names.push_back(*path);
  }
  return names;
}

namespace {

/// Readers of pipes may be long in coming, and no lock is held meanwhile. One may read several
/// pipes one after the other: all but the last are written here.
void wait_for_readers(const std::vector<TextFile*>& texts) {
  TextFile* opened = nullptr;
  for (TextFile* text : texts) {
    if (!text->is_stream()) continue;
    if (opened != nullptr) opened->send();
    text->open();
    opened = text;
  }
}

}  // namespace

void commit(const Results& results) {
  std::vector<io::StagedFiles*> all = results.files;
  for (TextFile* text : results.texts) {
    if (text->staged() != nullptr) all.push_back(text->staged());
  }
  for (io::StagedFiles* files : all) files->sync();
  wait_for_readers(results.texts);
  const io::CommitLocks locks(all, check_interrupted);
  for (TextFile* text : results.texts) text->send();
  finish_without_interrupts();
  for (io::StagedFiles* files : results.files) files->commit();
  for (TextFile* text : results.texts) text->commit();
}

void conclude(const Context& context, Progress& progress, Report& report, CommonResult& result) {
  result.measured = measure(context, progress.seconds());
  for (const std::string& warning : result.warnings) {
    progress.warn(warning);
    report.warnings.push_back(warning);
  }
}

void say_plan(Progress& progress, const Report& report, bool verbose) {
  progress.say(plan_text(report, verbose));
  for (const std::string& warning : report.warnings) progress.warn(warning);
}

void end_dry_run(Progress& progress, TextFile& json, const Report& report, bool verbose) {
  if (!verbose) progress.say(text_of(report.estimate));
  json.put(to_json(report));
  json.commit();
}

void end_run(Progress& progress, TextFile& json, const Report& report, Results results) {
  json.put(to_json(report));
  results.texts.push_back(&json);
  commit(results);
  progress.say(text_of(*report.result));
}

}  // namespace zhalo::app
