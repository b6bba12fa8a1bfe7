/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory with a hint where it shall be.  C and C++.
 *
 * A hint is a wish: where it cannot be met (one kind of memory, no permission, a full tier) the
 * block comes from elsewhere.  CXLTIER_LOCAL_ONLY is strict, and so are arenas, whose blocks are
 * nowhere else.  Every block may be given to plain free() and realloc(), and every block of
 * malloc() to the functions here.
 *
 * The core, allocator and controller, is in the process if it was preloaded or linked (pkg-config
 * --libs cxltier).  Without it hints are ignored, malloc serves, and cxltier_active() is 0.
 *
 * Any thread; not from signal handlers.  Results by pointer; int results are 0 or a negative errno.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
#define CXLTIER_NOEXCEPT noexcept
extern "C" {
#else
#define CXLTIER_NOEXCEPT
#endif

/* A hint: one of these, or what cxltier_hint_nodes(), cxltier_hint_weights() and
 * cxltier_arena_create() return. */
typedef uint32_t cxltier_hint;

enum {
  CXLTIER_DEFAULT = 0,   /* as malloc: first touch, then wherever the controller moves it */
  CXLTIER_HOT = 1,       /* the fastest tier */
  CXLTIER_COLD = 2,      /* the slowest tier */
  CXLTIER_BANDWIDTH = 3, /* over all tiers in turn, by the kernel's weights where it has them */
  CXLTIER_CAPACITY = 4,  /* the largest tier */
  /* DRAM or nothing: for keys and data that must not be on CXL.  NULL with ENOMEM when DRAM is
   * full, with EPERM where the kernel will not promise it. */
  CXLTIER_LOCAL_ONLY = 5
};

/* As malloc, calloc, aligned_alloc (alignment: any power of two; size: any).  NULL with errno set:
 * ENOMEM, or EINVAL for an alignment or a hint that does not exist. */
void* cxltier_malloc(size_t size, cxltier_hint hint) CXLTIER_NOEXCEPT;
void* cxltier_calloc(size_t count, size_t size, cxltier_hint hint) CXLTIER_NOEXCEPT;
void* cxltier_aligned_alloc(size_t alignment, size_t size, cxltier_hint hint) CXLTIER_NOEXCEPT;
/* As realloc.  With CXLTIER_DEFAULT the block stays in its class, else it goes to that of the hint.
 * On failure the old block is as it was. */
void* cxltier_realloc(void* block, size_t size, cxltier_hint hint) CXLTIER_NOEXCEPT;
void cxltier_free(void* block) CXLTIER_NOEXCEPT;
size_t cxltier_usable_size(void* block) CXLTIER_NOEXCEPT;

/* A hint for nodes: bit n of nodes[n / 64], `words` words of 64 nodes, at most 16.
 * -EINVAL no node or too many words; -ENOSPC no class is left (at most 16 with arenas), -ENOSYS */
int cxltier_hint_nodes(const uint64_t* nodes, size_t words, cxltier_hint* out) CXLTIER_NOEXCEPT;
/* A hint for shares: block after block goes to the tier that is furthest behind its weight, fastest
 * tier first, so that the bytes on the tiers are as the weights.  Blocks are not split.
 * -EINVAL no weight above 0, or more weights than tiers; -ENOSPC more than 16 such hints; -ENOSYS
 */
int cxltier_hint_weights(const uint32_t* weights, size_t count, cxltier_hint* out) CXLTIER_NOEXCEPT;

/* An arena: memory that is moved and freed as a whole.  `out` is a hint like any other; blocks may
 * also be freed one by one.  `hint`: where it shall be, not an arena and not CXLTIER_LOCAL_ONLY,
 * which could not be kept once it is moved.  `name` of at most 31 characters, for statistics.
 * -EINVAL, -ENOSPC (16 classes at most, with those of hints), -ENOMEM, -ENOSYS */
int cxltier_arena_create(const char* name, cxltier_hint hint, cxltier_hint* out) CXLTIER_NOEXCEPT;
/* Frees all its blocks at once; none may be in use.  -EINVAL not an arena */
int cxltier_arena_destroy(cxltier_hint arena) CXLTIER_NOEXCEPT;
/* Moves all its pages to where `hint` says, and its future ones.  The program may go on using them.
 * Blocks until they are there; pages for which there is no room stay.
 * -EINVAL not an arena, or a hint that an arena cannot have; -EPERM, -ENOSYS */
int cxltier_arena_move(cxltier_hint arena, cxltier_hint hint) CXLTIER_NOEXCEPT;

/* Where an address is. */
struct cxltier_place {
  uint32_t size;     /* in: sizeof(struct cxltier_place) */
  int32_t node;      /* node of the page; -1: not resident, or the kernel does not say */
  int32_t tier;      /* 0 is the fastest; -1: unknown */
  cxltier_hint hint; /* class of the block, CXLTIER_DEFAULT if it has none */
  char arena[32];    /* name of its arena, else empty */
};
/* -EINVAL size is not that of any version; -ENOSYS */
int cxltier_where(const void* address, struct cxltier_place* out) CXLTIER_NOEXCEPT;

/* The controller leaves the pages of a range where they are.  Whole pages around it are meant; pins
 * do not nest, and at most 24 ranges are pinned.
 * -EINVAL empty range; -ENOSPC; -ENOENT (unpin: not pinned so); -ENOSYS */
int cxltier_pin(const void* begin, size_t size) CXLTIER_NOEXCEPT;
int cxltier_unpin(const void* begin, size_t size) CXLTIER_NOEXCEPT;

/* A tier as the machine describes it; 0 means unknown. */
struct cxltier_tier {
  uint32_t size; /* in, of the first element: sizeof(struct cxltier_tier) */
  uint32_t is_dram;
  uint64_t nodes[16]; /* bit n of nodes[n / 64] */
  uint64_t size_bytes;
  uint64_t free_bytes;
  uint32_t latency_ns;
  uint32_t bandwidth_mbps; /* MB/s, reads */
};
/* Fills at most `count` elements, fastest tier first.  Returns how many tiers there are, or
 * -EINVAL, -ENOSYS. */
int cxltier_tiers(struct cxltier_tier* out, size_t count) CXLTIER_NOEXCEPT;

/* Called on the thread whose hinted allocation of `bytes` did not find memory in its class, before
 * it gets memory from elsewhere, or NULL if it is strict.  After a return of 1 its class is tried
 * once more.  The callback may free, and may allocate.  A null callback: none. */
typedef int (*cxltier_low_memory)(void* argument, cxltier_hint hint, size_t bytes);
int cxltier_on_low_memory(cxltier_low_memory callback, void* argument) CXLTIER_NOEXCEPT;

/* Of all hinted memory of this process.  A later version adds fields at the end. */
struct cxltier_heap_statistics {
  uint32_t size;         /* in: sizeof(struct cxltier_heap_statistics) */
  uint32_t classes;      /* in use, of 16 */
  uint64_t hinted_bytes; /* in blocks that lie in their class, as of the allocator's size classes */
  uint64_t hints_unmet;  /* blocks that came from elsewhere: no tiers, no permission, no room */
  uint64_t strict_failures; /* strict hints that got NULL */
  uint64_t tier_bytes[8];   /* hinted_bytes by tier, classes for one tier only */
};
int cxltier_read_heap_statistics(struct cxltier_heap_statistics* out) CXLTIER_NOEXCEPT;

#ifdef __cplusplus
}
#endif
