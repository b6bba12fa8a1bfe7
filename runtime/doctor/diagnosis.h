// SPDX-License-Identifier: Apache-2.0
//
// What a check finds: a state, what it saw (file and value), and what to do about it.
//
//   ok       the thing is there and as it should be
//   warn     it works, and would work better otherwise
//   fail     memory is missing, in the wrong place, or slower than it should be
//   skipped  could not be looked at, or does not apply; the summary says why
//
// A check is a pure function of a Platform: no file, no clock, same value in, same diagnosis out.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "runtime/topology/platform/platform.h"

namespace cxltier {

enum class CheckState : std::uint8_t { ok, skipped, warn, fail };

struct Evidence {
  std::string file;  // relative to the root, or "kernel log"
  std::string value;
};

struct Diagnosis {
  CheckState state = CheckState::ok;
  std::string summary;
  std::vector<Evidence> evidence;
  std::vector<std::string> fixes;  // words, or commands as they are typed
  std::string reference;           // section of a specification and offset, where one applies

  // Adds a problem; the worst state wins.
  void problem(CheckState how_bad, const std::string& text) {
    summary = state < CheckState::warn || summary.empty() ? text : summary + "; " + text;
    state = std::max(state, how_bad);
  }
  void show(std::string file, std::string value) {
    evidence.push_back({std::move(file), std::move(value)});
  }
  void fix(std::string text) {
    if (std::find(fixes.begin(), fixes.end(), text) == fixes.end())
      fixes.push_back(std::move(text));
  }
};

[[nodiscard]] inline Diagnosis fine(std::string summary) {
  return {CheckState::ok, std::move(summary), {}, {}, {}};
}
[[nodiscard]] inline Diagnosis skipped(std::string why) {
  return {CheckState::skipped, std::move(why), {}, {}, {}};
}

enum class Stage : std::uint8_t {
  firmware,
  device,
  kernel,
  region,
  memory,
  link,
  tiering,
  process
};

struct Check {
  const char* id;  // stable: scripts read it
  int reason;      // 1 to 10 of the ten reasons why CXL memory is missing or slow; 0: a further one
  const char* title;  // what is asked
  Stage stage;
  Diagnosis (*run)(const Platform& platform);
};

// All checks, from firmware to tiering.
[[nodiscard]] std::span<const Check> all_checks();

struct Finished {
  const Check* check = nullptr;
  Diagnosis diagnosis;
};

struct DoctorReport {
  std::vector<Finished> checks;
  std::vector<std::string> closed;  // files that only root may read
  bool is_blind = false;            // nothing could be looked at
  [[nodiscard]] CheckState worst() const;
  [[nodiscard]] std::size_t count(CheckState state) const;
};

[[nodiscard]] DoctorReport diagnose(const Platform& platform);

[[nodiscard]] const char* name_of(CheckState state);
[[nodiscard]] const char* name_of(Stage stage);

}  // namespace cxltier
