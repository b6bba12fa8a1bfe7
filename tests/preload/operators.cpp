// SPDX-License-Identifier: Apache-2.0
//
// All operators new and delete of a C++ program that has its libstdc++: what they return, and what
// happens when there is no memory.
#include <malloc.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include "tests/preload/expect.h"

namespace {

volatile std::size_t too_large = static_cast<std::size_t>(PTRDIFF_MAX) + 1;
int handler_calls = 0;
void* volatile kept = nullptr;  // else an unused block is not even asked for

bool aligned_to(const void* block, std::size_t alignment) {
  return reinterpret_cast<std::uintptr_t>(block) % alignment == 0;
}

void plain_forms(std::size_t size) {
  ::operator delete(::operator new(size));
  ::operator delete(::operator new(size), size);
  ::operator delete(::operator new(size, std::nothrow), std::nothrow);
  ::operator delete[](::operator new[](size));
  ::operator delete[](::operator new[](size), size);
  ::operator delete[](::operator new[](size, std::nothrow), std::nothrow);
}

void aligned_forms(std::size_t size, std::size_t alignment) {
  const std::align_val_t to{alignment};
  void* blocks[] = {::operator new(size, to),   ::operator new(size, to, std::nothrow),
                    ::operator new[](size, to), ::operator new[](size, to, std::nothrow),
                    ::operator new(size, to),   ::operator new[](size, to)};
  for (void* block : blocks) {
    EXPECT(block != nullptr && aligned_to(block, alignment));
    EXPECT(malloc_usable_size(block) >= size);
    std::memset(block, 0x5a, size);
  }
  ::operator delete(blocks[0], to);
  ::operator delete(blocks[1], to, std::nothrow);
  ::operator delete[](blocks[2], to);
  ::operator delete[](blocks[3], to, std::nothrow);
  ::operator delete(blocks[4], size, to);
  ::operator delete[](blocks[5], size, to);
}

// jemalloc 5.3.0 gives a zero-sized over-aligned block more than one byte; trusting the size of the
// delete put it among the smallest blocks, and a later malloc(8) had 64 usable bytes.
void a_zero_sized_aligned_block_does_not_mix_sizes() {
  for (int i = 0; i < 100; ++i) {
    void* const block = ::operator new (0, std::align_val_t{64});
    ::operator delete (block, std::size_t{0}, std::align_val_t{64});
  }
  void* const small = ::operator new(8);
  EXPECT(malloc_usable_size(small) == 8);
  ::operator delete(small);
}

template <typename New>
bool throws_bad_alloc(New make) {
  try {
    kept = make();
  } catch (const std::bad_alloc&) {
    return true;
  }
  return false;
}

void without_memory_it_throws() {
  EXPECT(throws_bad_alloc([] { return ::operator new(too_large); }));
  EXPECT(throws_bad_alloc([] { return ::operator new[](too_large); }));
  EXPECT(throws_bad_alloc([] { return ::operator new (too_large, std::align_val_t{64}); }));
  EXPECT(throws_bad_alloc([] { return ::operator new[](too_large, std::align_val_t{64}); }));
  EXPECT(::operator new(too_large, std::nothrow) == nullptr);
  EXPECT(::operator new[](too_large, std::nothrow) == nullptr);
  EXPECT(::operator new (too_large, std::align_val_t{64}, std::nothrow) == nullptr);
}

void the_handler_is_called_until_it_gives_up() {
  handler_calls = 0;
  std::set_new_handler([] {
    if (++handler_calls == 3) std::set_new_handler(nullptr);
  });
  EXPECT(throws_bad_alloc([] { return ::operator new(too_large); }));
  EXPECT(handler_calls == 3);
}

void a_handler_may_throw() {
  std::set_new_handler([] { throw std::bad_alloc(); });
  EXPECT(throws_bad_alloc([] { return ::operator new(too_large); }));
  EXPECT(::operator new(too_large, std::nothrow) == nullptr);
  EXPECT(::operator new (too_large, std::align_val_t{64}, std::nothrow) == nullptr);
  std::set_new_handler(nullptr);
}

void the_library_works_on_it() {
  std::vector<std::string> words;
  for (int i = 0; i < 10000; ++i) words.push_back(std::to_string(i) + std::string(50, 'x'));
  const auto shared = std::make_shared<std::vector<std::string>>(words);
  EXPECT(shared->at(777).substr(0, 3) == "777");
}

}  // namespace

int main() {
  for (std::size_t size : {0, 1, 8, 48, 64, 1000, 4096, 100000, 9000000}) {
    plain_forms(size);
    for (std::size_t alignment = 1; alignment <= 65536; alignment *= 2) {
      aligned_forms(size, alignment);
    }
  }
  a_zero_sized_aligned_block_does_not_mix_sizes();
  without_memory_it_throws();
  the_handler_is_called_until_it_gives_up();
  a_handler_may_throw();
  the_library_works_on_it();
  return finish();
}
