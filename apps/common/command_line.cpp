#include "apps/common/command_line.hpp"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "zhalo/core/error.hpp"
#include "zhalo/core/types.hpp"

namespace zhalo::app {
namespace {

class HelpFormat : public CLI::Formatter {
 public:
  explicit HelpFormat(std::string usage) : usage_(std::move(usage)) { column_width(24); }
  std::string make_usage(const CLI::App*, std::string name) const override {
    return fmt::format("Usage: {} {}\n", name, usage_);
  }

 private:
  std::string usage_;
};

}  // namespace

struct CommandLine::Parser {
  explicit Parser(const HelpTexts& texts) : app(texts.summary, texts.name) {
    app.footer(texts.footer);
    app.formatter(std::make_shared<HelpFormat>(texts.usage));
  }

  CLI::App app;
  std::vector<std::string>* unknown = nullptr;
};

CommandLine::CommandLine(const HelpTexts& texts) : parser_(std::make_unique<Parser>(texts)) {}
CommandLine::~CommandLine() = default;

template <class T>
void CommandLine::add_option(const char* names, T& value, const std::string& help, const char* value_name) {
  parser_->app.add_option(names, value, help)->type_name(value_name);
}

template <class T>
void CommandLine::add_list(const char* names, std::vector<T>& values, const std::string& help, const char* value_name) {
  parser_->app.add_option(names, values, help)->delimiter(',')->type_name(value_name);
}

void CommandLine::add_option_or_bare(const char* names, std::optional<std::string>& value, const std::string& help,
                                     const char* value_name) {
  parser_->app.add_option(names, value, help)->expected(0, 1)->type_name(value_name);
}

void CommandLine::add_repeated(const char* names, std::vector<std::string>& values, const std::string& help,
                               const char* value_name) {
  parser_->app.add_option(names, values, help)->allow_extra_args(false)->type_name(value_name);
}

void CommandLine::add_flag(const char* names, bool& value, const std::string& help) {
  parser_->app.add_flag(names, value, help);
}

void CommandLine::keep_unknown(std::vector<std::string>& words) {
  parser_->app.allow_extras();
  parser_->unknown = &words;
}

std::optional<std::string> CommandLine::parse(int argc, const char* const* argv) {
  CLI::App& app = parser_->app;
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    return app.help();
  } catch (const CLI::ParseError& error) {
    throw InputError(fmt::format("{} ({} --help shows the options)", error.what(), app.get_name()));
  }
  if (parser_->unknown != nullptr) *parser_->unknown = app.remaining();
  return std::nullopt;
}

template void CommandLine::add_option(const char*, int&, const std::string&, const char*);
template void CommandLine::add_option(const char*, Index&, const std::string&, const char*);
template void CommandLine::add_option(const char*, std::uint64_t&, const std::string&, const char*);
template void CommandLine::add_option(const char*, double&, const std::string&, const char*);
template void CommandLine::add_option(const char*, std::string&, const std::string&, const char*);
template void CommandLine::add_option(const char*, std::optional<int>&, const std::string&, const char*);
template void CommandLine::add_option(const char*, std::optional<Index>&, const std::string&, const char*);
template void CommandLine::add_option(const char*, std::optional<std::uint64_t>&, const std::string&, const char*);
template void CommandLine::add_option(const char*, std::optional<double>&, const std::string&, const char*);
template void CommandLine::add_option(const char*, std::optional<std::string>&, const std::string&, const char*);
template void CommandLine::add_list(const char*, std::vector<Index>&, const std::string&, const char*);
template void CommandLine::add_list(const char*, std::vector<std::string>&, const std::string&, const char*);

}  // namespace zhalo::app
