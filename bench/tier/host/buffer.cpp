// SPDX-License-Identifier: Apache-2.0
//
// mmap, madvise, touch, and the two questions to the kernel: where (move_pages) and how large are
// the pages (smaps).
#include "bench/tier/host/buffer.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <utility>

#include "bench/tier/host/memory_limit.h"
#include "bench/tier/host/node_binding.h"
#include "policy/check.h"
#include "runtime/os/file_tree_linux.h"
#include "runtime/os/page_mover_linux.h"
#include "runtime/topology/sysfs_text.h"
#include "runtime/topology/tree_text.h"

namespace cxltier::bench {
namespace {

constexpr std::size_t huge_bytes = std::size_t{2} << 20;

std::size_t page_bytes() noexcept { return static_cast<std::size_t>(sysconf(_SC_PAGESIZE)); }

std::size_t rounded_up(std::size_t bytes, std::size_t unit) {
  return (bytes + unit - 1) / unit * unit;
}

// The bytes of huge pages in the mappings that overlap [start, end), of all bytes of these.
struct HugeBytes {
  std::uint64_t mapped = 0;
  std::uint64_t huge = 0;
};

bool read_huge_bytes(std::uintptr_t start, std::uintptr_t end, HugeBytes& found) {
  std::ifstream smaps("/proc/self/smaps");
  if (!smaps) return false;
  bool inside = false;
  std::uint64_t mapped = 0;
  for (std::string line; std::getline(smaps, line);) {
    unsigned long low = 0;
    unsigned long high = 0;
    unsigned long kib = 0;
    if (std::sscanf(line.c_str(), "%lx-%lx ", &low, &high) == 2) {
      inside = low < end && high > start;
      mapped =
          inside ? std::min<std::uint64_t>(high, end) - std::max<std::uint64_t>(low, start) : 0;
      found.mapped += mapped;
    } else if (inside && std::sscanf(line.c_str(), "AnonHugePages: %lu", &kib) == 1) {
      found.huge += std::min<std::uint64_t>(kib * 1024, mapped);
    } else if (inside && std::sscanf(line.c_str(), "KernelPageSize: %lu", &kib) == 1) {
      if (kib > 1024) found.huge += mapped;  // hugetlb: no AnonHugePages there
    }
  }
  return true;
}

// Half of what is free is left to others: a full node, and a full control group, is a kill.
bool has_room(const BufferRequest& request) {
  FileTreeLinux tree("/");
  if (request.bytes > room_in_groups(tree) / 2) return false;
  std::uint64_t weights = 0;
  for (const NodeWeight& node : request.nodes) weights += node.weight;
  for (const NodeWeight& node : request.nodes) {
    const std::uint64_t wanted = request.bytes * node.weight / weights;
    const Bytes free = free_memory(node.node);
    if (free.count > 0 && wanted * 2 > free.count) return false;
  }
  return true;
}

}  // namespace

const char* name_of(PageKind kind) noexcept {
  switch (kind) {
    case PageKind::small:
      return "4k";
    case PageKind::thp:
      return "thp";
    case PageKind::hugetlb:
      return "hugetlb";
  }
  return "?";
}

std::optional<PageKind> find_page_kind(std::string_view name) noexcept {
  for (const PageKind kind : {PageKind::small, PageKind::thp, PageKind::hugetlb}) {
    if (name == name_of(kind)) return kind;
  }
  return std::nullopt;
}

PageKind usual_pages(std::optional<PageKind> asked, std::string_view thp) noexcept {
  const bool off = thp.find("[never]") != thp.npos;
  return asked.value_or(off ? PageKind::small : PageKind::thp);
}

NodeId dealt_node(std::span<const NodeWeight> nodes, std::uint64_t index) noexcept {
  std::uint64_t total = 0;
  for (const NodeWeight& node : nodes) total += node.weight;
  CXLTIER_CHECK(total > 0);
  std::uint64_t at = index % total;
  for (const NodeWeight& node : nodes) {
    if (at < node.weight) return node.node;
    at -= node.weight;
  }
  return nodes.back().node;
}

Bytes free_memory(NodeId node) {
  FileTreeLinux tree("/");
  TreeText text(tree);
  const Path path = Path("sys/devices/system/node/node").number(index_of(node)).text("/meminfo");
  if (text.read(path) == 0) return parse_meminfo(text.view(), "MemFree:").value_or(Bytes{});
  if (text.read(Path("proc/meminfo")) != 0) return {};
  return parse_meminfo(text.view(), "MemFree:").value_or(Bytes{});
}

std::optional<Buffer> Buffer::make(const BufferRequest& request, int& error) {
  Buffer buffer;
  buffer.request_ = request;
  buffer.request_.bytes = rounded_up(std::max<std::size_t>(request.bytes, 1), huge_bytes);
  buffer.bytes_ = buffer.request_.bytes;
  error = ENOMEM;
  if (!has_room(buffer.request_) || !buffer.map(request.pages)) return std::nullopt;
  error = 0;
  if (request.nodes.size() > 1) {
    buffer.touch_dealt();
  } else {
    if (!request.nodes.empty()) {
      buffer.bind_error_ = bind_range(buffer.start_, buffer.bytes_, request.nodes.front().node);
    }
    if (!buffer.populate()) {
      error = ENOMEM;
      return std::nullopt;
    }
    buffer.touch();
  }
  return buffer;
}

bool Buffer::map(PageKind pages) {
  const int huge_flags = pages == PageKind::hugetlb ? MAP_HUGETLB | (21 << MAP_HUGE_SHIFT) : 0;
  // hugetlb memory is aligned by itself, and every page of the slack would be taken from the pool.
  mapping_bytes_ = bytes_ + (pages == PageKind::hugetlb ? 0 : huge_bytes);
  // A reservation from the pool fails here; without one, touching an empty pool is a bus error.
  const int reserve_flags = pages == PageKind::hugetlb ? 0 : MAP_NORESERVE;
  void* mapped = ::mmap(nullptr, mapping_bytes_, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | reserve_flags | huge_flags, -1, 0);
  if (mapped == MAP_FAILED) return false;
  mapping_ = static_cast<std::byte*>(mapped);
  const auto address = reinterpret_cast<std::uintptr_t>(mapped);
  start_ = mapping_ + (rounded_up(address, huge_bytes) - address);
  if (pages != PageKind::hugetlb) {
    // Refused where the kernel has no huge pages; the report says what was granted.
    (void)::madvise(start_, bytes_, pages == PageKind::thp ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
  }
  return true;
}

// The pool may have pages, and the asked node none of them: the kernel then says so here, where a
// touch would be a bus error.  False: there is no room.
bool Buffer::populate() {
  constexpr int madv_populate_write = 23;  // Linux 5.14; older headers lack the name
  if (request_.pages != PageKind::hugetlb) return true;
  return ::madvise(start_, bytes_, madv_populate_write) == 0 || errno == EINVAL;
}

void Buffer::touch() {
  for (std::size_t at = 0; at < bytes_; at += page_bytes()) start_[at] = std::byte{1};
}

void Buffer::touch_dealt() {
  const std::size_t unit = request_.pages == PageKind::small ? page_bytes() : huge_bytes;
  NodeSet all;
  for (const NodeWeight& node : request_.nodes) {
    all.insert(node.node);
    if (node.weight == 0) continue;
    if (const int refused = bind_thread(node.node); refused != 0) bind_error_ = refused;
    for (std::size_t at = 0; at < bytes_; at += unit) {
      if (dealt_node(request_.nodes, at / unit) != node.node) continue;
      for (std::size_t page = at; page < at + unit; page += page_bytes()) {
        start_[page] = std::byte{1};
      }
    }
  }
  unbind_thread();
  const int refused = keep_range(start_, bytes_, all);
  if (bind_error_ == 0) bind_error_ = refused;
}

PlacementReport report_of(std::span<const std::byte> range, std::span<const NodeWeight> nodes,
                          PageKind asked) {
  constexpr std::size_t checked_max = 16384;
  PlacementReport report;
  HugeBytes huge;
  const auto start = reinterpret_cast<std::uintptr_t>(range.data());
  report.huge_known = read_huge_bytes(start, start + range.size(), huge);
  if (huge.mapped > 0) {
    report.huge_share = static_cast<double>(huge.huge) / static_cast<double>(huge.mapped);
  }
  const std::size_t pages = range.size() / page_bytes();
  const std::size_t apart = std::max<std::size_t>(pages / checked_max, 1);
  const std::size_t unit = asked == PageKind::small ? page_bytes() : huge_bytes;
  std::array<std::uintptr_t, PageMover::batch_max> addresses{};
  std::array<int, PageMover::batch_max> status{};
  PageMoverLinux mover;
  std::uint64_t right = 0;
  for (std::size_t page = 0; page < pages;) {
    std::size_t count = 0;
    for (; count < addresses.size() && page < pages; page += apart) {
      addresses[count++] = start + page * page_bytes();
    }
    const std::span<const std::uintptr_t> batch(addresses.data(), count);
    if (!mover.locate(batch, {status.data(), count}).ok()) return report;
    report.pages_checked += count;
    for (std::size_t i = 0; i < count; ++i) {
      const std::uint64_t index = (addresses[i] - start) / unit;
      const int wanted =
          nodes.empty() ? status[i] : static_cast<int>(index_of(dealt_node(nodes, index)));
      right += status[i] >= 0 && status[i] == wanted ? 1 : 0;
    }
  }
  report.located = true;
  report.share_as_asked = report.pages_checked == 0 ? 1
                                                    : static_cast<double>(right) /
                                                          static_cast<double>(report.pages_checked);
  return report;
}

PlacementReport Buffer::report() const {
  PlacementReport report = report_of(bytes(), request_.nodes, request_.pages);
  report.bind_error = bind_error_;
  return report;
}

Buffer::Buffer(Buffer&& other) noexcept { *this = std::move(other); }

Buffer& Buffer::operator=(Buffer&& other) noexcept {
  std::swap(mapping_, other.mapping_);
  std::swap(mapping_bytes_, other.mapping_bytes_);
  std::swap(start_, other.start_);
  std::swap(bytes_, other.bytes_);
  std::swap(request_, other.request_);
  std::swap(bind_error_, other.bind_error_);
  return *this;
}

Buffer::~Buffer() {
  if (mapping_ != nullptr) ::munmap(mapping_, mapping_bytes_);
}

}  // namespace cxltier::bench
