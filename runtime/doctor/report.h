// SPDX-License-Identifier: Apache-2.0
//
// A doctor's report in three forms: for people, for programs, for continuous integration.
#pragma once

#include <string>

#include "runtime/doctor/diagnosis.h"

namespace cxltier {

enum class Detail : std::uint8_t { problems, everything };

[[nodiscard]] std::string text_of(const DoctorReport& report, Detail detail);

// Version 1 of the schema that runtime/doctor/README.md describes.
[[nodiscard]] std::string json_of(const DoctorReport& report);

// JUnit XML: one test case for each check; fail is a failure, warn is a pass with its text in
// system-out, skipped is skipped.
[[nodiscard]] std::string junit_of(const DoctorReport& report);

}  // namespace cxltier
