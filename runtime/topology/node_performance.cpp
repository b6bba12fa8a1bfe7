// SPDX-License-Identifier: Apache-2.0
//
// Reads four small files from the first of four folders that has a usable one.  Values of two
// folders are never mixed: they may be seen from different initiators.
#include "runtime/topology/node_performance.h"

#include <optional>

#include "runtime/topology/sysfs_text.h"
#include "runtime/topology/tree_text.h"

namespace cxltier {
namespace {

struct RawPerformance {
  std::optional<std::uint64_t> read_latency;
  std::optional<std::uint64_t> write_latency;
  std::optional<std::uint64_t> read_bandwidth;
  std::optional<std::uint64_t> write_bandwidth;

  [[nodiscard]] bool is_empty() const {
    return !read_latency && !write_latency && !read_bandwidth && !write_bandwidth;
  }
};

RawPerformance read_folder(FileTree& tree, const Path& folder) {
  TreeText text(tree);
  const auto number = [&](std::string_view file) -> std::optional<std::uint64_t> {
    if (text.read(Path(folder).text(file)) != 0) return std::nullopt;
    return parse_number(text.view());
  };
  return {number("/read_latency"), number("/write_latency"), number("/read_bandwidth"),
          number("/write_bandwidth")};
}

bool is_absurd(std::optional<std::uint64_t> value, std::uint64_t limit) {
  return value && (*value == 0 || *value > limit);
}

std::uint32_t usable(std::optional<std::uint64_t> value, std::uint64_t limit) {
  return value && !is_absurd(value, limit) ? static_cast<std::uint32_t>(*value) : 0;
}

bool is_usable(const RawPerformance& raw) {
  return usable(raw.read_latency, latency_ns_max) != 0 ||
         usable(raw.write_latency, latency_ns_max) != 0 ||
         usable(raw.read_bandwidth, bandwidth_mbps_max) != 0 ||
         usable(raw.write_bandwidth, bandwidth_mbps_max) != 0;
}

// The folders that may have a node's values, best first.
Path folder_at(std::size_t index, NodeId node, std::int32_t region) {
  const std::uint64_t access = index % 2 == 0 ? 1 : 0;
  if (index < 2) {
    return Path("sys/devices/system/node/node")
        .number(index_of(node))
        .text("/access")
        .number(access)
        .text("/initiators");
  }
  return Path("sys/bus/cxl/devices/region")
      .number(static_cast<std::uint64_t>(region))
      .text("/access")
      .number(access);
}

// The first folder with a value that can be used, else the first with any value at all.
RawPerformance read_first_folder(FileTree& tree, NodeId node, std::int32_t region) {
  RawPerformance first;
  const std::size_t folders = region < 0 ? 2 : 4;
  for (std::size_t index = 0; index < folders; ++index) {
    const RawPerformance raw = read_folder(tree, folder_at(index, node, region));
    if (is_usable(raw)) return raw;
    if (first.is_empty()) first = raw;
  }
  return first;
}

}  // namespace

NodePerformance read_performance(FileTree& tree, NodeId node, std::int32_t region,
                                 Findings& findings) noexcept {
  const RawPerformance raw = read_first_folder(tree, node, region);
  for (const std::optional<std::uint64_t> latency : {raw.read_latency, raw.write_latency}) {
    if (!is_absurd(latency, latency_ns_max)) continue;
    findings.add({FindingKind::latency_absurd, node, *latency});
    break;
  }
  for (const std::optional<std::uint64_t> bandwidth : {raw.read_bandwidth, raw.write_bandwidth}) {
    if (!is_absurd(bandwidth, bandwidth_mbps_max)) continue;
    findings.add({FindingKind::bandwidth_absurd, node, *bandwidth});
    break;
  }
  NodePerformance said;
  said.read_latency_ns = usable(raw.read_latency, latency_ns_max);
  said.write_latency_ns = usable(raw.write_latency, latency_ns_max);
  said.read_bandwidth_mbps = usable(raw.read_bandwidth, bandwidth_mbps_max);
  said.write_bandwidth_mbps = usable(raw.write_bandwidth, bandwidth_mbps_max);
  return said;
}

}  // namespace cxltier
