// SPDX-License-Identifier: Apache-2.0
//
// From a node to the cards behind it:
//
//   daxX.Y/target_node = node   its path holds regionR
//   regionR/targetK             names an endpoint decoder
//   decoderE.N -> .../endpointE/decoderE.N
//   endpointE/uport -> .../memM
//   memM/serial
//
// A link of this chain that cannot be read ends it: the device is then left out.
#include <algorithm>
#include <optional>
#include <set>

#include "runtime/cli/topo_view.h"
#include "runtime/topology/sysfs_text.h"
#include "runtime/topology/tree_text.h"

namespace cxltier {
namespace {

constexpr std::string_view cxl_devices = "sys/bus/cxl/devices/";
constexpr std::string_view dax_devices = "sys/bus/dax/devices/";
constexpr unsigned targets_max = 16;  // interleave ways of a region

class NameVisitor final : public EntryVisitor {
 public:
  void visit(std::string_view name) noexcept override { names.emplace(name); }
  std::set<std::string> names;
};

std::string text_at(FileTree& tree, const Path& path) {
  TreeText text(tree);
  if (text.read(path) != 0) return {};
  std::string found(text.view());
  found.erase(std::min(found.find_last_not_of(" \n\0") + 1, found.size()));
  return found;
}

std::string link_at(FileTree& tree, const Path& path) {
  TreeText text(tree);
  return text.read_link(path) == 0 ? std::string(text.view()) : std::string();
}

// The first component of a path that is `prefix` and a number; empty if there is none.
std::string component_of(std::string_view path, std::string_view prefix) {
  while (!path.empty()) {
    const std::string_view component = next_component(path);
    if (number_after(prefix, component)) return std::string(component);
  }
  return {};
}

std::string memory_of_decoder(FileTree& tree, const std::string& decoder) {
  const std::string path = link_at(tree, Path(cxl_devices).text(decoder));
  const std::string endpoint = component_of(path, "endpoint");
  if (endpoint.empty()) return {};
  const std::string uport = link_at(tree, Path(cxl_devices).text(endpoint).text("/uport"));
  return std::string(last_component(uport));
}

std::vector<CxlMemory> memory_of_region(FileTree& tree, const std::string& region) {
  std::vector<CxlMemory> devices;
  for (unsigned target = 0; target < targets_max; ++target) {
    const std::string decoder =
        text_at(tree, Path(cxl_devices).text(region).text("/target").number(target));
    if (decoder.empty()) break;
    const std::string name = memory_of_decoder(tree, decoder);
    if (name.empty()) continue;
    devices.push_back({name, text_at(tree, Path(cxl_devices).text(name).text("/serial")), region});
  }
  return devices;
}

}  // namespace

std::vector<std::vector<CxlMemory>> read_cxl_memory(FileTree& tree, const Machine& machine) {
  std::vector<std::vector<CxlMemory>> found(machine.node_count);
  NameVisitor dax;
  static_cast<void>(tree.list("sys/bus/dax/devices", dax));
  for (const std::string& name : dax.names) {
    const std::optional<NodeId> node =
        parse_node(text_at(tree, Path(dax_devices).text(name).text("/target_node")));
    if (!node) continue;
    const std::size_t position = position_of(machine, *node);
    if (position == machine.node_count || machine.nodes[position].kind != NodeKind::cxl) continue;
    const std::string path = link_at(tree, Path(dax_devices).text(name));
    const std::string region = component_of(path, "region");
    if (region.empty()) continue;
    for (const CxlMemory& device : memory_of_region(tree, region)) {
      found[position].push_back(device);
    }
  }
  return found;
}

}  // namespace cxltier
