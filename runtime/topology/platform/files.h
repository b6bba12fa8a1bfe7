// SPDX-License-Identifier: Apache-2.0
//
// Files of a FileTree as strings, and a note of every file that was there but closed to us.
//
// A file that does not exist is an answer ("the kernel has no such feature"); a file that may not
// be read is not, and what follows from it must say so.  The closed ones are collected by path.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/os/file_tree.h"

namespace cxltier {

class Files {
 public:
  explicit Files(FileTree& tree) : tree_(tree) {}

  // The whole file, up to 16 MiB; nothing if it cannot be read.
  [[nodiscard]] std::optional<std::string> whole(const std::string& path);
  // A short value without the blanks around it.
  [[nodiscard]] std::optional<std::string> value(const std::string& path);
  [[nodiscard]] std::optional<std::uint64_t> number(const std::string& path);
  [[nodiscard]] std::optional<std::int64_t> signed_number(const std::string& path);
  // "0" and "N" are false, "1" and "Y" true.
  [[nodiscard]] std::optional<bool> flag(const std::string& path);
  // Where a symbolic link points; empty if it is none.
  [[nodiscard]] std::string link(const std::string& path);
  // The names in a folder, numbers within them in numeric order; empty if there is no such folder.
  [[nodiscard]] std::vector<std::string> names(const std::string& folder);
  [[nodiscard]] bool exists(const std::string& folder_or_file);

  // Paths that exist and that we were not allowed to read.
  [[nodiscard]] const std::set<std::string>& closed() const { return closed_; }
  [[nodiscard]] bool is_closed(const std::string& path) const { return closed_.contains(path); }
  void note_closed(const std::string& path) { closed_.insert(path); }

 private:
  void note(const std::string& path, int error);

  FileTree& tree_;
  std::set<std::string> closed_;
};

[[nodiscard]] std::string trimmed_text(std::string_view text);

// Numbers within names compare as numbers: mem2 before mem10.
[[nodiscard]] bool is_natural_less(std::string_view a, std::string_view b);

[[nodiscard]] std::vector<std::string_view> lines_of(std::string_view text);
[[nodiscard]] std::vector<std::string_view> words_of(std::string_view text,
                                                     std::string_view separators = " \t\n");

// The last component of a path; the whole if it has one only.
[[nodiscard]] std::string last_name(std::string_view path);

// As parse_number, but also hexadecimal without "0x" where `base` is 16.
[[nodiscard]] std::optional<std::uint64_t> number_in(std::string_view text, int base = 0);

}  // namespace cxltier
