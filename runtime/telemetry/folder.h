// SPDX-License-Identifier: Apache-2.0
//
// The folder where the processes of one user publish their pages.
//
//   $XDG_RUNTIME_DIR/cxltier/      if that variable names a folder that is the user's own
//   /dev/shm/cxltier-UID/          otherwise
//
// /dev/shm is open to everybody, so whatever is found there is checked after it was opened: a real
// folder (no symbolic link is followed), owned by the user, closed to all others (0700).
// No heap, no state: any thread.
#pragma once

#include <cstdint>

#include "runtime/os/result.h"

namespace cxltier {

struct FolderPlace {
  const char* runtime_folder{};            // the value of XDG_RUNTIME_DIR; null or empty: unset
  const char* memory_folder = "/dev/shm";  // tests point it elsewhere; null: only the first
  std::uint32_t uid = 0;                   // who must own the folder
};

enum class FolderUse : std::uint8_t { find, make };

// Opens the folder; the caller closes the descriptor.
// errors: EPERM (not ours, or open to others), ELOOP, ENOTDIR, and those of open and mkdir
[[nodiscard]] Result<int> open_telemetry_folder(const FolderPlace& place, FolderUse use) noexcept;

// Opens `name` in the folder `parent` and checks it; makes nothing.
[[nodiscard]] Result<int> open_checked_folder(int parent, const char* name,
                                              std::uint32_t uid) noexcept;

}  // namespace cxltier
