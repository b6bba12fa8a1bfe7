// SPDX-License-Identifier: Apache-2.0
//
// jemalloc's own interface, for programs that link libjemalloc and ask it about their heap.
//
// Redis, for one, imports mallctl: were it left to libjemalloc.so.2, its statistics and its
// purge command would concern a heap that nobody uses.
//
// Three questions are not passed on as they are: arenas.lookup of an address that is not the heap's
// (5.3.0 follows a null pointer), a new arena (5.3.0 must not fork meanwhile; see fork.cpp), and
// the size of a sized free, which nobody needs.
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstring>

#include "allocator/entry_point.h"
#include "allocator/jemalloc.h"

// The variables of the interface.  malloc_message is honoured (jemalloc_start.cpp); an application
// that was linked with libjemalloc may hold its own copy of it.  malloc_conf is there to be linked
// with and is not read: options that were chosen for another build of jemalloc are not ours.
CXLTIER_ENTRY void (*malloc_message)(void*, const char*);
CXLTIER_ENTRY const char* malloc_conf;
void (*malloc_message)(void*, const char*) = nullptr;
const char* malloc_conf = nullptr;

namespace {

enum class Question : std::uint8_t { lookup, new_arena, other };

struct Special {
  const char* name;
  Question question;
  std::atomic<std::uint64_t> mib{0};  // its two numbers, packed; 0 before the first question
};
constinit std::array<Special, 3> special{{{"arenas.lookup", Question::lookup},
                                          {"arenas.create", Question::new_arena},
                                          {"experimental.arenas_create_ext", Question::new_arena}}};

std::uint64_t packed(const std::size_t* mib) noexcept {
  return (std::uint64_t{mib[0]} << 32) | (mib[1] & 0xffffffff);
}

Question question_of(const char* name) noexcept {
  if (name == nullptr) return Question::other;
  for (const Special& one : special) {
    if (std::strcmp(name, one.name) == 0) return one.question;
  }
  return Question::other;
}

Question question_of(const std::size_t* mib, std::size_t length) noexcept {
  if (mib == nullptr || length != 2) return Question::other;
  for (Special& one : special) {
    std::uint64_t known = one.mib.load(std::memory_order_relaxed);
    if (known == 0) {
      std::size_t numbers[2] = {0, 0};
      std::size_t count = 2;
      if (cxltier_je_mallctlnametomib(one.name, numbers, &count) != 0) continue;
      known = packed(numbers);
      one.mib.store(known, std::memory_order_relaxed);
    }
    if (packed(mib) == known) return one.question;
  }
  return Question::other;
}

// Whether new_value holds an address of the heap, or something that jemalloc refuses by itself.
bool may_be_looked_up(const void* new_value, std::size_t new_size) noexcept {
  if (new_value == nullptr || new_size != sizeof(void*)) return true;
  const auto address = reinterpret_cast<std::uintptr_t>(*static_cast<void* const*>(new_value));
  return cxltier::heap::mapped_ranges.contains(address);
}

using cxltier::heap::may_have_class;
using cxltier::heap::tier_heap;
using cxltier::heap::tier_space;

// ask() is jemalloc's mallctl or mallctlbymib with the caller's arguments.
template <class Ask>
int answer(Question question, const void* new_value, std::size_t new_size, Ask ask) noexcept {
  if (question == Question::lookup && !may_be_looked_up(new_value, new_size)) return EINVAL;
  if (question != Question::new_arena) return ask();
  const cxltier::heap::LockHeld held(tier_heap.classes().lock());
  return ask();
}

bool has_class(const void* block) noexcept {
  return may_have_class(block) && tier_space.contains(block);
}

// A block of a class never enters a thread's cache, from where any malloc would get it.
int flags_for(const void* block, int flags) noexcept {
  using namespace cxltier::heap;
  return has_class(block) ? (flags & ~mask_tcache) | flag_no_tcache : flags;
}

void dallocx_of(void* block, int flags) noexcept {
  if (has_class(block)) {
    tier_heap.release(block);
  } else {
    cxltier_je_dallocx(block, flags);
  }
}

}  // namespace

CXLTIER_ENTRY void* mallocx(std::size_t size, int flags) noexcept;
CXLTIER_ENTRY void* mallocx(std::size_t size, int flags) noexcept {
  return cxltier_je_mallocx(size, flags);
}

CXLTIER_ENTRY void* rallocx(void* block, std::size_t size, int flags) noexcept;
CXLTIER_ENTRY void* rallocx(void* block, std::size_t size, int flags) noexcept {
  return cxltier_je_rallocx(block, size, flags_for(block, flags));
}

CXLTIER_ENTRY std::size_t xallocx(void* block, std::size_t size, std::size_t extra,
                                  int flags) noexcept;
CXLTIER_ENTRY std::size_t xallocx(void* block, std::size_t size, std::size_t extra,
                                  int flags) noexcept {
  return cxltier_je_xallocx(block, size, extra, flags_for(block, flags));
}

CXLTIER_ENTRY std::size_t sallocx(const void* block, int flags) noexcept;
CXLTIER_ENTRY std::size_t sallocx(const void* block, int flags) noexcept {
  return cxltier_je_sallocx(block, flags);
}

CXLTIER_ENTRY void dallocx(void* block, int flags) noexcept;
CXLTIER_ENTRY void dallocx(void* block, int flags) noexcept { dallocx_of(block, flags); }

CXLTIER_ENTRY void sdallocx(void* block, std::size_t size, int flags) noexcept;
CXLTIER_ENTRY void sdallocx(void* block, std::size_t /*size*/, int flags) noexcept {
  dallocx_of(block, flags);
}

CXLTIER_ENTRY std::size_t nallocx(std::size_t size, int flags) noexcept;
CXLTIER_ENTRY std::size_t nallocx(std::size_t size, int flags) noexcept {
  return cxltier_je_nallocx(size, flags);
}

CXLTIER_ENTRY int mallctl(const char* name, void* old_value, std::size_t* old_size, void* new_value,
                          std::size_t new_size) noexcept;
CXLTIER_ENTRY int mallctl(const char* name, void* old_value, std::size_t* old_size, void* new_value,
                          std::size_t new_size) noexcept {
  return answer(question_of(name), new_value, new_size,
                [&] { return cxltier_je_mallctl(name, old_value, old_size, new_value, new_size); });
}

CXLTIER_ENTRY int mallctlnametomib(const char* name, std::size_t* mib,
                                   std::size_t* length) noexcept;
CXLTIER_ENTRY int mallctlnametomib(const char* name, std::size_t* mib,
                                   std::size_t* length) noexcept {
  return cxltier_je_mallctlnametomib(name, mib, length);
}

CXLTIER_ENTRY int mallctlbymib(const std::size_t* mib, std::size_t length, void* old_value,
                               std::size_t* old_size, void* new_value,
                               std::size_t new_size) noexcept;
CXLTIER_ENTRY int mallctlbymib(const std::size_t* mib, std::size_t length, void* old_value,
                               std::size_t* old_size, void* new_value,
                               std::size_t new_size) noexcept {
  return answer(question_of(mib, length), new_value, new_size, [&] {
    return cxltier_je_mallctlbymib(mib, length, old_value, old_size, new_value, new_size);
  });
}

CXLTIER_ENTRY void malloc_stats_print(void (*write)(void*, const char*), void* argument,
                                      const char* options) noexcept;
CXLTIER_ENTRY void malloc_stats_print(void (*write)(void*, const char*), void* argument,
                                      const char* options) noexcept {
  cxltier_je_malloc_stats_print(write, argument, options);
}
