// SPDX-License-Identifier: Apache-2.0
//
// Text built in the caller's characters: for log lines and paths in code that must not use a heap.
//
// What does not fit is dropped, and complete() says so; the text is always zero-terminated.
//
//   chars_:  | c | x | l | ... | 0 |     |     |
//             <---- size_ ---->  ^ always inside
//
// Invariant: size_ < chars_.size().  A value on one thread's stack.
#pragma once

#include <algorithm>
#include <array>
#include <charconv>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace cxltier {

class FixedText {
 public:
  // pre: chars has room for at least the closing zero, and outlives this
  explicit constexpr FixedText(std::span<char> chars) noexcept : chars_(chars) {
    chars_.front() = '\0';
  }

  constexpr FixedText& operator<<(std::string_view text) noexcept {
    const std::size_t room = chars_.size() - 1 - size_;
    const std::size_t taken = std::min(room, text.size());
    std::copy_n(text.data(), taken, chars_.data() + size_);
    size_ += taken;
    chars_[size_] = '\0';
    if (taken < text.size()) complete_ = false;
    return *this;
  }
  constexpr FixedText& operator<<(const char* text) noexcept {
    return *this << std::string_view(text);
  }
  FixedText& operator<<(std::unsigned_integral auto number) noexcept {
    std::array<char, 20> digits{};  // 2^64 - 1 has 20 digits
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
    return *this << std::string_view(digits.data(), static_cast<std::size_t>(end - digits.data()));
  }
  // Foreign text: what is not printable ASCII becomes '?', and at most 48 characters are shown, so
  // that no environment variable can steer a terminal or flood a log.
  constexpr FixedText& append_foreign(std::string_view text) noexcept {
    const std::size_t shown = std::min<std::size_t>(text.size(), 48);
    for (std::size_t i = 0; i < shown; ++i) {
      const char c = text[i] >= ' ' && text[i] <= '~' ? text[i] : '?';
      *this << std::string_view(&c, 1);
    }
    return shown < text.size() ? *this << "..." : *this;
  }

  [[nodiscard]] constexpr bool complete() const noexcept { return complete_; }
  [[nodiscard]] constexpr const char* c_str() const noexcept { return chars_.data(); }
  [[nodiscard]] constexpr std::string_view view() const noexcept { return {chars_.data(), size_}; }

 private:
  std::span<char> chars_;
  std::size_t size_ = 0;
  bool complete_ = true;
};

}  // namespace cxltier
