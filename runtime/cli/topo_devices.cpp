// SPDX-License-Identifier: Apache-2.0
//
// The devices of `cxltier topo`: CXL memory with its way to the host, and with --io what else hangs
// on PCI.
#include <fmt/format.h>

#include <algorithm>

#include "runtime/cli/topo_view.h"
#include "runtime/topology/platform/printable.h"

namespace cxltier {
namespace {

std::string mib_text(std::uint64_t bytes) {
  return bytes >> 30 != 0 && bytes % (std::uint64_t{1} << 30) == 0
             ? fmt::format("{} GiB", bytes >> 30)
             : fmt::format("{} MiB", bytes >> 20);
}

std::string node_words(const TopoView& view, const CxlRegion& region) {
  for (const DaxInstance* dax : view.platform.dax_of_region(region.name)) {
    if (dax->target_node) return fmt::format(", node {}", *dax->target_node);
  }
  return "";
}

std::string health_words(const CxlMemdev& memory) {
  if (!memory.health) return "";
  const CxlHealth& health = *memory.health;
  const bool bad = health.media_normal == false || health.replacement_needed == true ||
                   health.performance_degraded == true;
  std::string text = bad ? ", health bad" : ", health normal";
  if (health.temperature) text += fmt::format(", {} C", *health.temperature);
  if (health.life_used) text += fmt::format(", {} % used", *health.life_used);
  return text;
}

void append_memory(const TopoView& view, const CxlMemdev& memory, std::string& out) {
  const CxlBus& bus = view.platform.cxl;
  const PciFunction* function = view.platform.pci.find(memory.host);
  const std::string serial = memory.serial ? fmt::format("{:#x}", *memory.serial) : "unknown";
  out += fmt::format("{} serial {} at {}: {} RAM{}{}{}\n", printable(memory.name), serial,
                     printable(memory.host), mib_text(memory.ram_size),
                     memory.pmem_size > 0 ? ", " + mib_text(memory.pmem_size) + " persistent" : "",
                     memory.is_enabled ? "" : ", disabled", health_words(memory));
  out += fmt::format("    link {}\n", function == nullptr
                                          ? std::string("not known")
                                          : link_words(view.platform.pci.link_of(*function)));
  const std::vector<std::string> path = bus.path_of(memory.name);
  if (!path.empty())
    out += fmt::format("    path {}\n", printable(fmt::format("{}", fmt::join(path, " > "))));
  const CxlRegion* region = bus.region_of(memory.name);
  if (region == nullptr) {
    out += "    in no region\n";
    return;
  }
  const auto at = std::find(region->memories.begin(), region->memories.end(), memory.name);
  out += fmt::format("    in {} of {}: way {} of {} by {} bytes{}\n", printable(region->name),
                     printable(region->window), at - region->memories.begin() + 1, region->ways,
                     region->granularity, node_words(view, *region));
}

void append_io(const IoDevice& device, std::string& out) {
  const std::string wire =
      device.wire_mbps > 0
          ? fmt::format(", wire {} Gb/s", static_cast<double>(device.wire_mbps) / 1000)
          : "";
  out +=
      fmt::format("{:<11} {} {}node {}: {}{}{}\n", device.kind, printable(device.address),
                  device.name.empty() ? "" : printable(device.name) + " ",
                  device.node < 0 ? "?" : fmt::format("{}", device.node), link_words(device.link),
                  wire, device.is_limited_by_slot() ? ": its slot is slower than its wire" : "");
}

std::string kind_of(std::uint32_t class_code) {
  if (class_code >> 16 == 0x02) return "network";
  if (class_code >> 8 == 0x0108) return "nvme";
  if (class_code >> 16 == 0x03) return "gpu";
  return class_code >> 16 == 0x12 ? "accelerator" : "";
}

std::string first_name(Files& files, const std::string& folder) {
  const std::vector<std::string> names = files.names(folder);
  return names.empty() ? std::string() : names.front();
}

}  // namespace

std::string link_words(const std::optional<LinkVerdict>& link) {
  if (!link) return "no link known";
  const std::string rate = fmt::format("{}, {:.1f} GB/s", link_text(link->effective),
                                       link->effective.bytes_per_second() / 1e9);
  if (!link->is_degraded) return rate;
  return fmt::format("{} of {}, limited by {}", rate, link_text(link->device_maximum),
                     link->limit == "port" ? "its slot" : "link training");
}

bool IoDevice::is_limited_by_slot() const {
  return link && wire_mbps > 0 &&
         link->effective.bytes_per_second() * 8 / 1e6 < static_cast<double>(wire_mbps);
}

std::vector<IoDevice> read_io_devices(FileTree& tree, const PciList& pci) {
  Files files(tree);
  std::vector<IoDevice> devices;
  for (const PciFunction& function : pci.functions) {
    IoDevice device;
    device.kind = kind_of(function.class_code);
    if (device.kind.empty()) continue;
    device.address = function.address;
    device.node = function.numa_node.value_or(-1);
    device.link = pci.link_of(function);
    const std::string folder = "sys/bus/pci/devices/" + function.address;
    if (device.kind == "network") {
      device.name = first_name(files, folder + "/net");
      const auto speed = files.signed_number(folder + "/net/" + device.name + "/speed");
      device.wire_mbps = static_cast<std::uint64_t>(std::max<std::int64_t>(speed.value_or(0), 0));
    }
    if (device.kind == "nvme") device.name = first_name(files, folder + "/nvme");
    devices.push_back(std::move(device));
  }
  std::stable_sort(devices.begin(), devices.end(),
                   [](const IoDevice& a, const IoDevice& b) { return a.node < b.node; });
  return devices;
}

std::string devices_text(const TopoView& view) {
  std::string out;
  for (const CxlMemdev& memory : view.platform.cxl.memories) append_memory(view, memory, out);
  for (const IoDevice& device : view.io) append_io(device, out);
  if (view.shows_io && view.io.empty()) out += "no network card, disk or accelerator on PCI\n";
  return out.empty() ? out : "\n" + out;
}

}  // namespace cxltier
