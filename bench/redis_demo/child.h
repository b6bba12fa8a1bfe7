// SPDX-License-Identifier: Apache-2.0
//
// Child processes that run as an unprivileged user.
//
// The child of a root process drops groups, group and user (65534, nobody) before exec; a child of
// any other user keeps that user.  The environment is a short fixed one, so that no setting of the
// caller reaches a measured server.  Children get no transparent huge pages and die with this
// process.
#pragma once

#include <string>
#include <vector>

namespace cxltier::demo {

inline constexpr unsigned nobody_id = 65534;  // nobody and nogroup on Debian

inline constexpr int exec_failed = 127;  // exit status of a child whose exec failed

struct ChildPlan {
  std::vector<std::string> words;  // program and arguments; the program is looked up in PATH
  int cpu = -1;                    // pinned to it; -1: not pinned
  std::string home;                // HOME and working folder
  int output = -1;                 // stdout and stderr; -1: /dev/null
};

// errors: throws Failure when fork fails; a failed exec is exit status 127
int spawn(const ChildPlan& plan);

// Runs a program as the same user; its stdout is read by read_output.
struct Capture {
  int pid = -1;
  int output = -1;
};
Capture spawn_captured(ChildPlan plan);

// Waits for the end and returns what was printed.
// errors: throws Failure when the exit status is not 0
std::string read_output(const Capture& capture, const std::string& name);

// True when the child has printed something or ended: read_output will not wait for long.
bool has_output(const Capture& capture);

}  // namespace cxltier::demo
