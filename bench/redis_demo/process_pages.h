// SPDX-License-Identifier: Apache-2.0
//
// Another process's anonymous pages: which exist, on which nodes they are, and moving them.
//
// Anonymous means: present and not of a file.  Program text and page cache are never moved: an
// emulator that executes code from CXL memory is about a hundred times slower, and the demo is
// about data.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace cxltier::demo {

inline constexpr std::uint64_t page_size = 4096;
using PageAddress = std::uint64_t;  // multiple of page_size

constexpr PageAddress page_of(std::uint64_t address) { return address & ~(page_size - 1); }

// A run of a process's anonymous pages; [begin, end) holds no hole.
struct PageRun {
  PageAddress begin = 0;
  PageAddress end = 0;
};

// Every anonymous page that is present, ascending.  errors: throws Failure
std::vector<PageAddress> anonymous_pages(int pid);

// Those of them that were written since clear_written_marks.
// errors: empty when the kernel has no soft-dirty bits
std::vector<PageAddress> written_pages(int pid);
void clear_written_marks(int pid);

// Neighbouring pages joined; `pages` ascending.
std::vector<PageRun> runs_of(std::span<const PageAddress> pages);

// The node of each page; negative when the page is gone.  errors: throws Failure
std::vector<int> nodes_of(int pid, std::span<const PageAddress> pages);

struct MoveCounts {
  std::uint64_t moved = 0;
  std::uint64_t gone = 0;     // freed meanwhile
  std::uint64_t refused = 0;  // still elsewhere after the second try
  MoveCounts& operator+=(const MoveCounts& other);
};

// Moves to `node` those pages that are elsewhere; tries busy ones twice.  errors: throws Failure
MoveCounts move_pages_to(int pid, std::span<const PageAddress> pages, int node);

// Reads memory of a process in large pieces and hands them out: `visit(address, bytes)`.
// Pieces that cannot be read are left out.
using MemoryVisitor = std::function<void(std::uint64_t, std::span<const std::uint64_t>)>;
void visit_memory(int pid, std::span<const PageRun> runs, const MemoryVisitor& visit);

// Reads `size` bytes at each address; the result has size bytes for each, zeros where unreadable.
std::vector<char> gather(int pid, std::span<const std::uint64_t> addresses, std::size_t size);

}  // namespace cxltier::demo
