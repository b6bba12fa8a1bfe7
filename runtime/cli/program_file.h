// SPDX-License-Identifier: Apache-2.0
//
// The program that a command names: where it is, and whether the loader would preload a library
// into it.
//
// The loader, not the kernel, preloads: a static program has no loader, and in a program that gains
// privileges the loader ignores the request.  Scripts are followed to their interpreter.
#pragma once

#include <string>

namespace cxltier {

struct FoundProgram {
  std::string path;  // empty: not found
  int error = 0;     // why it cannot be executed: ENOENT or EACCES; 0: it can
};

// As execvp looks: a name with a slash is a path, any other is searched for in `search_path`
// ("/bin:/usr/bin", an empty part is the current folder).
[[nodiscard]] FoundProgram find_program(const std::string& name, const std::string& search_path);

// Why nothing can be preloaded into the program, as a clause: "is statically linked"; empty if it
// can, or if the file cannot be read (then exec will tell).
[[nodiscard]] std::string why_not_preloadable(const std::string& path);

// Why the file cannot be preloaded, as a clause: "is cut short"; empty if it can.  The loader maps
// a library without looking at the file's size, and a program touching what is not there is killed.
[[nodiscard]] std::string why_no_library(const std::string& path);

}  // namespace cxltier
