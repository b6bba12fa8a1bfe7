// SPDX-License-Identifier: Apache-2.0
//
// Raw system calls; libc's syscall() is the only function of libc that is used.
#include "allocator/pages.h"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>

#include "allocator/heap_state.h"

namespace {

constinit std::atomic<std::uint64_t> returned{0};

// Puts errno back at the end of a scope.
class ErrnoKept {
 public:
  ErrnoKept() noexcept : errno_(errno) {}
  ~ErrnoKept() { errno = errno_; }
  ErrnoKept(const ErrnoKept&) = delete;
  ErrnoKept& operator=(const ErrnoKept&) = delete;

 private:
  int errno_;
};

cxltier::heap::Range range_at(const void* address, std::size_t size) noexcept {
  const auto begin = reinterpret_cast<std::uintptr_t>(address);
  return {begin, begin + size};
}

}  // namespace

extern "C" {

void* cxltier_je_mmap(void* address, std::size_t size, int protection, int flags, int descriptor,
                      off_t offset) noexcept {
  const ErrnoKept kept;
  const long result = syscall(SYS_mmap, address, size, protection, flags, descriptor, offset);
  if (result == -1) return MAP_FAILED;
  void* const mapped = reinterpret_cast<void*>(result);
  // MAP_FIXED replaces a part of what is recorded already (jemalloc commits so when the kernel does
  // not overcommit).
  if ((flags & MAP_FIXED) == 0) {
    cxltier::heap::mapped_ranges.add(range_at(mapped, size));
    cxltier::heap::growth_watch.grown_to(cxltier::heap::mapped_ranges.bytes());
  }
  return mapped;
}

int cxltier_je_munmap(void* address, std::size_t size) noexcept {
  const ErrnoKept kept;
  // Forgotten before it is unmapped: afterwards the addresses may already be another thread's.
  cxltier::heap::mapped_ranges.remove(range_at(address, size));
  returned.fetch_add(size, std::memory_order_relaxed);
  if (syscall(SYS_munmap, address, size) != 0) {
    syscall(SYS_madvise, address, size, MADV_DONTNEED);
  }
  return 0;
}

int cxltier_je_madvise(void* address, std::size_t size, int advice) noexcept {
  const ErrnoKept kept;
  const int result = static_cast<int>(syscall(SYS_madvise, address, size, advice));
  if (result == 0 && (advice == MADV_DONTNEED || advice == MADV_FREE)) {
    returned.fetch_add(size, std::memory_order_relaxed);
  }
  return result;
}

int cxltier_je_mprotect(void* address, std::size_t size, int protection) noexcept {
  const ErrnoKept kept;
  return static_cast<int>(syscall(SYS_mprotect, address, size, protection));
}

void* cxltier_je_sbrk(std::intptr_t /*increment*/) noexcept {
  return reinterpret_cast<void*>(std::intptr_t{-1});
}

}  // extern "C"

namespace cxltier::heap {

std::uintptr_t reserve_addresses(std::uintptr_t wanted, std::size_t size) noexcept {
  const ErrnoKept kept;
  const long result = syscall(SYS_mmap, wanted, size, PROT_NONE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0L);
  return result == -1 ? 0 : static_cast<std::uintptr_t>(result);
}

void release_addresses(Range range) noexcept {
  const ErrnoKept kept;
  if (range.end > range.begin) syscall(SYS_munmap, range.begin, range.end - range.begin);
}

bool open_addresses(Range range) noexcept {
  const ErrnoKept kept;
  return syscall(SYS_mprotect, range.begin, range.end - range.begin, PROT_READ | PROT_WRITE) == 0;
}

bool discard_pages(Range range) noexcept {
  const ErrnoKept kept;
  const std::size_t size = range.end - range.begin;
  if (syscall(SYS_madvise, range.begin, size, MADV_DONTNEED) != 0) return false;
  returned.fetch_add(size, std::memory_order_relaxed);
  return true;
}

std::uint64_t bytes_returned() noexcept { return returned.load(std::memory_order_relaxed); }

}  // namespace cxltier::heap
