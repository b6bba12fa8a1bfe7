// SPDX-License-Identifier: Apache-2.0
//
// From settings to places, and from a fault to a line.
#include "runtime/cli/saved_profile.h"

#include <cstring>
#include <filesystem>
#include <system_error>

#include "runtime/cli/verb.h"

namespace cxltier {

std::string profile_word(const std::string& text) {
  if (text.empty() || text == "none") return text;
  std::error_code error;
  const std::filesystem::path path = std::filesystem::absolute(text, error);
  return error ? text : path.string();
}

std::string refusal_of(const ProfileReading& reading) {
  std::string line = fmt::format("{} {}", reading.path, text_of(reading.fault));
  if (reading.fault == ProfileFault::malformed) line += fmt::format(" (line {})", reading.line);
  if (reading.fault == ProfileFault::unreadable) {
    line += fmt::format(" ({})", std::strerror(reading.error));
  }
  return line;
}

ProfileReading use_profile(FileTree& tree, const Settings& settings, Machine& machine,
                           const char* verb) {
  const ProfilePlaces places{.named = settings.profile.data(), .own = settings.profile_own.data()};
  const ProfileReading reading = find_profile(tree, places, machine);
  if (reading.ok()) {
    apply_profile(reading.profile, machine);
  } else if (reading.fault != ProfileFault::absent ||
             (*places.named != '\0' && std::strcmp(places.named, "none") != 0)) {
    complain(fmt::format("{}: the machine profile {}", verb, refusal_of(reading)));
  }
  return reading;
}

}  // namespace cxltier
