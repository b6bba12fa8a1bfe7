// SPDX-License-Identifier: Apache-2.0
//
// A process as verbs name it, and its telemetry page: found, or why not.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "runtime/telemetry/page.h"
#include "runtime/telemetry/reader.h"

namespace cxltier {

// Empty if the text is no process number.
[[nodiscard]] std::optional<std::uint32_t> parse_pid(const std::string& text);
// A number of seconds from 0.01 to 86400; `otherwise` for no text; empty if it is none.
[[nodiscard]] std::optional<double> parse_seconds(const std::string& text, double otherwise);

// What the kernel calls it, printable; "?" if it is not there.
[[nodiscard]] std::string program_of(std::uint32_t pid);

// Its page, wherever it lies.
[[nodiscard]] PageFailure find_page(std::uint32_t pid, TelemetryPage& page);
// Why there is none: the thing, the cause and the fix.
[[nodiscard]] std::string fault_of(std::uint32_t pid, PageFailure failure);

}  // namespace cxltier
