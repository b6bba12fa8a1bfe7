// SPDX-License-Identifier: Apache-2.0
//
// std::pmr::memory_resource whose memory has a hint.  Header only; link as for cxltier/alloc.h.
//
//   cxltier::memory_resource cold(CXLTIER_COLD);
//   std::pmr::vector<char> archive(&cold);
#pragma once

#include <cerrno>
#include <cstddef>
#include <memory_resource>
#include <new>

#include "cxltier/alloc.h"

namespace cxltier {

// Holds a hint and nothing else: any number may exist, and blocks outlive the resource.  Two are
// equal if their hints are.
class memory_resource final : public std::pmr::memory_resource {
 public:
  explicit memory_resource(cxltier_hint hint) noexcept : hint_(hint) {}
  [[nodiscard]] cxltier_hint hint() const noexcept { return hint_; }

 private:
  void* do_allocate(std::size_t bytes, std::size_t alignment) override {
    void* const block = alignment <= alignof(std::max_align_t)
                            ? cxltier_malloc(bytes, hint_)
                            : cxltier_aligned_alloc(alignment, bytes, hint_);
    if (block == nullptr) throw std::bad_alloc();
    return block;
  }
  void do_deallocate(void* block, std::size_t /*bytes*/, std::size_t /*alignment*/) override {
    cxltier_free(block);
  }
  [[nodiscard]] bool do_is_equal(const std::pmr::memory_resource& other) const noexcept override {
    const auto* const same = dynamic_cast<const memory_resource*>(&other);
    return same != nullptr && same->hint_ == hint_;
  }

  cxltier_hint hint_;
};

}  // namespace cxltier
