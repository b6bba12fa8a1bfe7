// SPDX-License-Identifier: Apache-2.0
//
// Removes the pages of processes that are gone: killed ones leave theirs behind.
//
// Only what is certainly dead is removed.  A page of another PID namespace is never touched, since
// from here nobody can tell whether its process lives.  No heap; the controller's thread.
#pragma once

#include <cstddef>

#include "runtime/telemetry/process_identity.h"

namespace cxltier {

// Looks at up to 256 files of an open telemetry folder; returns how many it removed.  A page with
// the pid of `self` is always of an earlier life (the pid was reused, or the process called exec).
std::size_t sweep_stale_pages(int folder, const ProcessIdentity& self) noexcept;

}  // namespace cxltier
