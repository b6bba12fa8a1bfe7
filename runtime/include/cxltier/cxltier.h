/* SPDX-License-Identifier: Apache-2.0
 *
 * What a program may ask cxltier about itself.  C and C++.
 *
 * libcxltier.so is a thin client.  The core, allocator and controller, is in the process only if
 * libcxltier-preload.so was preloaded; without it every call here says so and does nothing.
 * Every function may be called from any thread and from a signal handler; none allocates or blocks.
 */
#pragma once

#include <stdint.h>

#ifdef __cplusplus
#define CXLTIER_NOEXCEPT noexcept
extern "C" {
#else
#define CXLTIER_NOEXCEPT
#endif

/* What the controller of this process is doing. */
enum cxltier_state {
  CXLTIER_STATE_STARTING = 0, /* reads the machine */
  CXLTIER_STATE_ACTIVE = 1,   /* senses and moves pages */
  CXLTIER_STATE_WATCHING = 2, /* senses, moves nothing: policy first-touch */
  CXLTIER_STATE_IDLE = 3,     /* cannot work here, e.g. only one memory tier */
  CXLTIER_STATE_STOPPED = 4   /* gave up */
};

/* Figures of this process since its controller started, as of the last tick.  A later version adds
 * fields at the end; `size` tells the library which ones the caller knows. */
struct cxltier_statistics {
  uint32_t size;  /* in: sizeof(struct cxltier_statistics) */
  uint32_t state; /* enum cxltier_state; later versions may know more */
  uint64_t ticks;
  uint64_t pages_promoted;
  uint64_t pages_demoted;
  uint64_t pages_refused;  /* moves that the kernel declined, for whatever reason */
  uint64_t managed_pages;  /* resident pages that the controller looks after */
  uint64_t runtime_cpu_ns; /* processor time of the controller's thread */
};

/* The library's version, "0.1.0".  Never null. */
const char* cxltier_version(void) CXLTIER_NOEXCEPT;

/* 1 if the core is in this process and its controller works, else 0. */
int cxltier_active(void) CXLTIER_NOEXCEPT;

/* Fills `out`; fields that the core does not know are 0.  Returns 0 or a negative errno:
 *   -ENOSYS  the core is not in this process
 *   -EINVAL  `out` is null, or out->size is not that of any version
 *   -EAGAIN  the controller has not started: the heap is still small; or it is writing just now */
#if defined(__GNUC__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow" /* named like its structure, as stat(2) is */
#endif
int cxltier_statistics(struct cxltier_statistics* out) CXLTIER_NOEXCEPT;
#if defined(__GNUC__)
#pragma GCC diagnostic pop
#endif

#ifdef __cplusplus
}
#endif
