// SPDX-License-Identifier: Apache-2.0
//
// Follows the pointers from the hot keys' objects backwards; see the header.
#include "bench/redis_demo/hot_pages.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <string>
#include <unordered_map>
#include <utility>

#include "bench/redis_demo/failure.h"

namespace cxltier::demo {
namespace {

constexpr std::uint64_t pipeline_keys = 256;
// sds: a value of 256 bytes to 64 KiB has a header of 5 bytes, and every one an end byte.
constexpr std::uint64_t value_header = 5;
// A bucket array's page holds 512 pointers, a seventh of them to hot entries; a page of entries has
// a tenth of that.  The number only has to part the two.
constexpr std::size_t table_hits_min = 32;
// Redis may keep marks in the low bits of pointers to entries.
constexpr std::uint64_t pointer_marks = 7;

std::uint64_t address_in(const std::string& reply) {
  const std::string mark = "Value at:0x";
  const std::size_t at = reply.find(mark);
  if (at == std::string::npos) fail("DEBUG OBJECT tells no address: " + reply);
  return std::stoull(reply.substr(at + mark.size()), nullptr, 16);
}

std::vector<PageAddress> sorted_unique(std::vector<PageAddress> pages) {
  std::sort(pages.begin(), pages.end());
  pages.erase(std::unique(pages.begin(), pages.end()), pages.end());
  return pages;
}

std::vector<PageAddress> pages_holding(const std::vector<std::uint64_t>& addresses) {
  std::vector<PageAddress> pages;
  pages.reserve(addresses.size());
  for (std::uint64_t address : addresses) pages.push_back(page_of(address));
  return sorted_unique(std::move(pages));
}

// Words of the process that point at one of some targets.
class PointerSearch {
 public:
  explicit PointerSearch(std::vector<std::uint64_t> targets) : targets_(std::move(targets)) {
    std::sort(targets_.begin(), targets_.end());
  }

  // Addresses of those words, ascending.
  std::vector<std::uint64_t> run(int pid, std::span<const PageRun> runs) const {
    std::vector<std::uint64_t> found;
    if (targets_.empty()) return found;
    visit_memory(pid, runs, [&](std::uint64_t at, std::span<const std::uint64_t> words) {
      for (std::size_t i = 0; i < words.size(); ++i) {
        if (is_target(words[i])) found.push_back(at + i * sizeof words[0]);
      }
    });
    return found;
  }

 private:
  bool is_target(std::uint64_t word) const {
    const std::uint64_t pointer = word & ~pointer_marks;
    if (pointer < targets_.front() || pointer > targets_.back()) return false;
    return std::binary_search(targets_.begin(), targets_.end(), pointer);
  }

  std::vector<std::uint64_t> targets_;
};

std::vector<std::uint64_t> words_at(int pid, const std::vector<std::uint64_t>& addresses) {
  const std::vector<char> bytes = gather(pid, addresses, sizeof(std::uint64_t));
  std::vector<std::uint64_t> words(addresses.size());
  std::memcpy(words.data(), bytes.data(), bytes.size());
  return words;
}

struct Entries {
  std::vector<std::uint64_t> addresses;
  std::vector<std::uint64_t> keys;
};

// Of words that point at hot objects, those that are the v of an entry: the word before points at a
// key.  Redis up to 7.2 has {key, v, next}, Redis 8 {next, key, v}; entries are 16-byte aligned,
// and that tells the two apart.
Entries entries_at(int pid, const std::vector<std::uint64_t>& v_words) {
  std::vector<std::uint64_t> key_words;
  for (std::uint64_t v_word : v_words) key_words.push_back(v_word - 8);
  const std::vector<std::uint64_t> keys = words_at(pid, key_words);
  const std::vector<char> texts = gather(pid, keys, 4);
  Entries entries;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (std::memcmp(texts.data() + i * 4, "key:", 4) != 0) continue;
    entries.addresses.push_back(v_words[i] - (v_words[i] % 16 == 8 ? 8 : 16));
    entries.keys.push_back(keys[i]);
  }
  return entries;
}

// Parts the words that point at hot entries into the bucket array's pages and entries in front.
void sort_out_pointers(int pid, const std::vector<std::uint64_t>& words, HotMetadata& metadata) {
  std::unordered_map<PageAddress, std::size_t> hits;
  for (std::uint64_t word : words) ++hits[page_of(word)];
  std::vector<std::uint64_t> near;  // entries in front start at most 16 bytes before their next
  for (std::uint64_t word : words) {
    if (hits[page_of(word)] >= table_hits_min) continue;
    metadata.in_front.push_back(page_of(word));
    near.push_back(word % 16 == 0 && word % 32 != 0 ? word - 16 : word + 8);
  }
  for (std::uint64_t key : words_at(pid, near)) {
    if (key != 0) metadata.in_front.push_back(page_of(key));
  }
  metadata.in_front = sorted_unique(std::move(metadata.in_front));
  for (const auto& [page, count] : hits) {
    if (count >= table_hits_min) metadata.table.push_back(page);
  }
  std::sort(metadata.table.begin(), metadata.table.end());
}

}  // namespace

HotObjects find_hot_objects(Server& server, const Dataset& dataset) {
  HotObjects hot;
  Connection& control = server.control();
  for (std::uint64_t first = 0; first < dataset.hot_keys; first += pipeline_keys) {
    const std::uint64_t end = std::min(first + pipeline_keys, dataset.hot_keys);
    for (std::uint64_t k = first; k < end; ++k) control.append({"DEBUG", "OBJECT", key_of(k)});
    control.flush();
    for (std::uint64_t k = first; k < end; ++k) {
      hot.objects.push_back(address_in(control.read_reply()));
    }
  }
  std::vector<std::uint64_t> pointers;
  for (std::uint64_t object : hot.objects) pointers.push_back(object + 8);
  hot.values = words_at(server.pid(), pointers);
  const std::vector<char> texts = gather(server.pid(), hot.values, digits_size);
  for (std::uint64_t k = 0; k < dataset.hot_keys; ++k) {
    const std::string digits = key_of(k).substr(key_size - digits_size);
    if (std::memcmp(texts.data() + k * digits_size, digits.data(), digits_size) != 0) {
      fail("the value of " + key_of(k) + " is not where DEBUG OBJECT says: unknown Redis layout");
    }
  }
  return hot;
}

std::vector<PageAddress> value_pages(const HotObjects& hot) {
  std::vector<PageAddress> pages;
  for (std::uint64_t value : hot.values) {
    const PageAddress first = page_of(value - value_header);
    for (PageAddress page = first; page <= page_of(value + value_size); page += page_size) {
      pages.push_back(page);
    }
  }
  return sorted_unique(std::move(pages));
}

HotMetadata find_hot_metadata(Server& server, const HotObjects& hot) {
  const int pid = server.pid();
  const std::vector<PageAddress> pages = anonymous_pages(pid);
  const std::vector<PageRun> runs = runs_of(pages);
  HotMetadata metadata;
  metadata.objects = pages_holding(hot.objects);
  const Entries entries = entries_at(pid, PointerSearch(hot.objects).run(pid, runs));
  metadata.entries_found = entries.addresses.size();
  metadata.entries = pages_holding(entries.addresses);
  metadata.keys = pages_holding(entries.keys);
  sort_out_pointers(pid, PointerSearch(entries.addresses).run(pid, runs), metadata);
  return metadata;
}

}  // namespace cxltier::demo
