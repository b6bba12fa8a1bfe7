// SPDX-License-Identifier: Apache-2.0
//
// Memory whose place is known: asked for, touched, and then looked up page by page.
//
//   map -> advise huge or small pages -> bind to the node -> touch -> ask the kernel where it is
//
// A buffer over several nodes is dealt by weights, page by page (2 MiB by 2 MiB where huge pages
// are wanted): with weights 3:1 the pages lie on A A A B A A A B ...  No root and no sysfs: the
// toucher changes its own policy between nodes.  What was granted is reported, never assumed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "policy/units.h"

namespace cxltier::bench {

enum class PageKind : std::uint8_t {
  small,   // MADV_NOHUGEPAGE
  thp,     // MADV_HUGEPAGE: the kernel may still refuse
  hugetlb  // MAP_HUGETLB, 2 MiB: needs pages that somebody reserved
};

[[nodiscard]] const char* name_of(PageKind kind) noexcept;
[[nodiscard]] std::optional<PageKind> find_page_kind(std::string_view name) noexcept;

// What was asked for, else transparent huge pages; but small ones where sysfs's line
// ("always madvise [never]") has these off, which no madvise overrides.
[[nodiscard]] PageKind usual_pages(std::optional<PageKind> asked, std::string_view thp) noexcept;

struct NodeWeight {
  NodeId node{};
  unsigned weight = 1;
};

struct BufferRequest {
  std::size_t bytes = 0;  // rounded up to 2 MiB
  PageKind pages = PageKind::thp;
  std::vector<NodeWeight> nodes;  // empty: wherever first touch puts it
};

// What the kernel says of a buffer.
struct PlacementReport {
  bool located = false;       // false: move_pages(2) is not allowed here
  double share_as_asked = 1;  // of the pages looked at, those on their node
  double huge_share = 0;      // of the bytes, those in huge pages; from smaps
  bool huge_known = false;    // false: smaps cannot be read
  std::uint64_t pages_checked = 0;
  int bind_error = 0;  // why a policy could not be set; 0: it was, or none was wanted
};

// Looks up to 16,384 pages at even distances.  `nodes` empty: any node is right.
[[nodiscard]] PlacementReport report_of(std::span<const std::byte> range,
                                        std::span<const NodeWeight> nodes, PageKind asked);

class Buffer {
 public:
  // errors: ENOMEM (no address space, no hugetlb pages, or the node or the control group has not
  // twice that much free)
  static std::optional<Buffer> make(const BufferRequest& request, int& error);
  Buffer(Buffer&& other) noexcept;
  Buffer& operator=(Buffer&& other) noexcept;
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  ~Buffer();

  [[nodiscard]] std::span<std::byte> bytes() const noexcept { return {start_, bytes_}; }
  [[nodiscard]] PageKind pages() const noexcept { return request_.pages; }
  // To be asked once after touching and once after measuring.
  [[nodiscard]] PlacementReport report() const;

 private:
  Buffer() = default;
  bool map(PageKind pages);
  bool populate();
  void touch();
  void touch_dealt();

  std::byte* mapping_ = nullptr;
  std::size_t mapping_bytes_ = 0;
  std::byte* start_ = nullptr;
  std::size_t bytes_ = 0;
  BufferRequest request_;
  int bind_error_ = 0;
};

// The node of the unit at `index` when nodes are dealt by weights.  pre: nodes not empty, and a
// weight above 0
[[nodiscard]] NodeId dealt_node(std::span<const NodeWeight> nodes, std::uint64_t index) noexcept;

// MemFree of a node, else of the machine; 0 if neither can be read.
[[nodiscard]] Bytes free_memory(NodeId node);

}  // namespace cxltier::bench
