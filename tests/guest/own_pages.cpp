// SPDX-License-Identifier: Apache-2.0
//
// The kernel's answers, page by page.
#include "tests/guest/own_pages.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <sstream>
#include <string>

namespace cxltier::guest {
namespace {

constexpr int move_pages_of_this_process = 1 << 1;  // MPOL_MF_MOVE

std::vector<void*> page_addresses(std::span<const std::byte> bytes) {
  std::vector<void*> pages;
  const auto begin = reinterpret_cast<std::uintptr_t>(bytes.data()) & ~(page_bytes - 1);
  const auto end = reinterpret_cast<std::uintptr_t>(bytes.data() + bytes.size());
  for (std::uintptr_t at = begin; at < end; at += page_bytes) {
    pages.push_back(reinterpret_cast<void*>(at));
  }
  return pages;
}

bool contains(const std::vector<int>& nodes, int node) {
  return std::ranges::find(nodes, node) != nodes.end();
}

// "N2=17" of a line of numa_maps; 0 for another word or another node.
std::size_t pages_of_word(const std::string& word, const std::vector<int>& nodes) {
  const std::size_t equals = word.find('=');
  if (word[0] != 'N' || equals == std::string::npos) return 0;
  if (!contains(nodes, std::stoi(word.substr(1, equals - 1)))) return 0;
  return std::stoul(word.substr(equals + 1));
}

}  // namespace

std::vector<int> nodes_of(std::span<const std::byte> bytes) {
  std::vector<void*> pages = page_addresses(bytes);
  std::vector<int> nodes(pages.size(), -EIO);
  syscall(SYS_move_pages, 0, pages.size(), pages.data(), nullptr, nodes.data(), 0);
  return nodes;
}

std::size_t pages_on(std::span<const std::byte> bytes, const std::vector<int>& nodes) {
  const std::vector<int> found = nodes_of(bytes);
  return static_cast<std::size_t>(
      std::ranges::count_if(found, [&](int node) { return contains(nodes, node); }));
}

std::size_t pages_in(std::span<const std::byte> bytes) { return page_addresses(bytes).size(); }

// In batches, since the kernel gives up at the first one that fails; three times over, for pages
// that were busy.
std::size_t move_to(std::span<const std::byte> bytes, int node) {
  constexpr std::size_t batch = 512;
  std::vector<void*> pages = page_addresses(bytes);
  const std::vector<int> to(batch, node);
  std::vector<int> status(batch);
  for (int round = 0; round < 3; ++round) {
    for (std::size_t i = 0; i < pages.size(); i += batch) {
      const std::size_t count = std::min(batch, pages.size() - i);
      syscall(SYS_move_pages, 0, count, pages.data() + i, to.data(), status.data(),
              move_pages_of_this_process);
    }
  }
  return pages_on(bytes, {node});
}

std::size_t anonymous_pages_on(const std::vector<int>& nodes) {
  std::ifstream in("/proc/self/numa_maps");
  std::size_t pages = 0;
  std::string line;
  while (std::getline(in, line)) {
    if (line.find(" file=") != std::string::npos) continue;
    std::istringstream words(line);
    std::string word;
    words >> word >> word;  // address and policy
    while (words >> word) pages += pages_of_word(word, nodes);
  }
  return pages;
}

}  // namespace cxltier::guest
