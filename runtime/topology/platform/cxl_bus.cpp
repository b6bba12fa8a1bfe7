// SPDX-License-Identifier: Apache-2.0
//
// Walks sys/bus/cxl/devices.  Every entry is a link whose path says what it hangs below.
#include "runtime/topology/platform/cxl_bus.h"

#include <algorithm>

namespace cxltier {
namespace {

constexpr const char* devices = "sys/bus/cxl/devices/";

// The last component but one of a path: what a device hangs below.
std::string parent_name(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? std::string() : last_name(path.substr(0, slash));
}

bool is_numbered(std::string_view name, std::string_view prefix) {
  if (!name.starts_with(prefix) || name.size() == prefix.size()) return false;
  return name.find_first_not_of("0123456789.", prefix.size()) == std::string_view::npos;
}

template <typename List>
auto find_by_name(const List& list, std::string_view name) -> decltype(list.data()) {
  const auto found = std::find_if(list.begin(), list.end(),
                                  [name](const auto& item) { return item.name == name; });
  return found == list.end() ? nullptr : &*found;
}

class CxlBusReader {
 public:
  explicit CxlBusReader(Files& files) : files_(files) {}

  CxlBus read() {
    for (const std::string& name : files_.names("sys/bus/cxl/devices")) {
      bus_.source = CxlSource::sysfs;
      if (is_numbered(name, "decoder")) read_decoder(name);
      if (is_numbered(name, "root") || is_numbered(name, "port") || is_numbered(name, "endpoint")) {
        read_port(name);
      }
      if (is_numbered(name, "mem")) read_memory(name);
      if (is_numbered(name, "region")) read_region(name);
    }
    if (files_.exists("sys/bus/cxl")) bus_.source = CxlSource::sysfs;
    for (CxlRegion& region : bus_.regions) resolve_targets(region);
    return std::move(bus_);
  }

 private:
  [[nodiscard]] static std::string at(const std::string& name, const char* file) {
    return devices + name + "/" + file;
  }
  std::string value(const std::string& name, const char* file) {
    return files_.value(at(name, file)).value_or("");
  }
  std::uint64_t number(const std::string& name, const char* file, std::uint64_t fallback) {
    return files_.number(at(name, file)).value_or(fallback);
  }
  void read_decoder(const std::string& name);
  void read_port(const std::string& name);
  void read_host_bridges(const std::string& root);
  void read_memory(const std::string& name);
  void read_region(const std::string& name);
  CxlPerformance read_performance(const std::string& name);
  void resolve_targets(CxlRegion& region);

  Files& files_;
  CxlBus bus_;
};

void CxlBusReader::read_decoder(const std::string& name) {
  CxlDecoder decoder;
  decoder.name = name;
  decoder.parent = parent_name(files_.link(devices + name));
  decoder.start = files_.number(at(name, "start"));
  decoder.size = files_.number(at(name, "size"));
  decoder.ways = number(name, "interleave_ways", 1);
  decoder.granularity = number(name, "interleave_granularity", 0);
  decoder.is_locked = files_.flag(at(name, "locked")).value_or(false);
  decoder.region = value(name, "region");
  const std::string targets = value(name, "target_list");
  for (const std::string_view target : words_of(targets, ",\n ")) {
    decoder.targets.emplace_back(target);
  }
  decoder.has_ram = files_.flag(at(name, "cap_ram")).value_or(false);
  decoder.has_pmem = files_.flag(at(name, "cap_pmem")).value_or(false);
  decoder.next_region = value(name, "create_ram_region");
  decoder.qos_class = files_.signed_number(at(name, "qos_class"));
  decoder.mode = value(name, "mode");
  decoder.dpa_size = files_.number(at(name, "dpa_size"));
  bus_.decoders.push_back(std::move(decoder));
}

void CxlBusReader::read_port(const std::string& name) {
  CxlPort port;
  port.name = name;
  const std::string parent = parent_name(files_.link(devices + name));
  if (is_numbered(parent, "root") || is_numbered(parent, "port")) port.parent = parent;
  port.uport = last_name(files_.link(at(name, "uport")));
  port.parent_dport = last_name(files_.link(at(name, "parent_dport")));
  port.decoders_committed = files_.number(at(name, "decoders_committed"));
  port.has_driver = !files_.link(at(name, "driver")).empty();
  if (is_numbered(name, "root")) read_host_bridges(name);
  bus_.ports.push_back(std::move(port));
}

void CxlBusReader::read_host_bridges(const std::string& root) {
  for (const std::string& name : files_.names(devices + root)) {
    if (!is_numbered(name, "dport")) continue;
    bus_.host_bridges.push_back(
        {name.substr(5), last_name(files_.link(devices + root + "/" + name))});
  }
}

void CxlBusReader::read_memory(const std::string& name) {
  CxlMemdev memory;
  memory.name = name;
  memory.host = parent_name(files_.link(devices + name));
  memory.serial = files_.number(at(name, "serial"));
  memory.numa_node = files_.signed_number(at(name, "numa_node"));
  memory.ram_size = number(name, "ram/size", 0);
  memory.pmem_size = number(name, "pmem/size", 0);
  memory.firmware = value(name, "firmware_version");
  memory.is_enabled = !files_.link(at(name, "driver")).empty();
  memory.ram_qos = files_.signed_number(at(name, "ram/qos_class"));
  bus_.memories.push_back(std::move(memory));
}

CxlPerformance CxlBusReader::read_performance(const std::string& name) {
  for (const char* access : {"access1/", "access0/"}) {
    const auto field = [&](const char* file) {
      return files_.number(devices + name + "/" + access + file).value_or(0);
    };
    const CxlPerformance found{field("read_latency"), field("write_latency"),
                               field("read_bandwidth"), field("write_bandwidth")};
    if (found.read_latency != 0 || found.read_bandwidth != 0) return found;
  }
  return {};
}

void CxlBusReader::read_region(const std::string& name) {
  CxlRegion region;
  region.name = name;
  region.window = parent_name(files_.link(devices + name));
  region.start = files_.number(at(name, "resource"));
  region.size = number(name, "size", 0);
  region.mode = value(name, "mode");
  region.ways = number(name, "interleave_ways", 1);
  region.granularity = number(name, "interleave_granularity", 0);
  region.is_committed = files_.flag(at(name, "commit")).value_or(false);
  region.has_driver = !files_.link(at(name, "driver")).empty();
  constexpr std::uint64_t ways_max = 16;
  for (std::uint64_t way = 0; way < std::min(region.ways, ways_max); ++way) {
    const std::string target = value(name, ("target" + std::to_string(way)).c_str());
    if (target.empty()) break;
    region.targets.push_back(target);
  }
  region.performance = read_performance(name);
  bus_.regions.push_back(std::move(region));
}

void CxlBusReader::resolve_targets(CxlRegion& region) {
  for (const std::string& target : region.targets) {
    const CxlDecoder* decoder = bus_.decoder(target);
    const CxlPort* endpoint = decoder == nullptr ? nullptr : bus_.port(decoder->parent);
    region.memories.push_back(endpoint == nullptr ? std::string() : endpoint->uport);
  }
}

}  // namespace

const CxlPort* CxlBus::port(std::string_view name) const { return find_by_name(ports, name); }
const CxlDecoder* CxlBus::decoder(std::string_view name) const {
  return find_by_name(decoders, name);
}
const CxlMemdev* CxlBus::memory(std::string_view name) const {
  return find_by_name(memories, name);
}
const CxlRegion* CxlBus::region(std::string_view name) const { return find_by_name(regions, name); }

const CxlPort* CxlBus::endpoint_of(std::string_view memory) const {
  const auto found = std::find_if(ports.begin(), ports.end(), [memory](const CxlPort& port) {
    return port.is_endpoint() && port.uport == memory;
  });
  return found == ports.end() ? nullptr : &*found;
}

const CxlRegion* CxlBus::region_of(std::string_view memory) const {
  const auto found =
      std::find_if(regions.begin(), regions.end(), [memory](const CxlRegion& region) {
        return std::find(region.memories.begin(), region.memories.end(), memory) !=
               region.memories.end();
      });
  return found == regions.end() ? nullptr : &*found;
}

std::vector<const CxlDecoder*> CxlBus::windows() const {
  std::vector<const CxlDecoder*> found;
  for (const CxlDecoder& decoder : decoders) {
    if (decoder.parent.starts_with("root")) found.push_back(&decoder);
  }
  return found;
}

std::vector<std::string> CxlBus::path_of(std::string_view memory) const {
  std::vector<std::string> path;
  const CxlPort* at = endpoint_of(memory);
  while (at != nullptr && path.size() <= ports.size()) {
    path.insert(path.begin(), at->name);
    at = at->parent.empty() ? nullptr : port(at->parent);
  }
  return path;
}

std::optional<std::uint64_t> CxlBus::free_of(const CxlDecoder& window) const {
  if (!window.size) return std::nullopt;
  std::uint64_t taken = 0;
  for (const CxlRegion& region : regions) {
    if (region.window == window.name) taken += region.size;
  }
  return *window.size - std::min(taken, *window.size);
}

bool CxlBus::is_below(const CxlMemdev& memory, const CxlDecoder& window) const {
  const std::vector<std::string> path = path_of(memory.name);
  // root0 names its host bridges by _UID, which sysfs links as dportUID.
  if (path.size() < 2 || window.targets.empty()) return true;
  const CxlPort* below_root = port(path[1]);
  if (below_root == nullptr || below_root->parent_dport.empty()) return true;
  for (const std::string& target : window.targets) {
    const auto bridge = std::find_if(host_bridges.begin(), host_bridges.end(),
                                     [&](const CxlHostBridge& b) { return b.id == target; });
    if (bridge == host_bridges.end() || bridge->device == below_root->parent_dport) return true;
  }
  return false;
}

CxlBus read_cxl_bus(Files& files) { return CxlBusReader(files).read(); }

}  // namespace cxltier
