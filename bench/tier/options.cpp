// SPDX-License-Identifier: Apache-2.0
//
// The command line.  Each option is one entry of a table, so that "the known ones" is that table.
#include "bench/tier/options.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <sstream>

#include "bench/tier/kernel/load_kernel.h"
#include "bench/tier/reference/reference.h"

namespace cxltier::bench {
namespace {

struct ModeEntry {
  const char* name;
  const char* text;
};

constexpr ModeEntry modes[] = {
    {"overview", "what this machine's memory can do, in a minute (the default)"},
    {"latency", "idle latency, CPU node x memory node, with its distribution"},
    {"bandwidth", "bandwidth, CPU node x memory node, per mix"},
    {"curve", "latency over load, per node and for pairs of nodes at once"},
    {"peak", "the most that each node gives, per mix, all cores"},
    {"scaling", "bandwidth over the number of threads"},
    {"interleave", "the weights that give the most bandwidth over all tiers, per mix"},
    {"alloc", "what mapping, first touch and malloc cost"},
    {"move", "moving pages: rate and cost by batch and page size"},
    {"app", "small programs: triad, random updates, Zipf chase, BFS, PageRank"},
    {"peers", "our kernels against the methods of STREAM and multichase, in pairs"},
};

using Text = const std::string&;

struct OptionEntry {
  const char* name;
  const char* argument;  // nullptr: a flag; "[...]": may be left out
  const char* text;
  // Returns an empty string or what is wrong with the value.
  std::function<std::string(Options&, Text)> set;
};

std::vector<std::string> split(Text text) {
  std::vector<std::string> words;
  std::istringstream stream(text);
  for (std::string word; std::getline(stream, word, ',');) words.push_back(word);
  return words;
}

std::optional<double> number_of(Text text) {
  char* end = nullptr;
  errno = 0;
  const double value = std::strtod(text.c_str(), &end);
  if (text.empty() || *end != '\0' || errno != 0 || !std::isfinite(value)) return std::nullopt;
  return value;
}

std::string set_number(double& target, Text text, double least, double most) {
  const std::optional<double> value = number_of(text);
  if (!value || *value < least || *value > most) {
    return fmt::format("'{}' is not a number from {:g} to {:g}", text, least, most);
  }
  target = *value;
  return {};
}

template <typename Whole>
std::string set_whole(Whole& target, Text text, double least, double most) {
  double value = 0;
  std::string wrong = set_number(value, text, least, most);
  if (wrong.empty() && value != std::floor(value)) {
    wrong = fmt::format("'{}' is not a whole number", text);
  }
  if (wrong.empty()) target = static_cast<Whole>(value);
  return wrong;
}

template <typename Whole>
std::string set_list(std::vector<Whole>& target, Text text, double least, double most) {
  target.clear();
  for (const std::string& word : split(text)) {
    Whole value{};
    std::string wrong = set_whole(value, word, least, most);
    if (!wrong.empty()) return wrong;
    if (std::find(target.begin(), target.end(), value) == target.end()) target.push_back(value);
  }
  return target.empty() ? "the list is empty" : "";
}

std::string set_word(std::string& target, Text text) {
  target = text;
  return text.empty() ? "the value is empty" : "";
}

std::string set_mixes(Options& options, Text text) {
  options.mixes.clear();
  for (const std::string& word : split(text)) {
    const std::optional<Mix> mix = find_mix(word);
    if (!mix) return fmt::format("unknown mix '{}'; known: {}", word, mix_names());
    const bool is_new = std::none_of(options.mixes.begin(), options.mixes.end(),
                                     [&](const Mix& other) { return other.name == mix->name; });
    if (is_new) options.mixes.push_back(*mix);
  }
  return options.mixes.empty() ? "no mix named; known: " + mix_names() : "";
}

std::string set_pages(Options& options, Text text) {
  const std::optional<PageKind> kind = find_page_kind(text);
  if (!kind) return fmt::format("unknown kind of pages '{}'; known: 4k, thp, hugetlb", text);
  options.pages_asked = kind;
  options.pages = *kind;
  return {};
}

std::string set_orders(Options& options, Text text) {
  if (text == "both") return options.orders.clear(), std::string();
  if (text != "whole" && text != "page_local") {
    return fmt::format("unknown order '{}'; known: whole, page_local, both", text);
  }
  options.orders = {text == "whole" ? ChaseOrder::whole : ChaseOrder::page_local};
  return {};
}

std::string set_spacing(Options& options, Text text) {
  if (text != "64" && text != "128" && text != "256") {
    return fmt::format("'{}' is no spacing; known: 64, 128, 256", text);
  }
  return set_whole(options.spacing, text, 64, 256);
}

std::string set_kernel(Options& options, Text text) {
  options.kernel = text;
  if (find_kernel(text) != nullptr) return {};
  return fmt::format("'{}' cannot run here or is unknown; known here: {}", text, kernel_names());
}

std::string set_peaks(Options& options, Text text) {
  for (const std::string& word : split(text)) {
    const std::size_t at = word.find('=');
    int node = 0;
    double gbps = 0;
    const bool right = at != std::string::npos &&
                       set_whole(node, word.substr(0, at), 0, 1023).empty() &&
                       set_number(gbps, word.substr(at + 1), 0.001, 1e6).empty();
    if (!right) return fmt::format("'{}' is not NODE=GB/s, as in 0=307.2", word);
    options.peaks[node] = gbps;
  }
  return {};
}

std::string add_reference(Options& options, Text text) {
  if (text == "list") {
    options.exit_text = reference_list();
    return {};
  }
  for (const std::string& word : split(text)) {
    if (!is_reference(word)) {
      return fmt::format("unknown machine '{}'; known: {}", word, reference_names());
    }
    options.references.push_back(word);
  }
  return options.references.empty() ? "no machine named; known: " + reference_names() : "";
}

// Two forms on one stream would be neither.
std::string set_form(Options& options, OutputForm form) {
  if (options.form != OutputForm::table && options.form != form) {
    return "--json and --csv both print to the standard output; give one";
  }
  options.form = form;
  return {};
}

// What was not asked for: the mode's own, or as little as shows that it runs.
void fill_defaults(Options& options) {
  const bool overview = options.mode == "overview";
  if (options.rounds == 0) options.rounds = options.smoke ? 3 : overview ? 15 : 9;
  if (options.time_s == 0) options.time_s = options.smoke ? 5 : overview ? 55 : 600;
  if (options.sample_ms == 0) options.sample_ms = options.smoke ? 2 : 50;
  if (options.smoke && options.buffer_bytes == 0) options.buffer_bytes = std::size_t{2} << 20;
}

std::vector<OptionEntry> measuring_entries() {
  return {
      {"--nodes", "LIST", "memory nodes, as in 0,2 [all that have memory]",
       [](Options& o, Text t) { return set_list(o.nodes, t, 0, 1023); }},
      {"--mixes", "LIST", "read:write mixes, as in R,2:1,1:1nt [the mode's own]", set_mixes},
      {"--delays", "LIST", "steps of a curve: a knob, no unit [19 steps, 0 to 20000]",
       [](Options& o, Text t) { return set_list(o.delays, t, 0, 1e6); }},
      {"--chains", "LIST", "parallel chains of the chase, 1 to 16 [1]",
       [](Options& o, Text t) { return set_list(o.chains, t, 1, chains_max); }},
      {"--order", "WORD", "chase order: whole, page_local, both [both]", set_orders},
      {"--pages", "KIND", "4k, thp or hugetlb; what was granted is verified [thp if on]",
       set_pages},
      {"--spacing", "BYTES", "between pointers of a chase: 64, 128, 256 [256]", set_spacing},
      {"--threads", "N", "load threads per CPU node [one per core]",
       [](Options& o, Text t) { return set_whole(o.threads, t, 1, 8192); }},
      {"--buffer-mib", "N", "size of a chase's buffer [lines used: 4 x last-level cache]",
       [](Options& o, Text t) {
         double count = 0;
         std::string wrong = set_number(count, t, 1, 1 << 20);
         if (wrong.empty()) o.buffer_bytes = static_cast<std::size_t>(count * (1 << 20));
         return wrong;
       }},
      {"--kernel", "NAME", "load generator [the widest that runs here]", set_kernel},
      {"--peak", "LIST", "theoretical GB/s by node, as in 0=307.2,2=26.5 [not known]", set_peaks},
      {"--rounds", "N",
       "how often each figure is measured, in random order [overview 15, others 9]",
       [](Options& o, Text t) { return set_whole(o.rounds, t, 3, 1000); }},
      {"--sample-ms", "MS", "length of one sample [50]",
       [](Options& o, Text t) { return set_number(o.sample_ms, t, 1, 60000); }},
      {"--time", "S", "begin no further round after so long [overview 55, others 600]",
       [](Options& o, Text t) { return set_number(o.time_s, t, 1, 86400); }},
      {"--seed", "N", "of chases and of the order of samples [1]",
       [](Options& o, Text t) { return set_whole(o.seed, t, 0, 9e15); }},
      {"--smoke", nullptr, "tiny buffers and samples: does it run at all?",
       [](Options& o, Text) { return o.smoke = true, std::string(); }},
  };
}

std::vector<OptionEntry> output_entries() {
  return {
      {"--json", nullptr, "JSON on stdout, with every raw sample",
       [](Options& o, Text) { return set_form(o, OutputForm::json); }},
      {"--csv", nullptr, "CSV on stdout, one line per figure",
       [](Options& o, Text) { return set_form(o, OutputForm::csv); }},
      {"--html", "FILE", "also write one self-contained page with interactive curves",
       [](Options& o, Text t) { return set_word(o.html_path, t); }},
      {"--save", "[FILE]", "keep the machine profile, where topo, run and advise find it",
       [](Options& o, Text t) {
         o.save = true;
         o.save_path = t;
         return std::string();
       }},
      {"--compare", "FILE", "a verdict per figure against an earlier --json",
       [](Options& o, Text t) { return set_word(o.compare_path, t); }},
      {"--reference", "NAME", "published machines beside; without MODE only these; 'list' names",
       add_reference},
      {"--quiet", nullptr, "no progress on a terminal",
       [](Options& o, Text) { return o.quiet = true, std::string(); }},
  };
}

const std::vector<OptionEntry>& entries() {
  static const std::vector<OptionEntry> table = [] {
    std::vector<OptionEntry> all = measuring_entries();
    for (OptionEntry& entry : output_entries()) all.push_back(std::move(entry));
    return all;
  }();
  return table;
}

std::string usage_text() {
  std::string text =
      "usage: cxltier bench [MODE] [OPTIONS]\n\n"
      "Measures what the memory tiers of this machine can do, without root and without a PMU.\n"
      "Data goes to stdout; exit 0 measured, 1 failed, 2 usage.\n\nmodes\n";
  for (const ModeEntry& mode : modes) text += fmt::format("  {:<12} {}\n", mode.name, mode.text);
  text += "\noptions\n";
  for (const OptionEntry& entry : entries()) {
    const std::string left =
        entry.argument == nullptr ? entry.name : fmt::format("{} {}", entry.name, entry.argument);
    text += fmt::format("  {:<18} {}\n", left, entry.text);
  }
  return text + fmt::format("  {:<18} {}\n", "--help", "this text");
}

std::string option_names() {
  std::string names;
  for (const OptionEntry& entry : entries()) names += std::string(entry.name) + ", ";
  return names + "--help";
}

bool is_mode(Text word) {
  return std::any_of(std::begin(modes), std::end(modes),
                     [&](const ModeEntry& mode) { return word == mode.name; });
}

bool is_optional(const OptionEntry& entry) { return entry.argument[0] == '['; }

// `value` null: a flag, or a value that was left out.
std::string set_entry(const OptionEntry& entry, Options& options, const std::string* value) {
  if (value == nullptr) return entry.set(options, "");
  if (value->empty() && is_optional(entry)) return "the value is empty";
  return entry.set(options, *value);
}

// Whether the next word is this option's value.  Of a value that may be left out, options and modes
// are none: a file of such a name needs "=".
bool takes_next(const OptionEntry& entry, const std::vector<std::string>& words, std::size_t at) {
  if (at + 1 >= words.size()) return false;
  if (!is_optional(entry)) return true;
  return !words[at + 1].starts_with('-') && !is_mode(words[at + 1]);
}

void take_mode(Options& options, Text word) {
  if (!is_mode(word)) {
    options.wrong = fmt::format("unknown mode '{}'; known: {}", word, mode_names());
  } else if (options.mode_given) {
    options.wrong = fmt::format("two modes, '{}' and '{}'; give one", options.mode, word);
  }
  options.mode = word;
  options.mode_given = true;
}

// Takes one option; returns how many words it took.
std::size_t take_option(Options& options, const std::vector<std::string>& words, std::size_t at) {
  const std::size_t equals = words[at].find('=');
  const std::string name = words[at].substr(0, equals);
  for (const OptionEntry& entry : entries()) {
    if (name != entry.name) continue;
    std::string value;
    std::size_t taken = 1;
    bool given = true;
    if (entry.argument == nullptr) {
      given = false;
      if (equals != std::string::npos) {
        options.wrong = fmt::format("{} takes no value", name);
        return 1;
      }
    } else if (equals != std::string::npos) {
      value = words[at].substr(equals + 1);
    } else if (takes_next(entry, words, at)) {
      value = words[at + 1];
      taken = 2;
    } else if (is_optional(entry)) {
      given = false;
    } else {
      options.wrong = fmt::format("{} needs a value: {}", name, entry.argument);
      return 1;
    }
    const std::string wrong = set_entry(entry, options, given ? &value : nullptr);
    if (!wrong.empty()) options.wrong = fmt::format("{}: {}", name, wrong);
    return taken;
  }
  options.wrong = fmt::format("unknown option '{}'; known: {}", name, option_names());
  return 1;
}

}  // namespace

std::string mode_names() {
  std::string names;
  for (const ModeEntry& mode : modes) {
    if (!names.empty()) names += ", ";
    names += mode.name;
  }
  return names;
}

Options parse_options(const std::vector<std::string>& words) {
  Options options;
  for (std::size_t at = 0; at < words.size() && options.wrong.empty();) {
    if (words[at] == "--help" || words[at] == "-h") options.exit_text = usage_text();
    if (options.exit_text) return options;
    if (words[at].starts_with('-')) {
      at += take_option(options, words, at);
    } else {
      take_mode(options, words[at++]);
    }
  }
  fill_defaults(options);
  return options;
}

}  // namespace cxltier::bench
