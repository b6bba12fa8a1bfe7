// SPDX-License-Identifier: Apache-2.0
//
// smaps and pagemap to find pages, move_pages to place them, process_vm_readv to look into them.
#include "bench/redis_demo/process_pages.h"

#include <fcntl.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <fstream>
#include <string>

#include "bench/redis_demo/failure.h"

namespace cxltier::demo {
namespace {

// Admin guide mm/pagemap.rst of Linux.
constexpr std::uint64_t pagemap_present = 1ULL << 63;
constexpr std::uint64_t pagemap_file = 1ULL << 61;
constexpr std::uint64_t pagemap_soft_dirty = 1ULL << 55;

constexpr std::size_t move_batch = 512;  // larger ones are not faster, measured in a guest
constexpr std::size_t query_batch = 4096;
constexpr int move_own = 1 << 1;  // MPOL_MF_MOVE

std::string proc_path(int pid, const char* file) {
  return "/proc/" + std::to_string(pid) + "/" + file;
}

// Mappings that hold at least one anonymous page.  smaps skips unpopulated tables quickly, pagemap
// does not: large reservations must not be read through pagemap.
std::vector<PageRun> anonymous_mappings(int pid) {
  std::ifstream file(proc_path(pid, "smaps"));
  if (!file) fail_errno(proc_path(pid, "smaps"));
  std::vector<PageRun> mappings;
  PageRun current;
  for (std::string line; std::getline(file, line);) {
    unsigned long begin = 0;
    unsigned long end = 0;
    unsigned long kib = 0;
    if (std::sscanf(line.c_str(), "%lx-%lx ", &begin, &end) == 2) {
      current = {begin, end};
    } else if (std::sscanf(line.c_str(), "Anonymous: %lu", &kib) == 1 && kib > 0) {
      mappings.push_back(current);
    }
  }
  return mappings;
}

// Pages whose pagemap entry has all bits of `with` and none of `without`.
std::vector<PageAddress> pages_with(int pid, std::uint64_t with, std::uint64_t without) {
  const int fd = open(proc_path(pid, "pagemap").c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) fail_errno(proc_path(pid, "pagemap"));
  std::vector<PageAddress> pages;
  std::vector<std::uint64_t> entries(65536);
  for (const PageRun& mapping : anonymous_mappings(pid)) {
    for (PageAddress at = mapping.begin; at < mapping.end;) {
      const std::uint64_t left = (mapping.end - at) / page_size;
      const std::size_t wanted = std::min<std::size_t>(left, entries.size()) * sizeof entries[0];
      const ssize_t got =
          pread(fd, entries.data(), wanted, static_cast<off_t>(at / page_size * sizeof entries[0]));
      if (got <= 0) break;  // the mapping went away, or it is the kernel's own
      const std::size_t count = static_cast<std::size_t>(got) / sizeof entries[0];
      for (std::size_t i = 0; i < count; ++i) {
        const std::uint64_t entry = entries[i];
        if ((entry & with) == with && (entry & without) == 0) pages.push_back(at + i * page_size);
      }
      at += count * page_size;
    }
  }
  close(fd);
  return pages;
}

// One system call; `nodes` empty: query only.  The status of each page goes to `status`.
void call_move_pages(int pid, std::span<const PageAddress> pages, std::span<const int> nodes,
                     std::span<int> status) {
  std::vector<void*> pointers;
  pointers.reserve(pages.size());
  for (PageAddress page : pages) pointers.push_back(reinterpret_cast<void*>(page));
  const long left = syscall(SYS_move_pages, pid, pointers.size(), pointers.data(),
                            nodes.empty() ? nullptr : nodes.data(), status.data(), move_own);
  if (left < 0) fail_errno("move_pages of process " + std::to_string(pid));
}

// Moves a list once; pages that stay are returned, those that are gone counted.
std::vector<PageAddress> move_once(int pid, std::span<const PageAddress> pages, int node,
                                   MoveCounts& counts) {
  std::vector<PageAddress> stayed;
  for (std::size_t at = 0; at < pages.size(); at += move_batch) {
    const auto batch = pages.subspan(at, std::min(move_batch, pages.size() - at));
    const std::vector<int> targets(batch.size(), node);
    std::vector<int> status(batch.size(), -EBUSY);
    call_move_pages(pid, batch, targets, status);
    for (std::size_t i = 0; i < batch.size(); ++i) {
      if (status[i] == node) {
        ++counts.moved;
      } else if (status[i] == -ENOENT || status[i] == -EFAULT) {
        ++counts.gone;
      } else {
        stayed.push_back(batch[i]);
      }
    }
  }
  return stayed;
}

}  // namespace

std::vector<PageAddress> anonymous_pages(int pid) {
  return pages_with(pid, pagemap_present, pagemap_file);
}

std::vector<PageAddress> written_pages(int pid) {
  return pages_with(pid, pagemap_present | pagemap_soft_dirty, pagemap_file);
}

void clear_written_marks(int pid) {
  std::ofstream file(proc_path(pid, "clear_refs"));
  file << "4" << std::flush;  // 4: soft-dirty bits only; access bits stay
}

std::vector<PageRun> runs_of(std::span<const PageAddress> pages) {
  std::vector<PageRun> runs;
  for (PageAddress page : pages) {
    if (!runs.empty() && runs.back().end == page) {
      runs.back().end += page_size;
    } else {
      runs.push_back({page, page + page_size});
    }
  }
  return runs;
}

std::vector<int> nodes_of(int pid, std::span<const PageAddress> pages) {
  std::vector<int> nodes(pages.size(), -ENOENT);
  for (std::size_t at = 0; at < pages.size(); at += query_batch) {
    const std::size_t count = std::min(query_batch, pages.size() - at);
    call_move_pages(pid, pages.subspan(at, count), {}, std::span(nodes).subspan(at, count));
  }
  return nodes;
}

MoveCounts& MoveCounts::operator+=(const MoveCounts& other) {
  moved += other.moved;
  gone += other.gone;
  refused += other.refused;
  return *this;
}

MoveCounts move_pages_to(int pid, std::span<const PageAddress> pages, int node) {
  const std::vector<int> nodes = nodes_of(pid, pages);
  std::vector<PageAddress> elsewhere;
  for (std::size_t i = 0; i < pages.size(); ++i) {
    if (nodes[i] >= 0 && nodes[i] != node) elsewhere.push_back(pages[i]);
  }
  MoveCounts counts;
  const std::vector<PageAddress> busy = move_once(pid, elsewhere, node, counts);
  counts.refused = move_once(pid, busy, node, counts).size();
  return counts;
}

void visit_memory(int pid, std::span<const PageRun> runs, const MemoryVisitor& visit) {
  constexpr std::uint64_t piece = 1 << 20;
  std::vector<std::uint64_t> words(piece / sizeof(std::uint64_t));
  for (const PageRun& run : runs) {
    for (PageAddress at = run.begin; at < run.end; at += piece) {
      const std::uint64_t size = std::min(piece, run.end - at);
      const iovec local = {words.data(), size};
      const iovec remote = {reinterpret_cast<void*>(at), size};
      const ssize_t got = process_vm_readv(pid, &local, 1, &remote, 1, 0);
      if (got <= 0) continue;
      visit(at, std::span(words).first(static_cast<std::size_t>(got) / sizeof words[0]));
    }
  }
}

std::vector<char> gather(int pid, std::span<const std::uint64_t> addresses, std::size_t size) {
  constexpr std::size_t pieces_max = 1024;  // UIO_MAXIOV of Linux
  std::vector<char> bytes(addresses.size() * size, 0);
  for (std::size_t at = 0; at < addresses.size();) {
    const std::size_t count = std::min(pieces_max, addresses.size() - at);
    std::vector<iovec> remote;
    for (std::uint64_t address : addresses.subspan(at, count)) {
      remote.push_back({reinterpret_cast<void*>(address), size});
    }
    const iovec local = {bytes.data() + at * size, count * size};
    const ssize_t got = process_vm_readv(pid, &local, 1, remote.data(), count, 0);
    if (got < 0 && errno == EPERM) fail_errno("reading memory of process " + std::to_string(pid));
    // A read ends at the first piece that is not mapped: step over that one.
    const std::size_t read = got < 0 ? 0 : static_cast<std::size_t>(got) / size;
    at += read < count ? read + 1 : count;
  }
  return bytes;
}

}  // namespace cxltier::demo
