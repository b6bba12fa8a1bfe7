// SPDX-License-Identifier: Apache-2.0
//
// The parsers of settings.h, and the table of the CXLTIER_* variables.
//
// Only constructors and remove_prefix are used on string_view: substr, starts_with and at
// would pull the exception machinery of the C++ library into preloaded processes.
#include "runtime/settings/settings.h"

#include <algorithm>
#include <charconv>

#include "policy/machine.h"
#include "runtime/settings/fixed_text.h"

namespace cxltier {
namespace {

constexpr const char* size_form = "a size is a number with an optional K, M, G or T";
constexpr const char* limit_form = "a limit is TIER=SIZE, as in dram=64M";
constexpr const char* limit_tiers = "known: dram, cxl, tier0 to tier7";
constexpr const char* profile_form = "a profile is an absolute path of up to 255 bytes, or none";
constexpr const char* tiers_form = "tiers are node numbers, fastest first, as in '0,1;2'";
static_assert(tiers_max == 8, "limit_tiers names the last tier");

std::string_view slice(std::string_view text, std::size_t begin, std::size_t end) noexcept {
  return {text.data() + begin, end - begin};
}

// Cuts `rest` at the first of some separators and returns what stands before it.
std::string_view take_until(std::string_view& rest, std::string_view separators) noexcept {
  const std::size_t at = std::min(rest.find_first_of(separators), rest.size());
  const std::string_view head = slice(rest, 0, at);
  rest.remove_prefix(std::min(at + 1, rest.size()));
  return head;
}

// A decimal number without sign or blanks; empty on overflow and on any other character.
std::optional<std::uint64_t> parse_number(std::string_view text) noexcept {
  if (text.empty() || text.front() < '0' || text.front() > '9') return std::nullopt;
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return number;
}

// The power of two that a suffix stands for; empty if it is none.
std::optional<unsigned> shift_of_suffix(std::string_view suffix) noexcept {
  if (suffix.empty()) return 0;
  const bool long_form = suffix.size() == 3 && suffix[1] == 'i' && suffix[2] == 'B';
  if (suffix.size() != 1 && !long_form) return std::nullopt;
  switch (suffix[0]) {
    case 'K':
    case 'k':
      return 10;
    case 'M':
    case 'm':
      return 20;
    case 'G':
    case 'g':
      return 30;
    case 'T':
    case 't':
      return 40;
    default:
      return std::nullopt;
  }
}

// The field that a limit's word names, or null.
std::optional<Bytes>* limit_of(Settings& settings, std::string_view word) noexcept {
  constexpr std::string_view prefix = "tier";
  if (word == "dram") return &settings.limit_dram;
  if (word == "cxl") return &settings.limit_cxl;
  if (word.size() != prefix.size() + 1) return nullptr;
  if (slice(word, 0, prefix.size()) != prefix) return nullptr;
  const auto tier = static_cast<std::size_t>(word.back() - '0');
  return tier < settings.limit_tier.size() ? &settings.limit_tier[tier] : nullptr;
}

SettingsError set_one_limit(Settings& settings, std::string_view entry) noexcept {
  const std::size_t equals = entry.find('=');
  if (equals == std::string_view::npos) return {entry, "not a limit:", limit_form};
  const std::string_view word = slice(entry, 0, equals);
  const std::string_view size_text = slice(entry, equals + 1, entry.size());
  std::optional<Bytes>* const limit = limit_of(settings, word);
  if (limit == nullptr) return {word, "unknown tier", limit_tiers};
  const std::optional<Bytes> size = parse_size(size_text);
  if (!size) return {size_text, "not a size:", size_form};
  *limit = size;
  return {};
}

struct NodeRange {
  std::uint64_t first;
  std::uint64_t last;
};

// "3" or "0-2".
std::optional<NodeRange> parse_nodes(std::string_view word) noexcept {
  const std::size_t dash = std::min(word.find('-'), word.size());
  const auto first = parse_number(slice(word, 0, dash));
  const auto last = dash == word.size() ? first : parse_number(slice(word, dash + 1, word.size()));
  if (!first || !last || *first > *last || *last >= node_ids_max) return std::nullopt;
  return NodeRange{*first, *last};
}

// One tier's nodes, "0,2-4"; every node may stand in one tier only.
SettingsError check_tier(std::string_view tier, NodeSet& seen) noexcept {
  std::string_view rest = tier;
  do {
    const bool comma_follows = rest.find(',') != std::string_view::npos;
    const std::string_view word = take_until(rest, ",");
    const std::optional<NodeRange> nodes = parse_nodes(word);
    if (!nodes) return {word, "not a node:", tiers_form};
    for (std::uint64_t number = nodes->first; number <= nodes->last; ++number) {
      const NodeId node{static_cast<std::uint16_t>(number)};
      if (seen.contains(node)) return {word, "node named twice:", tiers_form};
      seen.insert(node);
    }
    if (comma_follows && rest.empty()) return {rest, "not a node:", tiers_form};
  } while (!rest.empty());
  return {};
}

using SetFunction = SettingsError (*)(Settings&, std::string_view) noexcept;

struct Variable {
  const char* name;
  SetFunction set;
  const char* fallback;
};

// `fallback` describes the initial values of Settings; a test compares them.
constexpr std::array<Variable, variables_max> variables{{
    {"CXLTIER_POLICY", set_policy, "hot-cold"},
    {"CXLTIER_LIMIT", set_limit, "no limit"},
    {"CXLTIER_TIERS", set_tiers, "the machine's own order"},
    {"CXLTIER_START", set_start, "8M"},
    {"CXLTIER_PROFILE", set_profile, "the saved one"},
    {"CXLTIER_LOG", set_log, "errors"},
}};

// The value of a variable in an environment block; empty if it is not there.
std::string_view value_of(const char* const* environment, std::string_view name) noexcept {
  for (const char* const* at = environment; at != nullptr && *at != nullptr; ++at) {
    const std::string_view line(*at);
    if (line.size() <= name.size() || line[name.size()] != '=') continue;
    if (slice(line, 0, name.size()) == name) return slice(line, name.size() + 1, line.size());
  }
  return {};
}

}  // namespace

std::optional<Bytes> parse_size(std::string_view text) noexcept {
  const std::size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
  const std::optional<std::uint64_t> number = parse_number(slice(text, 0, digits));
  const std::optional<unsigned> shift = shift_of_suffix(slice(text, digits, text.size()));
  if (!number || !shift || *number > (~std::uint64_t{0} >> *shift)) return std::nullopt;
  return Bytes{*number << *shift};
}

SettingsError set_policy(Settings& settings, std::string_view text) noexcept {
  const std::optional<PolicyKind> policy = parse_policy(text);
  if (!policy || !is_offered(*policy))
    return {text, "unknown policy", "known: first-touch, hot-cold, balance, capacity"};
  settings.policy = *policy;
  return {};
}

SettingsError set_limit(Settings& settings, std::string_view text) noexcept {
  Settings changed = settings;
  std::string_view rest = text;
  do {
    const bool comma_follows = rest.find(',') != std::string_view::npos;
    const SettingsError error = set_one_limit(changed, take_until(rest, ","));
    if (!error.ok()) return error;
    if (comma_follows && rest.empty()) return {rest, "not a limit:", limit_form};
  } while (!rest.empty());
  settings = changed;
  return {};
}

SettingsError set_tiers(Settings& settings, std::string_view text) noexcept {
  if (text.size() >= settings.tiers.size()) return {text, "list too long:", tiers_form};
  NodeSet seen;
  std::size_t count = 0;
  std::string_view rest = text;
  do {
    const bool more_follows = rest.find_first_of(";/") != std::string_view::npos;
    const std::string_view tier = take_until(rest, ";/");
    const SettingsError error = check_tier(tier, seen);
    if (!error.ok()) return error;
    if (++count > tiers_max) return {tier, "more than 8 tiers:", tiers_form};
    if (more_follows && rest.empty()) return {rest, "not a node:", tiers_form};
  } while (!rest.empty());
  settings.tiers = {};
  std::copy(text.begin(), text.end(), settings.tiers.begin());
  return {};
}

SettingsError set_start(Settings& settings, std::string_view text) noexcept {
  const std::optional<Bytes> size = parse_size(text);
  if (!size) return {text, "not a size:", size_form};
  settings.start_heap = *size;
  return {};
}

SettingsError set_profile(Settings& settings, std::string_view text) noexcept {
  const bool is_path = !text.empty() && text.front() == '/';
  if (!is_path && text != "none") return {text, "no place of a profile:", profile_form};
  if (text.size() >= settings.profile.size()) return {text, "path too long:", profile_form};
  settings.profile = {};
  std::copy(text.begin(), text.end(), settings.profile.begin());
  return {};
}

SettingsError set_log(Settings& settings, std::string_view text) noexcept {
  for (const LogLevel level : {LogLevel::off, LogLevel::errors, LogLevel::all}) {
    if (text != name_of(level)) continue;
    settings.log = level;
    return {};
  }
  return {text, "unknown log level", "known: off, errors, all"};
}

const char* name_of(LogLevel level) noexcept {
  switch (level) {
    case LogLevel::off:
      return "off";
    case LogLevel::errors:
      return "errors";
    case LogLevel::all:
      return "all";
  }
  return "unknown";
}

std::size_t format_limits(const Settings& settings, std::span<char> out) noexcept {
  FixedText text(out);
  const auto append = [&text](std::string_view word, std::string_view number, Bytes limit) {
    text << (text.view().empty() ? "" : ",") << word << number << "=" << limit.count;
  };
  if (settings.limit_dram) append("dram", "", *settings.limit_dram);
  if (settings.limit_cxl) append("cxl", "", *settings.limit_cxl);
  for (std::size_t tier = 0; tier < settings.limit_tier.size(); ++tier) {
    const char digit = static_cast<char>('0' + tier);
    if (settings.limit_tier[tier]) append("tier", {&digit, 1}, *settings.limit_tier[tier]);
  }
  return text.view().size();
}

EnvironmentReport settings_from(const char* const* environment, Settings& settings) noexcept {
  EnvironmentReport report;
  format_profile_own(environment, settings.profile_own);
  for (const Variable& variable : variables) {
    const std::string_view value = value_of(environment, variable.name);
    if (value.empty()) continue;
    const SettingsError error = variable.set(settings, value);
    if (error.ok()) continue;
    report.wrong[report.wrong_count++] = {variable.name, value, error, variable.fallback};
  }
  return report;
}

std::size_t format_profile_own(const char* const* environment, std::span<char> out) noexcept {
  FixedText text(out);
  const std::string_view state = value_of(environment, "XDG_STATE_HOME");
  const std::string_view home = value_of(environment, "HOME");
  if (!state.empty() && state.front() == '/') {
    text << state;
  } else if (!home.empty() && home.front() == '/') {
    text << home << "/.local/state";
  }
  if (!text.view().empty()) text << "/cxltier/machine.profile";
  if (!text.complete()) out.front() = '\0';
  return text.complete() ? text.view().size() : 0;
}

std::size_t format_wrong(const WrongVariable& wrong, std::span<char> out) noexcept {
  FixedText text(out);
  text << "cxltier: " << wrong.name << "=";
  text.append_foreign(wrong.value) << ": " << wrong.error.problem << " '";
  text.append_foreign(wrong.error.word) << "'; " << wrong.error.expected;
  text << "; using " << wrong.used;
  return text.view().size();
}

}  // namespace cxltier
