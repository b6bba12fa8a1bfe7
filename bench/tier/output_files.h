// SPDX-License-Identifier: Apache-2.0
//
// Files beside the standard output: the page and the machine profile.
//
// A measurement takes a minute or ten, so whether a file can be written is asked before it, and a
// file that cannot be written after all costs nothing but itself.
#pragma once

#include <string>

namespace cxltier::bench {

// Throws std::invalid_argument, with the cause and what to do, if `path` cannot be written. Nothing
// is created.
void check_writable(const std::string& option, const std::string& path);

// Replaces the file as a whole; throws std::runtime_error with the cause.
void write_file(const std::string& path, const std::string& text);

// Where a profile is saved that was not given a name, and read from by the other commands: the
// machine's if we are root, else the user's own, whose folders are made.  Throws
// std::invalid_argument where there is no place, std::runtime_error where a folder cannot be made.
[[nodiscard]] std::string saved_profile_path();

}  // namespace cxltier::bench
