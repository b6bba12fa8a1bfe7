// SPDX-License-Identifier: Apache-2.0
//
// Finds the telemetry page of a process, whoever runs it and wherever.
//
//   looked at in turn                              for
//   $XDG_RUNTIME_DIR/cxltier/                      the reader's own processes
//   /run/user/UID/cxltier/                         a user's session, as seen by root
//   /dev/shm/cxltier-UID/                          services
//   /proc/PID/root + the last two                  containers, under the pid and uid used inside
//
// UID is the process's, and then the reader's own: a server may have dropped its privileges after
// it had made its page.  Paths inside a container belong to the container: they are walked without
// following any link.  No heap, no state: any thread.
#pragma once

#include <cstdint>

#include "runtime/telemetry/page.h"
#include "runtime/telemetry/reader.h"

namespace cxltier {

struct SearchPlace {
  const char* runtime_folder{};            // the reader's XDG_RUNTIME_DIR; null: unset
  const char* memory_folder = "/dev/shm";  // tests point these two elsewhere
  const char* user_folder = "/run/user";
};

// `pid` may also be the id of one of the process's threads.  On a failure, the most telling one of
// all places: damaged, stale, busy, untrusted, forbidden, absent.
[[nodiscard]] PageFailure find_telemetry_page(std::uint32_t pid, const SearchPlace& place,
                                              TelemetryPage& page) noexcept;

}  // namespace cxltier
