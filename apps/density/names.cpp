#include "apps/density/names.hpp"

#include <fmt/format.h>
#include <filesystem>
#include <string>
#include <vector>

#include "apps/common/text_file.hpp"
#include "zhalo/core/error.hpp"
#include "zhalo/io/result_file.hpp"

namespace zhalo::density_app {
namespace {

namespace fs = std::filesystem;

/// The place at which a result appears: links on the way there are followed, one of its own name is replaced.
fs::path place_of(const std::string& path) {
  std::error_code error;
  const fs::path whole = fs::absolute(path, error);
  const fs::path folder = fs::weakly_canonical(whole.parent_path(), error);
  return error ? whole : folder / whole.filename();
}

struct NamedFile {
  const char* option;
  std::string path;
  bool is_standard_output = false;
  fs::path place{};
};

std::vector<NamedFile> named_files(const Options& options) {
  std::vector<NamedFile> files;
  for (const NamedFile& file :
       {NamedFile{"--power", options.power}, NamedFile{"--image", options.image}, NamedFile{"--json", options.json}}) {
    if (file.path.empty()) continue;
    files.push_back(file);
    files.back().is_standard_output = app::is_standard_output(file.path);
    files.back().place = place_of(file.path);
  }
  return files;
}

void check_apart(const NamedFile& a, const NamedFile& b) {
  if (a.is_standard_output && b.is_standard_output)
    throw InputError(fmt::format("{} '{}' and {} '{}' are both standard output: give one of them a file", a.option, a.path,
                                 b.option, b.path));
  if (!a.is_standard_output && !b.is_standard_output && a.place == b.place)
    throw InputError(
        fmt::format("{} '{}' and {} '{}' are the same file: give each a file of its own", a.option, a.path, b.option, b.path));
}

/// The field may be in any number of files; those of an earlier run go.
void check_beside_field(const NamedFile& file, const app::OutputName& output) {
  const fs::path field = place_of((fs::path(output.directory) / output.name).string());
  if (file.place.parent_path() != field.parent_path()) return;
  if (io::is_result_name(output.name, file.place.filename().string()))
    throw InputError(fmt::format("{} '{}' has a name of the files of the field, -o {}: choose another one", file.option,
                                 file.path, output.shown(1)));
}

void check_results(const Summary& plan, const std::vector<std::string>& inputs) {
  const std::vector<NamedFile> files = named_files(plan.options);
  for (auto a = files.begin(); a != files.end(); ++a) {
    for (auto b = files.begin(); b != a; ++b) check_apart(*b, *a);
    if (a->is_standard_output) continue;
    if (writes_field(plan.options)) check_beside_field(*a, plan.output);
    for (const std::string& input : inputs) {
      std::error_code ignored;
      if (fs::equivalent(a->path, input, ignored))
        throw InputError(fmt::format("{} would replace '{}', which is read: choose another name", a->option, input));
    }
  }
}

}  // namespace

void check_names(const Communicator& comm, const Summary& plan) {
  std::vector<std::string> inputs = plan.snapshot.files;
  if (!plan.options.haloes.empty()) inputs.push_back(plan.options.haloes);
  if (writes_field(plan.options)) check_inputs_stay(comm, plan.output, inputs);
  comm.together([&] {
    if (comm.rank() == 0) check_results(plan, inputs);
  });
}

}  // namespace zhalo::density_app
