// SPDX-License-Identifier: Apache-2.0
//
// The CXL bus as the kernel's driver sees it, from sysfs or from what `cxl list` printed.
//
//   root0 ── decoder0.N (a window)                     regionR lies in a window and takes
//     └ port1 ── decoder1.N                            dpa of endpoint decoders, one for each way
//         └ port2 (a switch) ── decoder2.N
//             └ endpoint3 ── decoder3.N  ── uport: memM, the device
//
// Names are the order of probing: a device is told apart by its serial and its PCI address.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/topology/platform/files.h"

namespace cxltier {

struct CxlDecoder {
  std::string name;    // "decoder0.0"
  std::string parent;  // "root0", "port1", "endpoint2"
  std::optional<std::uint64_t> start;
  std::optional<std::uint64_t> size;
  std::uint64_t ways = 1;
  std::uint64_t granularity = 0;  // bytes; 0: not known
  bool is_locked = false;
  std::string region;                // of port and endpoint decoders; empty: none
  std::vector<std::string> targets;  // dport ids, in interleave order
  bool has_ram = false;              // a root decoder: may hold volatile memory
  bool has_pmem = false;
  // The name that the next region will have, as create_ram_region says; empty: none can be made.
  std::string next_region;
  std::optional<std::int64_t> qos_class;
  std::string mode;  // of an endpoint decoder: "ram", "pmem", "none"
  std::optional<std::uint64_t> dpa_size;
  std::optional<std::int64_t> available;  // as `cxl list` says; negative values are garbage
};

struct CxlPort {
  std::string name;
  std::string parent;        // another port; empty for the root
  std::string uport;         // "pci0000:0c", "0000:0d:00.0", "mem0"
  std::string parent_dport;  // "pci0000:0c", "0000:0c:00.0"
  std::optional<std::uint64_t> decoders_committed;
  bool has_driver = false;
  [[nodiscard]] bool is_endpoint() const { return name.starts_with("endpoint"); }
};

struct CxlHealth {
  std::optional<bool> maintenance_needed;
  std::optional<bool> performance_degraded;
  std::optional<bool> replacement_needed;
  std::optional<bool> media_normal;
  std::optional<std::int64_t> temperature;  // degrees Celsius
  std::optional<std::int64_t> life_used;    // percent
  std::optional<std::uint64_t> dirty_shutdowns;
};

// Below it no card works: "not implemented" reads as -95.
inline constexpr std::int64_t celsius_min = -60;
inline constexpr std::int64_t celsius_max = 200;

struct CxlMemdev {
  std::string name;  // "mem0"
  std::string host;  // PCI address
  std::optional<std::uint64_t> serial;
  std::optional<std::int64_t> numa_node;  // where its CPUs are, not where its memory is
  std::uint64_t ram_size = 0;
  std::uint64_t pmem_size = 0;
  std::string firmware;
  std::string firmware_staged;  // `cxl list -F`: a version that waits for activation
  bool is_enabled = false;
  std::optional<std::int64_t> ram_qos;
  std::optional<bool> qos_mismatch;
  std::optional<CxlHealth> health;
  std::optional<std::uint64_t> poison_records;
};

// Nanoseconds and MB/s as the kernel prints them, implausible ones included.
struct CxlPerformance {
  std::uint64_t read_latency = 0;
  std::uint64_t write_latency = 0;
  std::uint64_t read_bandwidth = 0;
  std::uint64_t write_bandwidth = 0;
};

struct CxlRegion {
  std::string name;
  std::string window;  // the root decoder
  std::optional<std::uint64_t> start;
  std::uint64_t size = 0;
  std::string mode;
  std::uint64_t ways = 1;
  std::uint64_t granularity = 0;
  bool is_committed = false;
  bool has_driver = false;
  std::vector<std::string> targets;   // endpoint decoders, in interleave order
  std::vector<std::string> memories;  // "mem0" of each target
  CxlPerformance performance;         // access1, else access0
};

// A host bridge below the root, as windows name it.
struct CxlHostBridge {
  std::string id;      // its _UID, in decimal, as in target_list
  std::string device;  // "pci0000:0c"
};

enum class CxlSource : std::uint8_t { none, sysfs, listing };

struct CxlBus {
  CxlSource source = CxlSource::none;
  std::vector<CxlHostBridge> host_bridges;
  std::vector<CxlPort> ports;
  std::vector<CxlDecoder> decoders;
  std::vector<CxlMemdev> memories;
  std::vector<CxlRegion> regions;
  // The listing had keys that the parser needs and could not understand.
  std::vector<std::string> faults;

  [[nodiscard]] const CxlPort* port(std::string_view name) const;
  [[nodiscard]] const CxlDecoder* decoder(std::string_view name) const;
  [[nodiscard]] const CxlMemdev* memory(std::string_view name) const;
  [[nodiscard]] const CxlRegion* region(std::string_view name) const;
  [[nodiscard]] const CxlPort* endpoint_of(std::string_view memory) const;
  [[nodiscard]] const CxlRegion* region_of(std::string_view memory) const;
  // Root decoders.
  [[nodiscard]] std::vector<const CxlDecoder*> windows() const;
  // "root0 > port1 > endpoint2", from the root; empty if the device has no endpoint.
  [[nodiscard]] std::vector<std::string> path_of(std::string_view memory) const;
  // Bytes of a window that no region takes; nothing if its size is not known.
  [[nodiscard]] std::optional<std::uint64_t> free_of(const CxlDecoder& window) const;
  // Whether the device hangs below one of the window's targets; true where that cannot be told.
  [[nodiscard]] bool is_below(const CxlMemdev& memory, const CxlDecoder& window) const;
};

[[nodiscard]] CxlBus read_cxl_bus(Files& files);

}  // namespace cxltier
