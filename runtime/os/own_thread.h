// SPDX-License-Identifier: Apache-2.0
//
// A thread inside someone else's process, that the process must not notice.
//
//   signals      all blocked, so that none of the application's handlers runs on it.  glibc's own
//                two (32, 33) stay open, or setuid() in the program would wait forever.
//   descriptors  a table of its own: the application may close or count descriptors as it likes,
//                and a number that it reuses is never one of ours.  Standard error stays in it
//                until the thread has said what it has to say; for good it would keep a pipe open
//                that the application has closed.
#pragma once

#include <pthread.h>

#include "runtime/os/result.h"

namespace cxltier {

// Starts `body(argument)`.  Called from an application's thread.  errors: EAGAIN (limits)
Result<pthread_t> start_own_thread(void* (*body)(void*), void* argument) noexcept;

// To be called first on the new thread: only standard error is open then.
// errors: ENOSYS before Linux 5.9
Result<Done> own_descriptor_table() noexcept;
// pre: own_descriptor_table() returned ok, on this thread
void close_standard_error() noexcept;

}  // namespace cxltier
