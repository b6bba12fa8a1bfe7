// SPDX-License-Identifier: Apache-2.0
//
// The C allocation functions of glibc, on the embedded jemalloc.
//
// malloc and free are a comparison and a jump: jemalloc's fast path is as short as it was.  Where
// jemalloc 5.3.0 differs from glibc, glibc wins: a failure sets errno, any alignment is rounded up
// to a power of two (glibc 2.38 and later refuse such an alignment in aligned_alloc alone; the
// older, permissive answer is given everywhere), and pvalloc, cfree, reallocarray and the C23 names
// exist.
#include <malloc.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "allocator/entry_point.h"
#include "allocator/jemalloc.h"

using cxltier::heap::growth_watch;
using cxltier::heap::may_have_class;
using cxltier::heap::release_block;
using cxltier::heap::tier_heap;
using cxltier::heap::tier_space;

namespace {

constexpr std::size_t power_of_two_max = SIZE_MAX / 2 + 1;

std::size_t page_size() noexcept { return static_cast<std::size_t>(sysconf(_SC_PAGESIZE)); }

void* fail(int error) noexcept {
  errno = error;
  return nullptr;
}

// pre: alignment is a power of two
void* allocate_at_power_of_two(std::size_t alignment, std::size_t size) noexcept {
  void* const block = cxltier_je_memalign(alignment, size == 0 ? 1 : size);
  return block != nullptr ? block : fail(ENOMEM);
}

void* allocate_aligned(std::size_t alignment, std::size_t size) noexcept {
  if (alignment > power_of_two_max) return fail(EINVAL);
  return allocate_at_power_of_two(std::bit_ceil(alignment), size);
}

void* allocate_whole_pages(std::size_t size) noexcept {
  const std::size_t page = page_size();
  if (size > SIZE_MAX - (page - 1)) return fail(ENOMEM);
  return allocate_at_power_of_two(page, (size + page - 1) & ~(page - 1));
}

int allocate_posix(void** result, std::size_t alignment, std::size_t size) noexcept {
  void* block = nullptr;
  const int error = cxltier_je_posix_memalign(&block, alignment, size == 0 ? 1 : size);
  if (error == 0) *result = block;
  if (error == ENOMEM) errno = ENOMEM;  // as glibc; POSIX asks for the result only
  return error;
}

// A null result for size 0 is the success of a free.
void* resize(void* block, std::size_t size) noexcept {
  if (may_have_class(block) && tier_space.contains(block)) [[unlikely]] {
    return tier_heap.resize(block, size);
  }
  void* const resized = cxltier_je_realloc(block, size);
  if (resized == nullptr && size != 0) [[unlikely]] {
    errno = ENOMEM;
  }
  return resized;
}

// The slow ways into the three busiest functions stand apart, so that these save no register and
// have no frame.
CXLTIER_COLD void* attend_and_malloc(std::size_t size, const void* caller) noexcept {
  void* const placed = cxltier::heap::allocate_slowly({.size = size}, caller);
  return placed != nullptr ? placed : cxltier_je_malloc(size);
}

CXLTIER_COLD void* attend_and_calloc(std::size_t count, std::size_t size,
                                     const void* caller) noexcept {
  std::size_t bytes = 0;
  if (!__builtin_mul_overflow(count, size, &bytes)) {
    void* const placed = cxltier::heap::allocate_slowly({.size = bytes, .zeroed = true}, caller);
    if (placed != nullptr) return placed;
  }
  return cxltier_je_calloc(count, size);
}

// A block that grows large is placed like a new one, unless it can grow where it is.
CXLTIER_COLD void* attend_and_realloc(void* block, std::size_t size, const void* caller) noexcept {
  cxltier::heap::attend_if_due(caller);
  if (size < growth_watch.large_from() || tier_space.contains(block)) return resize(block, size);
  const bool grew =
      block != nullptr && size <= PTRDIFF_MAX && cxltier_je_xallocx(block, size, 0, 0) >= size;
  if (grew) return block;
  void* const placed = tier_heap.allocate_large({.size = size});
  if (placed == nullptr) return resize(block, size);
  if (block != nullptr) {
    std::memcpy(placed, block, std::min(cxltier_je_sallocx(block, 0), size));
    cxltier_je_free(block);
  }
  return placed;
}

}  // namespace

using cxltier::heap::attend_if_due;

CXLTIER_ENTRY void* malloc(std::size_t size) noexcept {
  if (size >= growth_watch.slow_from()) [[unlikely]] {
    return attend_and_malloc(size, CXLTIER_CALLER);
  }
  return cxltier_je_malloc(size);
}

CXLTIER_ENTRY void* calloc(std::size_t count, std::size_t size) noexcept {
  // Either factor may be the large one; products of two small ones are placed by the mover.
  if (std::max(count, size) >= growth_watch.slow_from()) [[unlikely]] {
    return attend_and_calloc(count, size, CXLTIER_CALLER);
  }
  return cxltier_je_calloc(count, size);
}

CXLTIER_ENTRY void* realloc(void* block, std::size_t size) noexcept {
  if (size >= growth_watch.slow_from()) [[unlikely]] {
    return attend_and_realloc(block, size, CXLTIER_CALLER);
  }
  return resize(block, size);
}

CXLTIER_ENTRY void* reallocarray(void* block, std::size_t count, std::size_t size) noexcept {
  attend_if_due(CXLTIER_CALLER);
  std::size_t bytes = 0;
  if (__builtin_mul_overflow(count, size, &bytes)) return fail(ENOMEM);
  return resize(block, bytes);
}

CXLTIER_ENTRY void free(void* block) noexcept { release_block(block); }

CXLTIER_ENTRY void cfree(void* block) noexcept;
CXLTIER_ENTRY void cfree(void* block) noexcept { release_block(block); }

// The sizes are not trusted: a plain free is correct even where the caller is wrong.
CXLTIER_ENTRY void free_sized(void* block, std::size_t size) noexcept;
CXLTIER_ENTRY void free_sized(void* block, std::size_t /*size*/) noexcept { release_block(block); }

CXLTIER_ENTRY void free_aligned_sized(void* block, std::size_t alignment,
                                      std::size_t size) noexcept;
CXLTIER_ENTRY void free_aligned_sized(void* block, std::size_t /*alignment*/,
                                      std::size_t /*size*/) noexcept {
  release_block(block);
}

CXLTIER_ENTRY void* memalign(std::size_t alignment, std::size_t size) noexcept {
  attend_if_due(CXLTIER_CALLER);
  return allocate_aligned(alignment, size);
}

CXLTIER_ENTRY void* aligned_alloc(std::size_t alignment, std::size_t size) noexcept {
  attend_if_due(CXLTIER_CALLER);
  return allocate_aligned(alignment, size);
}

CXLTIER_ENTRY int posix_memalign(void** result, std::size_t alignment, std::size_t size) noexcept {
  attend_if_due(CXLTIER_CALLER);
  return allocate_posix(result, alignment, size);
}

CXLTIER_ENTRY void* valloc(std::size_t size) noexcept {
  attend_if_due(CXLTIER_CALLER);
  return allocate_at_power_of_two(page_size(), size);
}

CXLTIER_ENTRY void* pvalloc(std::size_t size) noexcept {
  attend_if_due(CXLTIER_CALLER);
  return allocate_whole_pages(size);
}

CXLTIER_ENTRY std::size_t malloc_usable_size(void* block) noexcept {
  return cxltier_je_malloc_usable_size(block);
}

// glibc's second names.  Old programs and wrappers of malloc call them to get past the first.
CXLTIER_ENTRY void* __libc_malloc(std::size_t size) noexcept;
CXLTIER_ENTRY void* __libc_malloc(std::size_t size) noexcept { return cxltier_je_malloc(size); }

CXLTIER_ENTRY void* __libc_calloc(std::size_t count, std::size_t size) noexcept;
CXLTIER_ENTRY void* __libc_calloc(std::size_t count, std::size_t size) noexcept {
  return cxltier_je_calloc(count, size);
}

CXLTIER_ENTRY void* __libc_realloc(void* block, std::size_t size) noexcept;
CXLTIER_ENTRY void* __libc_realloc(void* block, std::size_t size) noexcept {
  return resize(block, size);
}

CXLTIER_ENTRY void __libc_free(void* block) noexcept;
CXLTIER_ENTRY void __libc_free(void* block) noexcept { release_block(block); }

CXLTIER_ENTRY void* __libc_memalign(std::size_t alignment, std::size_t size) noexcept;
CXLTIER_ENTRY void* __libc_memalign(std::size_t alignment, std::size_t size) noexcept {
  return allocate_aligned(alignment, size);
}

CXLTIER_ENTRY void* __libc_valloc(std::size_t size) noexcept;
CXLTIER_ENTRY void* __libc_valloc(std::size_t size) noexcept {
  return allocate_at_power_of_two(page_size(), size);
}

CXLTIER_ENTRY void* __libc_pvalloc(std::size_t size) noexcept;
CXLTIER_ENTRY void* __libc_pvalloc(std::size_t size) noexcept { return allocate_whole_pages(size); }

CXLTIER_ENTRY int __posix_memalign(void** result, std::size_t alignment, std::size_t size) noexcept;
CXLTIER_ENTRY int __posix_memalign(void** result, std::size_t alignment,
                                   std::size_t size) noexcept {
  return allocate_posix(result, alignment, size);
}
