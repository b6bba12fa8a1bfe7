// SPDX-License-Identifier: Apache-2.0
//
// The 20 replaceable operators new and delete, without the C++ runtime library.
//
// A preloaded library may not bring libstdc++ into a C program, but an operator new that fails must
// call the program's new-handler and throw the program's std::bad_alloc.  So both are looked for in
// the program: as weak references first, then in a libstdc++ that was loaded later (a Python
// extension in C++).  A program without either cannot have called the throwing form from C++, and
// gets nullptr.
//
// No delete trusts the size that it is told: jemalloc 5.3.0 gives a zero-sized over-aligned block
// another size than the compiler states when it is deleted, and a sized free would put the block
// into the wrong bin.  The plain free is also the shorter path.
#include <dlfcn.h>

#include <cstddef>
#include <new>

#include "allocator/entry_point.h"
#include "allocator/jemalloc.h"

// Names of libstdc++'s stable ABI.
extern "C" {
__attribute__((weak)) std::new_handler cxltier_get_new_handler() noexcept
    __asm__("_ZSt15get_new_handlerv");
[[noreturn]] __attribute__((weak)) void cxltier_throw_bad_alloc() __asm__(
    "_ZSt17__throw_bad_allocv");
}

#define CXLTIER_OPERATOR __attribute__((visibility("default")))

namespace {

using GetNewHandler = std::new_handler (*)() noexcept;
using ThrowBadAlloc = void (*)();
using PlainNew = void* (*)(std::size_t, const std::nothrow_t&);
using AlignedNew = void* (*)(std::size_t, std::align_val_t, const std::nothrow_t&);

// 0 stands for the default alignment.
constexpr std::size_t no_alignment = 0;

void* allocate(std::size_t size, std::size_t alignment) noexcept {
  if (alignment == no_alignment) return cxltier_je_malloc(size);
  return cxltier_je_memalign(alignment, size == 0 ? 1 : size);
}

// A function of the libstdc++ in this process, or nullptr.  Called only when memory ran out; if
// even the loader cannot get any, there is no libstdc++ for us.
template <typename Function>
Function in_loaded_libstdcxx(const char* name) noexcept {
  void* const library = dlopen("libstdc++.so.6", RTLD_LAZY | RTLD_NOLOAD);
  if (library == nullptr) return nullptr;
  const auto function = reinterpret_cast<Function>(dlsym(library, name));
  dlclose(library);  // drops our reference; the program's keeps it loaded
  return function;
}

std::new_handler present_new_handler() noexcept {
  GetNewHandler get = &cxltier_get_new_handler;
  if (get == nullptr) get = in_loaded_libstdcxx<GetNewHandler>("_ZSt15get_new_handlerv");
  return get == nullptr ? nullptr : get();
}

void throw_bad_alloc_if_possible() {
  ThrowBadAlloc raise = &cxltier_throw_bad_alloc;
  if (raise == nullptr) raise = in_loaded_libstdcxx<ThrowBadAlloc>("_ZSt17__throw_bad_allocv");
  if (raise != nullptr) raise();
}

// Not noexcept: bad_alloc, and whatever the handler throws, passes through.
CXLTIER_COLD void* retry_or_throw(std::size_t size, std::size_t alignment) {
  while (const std::new_handler handler = present_new_handler()) {
    handler();
    if (void* const block = allocate(size, alignment)) return block;
  }
  throw_bad_alloc_if_possible();
  return nullptr;
}

// A handler may throw, which must end as nullptr; we cannot catch, but libstdc++'s own operator
// can: it calls the throwing form, which is ours, and catches.
CXLTIER_COLD void* retry_or_null(std::size_t size, std::size_t alignment) noexcept {
  if (present_new_handler() == nullptr) return nullptr;
  if (alignment == no_alignment) {
    const auto plain = in_loaded_libstdcxx<PlainNew>("_ZnwmRKSt9nothrow_t");
    return plain == nullptr ? nullptr : plain(size, std::nothrow_t{});
  }
  const auto aligned = in_loaded_libstdcxx<AlignedNew>("_ZnwmSt11align_val_tRKSt9nothrow_t");
  return aligned == nullptr ? nullptr
                            : aligned(size, std::align_val_t{alignment}, std::nothrow_t{});
}

__attribute__((always_inline)) inline void* new_or_throw(std::size_t size, std::size_t alignment) {
  void* const block = allocate(size, alignment);
  if (block == nullptr) [[unlikely]] {
    return retry_or_throw(size, alignment);
  }
  return block;
}

__attribute__((always_inline)) inline void* new_or_null(std::size_t size,
                                                        std::size_t alignment) noexcept {
  void* const block = allocate(size, alignment);
  if (block == nullptr) [[unlikely]] {
    return retry_or_null(size, alignment);
  }
  return block;
}

// Apart, so that the plain way saves no register.
CXLTIER_COLD void* attend_and_new(std::size_t size, const void* caller) {
  if (void* const block = cxltier::heap::allocate_slowly({.size = size}, caller)) return block;
  return new_or_throw(size, no_alignment);
}

constexpr std::size_t bytes_of(std::align_val_t alignment) {
  return static_cast<std::size_t>(alignment);
}

}  // namespace

using cxltier::heap::attend_if_due;
using cxltier::heap::release_block;

CXLTIER_OPERATOR void* operator new(std::size_t size) {
  if (size >= cxltier::heap::growth_watch.slow_from()) [[unlikely]] {
    return attend_and_new(size, CXLTIER_CALLER);
  }
  return new_or_throw(size, no_alignment);
}
CXLTIER_OPERATOR void* operator new[](std::size_t size) {
  if (size >= cxltier::heap::growth_watch.slow_from()) [[unlikely]] {
    return attend_and_new(size, CXLTIER_CALLER);
  }
  return new_or_throw(size, no_alignment);
}
CXLTIER_OPERATOR void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  attend_if_due(CXLTIER_CALLER);
  return new_or_null(size, no_alignment);
}
CXLTIER_OPERATOR void* operator new[](std::size_t size, const std::nothrow_t&) noexcept {
  attend_if_due(CXLTIER_CALLER);
  return new_or_null(size, no_alignment);
}
CXLTIER_OPERATOR void* operator new(std::size_t size, std::align_val_t alignment) {
  attend_if_due(CXLTIER_CALLER);
  return new_or_throw(size, bytes_of(alignment));
}
CXLTIER_OPERATOR void* operator new[](std::size_t size, std::align_val_t alignment) {
  attend_if_due(CXLTIER_CALLER);
  return new_or_throw(size, bytes_of(alignment));
}
CXLTIER_OPERATOR void* operator new(std::size_t size, std::align_val_t alignment,
                                    const std::nothrow_t&) noexcept {
  attend_if_due(CXLTIER_CALLER);
  return new_or_null(size, bytes_of(alignment));
}
CXLTIER_OPERATOR void* operator new[](std::size_t size, std::align_val_t alignment,
                                      const std::nothrow_t&) noexcept {
  attend_if_due(CXLTIER_CALLER);
  return new_or_null(size, bytes_of(alignment));
}

CXLTIER_OPERATOR void operator delete(void* block) noexcept { release_block(block); }
CXLTIER_OPERATOR void operator delete[](void* block) noexcept { release_block(block); }
CXLTIER_OPERATOR void operator delete(void* block, const std::nothrow_t&) noexcept {
  release_block(block);
}
CXLTIER_OPERATOR void operator delete[](void* block, const std::nothrow_t&) noexcept {
  release_block(block);
}
CXLTIER_OPERATOR void operator delete(void* block, std::size_t) noexcept { release_block(block); }
CXLTIER_OPERATOR void operator delete[](void* block, std::size_t) noexcept { release_block(block); }
CXLTIER_OPERATOR void operator delete(void* block, std::align_val_t) noexcept {
  release_block(block);
}
CXLTIER_OPERATOR void operator delete[](void* block, std::align_val_t) noexcept {
  release_block(block);
}
CXLTIER_OPERATOR void operator delete(void* block, std::align_val_t,
                                      const std::nothrow_t&) noexcept {
  release_block(block);
}
CXLTIER_OPERATOR void operator delete[](void* block, std::align_val_t,
                                        const std::nothrow_t&) noexcept {
  release_block(block);
}
CXLTIER_OPERATOR void operator delete(void* block, std::size_t, std::align_val_t) noexcept {
  release_block(block);
}
CXLTIER_OPERATOR void operator delete[](void* block, std::size_t, std::align_val_t) noexcept {
  release_block(block);
}
