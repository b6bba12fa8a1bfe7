// SPDX-License-Identifier: Apache-2.0
//
// Sizes that a delete is told put no block into a wrong bin (jemalloc PR #2991): after every size
// and alignment has gone through every form of delete, small blocks are as large as asked for and
// do not overlap.
#include <malloc.h>

#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>

#include "tests/preload/expect.h"

namespace {

using Form = void (*)(void*, std::size_t, std::align_val_t);

constexpr std::array<Form, 7> aligned_forms{
    [](void* p, std::size_t, std::align_val_t a) { ::operator delete(p, a); },
    [](void* p, std::size_t, std::align_val_t a) { ::operator delete[](p, a); },
    [](void* p, std::size_t, std::align_val_t a) { ::operator delete(p, a, std::nothrow); },
    [](void* p, std::size_t n, std::align_val_t a) { ::operator delete(p, n, a); },
    [](void* p, std::size_t n, std::align_val_t a) { ::operator delete[](p, n, a); },
    [](void* p, std::size_t, std::align_val_t) { std::free(p); },
    [](void* p, std::size_t n, std::align_val_t) { ::operator delete(p, n); },
};

void pass_through_every_form() {
  for (std::size_t alignment = 1; alignment <= 65536; alignment *= 2) {
    const std::align_val_t value{alignment};
    for (std::size_t size = 0; size <= 4096; size += size < 128 ? 1 : 61) {
      for (const Form form : aligned_forms) {
        void* const block = ::operator new(size, value);
        EXPECT(reinterpret_cast<std::uintptr_t>(block) % alignment == 0);
        EXPECT(malloc_usable_size(block) >= size);
        form(block, size, value);
      }
    }
  }
}

constexpr std::size_t count = 3000;

void small_blocks_are_whole() {
  static std::array<unsigned char*, count> blocks;
  for (std::size_t size = 1; size <= 4096; size *= 2) {
    for (std::size_t i = 0; i < count; ++i) {
      blocks[i] = static_cast<unsigned char*>(std::malloc(size));
      // Twice the size is the next bin: a block that strayed into this one would show.
      EXPECT(malloc_usable_size(blocks[i]) >= size &&
             malloc_usable_size(blocks[i]) <= 2 * size + 8);
      std::memset(blocks[i], static_cast<int>(i), size);
    }
    for (std::size_t i = 0; i < count; ++i) {
      EXPECT(blocks[i][0] == static_cast<unsigned char>(i));
      EXPECT(blocks[i][size - 1] == static_cast<unsigned char>(i));
      std::free(blocks[i]);
    }
  }
}

}  // namespace

int main() {
  pass_through_every_form();
  small_blocks_are_whole();
  return finish();
}
