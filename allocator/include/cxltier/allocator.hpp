// SPDX-License-Identifier: Apache-2.0
//
// An allocator for containers whose memory has a hint.  Header only; link as for cxltier/alloc.h.
//
//   std::vector<Row, cxltier::allocator<Row>> rows(cxltier::allocator<Row>(CXLTIER_COLD));
#pragma once

#include <cstddef>
#include <limits>
#include <new>
#include <type_traits>

#include "cxltier/alloc.h"

namespace cxltier {

// A container that is copied or swapped takes the other's hint with its elements; a moved one its
// blocks.  All blocks may be freed by any allocator of this kind; equality means the same hint, so
// that a move between hints moves the elements.
template <typename T>
class allocator {
 public:
  using value_type = T;
  using size_type = std::size_t;
  using difference_type = std::ptrdiff_t;
  using propagate_on_container_copy_assignment = std::true_type;
  using propagate_on_container_move_assignment = std::true_type;
  using propagate_on_container_swap = std::true_type;
  using is_always_equal = std::false_type;

  explicit allocator(cxltier_hint hint = CXLTIER_DEFAULT) noexcept : hint_(hint) {}
  template <typename U>
  allocator(const allocator<U>& other) noexcept : hint_(other.hint()) {}  // NOLINT: as std's

  [[nodiscard]] T* allocate(std::size_t count) {
    if (count > max_size()) throw std::bad_array_new_length();
    void* const block = alignof(T) <= alignof(std::max_align_t)
                            ? cxltier_malloc(count * sizeof(T), hint_)
                            : cxltier_aligned_alloc(alignof(T), count * sizeof(T), hint_);
    if (block == nullptr) throw std::bad_alloc();
    return static_cast<T*>(block);
  }
  void deallocate(T* block, std::size_t /*count*/) noexcept { cxltier_free(block); }

  [[nodiscard]] static constexpr std::size_t max_size() noexcept {
    return static_cast<std::size_t>(std::numeric_limits<std::ptrdiff_t>::max()) / sizeof(T);
  }
  [[nodiscard]] cxltier_hint hint() const noexcept { return hint_; }

  template <typename U>
  friend bool operator==(const allocator& a, const allocator<U>& b) noexcept {
    return a.hint() == b.hint();
  }

 private:
  cxltier_hint hint_;
};

}  // namespace cxltier
