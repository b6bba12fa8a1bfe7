// SPDX-License-Identifier: Apache-2.0
//
// What the user asked for, as values; and the one parser of its text forms, used by the command
// line (which refuses a wrong word) and by the preload library (which logs it and takes the
// default).
//
//   CXLTIER_POLICY=hot-cold              --policy hot-cold
//   CXLTIER_LIMIT=dram=64M,cxl=1G        --limit dram=64M --limit cxl=1G
//   CXLTIER_TIERS=0,1;2                  --tiers '0,1;2'      (fastest first; needs the machine,
//                                                              so it stays text here)
//   CXLTIER_START=8M                     heap size at which the controller starts
//   CXLTIER_LOG=off|errors|all           what the preload library may write to standard error
//
// A limit names a tier: "dram" (local and remote DRAM together), "cxl", or "tierN".
// Sizes are numbers with an optional suffix K M G T (powers of 1024; KiB, MiB ... also).
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "policy/presets.h"
#include "policy/units.h"

namespace cxltier {

enum class LogLevel : std::uint8_t { off, errors, all };

struct Settings {
  PolicyKind policy = PolicyKind::hot_cold;
  std::optional<Bytes> limit_dram;
  std::optional<Bytes> limit_cxl;
  std::array<std::optional<Bytes>, tiers_max> limit_tier{};
  std::array<char, 128> tiers{};  // zero-terminated text, empty: by DESIGN of assign_tiers
  Bytes start_heap{8u << 20};
  LogLevel log = LogLevel::errors;
};

// What was wrong: the offending word inside the given text, and what would have been right.
struct SettingsError {
  std::string_view word;   // empty: nothing wrong
  const char* expected{};  // e.g. "a policy: first-touch, hot-cold"
};

// Sets one field from its text; on an error `settings` is untouched.
// pre: `text` outlives the returned word.
SettingsError set_policy(Settings& settings, std::string_view text) noexcept;
SettingsError set_limit(Settings& settings, std::string_view text) noexcept;  // "dram=64M,cxl=1G"
SettingsError set_tiers(Settings& settings, std::string_view text) noexcept;  // form only
SettingsError set_start(Settings& settings, std::string_view text) noexcept;
SettingsError set_log(Settings& settings, std::string_view text) noexcept;

// A size: "64M", "1GiB", "4096".  Empty on anything else, on overflow too.
std::optional<Bytes> parse_size(std::string_view text) noexcept;

}  // namespace cxltier
