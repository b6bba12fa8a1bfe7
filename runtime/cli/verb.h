// SPDX-License-Identifier: Apache-2.0
//
// What a verb of the command is: one file with one function that adds a subcommand.
//
//   void add_topo(CLI::App& app, int& exit_code) {
//     auto options = std::make_shared<TopoOptions>();
//     CLI::App* verb = app.add_subcommand("topo", "...");
//     verb->add_flag("--json", options->json, "...");
//     verb->callback([options, &exit_code] { exit_code = topo(*options); });
//   }
//
// The callback runs while the command line is parsed, after all options are in.  It prints data on
// stdout (print_data) and everything else on stderr (complain).
#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <span>
#include <string_view>

namespace CLI {
class App;
}

namespace cxltier {

inline constexpr int exit_ok = 0;
inline constexpr int exit_failed = 1;
inline constexpr int exit_usage = 2;

// Writes a verb's data; exit_failed, after a complaint, if stdout does not take it.
[[nodiscard]] int print_data(std::string_view text);

// One line on stderr that names the thing, the cause and the fix, after "cxltier: ".
void complain(std::string_view text);

void add_advise(CLI::App& app, int& exit_code);
void add_collect(CLI::App& app, int& exit_code);
void add_doctor(CLI::App& app, int& exit_code);
void add_provision(CLI::App& app, int& exit_code);
void add_simulate(CLI::App& app, int& exit_code);
void add_stat(CLI::App& app, int& exit_code);
void add_topo(CLI::App& app, int& exit_code);

// `run` and `record` are the verbs whose command line ends before the words do: `command` is the
// program that they start, with its arguments, and must outlive the parsing.
void add_record(CLI::App& app, int& exit_code, std::span<char* const> command);
void add_run(CLI::App& app, int& exit_code, std::span<char* const> command);

// `bench` parses none of its words: they are those of the program that it starts.
void add_bench(CLI::App& app, int& exit_code, std::span<char* const> words);

// How many of the words, from argv[0] on, are ours to parse: all, but for `run`, `record` and
// `bench`.
[[nodiscard]] std::size_t count_own_words(std::span<char* const> words);

}  // namespace cxltier
