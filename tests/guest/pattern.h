// SPDX-License-Identifier: Apache-2.0
//
// Memory from malloc whose every word is known, so that one lost or stale write is seen.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>

namespace cxltier::guest {

class Pattern {
 public:
  explicit Pattern(std::size_t bytes)
      : words_{static_cast<volatile std::uint64_t*>(std::malloc(bytes)), bytes / 8} {
    if (words_.data() == nullptr) std::abort();
  }
  Pattern(const Pattern&) = delete;
  Pattern& operator=(const Pattern&) = delete;
  ~Pattern() { std::free(const_cast<std::uint64_t*>(words_.data())); }

  // What word `i` holds in round `round`.
  static std::uint64_t word(std::size_t i, std::uint64_t round) {
    return (i + 1) * 0x9e3779b97f4a7c15u ^ round * 0xc2b2ae3d27d4eb4fu;
  }

  // Each step-th word; memory of a guest's CXL device takes about a microsecond per access.
  void write(std::uint64_t round, std::size_t step = 1) {
    for (std::size_t i = 0; i < words_.size(); i += step) words_[i] = word(i, round);
  }

  // How many words from `first` on, up to `last`, are not what write() wrote.
  [[nodiscard]] std::size_t wrong(std::uint64_t round, std::size_t step = 1, std::size_t first = 0,
                                  std::size_t last = ~std::size_t{0}) const {
    std::size_t count = 0;
    for (std::size_t i = first; i < std::min(last, words_.size()); i += step) {
      if (words_[i] != word(i, round)) ++count;
    }
    return count;
  }

  [[nodiscard]] std::span<const std::byte> bytes() const {
    return {reinterpret_cast<const std::byte*>(const_cast<const std::uint64_t*>(words_.data())),
            words_.size() * 8};
  }

 private:
  std::span<volatile std::uint64_t> words_;
};

}  // namespace cxltier::guest
