/// The options of a program and its help: the only header of the house behind which CLI11 stands.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "zhalo/core/types.hpp"

namespace zhalo::app {

/// The words with which a program describes itself in its help.
struct HelpTexts {
  const char* name;     ///< the program's
  const char* usage;    ///< what follows the name, such as "SNAPSHOT [OPTION...]"
  const char* summary;  ///< a sentence or two, a line each
  const char* footer = "";
  /// Options by which other programs call what this one calls otherwise, each with ours.
  std::vector<std::pair<const char*, const char*>> other_names{};
};

/// Declares options, each with the variable that it sets, and reads a command line. The variables
/// must outlive it.
///
/// `names` are written as in "-o,--output"; a name without dashes is the word that stands alone.
/// `value_name` is how the help names the value.
class CommandLine {
 public:
  explicit CommandLine(const HelpTexts& texts);
  ~CommandLine();
  CommandLine(const CommandLine&) = delete;
  CommandLine& operator=(const CommandLine&) = delete;

  /// T is int, Index, std::uint64_t, double or std::string, or an optional of one of these.
  template <class T>
  void add_option(const char* names, T& value, const std::string& help, const char* value_name);
  /// A whole number that is not negative.
  void add_natural_number(const char* names, std::optional<Index>& value, const std::string& help,
                          const char* value_name);
  /// An option that may stand without a value, which is then an empty string.
  void add_option_or_bare(const char* names, std::optional<std::string>& value,
                          const std::string& help, const char* value_name);
  /// An option that may be given more than once; each value comes as it was written.
  void add_repeated(const char* names, std::vector<std::string>& values, const std::string& help,
                    const char* value_name);
  /// Values with commas between them. T is Index or std::string.
  template <class T>
  void add_list(const char* names, std::vector<T>& values, const std::string& help,
                const char* value_name);
  /// "--peer,!--no-peer" is a flag with its opposite.
  void add_flag(const char* names, bool& value, const std::string& help);
  /// What the error says if there is a word too many.
  void explain_extra_words(const std::string& words);
  /// Words that are no option of this program are kept in `words` instead of being an error.
  void keep_unknown(std::vector<std::string>& words);

  /// Sets the variables. Returns the text of the help if it was asked for. Throws InputError for
  /// what cannot be understood; for an option that is not known it names the one that may be meant.
  std::optional<std::string> parse(int argc, const char* const* argv);

 private:
  struct Parser;
  std::unique_ptr<Parser> parser_;
};

}  // namespace zhalo::app
