// SPDX-License-Identifier: Apache-2.0
//
// The JSON form of `cxltier topo`.  What is unknown is null, never 0.
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <string>

#include "runtime/cli/topo_view.h"

namespace cxltier {
namespace {

using Json = nlohmann::ordered_json;

Json number_or_null(std::uint64_t value) { return value == 0 ? Json(nullptr) : Json(value); }

Json link_json(const std::optional<LinkVerdict>& link) {
  if (!link) return nullptr;
  return {{"speed_gts", link->effective.speed},
          {"width", link->effective.width},
          {"speed_gts_max", link->device_maximum.speed},
          {"width_max", link->device_maximum.width},
          {"bytes_per_second", static_cast<std::uint64_t>(link->effective.bytes_per_second())},
          {"limit", link->limit},
          {"degraded", link->is_degraded}};
}

Json health_json(const std::optional<CxlHealth>& health) {
  if (!health) return nullptr;
  const auto flag = [](std::optional<bool> value) { return value ? Json(*value) : Json(nullptr); };
  return {{"media_normal", flag(health->media_normal)},
          {"maintenance_needed", flag(health->maintenance_needed)},
          {"performance_degraded", flag(health->performance_degraded)},
          {"temperature", health->temperature ? Json(*health->temperature) : Json(nullptr)},
          {"life_used_percent", health->life_used ? Json(*health->life_used) : Json(nullptr)}};
}

Json memdev_json(const CxlMemdev& memory, const Platform& platform) {
  const CxlRegion* region = platform.cxl.region_of(memory.name);
  const PciFunction* function = platform.pci.find(memory.host);
  return {
      {"name", memory.name},
      {"serial", memory.serial ? Json(fmt::format("{:#x}", *memory.serial)) : Json(nullptr)},
      {"host", memory.host},
      {"enabled", memory.is_enabled},
      {"ram_bytes", memory.ram_size},
      {"pmem_bytes", memory.pmem_size},
      {"firmware", memory.firmware},
      {"cpu_node", memory.numa_node ? Json(*memory.numa_node) : Json(nullptr)},
      {"path", platform.cxl.path_of(memory.name)},
      {"region", region == nullptr ? Json(nullptr) : Json(region->name)},
      {"link", function == nullptr ? Json(nullptr) : link_json(platform.pci.link_of(*function))},
      {"health", health_json(memory.health)}};
}

Json region_json(const CxlRegion& region) {
  return {{"name", region.name},
          {"window", region.window},
          {"start", region.start ? Json(*region.start) : Json(nullptr)},
          {"bytes", region.size},
          {"ways", region.ways},
          {"granularity", number_or_null(region.granularity)},
          {"mode", region.mode},
          {"committed", region.is_committed},
          {"memdevs", region.memories}};
}

Json cxl_json(const Platform& platform) {
  const CxlBus& bus = platform.cxl;
  Json json = {{"windows", Json::array()}, {"regions", Json::array()}, {"memdevs", Json::array()}};
  for (const CxlDecoder* window : bus.windows()) {
    const std::optional<std::uint64_t> room = bus.free_of(*window);
    json["windows"].push_back({{"name", window->name},
                               {"start", window->start ? Json(*window->start) : Json(nullptr)},
                               {"bytes", window->size ? Json(*window->size) : Json(nullptr)},
                               {"free_bytes", room ? Json(*room) : Json(nullptr)},
                               {"ways", window->ways},
                               {"targets", window->targets}});
  }
  for (const CxlRegion& region : bus.regions) json["regions"].push_back(region_json(region));
  for (const CxlMemdev& memory : bus.memories) {
    json["memdevs"].push_back(memdev_json(memory, platform));
  }
  return json;
}

Json source_or_null(PerformanceSource source, std::uint64_t value) {
  if (value == 0) return nullptr;
  return source == PerformanceSource::measured ? "measured" : "firmware";
}

// The machine profile, or null where there is none.
Json profile_json(const ProfileReading& reading) {
  if (reading.fault == ProfileFault::absent) return nullptr;
  Json json = {{"path", reading.path},
               {"used", reading.ok()},
               {"refused", reading.ok() ? Json(nullptr) : Json(text_of(reading.fault))},
               {"weights", Json::array()}};
  const MachineProfile& profile = reading.profile;
  for (std::size_t mix = 0; mix < profile.mix_count; ++mix) {
    Json nodes = Json::object();
    for (std::size_t i = 0; i < profile.node_count; ++i) {
      const std::uint8_t weight = profile.weights[mix].weight[i];
      if (weight != 0) nodes[std::to_string(index_of(profile.nodes[i].id))] = weight;
    }
    json["weights"].push_back({{"mix", profile.weights[mix].mix.data()}, {"nodes", nodes}});
  }
  return json;
}

Json io_json(const std::vector<IoDevice>& devices) {
  Json list = Json::array();
  for (const IoDevice& device : devices) {
    list.push_back({{"kind", device.kind},
                    {"address", device.address},
                    {"name", device.name},
                    {"node", device.node < 0 ? Json(nullptr) : Json(device.node)},
                    {"link", link_json(device.link)},
                    {"wire_mbps", number_or_null(device.wire_mbps)},
                    {"limited_by_slot", device.is_limited_by_slot()}});
  }
  return list;
}

// Those of a node: the whole entry of each card behind it.
Json devices_json(const std::vector<CxlMemory>& devices, const Platform& platform) {
  Json list = Json::array();
  for (const CxlMemory& device : devices) {
    const CxlMemdev* memory = platform.cxl.memory(device.name);
    Json entry = memory == nullptr ? Json{{"name", device.name}} : memdev_json(*memory, platform);
    entry["serial"] = device.serial;
    entry["region"] = device.region;
    list.push_back(entry);
  }
  return list;
}

Json node_json(const TopoView& view, std::size_t position) {
  const Node& node = view.reading.machine.nodes[position];
  const TierIndex tier = view.tiers.tier_of[position];
  const NodePerformance& performance = node.performance;
  Json json = {
      {"id", index_of(node.id)},
      {"kind", name_of(node.kind)},
      {"cpus", node.cpu_count},
      {"cpu_list", view.cpu_lists[position]},
      {"bytes", node.size.count},
      {"tier", tier == tier_none ? Json(nullptr) : Json(index_of(tier))},
      {"kernel_tier", node.kernel_tier < 0 ? Json(nullptr) : Json(node.kernel_tier)},
      {"read_latency_ns", number_or_null(performance.read_latency_ns)},
      {"write_latency_ns", number_or_null(performance.write_latency_ns)},
      {"read_bandwidth_mbps", number_or_null(performance.read_bandwidth_mbps)},
      {"write_bandwidth_mbps", number_or_null(performance.write_bandwidth_mbps)},
  };
  json["latency_source"] = source_or_null(performance.latency_source, performance.read_latency_ns);
  json["bandwidth_source"] =
      source_or_null(performance.bandwidth_source, performance.read_bandwidth_mbps);
  if (node.kind == NodeKind::cxl)
    json["memdevs"] = devices_json(view.memory_devices[position], view.platform);
  return json;
}

Json tier_json(const TopoView& view, std::size_t tier) {
  Json nodes = Json::array();
  std::uint64_t bytes = 0;
  for (std::size_t i = 0; i < view.reading.machine.node_count; ++i) {
    if (index_of(view.tiers.tier_of[i]) != tier) continue;
    nodes.push_back(index_of(view.reading.machine.nodes[i].id));
    bytes += view.reading.machine.nodes[i].size.count;
  }
  return {{"tier", tier}, {"nodes", nodes}, {"bytes", bytes}};
}

Json distances_json(const Machine& machine) {
  Json rows = Json::array();
  for (std::size_t i = 0; i < machine.node_count; ++i) {
    Json row = Json::array();
    for (std::size_t j = 0; j < machine.node_count; ++j) {
      row.push_back(number_or_null(machine.distance[i][j]));
    }
    rows.push_back(row);
  }
  return rows;
}

Json finding_json(const Finding& finding) {
  return {{"kind", name_of(finding.kind)},
          {"node", finding.node == node_none ? Json(nullptr) : Json(index_of(finding.node))},
          {"value", finding.value},
          {"text", sentence_of(finding)}};
}

}  // namespace

std::string json_of(const TopoView& view) {
  const Machine& machine = view.reading.machine;
  Json json = {{"version", 1},
               {"page_bytes", machine.page_size.count},
               {"huge_page_bytes", machine.huge_page_size.count},
               {"own_nodes", Json::array()},
               {"profile", profile_json(view.profile)},
               {"nodes", Json::array()},
               {"tiers", Json::array()},
               {"distances", distances_json(machine)},
               {"findings", Json::array()},
               {"findings_dropped", view.reading.findings.dropped()},
               {"cxl", cxl_json(view.platform)}};
  if (view.shows_io) json["io"] = io_json(view.io);
  for (std::size_t i = 0; i < machine.node_count; ++i) {
    json["nodes"].push_back(node_json(view, i));
    if (view.own.contains(machine.nodes[i].id)) {
      json["own_nodes"].push_back(index_of(machine.nodes[i].id));
    }
  }
  for (std::size_t tier = 0; tier < view.tiers.tier_count; ++tier) {
    json["tiers"].push_back(tier_json(view, tier));
  }
  for (const Finding& finding : view.reading.findings.list()) {
    json["findings"].push_back(finding_json(finding));
  }
  // Texts come from untrusted files: bytes that are no UTF-8 are replaced, not thrown at the user.
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace cxltier
