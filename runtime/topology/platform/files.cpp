// SPDX-License-Identifier: Apache-2.0
//
// A FileTree gives the head of a file, so a long file is asked for again with more room.
#include "runtime/topology/platform/files.h"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <charconv>

namespace cxltier {
namespace {

constexpr std::size_t room_first = 4096;
constexpr std::size_t room_max = std::size_t{16} << 20;

class NameList final : public EntryVisitor {
 public:
  void visit(std::string_view name) noexcept override { names.emplace_back(name); }
  std::vector<std::string> names;
};

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// The run of digits at `at`, without its leading zeros.
std::string_view digits_at(std::string_view text, std::size_t at) {
  std::size_t end = at;
  while (end < text.size() && is_digit(text[end])) ++end;
  while (at + 1 < end && text[at] == '0') ++at;
  return text.substr(at, end - at);
}

}  // namespace

void Files::note(const std::string& path, int error) {
  if (error == EACCES || error == EPERM) closed_.insert(path);
}

std::optional<std::string> Files::whole(const std::string& path) {
  for (std::size_t room = room_first;; room *= 16) {
    std::string text(std::min(room, room_max), '\0');
    const Result<std::size_t> got = tree_.read(path.c_str(), text);
    if (!got.ok()) {
      note(path, got.error());
      return std::nullopt;
    }
    const std::size_t length = std::min(got.value(), text.size());
    if (length < text.size() || text.size() == room_max) {
      text.resize(length);
      return text;
    }
  }
}

std::optional<std::string> Files::value(const std::string& path) {
  const std::optional<std::string> text = whole(path);
  if (!text) return std::nullopt;
  return trimmed_text(*text);
}

std::optional<std::uint64_t> Files::number(const std::string& path) {
  const std::optional<std::string> text = value(path);
  return text ? number_in(*text) : std::nullopt;
}

std::optional<std::int64_t> Files::signed_number(const std::string& path) {
  const std::optional<std::string> text = value(path);
  if (!text) return std::nullopt;
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), number);
  if (error != std::errc() || end != text->data() + text->size()) return std::nullopt;
  return number;
}

std::optional<bool> Files::flag(const std::string& path) {
  const std::optional<std::string> text = value(path);
  if (!text) return std::nullopt;
  if (*text == "1" || *text == "Y" || *text == "true") return true;
  if (*text == "0" || *text == "N" || *text == "false") return false;
  return std::nullopt;
}

std::string Files::link(const std::string& path) {
  std::string target(room_first, '\0');
  const Result<std::size_t> got = tree_.read_link(path.c_str(), target);
  if (!got.ok()) return {};
  target.resize(std::min(got.value(), target.size()));
  return target;
}

std::vector<std::string> Files::names(const std::string& folder) {
  NameList list;
  const Result<std::size_t> listed = tree_.list(folder.c_str(), list);
  if (!listed.ok()) {
    note(folder, listed.error());
    return {};
  }
  std::sort(list.names.begin(), list.names.end(), is_natural_less);
  return list.names;
}

bool Files::exists(const std::string& folder_or_file) {
  NameList list;
  if (tree_.list(folder_or_file.c_str(), list).ok()) return true;
  char byte = 0;
  const int error = tree_.read(folder_or_file.c_str(), {&byte, 1}).error();
  return error == 0 || error == EACCES || error == EPERM || error == EISDIR;
}

std::string trimmed_text(std::string_view text) {
  const auto is_blank = [](char c) {
    return c == '\0' || std::isspace(static_cast<unsigned char>(c));
  };
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return std::string(text);
}

bool is_natural_less(std::string_view a, std::string_view b) {
  std::size_t i = 0;
  std::size_t j = 0;
  while (i < a.size() && j < b.size()) {
    if (is_digit(a[i]) && is_digit(b[j])) {
      const std::string_view left = digits_at(a, i);
      const std::string_view right = digits_at(b, j);
      if (left != right) {
        return left.size() != right.size() ? left.size() < right.size() : left < right;
      }
      while (i < a.size() && is_digit(a[i])) ++i;
      while (j < b.size() && is_digit(b[j])) ++j;
      continue;
    }
    if (a[i] != b[j]) return a[i] < b[j];
    ++i;
    ++j;
  }
  return a.size() - i != b.size() - j ? a.size() - i < b.size() - j : a < b;
}

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    lines.push_back(line);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

std::vector<std::string_view> words_of(std::string_view text, std::string_view separators) {
  std::vector<std::string_view> words;
  for (std::size_t at = text.find_first_not_of(separators); at != std::string_view::npos;) {
    const std::size_t end = std::min(text.find_first_of(separators, at), text.size());
    words.push_back(text.substr(at, end - at));
    at = text.find_first_not_of(separators, end);
  }
  return words;
}

std::string last_name(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return std::string(slash == std::string_view::npos ? path : path.substr(slash + 1));
}

std::optional<std::uint64_t> number_in(std::string_view text, int base) {
  const bool has_mark = text.starts_with("0x") || text.starts_with("0X");
  if (has_mark) text.remove_prefix(2);
  const int radix = has_mark || base == 16 ? 16 : 10;
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, radix);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace cxltier
