// SPDX-License-Identifier: Apache-2.0
//
// The command `cxltier`: the table of verbs, and what happens to words that it does not know.
//
// Exit codes: 0 done, 1 failed, 2 usage.  A new verb is a file beside this one and a line in
// `verbs`.
#include <CLI/CLI.hpp>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/cli/verb.h"

namespace cxltier {
namespace {

using AddVerb = void (*)(CLI::App& app, int& exit_code);

constexpr AddVerb verbs[] = {add_topo, add_doctor,   add_provision, add_collect,
                             add_stat, add_simulate, add_advise};

std::string joined(const std::vector<std::string>& words) {
  return fmt::format("{}", fmt::join(words, ", "));
}

std::vector<std::string> verb_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* verb : app.get_subcommands({})) names.push_back(verb->get_name());
  return names;
}

std::vector<std::string> option_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    if (option->nonpositional()) names.push_back(option->get_name());
  }
  return names;
}

// The verb that the command line names, else the command itself.
const CLI::App& parsed_app(const CLI::App& app) {
  const std::vector<CLI::App*> parsed = app.get_subcommands();
  return parsed.empty() ? app : *parsed.front();
}

bool is_option(const std::string& word) { return word.size() > 1 && word.front() == '-'; }

std::string known_words(const CLI::App& app, const CLI::App& where) {
  return &where == &app ? "verbs: " + joined(verb_names(app))
                        : "options: " + joined(option_names(where));
}

// An unknown word, the first of `where`'s.
std::string unknown_word(const CLI::App& app, const CLI::App& where, const std::string& word) {
  const std::string verb = &where == &app ? std::string() : where.get_name() + ": ";
  if (is_option(word)) {
    return fmt::format("{}unknown option '{}'; options: {}", verb, word,
                       joined(option_names(where)));
  }
  return fmt::format("{}unknown {} '{}'; {}", verb, &where == &app ? "verb" : "argument", word,
                     known_words(app, where));
}

// What is wrong with the command line, with the word and the known ones.
std::string usage_fault(const CLI::App& app, const CLI::ParseError& error) {
  const CLI::App& verb = parsed_app(app);
  // Not get_name(): CLI11 puts the verb's name there for unknown words.
  const int kind = error.get_exit_code();
  const bool verb_missing = kind == static_cast<int>(CLI::ExitCodes::RequiredError);
  if (verb_missing || kind == static_cast<int>(CLI::ExitCodes::ExtrasError)) {
    for (const CLI::App* where : {&verb, &app}) {
      const std::vector<std::string> unknown = where->remaining();
      if (!unknown.empty()) return unknown_word(app, *where, unknown.front());
    }
  }
  if (&verb == &app && verb_missing) return "no verb; " + known_words(app, app);
  const std::string where = &verb == &app ? std::string() : verb.get_name() + ": ";
  return fmt::format("{}{}; {}", where, error.what(), known_words(app, verb));
}

// `help` is --help, and `help VERB` the verb's.
void translate_help(std::span<char*>& words) {
  static char flag[] = "--help";
  if (words.size() < 2 || std::string_view(words[1]) != "help") return;
  if (words.size() > 2) words[1] = words[2];
  words = words.first(std::min<std::size_t>(words.size(), 3));
  words.back() = flag;
}

int run_command(std::span<char*> words) {
  CLI::App app("CXL memory tiering: see and place the memory of a program", "cxltier");
  app.set_version_flag("--version", "cxltier " CXLTIER_VERSION);
  app.set_help_flag("-h,--help", "Print this help and exit");
  app.require_subcommand(1);
  int exit_code = exit_ok;
  translate_help(words);
  for (const AddVerb add_verb : verbs) add_verb(app, exit_code);
  const std::size_t own_words = count_own_words(words);
  add_run(app, exit_code, words.subspan(own_words));
  add_bench(app, exit_code, words.subspan(own_words));
  add_record(app, exit_code, words.subspan(own_words));
  try {
    app.parse(static_cast<int>(own_words), words.data());
  } catch (const CLI::CallForHelp&) {
    const CLI::App& verb = parsed_app(app);
    return print_data(&verb == &app ? app.help() : verb.help(app.get_name()));
  } catch (const CLI::CallForAllHelp&) {
    return print_data(app.help("", CLI::AppFormatMode::All));
  } catch (const CLI::CallForVersion& version) {
    return print_data(std::string(version.what()) + "\n");
  } catch (const CLI::ParseError& error) {
    complain(usage_fault(app, error));
    return exit_usage;
  }
  return exit_code;
}

}  // namespace

int print_data(std::string_view text) {
  const bool written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size();
  if (written && std::fflush(stdout) == 0) return exit_ok;
  complain(fmt::format("cannot write the output: {}", std::strerror(errno)));
  return exit_failed;
}

// Words of the user's come back in it: a terminal must not obey them.
void complain(std::string_view text) {
  std::string line;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    line += byte < 0x20 || byte == 0x7f ? fmt::format("\\x{:02x}", byte) : std::string(1, c);
  }
  fmt::print(stderr, "cxltier: {}\n", line);
}

}  // namespace cxltier

int main(int argc, char** argv) {
  try {
    return cxltier::run_command({argv, static_cast<std::size_t>(argc)});
  } catch (const std::exception& error) {
    std::fprintf(stderr, "cxltier: %s\n", error.what());
    return cxltier::exit_failed;
  }
}
