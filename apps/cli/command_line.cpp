#include "apps/cli/command_line.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <limits>
#include <numeric>
#include <string>
#include <tuple>
#include <type_traits>

#include "zhalo/core/error.hpp"
#include "zhalo/core/types.hpp"

namespace zhalo::app {
namespace {

/// Letters to insert, remove or replace in `a` to get `b` (Levenshtein).
std::size_t distance(const std::string& a, const std::string& b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t before = std::exchange(row[0], i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = before + (a[i - 1] == b[j - 1] ? 0 : 1);
      before = std::exchange(row[j], std::min({row[j] + 1, row[j - 1] + 1, replaced}));
    }
  }
  return row.back();
}

/// The long name of this program that an unknown option may stand for; empty if there is none like
/// it.
std::string likely_option(const CLI::App& app, const std::string& unknown) {
  std::string best;
  std::size_t min_apart = 4;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) {
      const bool begins = unknown.size() > 3 && ("--" + name).rfind(unknown, 0) == 0;
      const std::size_t apart = begins ? 1 : distance(unknown, "--" + name);
      if (apart < min_apart && apart <= name.size() / 2)
        std::tie(min_apart, best) = std::pair(apart, "--" + name);
    }
  }
  return best;
}

template <class T>
std::string say_out_of_range(const std::string& word, T first) {
  return fmt::format("{} is out of range: {} to {} are possible", word, first,
                     std::numeric_limits<T>::max());
}

/// All names of an option: "--device" and "--devices".
std::string names_of(const CLI::Option& option) {
  std::vector<std::string> names;
  for (const std::string& name : option.get_snames()) names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) names.push_back("--" + name);
  return fmt::format("{}", fmt::join(names, " or "));
}

/// Versions of CLI11 differ in what they read as a number: "0.2," and "1_0" are none here.
bool is_real_number(const std::string& word) {
  char* behind = nullptr;
  std::strtod(word.c_str(), &behind);
  return behind != word.c_str() && *behind == '\0';
}

[[noreturn]] void refuse_number(const CLI::Option& option, const std::string& word) {
  throw CLI::ConversionError(fmt::format("{} is '{}' (must be a {}number)", names_of(option), word,
                                         is_real_number(word) ? "whole " : ""),
                             CLI::ExitCodes::ConversionError);
}

/// The complaint about a value; empty if there is none. An empty word is an unset variable of a
/// shell. Whole numbers may have zeros in front: they are no octal numbers.
template <class T>
std::string check_value(const CLI::Option& option, std::string& word) {
  if (word.empty()) return "has no value (is a variable not set?)";
  if constexpr (std::is_integral_v<T>) {
    T number{};
    const char* const end = word.data() + word.size();
    const auto [behind, error] = std::from_chars(word.data() + (word[0] == '+'), end, number);
    if (behind != end || error == std::errc::invalid_argument) refuse_number(option, word);
    if (error == std::errc::result_out_of_range)
      return say_out_of_range(word, std::numeric_limits<T>::min());
    word = std::to_string(number);
  }
  if constexpr (std::is_floating_point_v<T>) {
    if (!is_real_number(word)) refuse_number(option, word);
  }
  return "";
}

std::string check_natural_number(const CLI::Option& option, std::string& word) {
  std::string complaint = check_value<Index>(option, word);
  if (word.empty()) return complaint;
  const bool is_possible = complaint.empty() && word.front() != '-';
  return is_possible ? "" : say_out_of_range(word, Index{0});
}

using CheckOfValue = std::string (*)(const CLI::Option&, std::string&);

/// Has every value of the option checked, and written as CLI11 is to read it.
void check_values(CLI::Option& option, CheckOfValue check) {
  option.transform(
      CLI::Validator([&option, check](std::string& word) { return check(option, word); }, ""));
}

template <class T>
constexpr CheckOfValue check_of(const T&) {
  return check_value<T>;
}
template <class T>
constexpr CheckOfValue check_of(const std::optional<T>&) {
  return check_value<T>;
}

std::string check_flag(std::string& word) {
  return word == "true" || word == "false" ? "" : fmt::format("takes no value, such as {}", word);
}

/// What is wrong with the number of an option's values, of which CLI11 says `what`.
std::string why_mismatch(const CLI::App& app, const std::string& what) {
  const CLI::Option* option = app.get_option_no_throw(what.substr(0, what.find(':')));
  if (option == nullptr || option->count() < 2) return what;
  return fmt::format("{} is given {} times: give it once", names_of(*option), option->count());
}

/// The help, the same with all versions of CLI11.
class HelpFormat : public CLI::Formatter {
 public:
  explicit HelpFormat(std::string usage) : usage_(std::move(usage)) {}

  std::string make_help(const CLI::App* app, std::string name, CLI::AppFormatMode) const override {
    const auto stands_alone = [](const CLI::Option* option) { return option->get_positional(); };
    const auto has_dashes = [](const CLI::Option* option) { return option->nonpositional(); };
    return fmt::format("{}\nUsage: {} {}\n{}{}\n{}\n", app->get_description(), name, usage_,
                       list("Positionals", app->get_options(stands_alone)),
                       list("Options", app->get_options(has_dashes)), app->get_footer());
  }

 private:
  static std::string list(const char* title, const std::vector<const CLI::Option*>& options) {
    std::string text = options.empty() ? "" : fmt::format("\n{}:\n", title);
    for (const CLI::Option* option : options) text += line_of(*option);
    return text;
  }

  static std::string line_of(const CLI::Option& option) {
    constexpr std::size_t width = 24;
    const std::string next_line = "\n" + std::string(width, ' ');
    std::string text = fmt::format("  {} {}", option.get_name(option.get_positional(), true),
                                   option.get_type_name());
    while (text.back() == ' ') text.pop_back();
    text += text.size() < width ? std::string(width - text.size(), ' ') : next_line;
    for (const char letter : option.get_description())
      text += letter == '\n' ? next_line : std::string(1, letter);
    return text + "\n";
  }

  std::string usage_;
};

}  // namespace

struct CommandLine::Parser {
  explicit Parser(const HelpTexts& texts) : app(texts.summary, texts.name) {
    app.set_help_flag("-h,--help", "Print this help message and exit");
    app.footer(texts.footer);
    app.formatter(std::make_shared<HelpFormat>(texts.usage));
    other_names = texts.other_names;
  }

  /// The complaint about a text that is an option, as after one whose value was forgotten.
  std::string check_text(const std::string& word) const;
  CLI::Validator checks_text() const {
    return {[this](std::string& word) { return check_text(word); }, ""};
  }
  /// What to say about words that are left over.
  std::string why_extra() const;

  CLI::App app;
  std::vector<std::pair<const char*, const char*>> other_names;
  std::string of_extra_words;
  std::vector<std::string>* unknown = nullptr;
  std::vector<std::pair<const CLI::Option*, std::optional<std::string>*>> maybe_bare;
};

std::string CommandLine::Parser::check_text(const std::string& word) const {
  const bool is_option = word.rfind("--", 0) == 0 || app.get_option_no_throw(word) != nullptr;
  if (!is_option || word.front() != '-') return "";
  return fmt::format("has no value, {} follows (a file of this name is ./{})", word, word);
}

/// An option that is not known is told before a word too many, which may be its value.
std::string CommandLine::Parser::why_extra() const {
  const std::vector<std::string> words = app.remaining();
  const auto is_option = [](const std::string& word) {
    return word.size() > 1 && word.front() == '-';
  };
  const auto found = std::find_if(words.begin(), words.end(), is_option);
  if (found == words.end())
    return fmt::format("'{}' is one word too many{}", words.front(), of_extra_words);
  const std::string name = found->substr(0, found->find('='));
  for (const auto& [theirs, ours] : other_names) {
    if (name == theirs) return fmt::format("there is no option {}: it is {} here", name, ours);
  }
  const std::string likely = likely_option(app, name);
  return likely.empty() ? fmt::format("there is no option {}", name)
                        : fmt::format("there is no option {}: is {} meant?", name, likely);
}

CommandLine::CommandLine(const HelpTexts& texts) : parser_(std::make_unique<Parser>(texts)) {}
CommandLine::~CommandLine() = default;

template <class T>
void CommandLine::add_option(const char* names, T& value, const std::string& help,
                             const char* value_name) {
  CLI::Option* option = parser_->app.add_option(names, value, help);
  check_values(*option->type_name(value_name), check_of(value));
  if constexpr (std::is_same_v<T, std::string> || std::is_same_v<T, std::optional<std::string>>)
    option->check(parser_->checks_text());
}

template <class T>
void CommandLine::add_list(const char* names, std::vector<T>& values, const std::string& help,
                           const char* value_name) {
  CLI::Option* option = parser_->app.add_option(names, values, help);
  check_values(*option->delimiter(',')->type_name(value_name), check_value<T>);
}

void CommandLine::add_natural_number(const char* names, std::optional<Index>& value,
                                     const std::string& help, const char* value_name) {
  CLI::Option* option = parser_->app.add_option(names, value, help);
  check_values(*option->type_name(value_name), check_natural_number);
}

void CommandLine::add_option_or_bare(const char* names, std::optional<std::string>& value,
                                     const std::string& help, const char* value_name) {
  const CLI::Option* option =
      parser_->app.add_option(names, value, help)->expected(0, 1)->type_name(value_name);
  parser_->maybe_bare.emplace_back(option, &value);
}

void CommandLine::add_repeated(const char* names, std::vector<std::string>& values,
                               const std::string& help, const char* value_name) {
  CLI::Option* option = parser_->app.add_option(names, values, help);
  check_values(*option->allow_extra_args(false)->type_name(value_name), check_value<std::string>);
  option->check(parser_->checks_text());
}

void CommandLine::add_flag(const char* names, bool& value, const std::string& help) {
  parser_->app.add_flag(names, value, help)->check(CLI::Validator(check_flag, ""));
}

void CommandLine::explain_extra_words(const std::string& words) {
  parser_->of_extra_words = ": " + words;
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
    std::string why = error.what();
    if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr) why = parser_->why_extra();
    if (dynamic_cast<const CLI::ArgumentMismatch*>(&error) != nullptr) why = why_mismatch(app, why);
    throw InputError(fmt::format("{} ({} --help shows the options)", why, app.get_name()));
  }
  // Without a value CLI11 2.7 sets nothing, as if the option were not there.
  for (const auto& [option, value] : parser_->maybe_bare) {
    if (option->count() > 0 && !*value) *value = "";
  }
  if (parser_->unknown != nullptr) *parser_->unknown = app.remaining();
  return std::nullopt;
}

template void CommandLine::add_option(const char*, int&, const std::string&, const char*);
template void CommandLine::add_option(const char*, Index&, const std::string&, const char*);
template void CommandLine::add_option(const char*, std::uint64_t&, const std::string&, const char*);
template void CommandLine::add_option(const char*, double&, const std::string&, const char*);
template void CommandLine::add_option(const char*, std::string&, const std::string&, const char*);
template void CommandLine::add_option(const char*, std::optional<int>&, const std::string&,
                                      const char*);
template void CommandLine::add_option(const char*, std::optional<Index>&, const std::string&,
                                      const char*);
template void CommandLine::add_option(const char*, std::optional<std::uint64_t>&,
                                      const std::string&, const char*);
template void CommandLine::add_option(const char*, std::optional<double>&, const std::string&,
                                      const char*);
template void CommandLine::add_option(const char*, std::optional<std::string>&, const std::string&,
                                      const char*);
template void CommandLine::add_list(const char*, std::vector<Index>&, const std::string&,
                                    const char*);
template void CommandLine::add_list(const char*, std::vector<std::string>&, const std::string&,
                                    const char*);

}  // namespace zhalo::app
