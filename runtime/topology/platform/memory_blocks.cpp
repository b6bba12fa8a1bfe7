// SPDX-License-Identifier: Apache-2.0
//
// A large machine has some ten thousand blocks: their zones are read only where a node without CPUs
// has them, since a block's zones matter only there.
#include "runtime/topology/platform/memory_blocks.h"

#include <algorithm>

namespace cxltier {
namespace {

constexpr const char* blocks_folder = "sys/devices/system/memory";
constexpr std::uint64_t blocks_max = 1u << 20;

std::optional<std::uint64_t> block_index(std::string_view name) {
  if (!name.starts_with("memory")) return std::nullopt;
  return number_in(name.substr(6));
}

std::optional<std::uint64_t> node_below(Files& files, const std::string& block) {
  for (const std::string& name : files.names(block)) {
    if (!name.starts_with("node")) continue;
    if (const std::optional<std::uint64_t> node = number_in(name.substr(4))) return node;
  }
  return std::nullopt;
}

// "0x000006be80000000-0x000006de7fffffff"
bool take_range(std::string_view word, std::uint64_t& first, std::uint64_t& last) {
  const std::size_t dash = word.find('-');
  if (dash == std::string_view::npos || !word.starts_with("0x")) return false;
  const std::optional<std::uint64_t> from = number_in(word.substr(0, dash));
  const std::optional<std::uint64_t> to = number_in(word.substr(dash + 1));
  if (!from || !to || *to < *from) return false;
  first = *from;
  last = *to;
  return true;
}

// A column of a line of lsmem, by where the column's name stands: right-aligned columns end with
// it, left-aligned ones begin with it.
std::string_view column(std::string_view header, std::string_view line, std::string_view name) {
  const std::size_t begin = header.find(name);
  if (begin == std::string_view::npos) return {};
  const std::size_t end = begin + name.size();
  for (const std::string_view word : words_of(line)) {
    const std::size_t at = static_cast<std::size_t>(word.data() - line.data());
    if (at < end && at + word.size() > begin) return word;
  }
  return {};
}

std::optional<std::uint64_t> size_in(std::string_view word) {
  if (word.empty()) return std::nullopt;
  const std::size_t unit = std::string_view("KMGT").find(word.back());
  if (unit == std::string_view::npos) return number_in(word);
  const std::optional<std::uint64_t> count = number_in(word.substr(0, word.size() - 1));
  if (!count || *count >= (std::uint64_t{1} << 20)) return std::nullopt;
  return *count << (10 * (unit + 1));
}

}  // namespace

std::vector<const MemoryBlock*> MemoryBlocks::within(std::uint64_t start,
                                                     std::uint64_t length) const {
  std::vector<const MemoryBlock*> found;
  if (size == 0) return found;
  const std::uint64_t first = start / size + (start % size != 0 ? 1 : 0);
  const std::uint64_t end = (start + length) / size;
  for (const MemoryBlock& block : blocks) {
    if (block.index >= first && block.index < end) found.push_back(&block);
  }
  return found;
}

MemoryBlocks read_memory_blocks(Files& files) {
  MemoryBlocks memory;
  const std::string root = blocks_folder;
  const std::optional<std::string> size = files.value(root + "/block_size_bytes");
  memory.size = size ? number_in(*size, 16).value_or(0) : 0;
  memory.auto_online = files.value(root + "/auto_online_blocks").value_or("");
  for (const std::string& name : files.names(root)) {
    const std::optional<std::uint64_t> index = block_index(name);
    if (!index) continue;
    const std::string path = root + "/" + name;
    MemoryBlock block;
    block.index = *index;
    block.is_online = files.value(path + "/state").value_or("") == "online";
    block.zones = files.value(path + "/valid_zones").value_or("");
    block.node = node_below(files, path);
    memory.blocks.push_back(std::move(block));
  }
  return memory;
}

std::optional<MemoryBlocks> parse_lsmem(std::string_view text) {
  MemoryBlocks memory;
  std::string_view header;
  std::vector<std::string_view> rows;
  for (const std::string_view line : lines_of(text)) {
    if (line.starts_with("RANGE")) header = line;
    if (line.starts_with("Memory block size:")) {
      memory.size = size_in(words_of(line).back()).value_or(0);
    }
    if (line.starts_with("0x") && !header.empty()) rows.push_back(line);
  }
  if (header.empty() || memory.size == 0) return std::nullopt;
  for (const std::string_view row : rows) {
    std::uint64_t first = 0;
    std::uint64_t last = 0;
    if (!take_range(words_of(row).front(), first, last)) continue;
    const std::uint64_t count = (last - first) / memory.size + 1;
    if (count > blocks_max - std::min<std::uint64_t>(memory.blocks.size(), blocks_max)) continue;
    for (std::uint64_t i = 0; i < count; ++i) {
      memory.blocks.push_back({first / memory.size + i, column(header, row, "STATE") == "online",
                               std::string(column(header, row, "ZONES")),
                               number_in(column(header, row, "NODE"))});
    }
  }
  return memory;
}

}  // namespace cxltier
