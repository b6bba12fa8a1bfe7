// SPDX-License-Identifier: Apache-2.0
//
// glibc's questions about the heap, answered from the heap that is really in use.
//
// The fields of mallinfo describe glibc's own structure; the ones that have a meaning here are
// arena (mapped), uordblks (allocated), fordblks (mapped, not allocated) and keepcost (resident,
// not allocated).  The others are 0.
#include <malloc.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdint>
#include <cstdio>

#include "allocator/entry_point.h"
#include "allocator/jemalloc.h"
#include "allocator/pages.h"

namespace {

// "arena.4096.purge" addresses all arenas: MALLCTL_ARENAS_ALL of jemalloc's header.
constexpr const char* purge_all_arenas = "arena.4096.purge";

struct HeapSizes {
  std::size_t allocated = 0;
  std::size_t resident = 0;
  std::size_t mapped = 0;
};

std::size_t read_size(const char* name) noexcept {
  std::size_t value = 0;
  std::size_t length = sizeof value;
  return cxltier_je_mallctl(name, &value, &length, nullptr, 0) == 0 ? value : 0;
}

HeapSizes read_heap_sizes() noexcept {
  std::uint64_t epoch = 1;
  cxltier_je_mallctl("epoch", nullptr, nullptr, &epoch, sizeof epoch);
  HeapSizes sizes{read_size("stats.allocated"), read_size("stats.resident"),
                  read_size("stats.mapped")};
  // The three are read one after another while other threads allocate.
  sizes.mapped = std::max(sizes.mapped, sizes.allocated);
  sizes.resident = std::max(sizes.resident, sizes.allocated);
  return sizes;
}

int clamp_to_int(std::size_t value) noexcept {
  return static_cast<int>(std::min(value, static_cast<std::size_t>(INT_MAX)));
}

}  // namespace

// Returns 1 if pages went back to the kernel.  The pad is for a heap that grows at its top.
CXLTIER_ENTRY int malloc_trim(std::size_t /*pad*/) noexcept {
  const std::uint64_t before = cxltier::heap::bytes_returned();
  cxltier_je_mallctl("thread.tcache.flush", nullptr, nullptr, nullptr, 0);
  cxltier_je_mallctl(purge_all_arenas, nullptr, nullptr, nullptr, 0);
  return cxltier::heap::bytes_returned() != before ? 1 : 0;
}

// Every option is accepted and none has a meaning here.
CXLTIER_ENTRY int mallopt(int /*option*/, int /*value*/) noexcept { return 1; }

CXLTIER_ENTRY struct mallinfo2 mallinfo2() noexcept {
  const HeapSizes sizes = read_heap_sizes();
  struct mallinfo2 answer {};
  answer.arena = sizes.mapped;
  answer.uordblks = sizes.allocated;
  answer.fordblks = sizes.mapped - sizes.allocated;
  answer.keepcost = sizes.resident - sizes.allocated;
  return answer;
}

namespace {

struct mallinfo narrow_mallinfo() noexcept {
  const struct mallinfo2 wide = mallinfo2();
  struct mallinfo answer {};
  answer.arena = clamp_to_int(wide.arena);
  answer.uordblks = clamp_to_int(wide.uordblks);
  answer.fordblks = clamp_to_int(wide.fordblks);
  answer.keepcost = clamp_to_int(wide.keepcost);
  return answer;
}

}  // namespace

CXLTIER_ENTRY struct mallinfo mallinfo() noexcept { return narrow_mallinfo(); }

// glibc's second names.
CXLTIER_ENTRY int __libc_mallopt(int option, int value) noexcept;
CXLTIER_ENTRY int __libc_mallopt(int option, int value) noexcept { return mallopt(option, value); }

CXLTIER_ENTRY struct mallinfo __libc_mallinfo() noexcept;
CXLTIER_ENTRY struct mallinfo __libc_mallinfo() noexcept { return narrow_mallinfo(); }

CXLTIER_ENTRY int malloc_info(int options, std::FILE* stream) noexcept {
  if (options != 0) return EINVAL;
  const HeapSizes sizes = read_heap_sizes();
  std::fprintf(stream,
               "<malloc version=\"1\">\n"
               "<total type=\"allocated\" size=\"%zu\"/>\n"
               "<system type=\"current\" size=\"%zu\"/>\n"
               "<aspace type=\"total\" size=\"%zu\"/>\n"
               "</malloc>\n",
               sizes.allocated, sizes.resident, sizes.mapped);
  return 0;
}

CXLTIER_ENTRY void malloc_stats() noexcept {
  cxltier_je_malloc_stats_print(nullptr, nullptr, nullptr);
}
