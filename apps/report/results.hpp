/// What commands have in common: columns for writers, what a run says, and its end.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "apps/cli/options.hpp"
#include "apps/cli/process.hpp"
#include "apps/cli/run_files.hpp"
#include "apps/report/measure.hpp"
#include "apps/report/report.hpp"
#include "apps/report/text_file.hpp"
#include "zhalo/comm/communicator.hpp"
#include "zhalo/comm/context.hpp"
#include "zhalo/core/buffer.hpp"
#include "zhalo/io/staged_files.hpp"

namespace zhalo::app {

// Columns and records where the writers can see them.

/// A copy of device memory, or the host memory itself.
template <class T>
class OnHost {
 public:
  OnHost(const Exec& exec, Span<const T> column) : view_(column) {
    if (std::holds_alternative<Host>(exec)) return;
    copy_ = to_host(exec, column);
    view_ = copy_;
  }
  OnHost(const Exec& exec, const Buffer<T>& column) : OnHost(exec, column.span()) {}
  Span<const T> view() const { return view_; }

 private:
  std::vector<T> copy_;
  Span<const T> view_;
};

/// What all ranks have, in their order, on rank 0; empty on others. Collective.
template <class T>
std::vector<T> on_rank_0(const Communicator& comm, const std::vector<T>& own) {
  std::vector<Index> counts(static_cast<std::size_t>(comm.size()));
  counts[0] = static_cast<Index>(own.size());
  const ExchangePlan plan = comm.plan_exchange(counts);
  // Not from and to vectors: MPI may use the memory after a wait that was given up.
  const Exec exec = host_exec(1);
  const Buffer<T> sent = to_exec(exec, Span<const T>(own), "records for rank 0");
  Buffer<T> received(exec, plan.num_received(), "records of all ranks");
  comm.exchange(exec, plan, sent.span(), received.span());
  return to_host(exec, received);
}

// What all commands plan and find out, and how a run ends.

/// What the plans of all commands have that write to the files of -o.
struct CommonPlan {
  RankLayout ranks;
  OutputName output;
  Index num_files = 0;
  std::vector<std::string> warnings;
};

/// What all commands find out besides their own.
struct CommonResult {
  Measured measured;
  std::vector<std::string> written;  ///< files, on rank 0
  std::vector<std::string> warnings;
};

/// Measures the run, and says what it warns of besides the plan's warnings. Collective.
void conclude(const Context& context, Progress& progress, Report& report, CommonResult& result);

/// What a run may need, in bytes: std::size_t or, where it may be beyond the integers, double.
template <class Bytes>
struct Estimate {
  Bytes memory = 0;           ///< over all ranks, at most
  Bytes memory_per_rank = 0;  ///< at most
  Bytes output = 0;
};

/// Of a plan whose memory is for `what`, and all of whose output goes to its files.
template <class Plan>
Rows estimate_rows(const std::string& what, const Plan& plan) {
  const auto output = plan.estimate.output;
  return {memory_need_row(what, plan.estimate, plan.ranks.num_ranks),
          device_need_row(device_need(plan), plan.ranks),
          {line("Output", "{} in {}", bytes_text(output), plan.output.shown(plan.num_files)),
           {{"output_bytes", whole_bytes(output)}}}};
}

/// What a run writes. The objects must outlive it.
struct Results {
  std::vector<io::StagedFiles*> files;
  std::vector<TextFile*> texts;
};

/// Brings the results to the disk under temporary names, in a phase "commit": this takes long and
/// may fail. What follows is short. Returns their names, on rank 0. Collective; FileError,
/// Interrupted.
std::vector<std::string> sync_to_disk(const Context& context, const Results& results);

/// Gives the results their names, when no other run is replacing files in the same folders. Texts
/// for pipes, devices and standard output go first, for they cannot be taken back: if one cannot be
/// written, nothing was replaced. From then on signals do not stop it. Collective; FileError,
/// Interrupted.
void commit(const Results& results);

/// What is going to be done, and warnings.
void say_plan(Progress& progress, const Report& report, bool verbose);

/// What a dry run says and writes besides. Collective; FileError.
void end_dry_run(Progress& progress, TextFile& json, const Report& report, bool verbose);

/// Commits results and report, then says what came out. Collective; FileError, Interrupted.
void end_run(Progress& progress, TextFile& json, const Report& report, Results results);

/// A run as the user asked for it, and where it says what it does.
struct RequestedRun {
  const RunOptions& options;
  Progress& progress;
  TextFile json;

  /// Makes sure that the report for machines can be written. Collective; FileError. The objects
  /// must outlive it.
  RequestedRun(const Communicator& comm, const RunOptions& requested, Progress& shown)
      : options(requested),
        progress(shown),
        json(comm, "--json", requested.json, requested.output_folder) {}

  bool is_verbose() const { return options.verbosity == Verbosity::verbose; }
};

inline Results results_of(io::StagedFiles& files) { return {{&files}, {}}; }

/// Says the plan, then does it, or for a dry run `check`s only that the output could be written.
/// `open` makes the output, and `work(output, report)` returns the rows of the result. Collective.
template <class Check, class Open, class Work>
void run_planned(RequestedRun& run, Report report, const Check& check, const Open& open,
                 const Work& work) {
  report.command = run.options.command;
  report.command_line = run.options.command_line;
  say_plan(run.progress, report, run.is_verbose());
  if (run.options.dry_run) {
    check();
    return end_dry_run(run.progress, run.json, report, run.is_verbose());
  }
  auto output = open();
  report.result = work(output, report);
  end_run(run.progress, run.json, report, results_of(output));
}

}  // namespace zhalo::app
