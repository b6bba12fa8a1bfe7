// SPDX-License-Identifier: Apache-2.0
//
// Word by word, from left to right, without a copy.
#include "runtime/sensor/maps_text.h"

#include <algorithm>
#include <charconv>

namespace cxltier {
namespace {

// string_view's own substr throws: in a preloaded process nothing could.
std::string_view head_of(std::string_view text, std::size_t length) noexcept {
  return {text.data(), length};
}
std::string_view tail_of(std::string_view text, std::size_t from) noexcept {
  return {text.data() + from, text.size() - from};
}

// Takes the head of `text` up to the next space and drops the spaces behind it.
std::string_view take_word(std::string_view& text) noexcept {
  const std::size_t length = std::min(text.find(' '), text.size());
  const std::string_view word = head_of(text, length);
  text.remove_prefix(length);
  text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  return word;
}

// A whole word as a number; nothing else may stand in it.
std::optional<std::uint64_t> number_in(std::string_view word, int base) noexcept {
  std::uint64_t value = 0;
  const char* end = word.data() + word.size();
  const std::from_chars_result parsed = std::from_chars(word.data(), end, value, base);
  if (word.empty() || parsed.ec != std::errc{} || parsed.ptr != end) return std::nullopt;
  return value;
}

std::optional<AddressRange> range_in(std::string_view word) noexcept {
  const std::size_t dash = word.find('-');
  if (dash == std::string_view::npos) return std::nullopt;
  const std::optional begin = number_in(head_of(word, dash), 16);
  const std::optional end = number_in(tail_of(word, dash + 1), 16);
  if (!begin || !end || *begin >= *end) return std::nullopt;
  return AddressRange{*begin, *end};
}

// The policies that first touch amounts to: the kernel's default, and the two that we alternate.
bool is_equivalent_policy(std::string_view word) noexcept {
  return word == "default" || word == "local" || word == "prefer";
}

// What of a line is summed up once all its fields are known.
struct NumaMapsSums {
  bool file = false;
  std::uint64_t anonymous_pages = 0;
  std::uint64_t pages = 0;
};

void read_numa_field(NumaMapsLine& line, NumaMapsSums& sums, std::string_view word) noexcept {
  const std::size_t equals = word.find('=');
  if (equals == std::string_view::npos) return;
  const std::string_view name = head_of(word, equals);
  if (name == "file") sums.file = true;
  const std::optional value = number_in(tail_of(word, equals + 1), 10);
  if (!value) return;
  if (name == "kernelpagesize_kB") line.page_kib = *value;
  if (name == "anon") sums.anonymous_pages = *value;
  if (name.size() < 2 || name[0] != 'N' || line.node_count == nodes_max) return;
  const std::optional node = number_in(tail_of(name, 1), 10);
  if (!node || *node >= node_ids_max) return;
  sums.pages += *value;
  line.nodes[line.node_count++] = {static_cast<NodeId>(*node), *value};
}

}  // namespace

std::optional<VmaLine> parse_vma_line(std::string_view line) noexcept {
  const std::optional range = range_in(take_word(line));
  const std::string_view permissions = take_word(line);
  if (!range || permissions.size() != 4) return std::nullopt;
  take_word(line);  // offset
  take_word(line);  // device
  const std::string_view inode = take_word(line);
  if (inode.empty()) return std::nullopt;
  const bool writable = permissions == "rw-p";
  return VmaLine{*range, writable, writable && inode == "0"};
}

// Most lines are of no interest, and a process has twenty-five for each VMA: the name decides
// first.
std::optional<SmapsValue> parse_smaps_value(std::string_view line) noexcept {
  SmapsField field{};
  const std::string_view name = take_word(line);
  if (name == "Rss:") {
    field = SmapsField::resident;
  } else if (name == "Referenced:") {
    field = SmapsField::referenced;
  } else if (name == "AnonHugePages:") {
    field = SmapsField::huge;
  } else {
    return std::nullopt;
  }
  const std::optional kib = number_in(take_word(line), 10);
  if (!kib || line != "kB") return std::nullopt;
  return SmapsValue{field, *kib};
}

std::optional<NumaMapsLine> parse_numa_maps_line(std::string_view text) noexcept {
  NumaMapsLine line;
  const std::optional begin = number_in(take_word(text), 16);
  const std::string_view policy = take_word(text);
  if (!begin || policy.empty()) return std::nullopt;
  line.begin = *begin;
  NumaMapsSums sums;
  // "prefer (many):0-2" is ours; "prefer:1" and "prefer=static:1" are not.
  const bool many = policy == "prefer" && text.find("(many)") == 0;
  line.application_policy = !is_equivalent_policy(policy) || (policy == "prefer" && !many);
  while (!text.empty()) read_numa_field(line, sums, take_word(text));
  line.anonymous = !sums.file || (sums.pages > 0 && sums.anonymous_pages == sums.pages);
  return line;
}

}  // namespace cxltier
