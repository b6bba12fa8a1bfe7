// SPDX-License-Identifier: Apache-2.0
//
// A thread inside someone else's process, that the process must not notice.
//
//   signals      all blocked, so that none of the application's handlers runs on it.  glibc's own
//                two (32, 33) stay open, or setuid() in the program would wait forever.
//   descriptors  a table of its own: the application may close or count descriptors as it likes,
//                and a number that it reuses is never one of ours
#pragma once

#include <pthread.h>

#include "runtime/os/result.h"

namespace cxltier {

// Starts `body(argument)`.  Called from an application's thread.  errors: EAGAIN (limits)
Result<pthread_t> start_own_thread(void* (*body)(void*), void* argument) noexcept;

// To be called first on the new thread.  errors: ENOSYS before Linux 5.9
Result<Done> own_descriptor_table() noexcept;

}  // namespace cxltier
