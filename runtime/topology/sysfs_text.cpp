// SPDX-License-Identifier: Apache-2.0
//
// Parsers over string_view.  They step with remove_prefix and never with substr(), whose range
// check would pull an exception out of the C++ run-time library.
#include "runtime/topology/sysfs_text.h"

#include <algorithm>
#include <limits>

namespace cxltier {
namespace {

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\0'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

void skip_blanks(std::string_view& text) {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
}

std::string_view trimmed(std::string_view text) {
  skip_blanks(text);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

// The front of `text` up to `stop`, which is taken off as well.
std::string_view take_until(std::string_view& text, char stop) {
  const std::size_t length = std::min(text.find(stop), text.size());
  const std::string_view taken(text.data(), length);
  text.remove_prefix(std::min(length + 1, text.size()));
  return taken;
}

// The digits at the front of `text`; nothing if there are none or their value does not fit.
std::optional<std::uint64_t> take_number(std::string_view& text) {
  constexpr std::uint64_t limit = std::numeric_limits<std::uint64_t>::max();
  if (text.empty() || !is_digit(text.front())) return std::nullopt;
  std::uint64_t value = 0;
  while (!text.empty() && is_digit(text.front())) {
    const auto digit = static_cast<std::uint64_t>(text.front() - '0');
    if (value > (limit - digit) / 10) return std::nullopt;
    value = value * 10 + digit;
    text.remove_prefix(1);
  }
  return value;
}

std::optional<std::uint32_t> take_id(std::string_view& text) {
  const std::optional<std::uint64_t> value = take_number(text);
  if (!value || *value > std::numeric_limits<std::uint32_t>::max()) return std::nullopt;
  return static_cast<std::uint32_t>(*value);
}

std::optional<std::uint32_t> hex_digit(char c) {
  if (is_digit(c)) return static_cast<std::uint32_t>(c - '0');
  if (c >= 'a' && c <= 'f') return static_cast<std::uint32_t>(c - 'a' + 10);
  if (c >= 'A' && c <= 'F') return static_cast<std::uint32_t>(c - 'A' + 10);
  return std::nullopt;
}

std::optional<std::uint64_t> parse_hex(std::string_view digits) {
  if (digits.empty() || digits.size() > 16) return std::nullopt;
  std::uint64_t value = 0;
  for (const char c : digits) {
    const std::optional<std::uint32_t> digit = hex_digit(c);
    if (!digit) return std::nullopt;
    value = value << 4 | *digit;
  }
  return value;
}

// Sets bits 32*word to 32*word+31 of `cpus`.
void insert_word(CpuSet& cpus, std::size_t word, std::uint64_t bits) {
  for (std::size_t bit = 0; bit < 32; ++bit) {
    const std::size_t cpu = word * 32 + bit;
    if ((bits >> bit & 1) != 0 && cpu < cpu_ids_max) cpus[cpu] = true;
  }
}

}  // namespace

ListStep next_range(std::string_view& rest, IdRange& range) noexcept {
  skip_blanks(rest);
  if (rest.empty()) return ListStep::end;
  const std::optional<std::uint32_t> first = take_id(rest);
  if (!first) return ListStep::malformed;
  range = {*first, *first};
  if (!rest.empty() && rest.front() == '-') {
    rest.remove_prefix(1);
    const std::optional<std::uint32_t> last = take_id(rest);
    if (!last || *last < *first) return ListStep::malformed;
    range.last = *last;
  }
  skip_blanks(rest);
  if (rest.empty()) return ListStep::range;
  if (rest.front() != ',') return ListStep::malformed;
  rest.remove_prefix(1);
  return ListStep::range;
}

bool parse_node_list(std::string_view text, NodeSet& nodes) noexcept {
  IdRange range;
  ListStep step;
  while ((step = next_range(text, range)) == ListStep::range) {
    for (std::uint64_t id = range.first; id <= range.last && id < node_ids_max; ++id) {
      nodes.insert(static_cast<NodeId>(id));
    }
  }
  return step == ListStep::end;
}

bool parse_cpu_list(std::string_view text, CpuSet& cpus) noexcept {
  IdRange range;
  ListStep step;
  while ((step = next_range(text, range)) == ListStep::range) {
    for (std::uint64_t id = range.first; id <= range.last && id < cpu_ids_max; ++id) {
      cpus[id] = true;
    }
  }
  return step == ListStep::end;
}

bool parse_cpu_mask(std::string_view text, CpuSet& cpus) noexcept {
  std::string_view rest = trimmed(text);
  if (rest.empty()) return false;
  auto word = static_cast<std::size_t>(std::count(rest.begin(), rest.end(), ','));
  for (;; --word) {
    const std::string_view digits = take_until(rest, ',');
    const std::optional<std::uint64_t> bits = parse_hex(digits);
    if (!bits || *bits > 0xffff'ffff) return false;
    insert_word(cpus, word, *bits);
    if (word == 0) return true;
  }
}

std::optional<std::uint64_t> parse_number(std::string_view text) noexcept {
  std::string_view rest = trimmed(text);
  if (rest.size() > 2 && rest[0] == '0' && (rest[1] == 'x' || rest[1] == 'X')) {
    rest.remove_prefix(2);
    return parse_hex(rest);
  }
  const std::optional<std::uint64_t> value = take_number(rest);
  return rest.empty() ? value : std::nullopt;
}

std::optional<NodeId> parse_node(std::string_view text) noexcept {
  const std::optional<std::uint64_t> value = parse_number(text);
  if (!value || *value >= node_ids_max) return std::nullopt;
  return static_cast<NodeId>(*value);
}

std::optional<Bytes> parse_mem_total(std::string_view text) noexcept {
  constexpr std::string_view key = "MemTotal:";
  const std::size_t at = text.find(key);
  if (at == std::string_view::npos) return std::nullopt;
  text.remove_prefix(at + key.size());
  std::string_view line = trimmed(take_until(text, '\n'));
  const std::optional<std::uint64_t> kib = take_number(line);
  if (!kib || trimmed(line) != "kB") return std::nullopt;
  if (*kib > std::numeric_limits<std::uint64_t>::max() / 1024) return std::nullopt;
  return Bytes{*kib * 1024};
}

std::size_t parse_distances(std::string_view text, std::span<std::uint8_t> out) noexcept {
  std::size_t columns = 0;
  for (;;) {
    skip_blanks(text);
    if (text.empty()) return columns;
    const std::optional<std::uint64_t> value = take_number(text);
    if (!value || *value > 255 || columns == out.size()) return 0;
    if (!text.empty() && !is_blank(text.front())) return 0;
    out[columns++] = static_cast<std::uint8_t>(*value < 10 ? 0 : *value);
  }
}

std::string_view field_of(std::string_view text, std::string_view key) noexcept {
  while (!text.empty()) {
    std::string_view line = take_until(text, '\n');
    if (line.size() <= key.size() || !has_prefix(line, key) || line[key.size()] != ':') continue;
    line.remove_prefix(key.size() + 1);
    return trimmed(line);
  }
  return {};
}

bool has_prefix(std::string_view text, std::string_view prefix) noexcept {
  return text.size() >= prefix.size() && std::string_view(text.data(), prefix.size()) == prefix;
}

std::optional<std::uint32_t> number_after(std::string_view prefix, std::string_view name) noexcept {
  if (!has_prefix(name, prefix)) return std::nullopt;
  name.remove_prefix(prefix.size());
  const std::optional<std::uint32_t> number = take_id(name);
  return name.empty() ? number : std::nullopt;
}

std::string_view next_component(std::string_view& path) noexcept {
  while (!path.empty() && path.front() == '/') path.remove_prefix(1);
  return take_until(path, '/');
}

std::string_view last_component(std::string_view path) noexcept {
  const std::size_t slash = path.rfind('/');
  if (slash != std::string_view::npos) path.remove_prefix(slash + 1);
  return path;
}

}  // namespace cxltier
