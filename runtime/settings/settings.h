// SPDX-License-Identifier: Apache-2.0
//
// What the user asked for, as values; and the one parser of its text forms, used by the command
// line (which refuses a wrong word) and by the preload library (which logs it and takes the
// default).
//
//   CXLTIER_POLICY=hot-cold              --policy hot-cold
//   CXLTIER_LIMIT=dram=64M,cxl=1G        --limit dram=64M --limit cxl=1G
//   CXLTIER_TIERS=0,1;2                  --tiers '0,1;2'      (fastest first, also 0-1/2; needs the
//                                                              machine, so it stays text here)
//   CXLTIER_START=8M                     heap size at which the controller starts
//   CXLTIER_PROFILE=/path|none           --profile FILE|none  (the machine profile, instead of the
//                                                              saved one)
//   CXLTIER_LOG=off|errors|all           what the preload library may write to standard error
//
// A limit names a tier: "dram" (local and remote DRAM together), "cxl", or "tierN".
// Sizes are numbers with an optional suffix K M G T (powers of 1024; KiB, MiB ... also).
//
// Every parser is total: it takes any bytes, allocates nothing and changes nothing on an error.
// Pure values: any thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "policy/presets.h"
#include "policy/units.h"

namespace cxltier {

enum class LogLevel : std::uint8_t { off, errors, all };

// Longer paths of a profile are an error.
inline constexpr std::size_t profile_path_max = 256;

struct Settings {
  PolicyKind policy = PolicyKind::hot_cold;
  std::optional<Bytes> limit_dram;
  std::optional<Bytes> limit_cxl;
  std::array<std::optional<Bytes>, tiers_max> limit_tier{};
  std::array<char, 128> tiers{};  // zero-terminated text, empty: by DESIGN of assign_tiers
  Bytes start_heap{8u << 20};
  // Zero-terminated paths.  `profile`: the only one to look at, or "none"; empty: the saved one,
  // which lies at `profile_own` if the user has one.
  std::array<char, profile_path_max> profile{};
  std::array<char, profile_path_max> profile_own{};
  LogLevel log = LogLevel::errors;
};

// What was wrong: the offending word inside the given text, and what would have been right.
// Reads as "<problem> '<word>'; <expected>".
struct SettingsError {
  std::string_view word;   // may be empty: a value is missing
  const char* problem{};   // e.g. "unknown policy"; null: nothing wrong
  const char* expected{};  // e.g. "known: first-touch, hot-cold"
  [[nodiscard]] constexpr bool ok() const noexcept { return problem == nullptr; }
};

// Sets one field from its text; on an error `settings` is untouched.  set_limit adds to the limits
// that are there; a later limit of the same tier replaces the earlier one.
// pre: `text` outlives the returned word.
[[nodiscard]] SettingsError set_policy(Settings& settings, std::string_view text) noexcept;
[[nodiscard]] SettingsError set_limit(Settings& settings, std::string_view text) noexcept;
[[nodiscard]] SettingsError set_tiers(Settings& settings, std::string_view text) noexcept;  // form
[[nodiscard]] SettingsError set_start(Settings& settings, std::string_view text) noexcept;
[[nodiscard]] SettingsError set_profile(Settings& settings, std::string_view text) noexcept;
[[nodiscard]] SettingsError set_log(Settings& settings, std::string_view text) noexcept;

// A size: "64M", "1GiB", "4096".  Empty on anything else, on overflow too.
[[nodiscard]] std::optional<Bytes> parse_size(std::string_view text) noexcept;

[[nodiscard]] const char* name_of(LogLevel level) noexcept;

// Writes the limits as set_limit reads them ("dram=67108864,tier1=4096"; empty: none); returns the
// number of characters.  `out` is zero-terminated.  post: fits if out.size() >= limits_text_max.
inline constexpr std::size_t limits_text_max = 320;
std::size_t format_limits(const Settings& settings, std::span<char> out) noexcept;

// One CXLTIER_* variable that was not understood; its default is in force.
struct WrongVariable {
  const char* name{};      // "CXLTIER_POLICY"
  std::string_view value;  // inside the environment block
  SettingsError error{};
  const char* used{};  // what is in force instead, as text
};

inline constexpr std::size_t variables_max = 6;
struct EnvironmentReport {
  std::size_t wrong_count = 0;
  std::array<WrongVariable, variables_max> wrong{};
};

// Fills `settings`, which must be the defaults, from an environment block ("NAME=value" pointers,
// closed by a null).  An empty value counts as unset; of a name that occurs twice the first counts,
// as for getenv.  pre: the block outlives the report.
[[nodiscard]] EnvironmentReport settings_from(const char* const* environment,
                                              Settings& settings) noexcept;

// Where a user's own machine profile lies: $XDG_STATE_HOME/cxltier/machine.profile, else below
// $HOME/.local/state.  Returns the length; 0 if neither is set, absolute, and short enough for
// `out`, which is zero-terminated.
std::size_t format_profile_own(const char* const* environment, std::span<char> out) noexcept;

// One log line without its newline: "cxltier: CXLTIER_POLICY=turbo: unknown policy 'turbo'; known:
// first-touch, hot-cold; using hot-cold".  Returns its length; `out` is zero-terminated and the
// line is cut if out is shorter than about 300 characters.
std::size_t format_wrong(const WrongVariable& wrong, std::span<char> out) noexcept;

}  // namespace cxltier
