// SPDX-License-Identifier: Apache-2.0
//
// Lines of a ProcessText, through a buffer of fixed size.  A line longer than the buffer is
// dropped: the longest that the kernel makes is a path of 4,096 bytes and 80 before it.  No
// allocation; one reader per pass over the text.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "runtime/os/process_text.h"

namespace cxltier {

class LineReader {
 public:
  explicit LineReader(ProcessText& text) noexcept : text_(text) {}

  // The next line without its newline, valid until the next call; empty optional at the end or on
  // an error, which error() then tells.
  std::optional<std::string_view> next() noexcept {
    bool dropping = false;
    for (;;) {
      const char* head = buffer_.data() + begin_;
      if (const void* newline = std::memchr(head, '\n', end_ - begin_)) {
        const auto length = static_cast<std::size_t>(static_cast<const char*>(newline) - head);
        begin_ += length + 1;
        if (!dropping) return std::string_view(head, length);
        dropping = false;  // that was the tail of the long line
        continue;
      }
      if (begin_ == 0 && end_ == buffer_.size()) {
        dropping = true;
        end_ = 0;
      }
      if (!fill()) return last_line(dropping);
    }
  }

  // 0, or the errno that ended the text.
  [[nodiscard]] int error() const noexcept { return error_; }

 private:
  bool fill() noexcept {
    std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
    const Result<std::size_t> got = text_.read_at(offset_, std::span(buffer_).subspan(end_));
    error_ = got.error();
    const std::size_t count = got.value_or(0);
    end_ += count;
    offset_ += count;
    return count != 0;
  }

  std::optional<std::string_view> last_line(bool dropping) noexcept {
    const std::string_view rest(buffer_.data() + begin_, end_ - begin_);
    begin_ = end_;
    if (dropping || rest.empty() || error_ != 0) return std::nullopt;
    return rest;
  }

  ProcessText& text_;
  std::uint64_t offset_ = 0;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  int error_ = 0;
  std::array<char, 8192> buffer_;  // two seq_file pages; a line is at most a path and a half
};

}  // namespace cxltier
