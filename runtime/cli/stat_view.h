// SPDX-License-Identifier: Apache-2.0
//
// What `cxltier stat` shows: a page that was read and cleaned, with what is derived from it and the
// clock.  Printed in two forms.
#pragma once

#include <cstdint>
#include <string>

#include "runtime/telemetry/page.h"

namespace cxltier {

struct StatView {
  std::uint32_t pid = 0;  // as the user gave it
  std::string program;    // its short name
  std::uint64_t now_ns = 0;
  TelemetryPage page;  // is_printable
};

// Saturates: the numbers of a page may be made up.
std::uint64_t bytes_of_pages(const StatView& view, std::uint64_t pages);

// CPU time of the controller's thread over the time since it started, 0 to 1 and more.
double cpu_share_of(const StatView& view);

// How long ago the page was updated; 0 if it never was.
std::uint64_t age_ms_of(const StatView& view);

// Over all tiers.
std::uint64_t over_limit_pages_max(const TelemetryPage& page);

std::string stat_text_of(const StatView& view);

enum class JsonForm : std::uint8_t { indented, one_line };

// Version 1 of the schema that runtime/cli/README.md describes.
std::string stat_json_of(const StatView& view, JsonForm form);

}  // namespace cxltier
