// SPDX-License-Identifier: Apache-2.0
//
// Walks sys/bus/dax/devices, sys/bus/cxl/devices and NVIDIA's list of GPUs.  The result does not
// depend on the order in which a folder lists its entries.
#include "runtime/topology/dax_devices.h"

#include <optional>
#include <string_view>

#include "runtime/topology/sysfs_text.h"
#include "runtime/topology/tree_text.h"

namespace cxltier {
namespace {

enum class Origin : std::uint8_t { unknown, cxl, special_purpose, persistent };

struct Device {
  Origin origin = Origin::unknown;
  std::uint32_t region = 0;  // of a CXL device
};

// Reads a device's origin off the components of its path.
Device device_at(std::string_view path) {
  Device device;
  std::optional<std::uint32_t> region_above;
  while (!path.empty()) {
    const std::string_view component = next_component(path);
    if (number_after("ndbus", component)) return {Origin::persistent, 0};
    if (number_after("hmem.", component)) device.origin = Origin::special_purpose;
    if (region_above && number_after("dax_region", component)) {
      device = {Origin::cxl, *region_above};
    }
    region_above = number_after("region", component);
  }
  return device;
}

class DaxVisitor final : public EntryVisitor {
 public:
  DaxVisitor(FileTree& tree, DeviceSurvey& survey) noexcept : tree_(tree), survey_(survey) {}

  void visit(std::string_view name) noexcept override {
    TreeText text(tree_);
    if (text.read_link(path_of(name, "")) != 0) return;
    const Device device = device_at(text.view());
    if (text.read(path_of(name, "/target_node")) != 0) return;
    const std::optional<NodeId> node = parse_node(text.view());
    if (!node) {
      ++survey_.without_node;
      return;
    }
    const bool bound =
        text.read_link(path_of(name, "/driver")) == 0 && last_component(text.view()) == "kmem";
    bound ? record_bound(device, *node) : record_idle(device, *node);
  }

 private:
  static Path path_of(std::string_view name, std::string_view file) {
    return Path("sys/bus/dax/devices/").text(name).text(file);
  }

  void record_bound(const Device& device, NodeId node) noexcept {
    survey_.kmem.insert(node);
    switch (device.origin) {
      case Origin::cxl:
        record_cxl(device, node);
        break;
      case Origin::special_purpose:
        survey_.special_purpose.insert(node);
        break;
      case Origin::persistent:
        survey_.persistent.insert(node);
        break;
      case Origin::unknown:
        break;
    }
  }

  void record_cxl(const Device& device, NodeId node) noexcept {
    survey_.cxl.insert(node);
    std::int32_t& region = survey_.region_of[index_of(node)];
    const auto number = static_cast<std::int32_t>(device.region & 0x7fff'ffff);
    if (region < 0 || number < region) region = number;
  }

  void record_idle(const Device& device, NodeId node) noexcept {
    if (device.origin == Origin::cxl) survey_.cxl_not_bound.insert(node);
  }

  FileTree& tree_;
  DeviceSurvey& survey_;
};

class CxlVisitor final : public EntryVisitor {
 public:
  explicit CxlVisitor(DeviceSurvey& survey) noexcept : survey_(survey) {}

  void visit(std::string_view name) noexcept override {
    if (number_after("mem", name)) ++survey_.memory_devices;
    if (number_after("region", name)) ++survey_.regions;
  }

 private:
  DeviceSurvey& survey_;
};

class GpuVisitor final : public EntryVisitor {
 public:
  GpuVisitor(FileTree& tree, DeviceSurvey& survey) noexcept : tree_(tree), survey_(survey) {}

  void visit(std::string_view name) noexcept override {
    TreeText text(tree_);
    if (text.read(Path(gpus_folder).text("/").text(name).text("/numa_status")) != 0) return;
    const std::optional<NodeId> node = parse_node(field_of(text.view(), "Node"));
    if (node) survey_.gpu.insert(*node);
  }

  static constexpr const char* gpus_folder = "proc/driver/nvidia/gpus";

 private:
  FileTree& tree_;
  DeviceSurvey& survey_;
};

}  // namespace

void survey_devices(FileTree& tree, DeviceSurvey& survey) noexcept {
  DaxVisitor dax(tree, survey);
  CxlVisitor cxl(survey);
  GpuVisitor gpus(tree, survey);
  static_cast<void>(tree.list("sys/bus/dax/devices", dax));
  static_cast<void>(tree.list("sys/bus/cxl/devices", cxl));
  static_cast<void>(tree.list(GpuVisitor::gpus_folder, gpus));
}

}  // namespace cxltier
