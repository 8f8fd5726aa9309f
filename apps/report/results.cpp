#include "apps/report/results.hpp"

#include "apps/cli/process.hpp"
#include "zhalo/io/staged_files.hpp"

namespace zhalo::app {

ResultNames sync_to_disk(const Context& context, const Results& results) {
  check_interrupted();
  const ScopedTimer timer(context.timers, "commit");
  ResultNames names;
  for (io::StagedFiles* files : results.files) {
    files->sync();
    const std::vector<std::string> paths = files->final_paths();
    names.paths.insert(names.paths.end(), paths.begin(), paths.end());
    names.num_files += context.comm.sum(static_cast<Index>(paths.size()));
  }
  for (const TextFile* text : results.texts) {
    if (const auto path = text->name()) names.paths.push_back(*path);
    names.num_files += text->name() ? 1 : 0;
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

void end_dry_run(Progress& progress, JsonFile& json, const Report& report, bool verbose) {
  if (!verbose) progress.say(text_of(report.estimate));
  json.write(to_json(report));
}

void end_run(Progress& progress, JsonFile& json, const Report& report, Results results) {
  json.put(to_json(report));
  results.texts.push_back(&json);
  commit(results);
  progress.say(text_of(*report.result));
}

}  // namespace zhalo::app
