// SPDX-License-Identifier: Apache-2.0
//
// The command line.  Each option is one entry of a table, so that "the known ones" is that table.
#include "bench/redis_demo/options.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <functional>
#include <sstream>

namespace cxltier::demo {
namespace {

// In this order the placements of neighbouring rows differ least, so little has to be moved.
const std::vector<std::string> all_rows = {"all_dram",         "by_hand", "static_split",
                                           "kernel_balancing", "all_cxl", "cxltier"};
const std::vector<std::string> policies = {"first-touch", "static",  "interleave",
                                           "hot-cold",    "balance", "capacity"};

struct OptionEntry {
  const char* name;
  const char* argument;  // nullptr: a flag
  const char* text;
  // Returns an empty string or what is wrong with the value.
  std::function<std::string(Options&, const std::string&)> set;
};

std::string joined(const std::vector<std::string>& words) {
  std::string all;
  for (const std::string& word : words) all += (all.empty() ? "" : " ") + word;
  return all;
}

std::string set_number(double& target, const std::string& text, double least, double most) {
  char* end = nullptr;
  errno = 0;
  const double value = std::strtod(text.c_str(), &end);
  const bool whole_word = !text.empty() && *end == '\0' && errno == 0 && std::isfinite(value);
  if (!whole_word || value < least || value > most) {
    std::ostringstream wrong;
    wrong << "'" << text << "' is not a number from " << least << " to " << most;
    return wrong.str();
  }
  target = value;
  return {};
}

std::string set_integer(int& target, const std::string& text, int least, int most) {
  double value = 0;
  std::string wrong = set_number(value, text, least, most);
  if (wrong.empty() && value != std::floor(value)) wrong = "'" + text + "' is not a whole number";
  if (wrong.empty()) target = static_cast<int>(value);
  return wrong;
}

std::string set_word(std::string& target, const std::string& text) {
  target = text;
  return text.empty() ? "the value is empty" : "";
}

std::string set_policy(Options& options, const std::string& text) {
  options.policy = text;
  if (std::find(policies.begin(), policies.end(), text) != policies.end()) return {};
  return "unknown policy '" + text + "'; known: " + joined(policies);
}

std::string set_rows(Options& options, const std::string& text) {
  std::vector<std::string> asked;
  std::istringstream words(text);
  for (std::string word; std::getline(words, word, ',');) {
    if (std::find(all_rows.begin(), all_rows.end(), word) == all_rows.end()) {
      return "unknown row '" + word + "'; known: " + joined(all_rows);
    }
    asked.push_back(word);
  }
  options.rows.clear();
  for (const std::string& row : all_rows) {
    if (std::find(asked.begin(), asked.end(), row) != asked.end()) options.rows.push_back(row);
  }
  return options.rows.empty() ? "no row named; known: " + joined(all_rows) : "";
}

std::string set_smoke(Options& options) {
  options.smoke = 1;
  options.values_mib = 4;
  options.window_s = 0.2;
  options.rounds = 1;
  options.rows = {"all_dram"};
  return {};
}

std::string set_cxl_node(Options& options, const std::string& text) {
  int node = 0;
  std::string wrong = set_integer(node, text, 0, 1023);
  options.cxl_node = node;
  return wrong;
}

const std::vector<OptionEntry>& entries() {
  using Text = const std::string&;
  static const std::vector<OptionEntry> table = {
      {"--bin", "DIR", "build folder that holds bin/cxltier",
       [](Options& o, Text t) { return set_word(o.bin_dir, t); }},
      {"--out", "FILE", "where report.json goes",
       [](Options& o, Text t) { return set_word(o.out_path, t); }},
      {"--redis", "PATH", "the server's program [redis-server]",
       [](Options& o, Text t) { return set_word(o.redis, t); }},
      {"--policy", "NAME", "policy of the row cxltier [hot-cold]", set_policy},
      {"--rows", "A,B,…", "only these rows [all six]", set_rows},
      {"--values-mib", "N", "size of all values together [96]",
       [](Options& o, Text t) { return set_number(o.values_mib, t, 1, 65536); }},
      {"--window-s", "N", "length of one measuring window [2]",
       [](Options& o, Text t) { return set_number(o.window_s, t, 0.05, 600); }},
      {"--settle-max-s", "N", "longest wait for a row to settle [45]",
       [](Options& o, Text t) { return set_number(o.settle_max_s, t, 1, 3600); }},
      {"--time-max-s", "N", "begin no further round that would end later [330]",
       [](Options& o, Text t) { return set_number(o.time_max_s, t, 1, 86400); }},
      {"--rounds", "N", "how often all rows are measured [2]",
       [](Options& o, Text t) { return set_integer(o.rounds, t, 1, 100); }},
      {"--cxl-node", "N", "the CXL node [the node with memory and without CPUs]", set_cxl_node},
      {"--smoke", nullptr, "tiny sizes and the row all_dram; one node suffices",
       [](Options& o, Text) { return set_smoke(o); }},
      {"--keep", nullptr, "leave the servers' folder with their logs",
       [](Options& o, Text) { return o.keep = 1, std::string(); }},
  };
  return table;
}

std::string usage_text() {
  std::ostringstream text;
  text << "usage: redis_demo --bin DIR [options]\n"
       << "Compares placements of one Redis data set over DRAM and CXL; run as root.\n";
  for (const OptionEntry& entry : entries()) {
    std::string left = std::string("  ") + entry.name;
    if (entry.argument != nullptr) left += std::string(" ") + entry.argument;
    left.resize(std::max<std::size_t>(left.size() + 1, 24), ' ');
    text << left << entry.text << "\n";
  }
  return text.str();
}

std::string known_names() {
  std::string names;
  for (const OptionEntry& entry : entries()) names += std::string(entry.name) + " ";
  return names + "--help";
}

// Takes one option from argv; returns how many words it took.
int take_option(Options& options, int index, int argc, char** argv) {
  const std::string word = argv[index];
  for (const OptionEntry& entry : entries()) {
    if (word != entry.name) continue;
    if (entry.argument == nullptr) {
      options.wrong = entry.set(options, "");
      return 1;
    }
    if (index + 1 >= argc) {
      options.wrong = word + " needs a value: " + entry.argument;
      return 1;
    }
    const std::string wrong = entry.set(options, argv[index + 1]);
    if (!wrong.empty()) options.wrong = word + ": " + wrong;
    return 2;
  }
  options.wrong = "unknown option '" + word + "'; known: " + known_names();
  return 1;
}

}  // namespace

Options parse_options(int argc, char** argv) {
  Options options;
  options.rows = all_rows;
  for (int i = 1; i < argc && options.wrong.empty();) {
    const std::string word = argv[i];
    if (word == "--help" || word == "-h") {
      options.exit_text = usage_text();
      return options;
    }
    i += take_option(options, i, argc, argv);
  }
  if (options.wrong.empty() && has_row(options, "cxltier") && options.bin_dir.empty()) {
    options.wrong = "the row cxltier needs --bin DIR, the folder that holds bin/cxltier";
  }
  return options;
}

bool has_row(const Options& options, const std::string& row) {
  return std::find(options.rows.begin(), options.rows.end(), row) != options.rows.end();
}

}  // namespace cxltier::demo
