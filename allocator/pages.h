// SPDX-License-Identifier: Apache-2.0
//
// The allocator's only door to the kernel.
//
// jemalloc's imports of the same meaning are renamed to these functions, so that it never calls an
// mmap wrapper of its own library.  They run inside jemalloc's locks: no allocation, no lock, no
// stdio.  errno is left as it was, also on failure: a malloc that succeeds in its second attempt
// must not show that the first one failed, and one that fails sets ENOMEM itself.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>

#include "cxltier/heap.hpp"

#pragma GCC visibility push(hidden)
extern "C" {

// Records the new range and tells the growth watch.  Returns MAP_FAILED on failure.
void* cxltier_je_mmap(void* address, std::size_t size, int protection, int flags, int descriptor,
                      off_t offset) noexcept;
// Never fails: what the kernel will not unmap (it may need one mapping more than it may have) loses
// its pages and stays reserved.
int cxltier_je_munmap(void* address, std::size_t size) noexcept;
// 0, or -1 when refused.
int cxltier_je_madvise(void* address, std::size_t size, int advice) noexcept;
int cxltier_je_mprotect(void* address, std::size_t size, int protection) noexcept;
// Always (void*)-1: the program break stays the application's, and every range of the heap is
// known.
void* cxltier_je_sbrk(std::intptr_t increment) noexcept;

}  // extern "C"
#pragma GCC visibility pop

namespace cxltier::heap {

// Address space without access, at `wanted` if the kernel agrees (0: anywhere); 0 on failure.
std::uintptr_t reserve_addresses(std::uintptr_t wanted, std::size_t size) noexcept;
// Gives reserved addresses back; an empty range is nothing.
void release_addresses(Range range) noexcept;
// Makes them readable and writable.
bool open_addresses(Range range) noexcept;
// Their pages go back to the kernel and read as zero afterwards; false where it refuses (mlocked).
bool discard_pages(Range range) noexcept;

// Bytes given back to the kernel since the start, by unmapping or advice.  It only grows.
std::uint64_t bytes_returned() noexcept;

}  // namespace cxltier::heap
