// SPDX-License-Identifier: Apache-2.0
//
// Which of the system calls that the runtime lives on may be made here: found out by doing.
//
// A service's filter (systemd SystemCallFilter=, a container's seccomp profile) may refuse a call,
// or kill the process for it, and a kill cannot be caught.  So where a filter is present each call
// is tried in a child of its own, made by a bare clone: it raises no SIGCHLD, the application's
// wait() does not see it, and its death says "never call this".  Called only from the controller's
// thread.
#pragma once

#include <cstddef>
#include <cstdint>

namespace cxltier {

enum class ProbedCall : std::uint8_t { mbind, move_pages, get_mempolicy, madvise_cold, kinds };

struct ProbeVerdict {
  enum class Kind : std::uint8_t { works, refused, kills } kind = Kind::works;
  int error = 0;  // if refused
};

// Tries `call` on `page`, one private page that was written to.
ProbeVerdict probe_call(ProbedCall call, void* page, std::size_t page_size) noexcept;

[[nodiscard]] const char* name_of(ProbedCall call) noexcept;

}  // namespace cxltier
