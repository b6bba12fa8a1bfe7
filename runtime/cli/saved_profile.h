// SPDX-License-Identifier: Apache-2.0
//
// The machine profile as the command's verbs meet it: named by --profile or CXLTIER_PROFILE, else
// the saved one; a refused one is said in one line.
#pragma once

#include <string>

#include "policy/machine.h"
#include "runtime/os/file_tree.h"
#include "runtime/settings/settings.h"
#include "runtime/topology/machine_profile.h"

namespace cxltier {

// --profile's value as set_profile() takes it: a path is made absolute.
[[nodiscard]] std::string profile_word(const std::string& text);

// Finds the profile that `settings` name and lays its figures over the machine's; where it is
// refused, or was named and is not there, says so after "VERB: " and the machine stays as it is.
ProfileReading use_profile(FileTree& tree, const Settings& settings, Machine& machine,
                           const char* verb);

// The line for a profile that is not used: "PATH was measured on another machine ...".
[[nodiscard]] std::string refusal_of(const ProfileReading& reading);

}  // namespace cxltier
