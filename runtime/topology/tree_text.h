// SPDX-License-Identifier: Apache-2.0
//
// Reading short texts of a FileTree without a heap: a path on the stack and a buffer on the stack.
//
//   TreeText text(tree);
//   if (text.read(Path("sys/devices/system/node/node").number(3).text("/cpulist")))
//   use(text.view());
//
// A TreeText is 4 KiB: keep at most one in a function.  Any thread, each with its own objects.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "runtime/os/file_tree.h"

namespace cxltier {

// A path under a FileTree's root.  One that grows too long becomes empty, which no tree can open.
class Path {
 public:
  explicit Path(std::string_view start) noexcept { text(start); }

  Path& text(std::string_view part) noexcept;
  Path& number(std::uint64_t value) noexcept;
  [[nodiscard]] const char* c_str() const noexcept { return text_.data(); }

 private:
  std::array<char, 512> text_{};
  std::size_t length_ = 0;
  std::size_t length_max_ = text_.size() - 1;  // 0 once too long
};

class TreeText {
 public:
  explicit TreeText(FileTree& tree) noexcept : tree_(tree) {}

  // Both return 0 or an errno; after an errno the view is empty.
  [[nodiscard]] int read(const Path& path) noexcept;
  [[nodiscard]] int read_link(const Path& path) noexcept;

  [[nodiscard]] std::string_view view() const noexcept { return {text_.data(), length_}; }
  // Whether the file may have been longer than the view.
  [[nodiscard]] bool is_cut() const noexcept { return length_ == text_.size(); }

 private:
  int take(const Result<std::size_t>& length) noexcept;

  FileTree& tree_;
  std::array<char, 4096> text_;
  std::size_t length_ = 0;
};

}  // namespace cxltier
