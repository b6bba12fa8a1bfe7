// SPDX-License-Identifier: Apache-2.0
//
// Windows that interleave are served first, since a device that is alone in a region of its own
// cannot join one of theirs later.
#include "runtime/provision/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

namespace cxltier {
namespace {

constexpr std::uint64_t unit = std::uint64_t{256} << 20;
constexpr const char* devices = "sys/bus/cxl/devices/";

bool is_allowed(std::size_t ways) {
  for (const std::size_t allowed : {1, 2, 3, 4, 6, 8, 12, 16}) {
    if (ways == allowed) return true;
  }
  return false;
}

class Planner {
 public:
  Planner(const Platform& platform, const ProvisionOptions& options)
      : platform_(platform), bus_(platform.cxl), options_(options) {}

  ProvisionPlan plan() {
    collect_idle();
    std::vector<const CxlDecoder*> windows = usable_windows();
    for (const CxlDecoder* window : windows) fill(*window);
    for (const CxlMemdev* left : idle_) {
      plan_.obstacles.push_back(
          fmt::format("{} ({}): no window has room for it, or its endpoint has no free decoder",
                      left->name, left->host));
    }
    name_regions();
    plan_online();
    return std::move(plan_);
  }

 private:
  void collect_idle();
  [[nodiscard]] std::vector<const CxlDecoder*> usable_windows() const;
  [[nodiscard]] std::string free_decoder(const CxlMemdev& memory) const;
  void fill(const CxlDecoder& window);
  [[nodiscard]] std::vector<std::vector<const CxlMemdev*>> by_target(
      const CxlDecoder& window) const;
  bool add_region(const CxlDecoder& window, const std::vector<const CxlMemdev*>& members);
  void name_regions();
  void plan_online();
  [[nodiscard]] bool joins_cpu_node(const DaxInstance& dax) const;

  const Platform& platform_;
  const CxlBus& bus_;
  ProvisionOptions options_;
  ProvisionPlan plan_;
  std::vector<const CxlMemdev*> idle_;
  std::map<std::string, std::uint64_t> taken_;  // bytes that this plan takes of each window
};

void Planner::collect_idle() {
  const bool has_no_srat = platform_.acpi.folder_exists && !platform_.acpi.names.empty() &&
                           !platform_.acpi.names.contains("SRAT");
  for (const CxlMemdev& memory : bus_.memories) {
    if (!memory.is_enabled || memory.ram_size == 0 || bus_.region_of(memory.name) != nullptr)
      continue;
    const CxlPort* endpoint = bus_.endpoint_of(memory.name);
    if (endpoint != nullptr && endpoint->decoders_committed.value_or(0) > 0) continue;
    if (has_no_srat && !options_.ignore_node) {
      plan_.obstacles.push_back(
          fmt::format("{}: there is no SRAT, so its memory would join node 0; see cxltier doctor",
                      memory.name));
      continue;
    }
    idle_.push_back(&memory);
  }
}

std::vector<const CxlDecoder*> Planner::usable_windows() const {
  std::vector<const CxlDecoder*> windows;
  for (const CxlDecoder* window : bus_.windows()) {
    if (window->has_ram && !window->next_region.empty()) windows.push_back(window);
  }
  std::stable_sort(windows.begin(), windows.end(),
                   [](const CxlDecoder* a, const CxlDecoder* b) { return a->ways > b->ways; });
  return windows;
}

std::string Planner::free_decoder(const CxlMemdev& memory) const {
  const CxlPort* endpoint = bus_.endpoint_of(memory.name);
  if (endpoint == nullptr) return {};
  for (const CxlDecoder& decoder : bus_.decoders) {
    const bool is_free = decoder.size.value_or(0) == 0 && decoder.dpa_size.value_or(0) == 0;
    if (decoder.parent == endpoint->name && is_free && decoder.region.empty()) return decoder.name;
  }
  return {};
}

// The idle devices below each target of a window, in the window's order.
std::vector<std::vector<const CxlMemdev*>> Planner::by_target(const CxlDecoder& window) const {
  std::vector<std::vector<const CxlMemdev*>> below;
  for (const std::string& target : window.targets) {
    CxlDecoder one = window;
    one.targets = {target};
    below.emplace_back();
    for (const CxlMemdev* memory : idle_) {
      if (bus_.is_below(*memory, one)) below.back().push_back(memory);
    }
  }
  return below;
}

bool Planner::add_region(const CxlDecoder& window, const std::vector<const CxlMemdev*>& members) {
  RegionPlan region;
  region.window = window.name;
  region.granularity = window.ways > 1 ? window.granularity : 256;
  region.member_bytes = members.front()->ram_size;
  for (const CxlMemdev* memory : members) {
    region.member_bytes = std::min(region.member_bytes, memory->ram_size);
    region.members.push_back({memory->name, free_decoder(*memory)});
    if (region.members.back().decoder.empty()) return false;
  }
  region.member_bytes -= region.member_bytes % unit;
  const std::uint64_t room = bus_.free_of(window).value_or(0);
  if (region.member_bytes == 0 || room < taken_[window.name] + region.bytes()) return false;
  taken_[window.name] += region.bytes();
  for (const CxlMemdev* memory : members) std::erase(idle_, memory);
  plan_.regions.push_back(std::move(region));
  return true;
}

// As many devices of equal standing as an interleave set may have; then the rest one by one.
void Planner::fill(const CxlDecoder& window) {
  const std::vector<std::vector<const CxlMemdev*>> below = by_target(window);
  if (below.empty()) return;
  std::size_t depth = below.front().size();
  for (const auto& list : below) depth = std::min(depth, list.size());
  if (below.size() == 1 && !options_.interleave) depth = std::min<std::size_t>(depth, 1);
  for (; depth > 0; --depth) {
    if (!is_allowed(depth * below.size())) continue;
    std::vector<const CxlMemdev*> members;
    for (std::size_t row = 0; row < depth; ++row) {
      for (const auto& list : below) members.push_back(list[row]);
    }
    if (add_region(window, members)) return fill(window);
  }
}

// Names are counted through all windows; "region7" is followed by "region8".
void Planner::name_regions() {
  std::optional<std::uint64_t> next;
  for (RegionPlan& region : plan_.regions) {
    if (!next) {
      const std::string& name = bus_.decoder(region.window)->next_region;
      next = name.starts_with("region") ? number_in(std::string_view(name).substr(6)) : 0;
    }
    region.name = fmt::format("region{}", next.value_or(0));
    next = next.value_or(0) + 1;
  }
}

bool Planner::joins_cpu_node(const DaxInstance& dax) const {
  if (!dax.target_node || *dax.target_node < 0) return true;
  const Node* node = platform_.node(*dax.target_node);
  return node != nullptr && node->cpu_count > 0;
}

void Planner::plan_online() {
  for (const DaxInstance& dax : platform_.dax) {
    if (dax.origin != DaxOrigin::cxl && dax.origin != DaxOrigin::hmem) continue;
    OnlinePlan online;
    online.dax = dax.name;
    online.driver = dax.driver;
    online.must_bind = !dax.is_system_ram();
    if (dax.start) {
      for (const MemoryBlock* block : platform_.blocks.within(*dax.start, dax.size)) {
        if (!block->is_online) online.blocks.push_back(block->index);
      }
    }
    if (!online.must_bind && online.blocks.empty()) continue;
    if (joins_cpu_node(dax) && !options_.ignore_node) {
      plan_.obstacles.push_back(
          fmt::format("{}: its memory would join node {}, which has CPUs; see cxltier doctor",
                      dax.name, dax.target_node.value_or(-1)));
      continue;
    }
    plan_.online.push_back(std::move(online));
  }
}

std::string members_text(const RegionPlan& region) {
  std::string text;
  for (const RegionMember& member : region.members) text += " " + member.memory;
  return text;
}

void append_region(const RegionPlan& region, std::string& out) {
  out +=
      fmt::format("make {} of {} MiB in {}: {} way{} by {} bytes,{}\n", region.name,
                  region.bytes() >> 20, region.window, region.members.size(),
                  region.members.size() == 1 ? "" : "s", region.granularity, members_text(region));
  for (const ReversibleWrite& write : writes_of(region)) {
    out += fmt::format("    echo {} > /{}\n", write.forward.value, write.forward.path);
  }
  out += fmt::format("  or: cxl create-region -t ram -d {} -w {} -g {} -m{}\n", region.window,
                     region.members.size(), region.granularity, members_text(region));
}

void append_online(const OnlinePlan& online, std::string& out) {
  if (online.must_bind) {
    out += fmt::format("make {} system RAM\n", online.dax);
    if (!online.driver.empty()) {
      out +=
          fmt::format("    echo {} > /sys/bus/dax/drivers/{}/unbind\n", online.dax, online.driver);
    }
    out += fmt::format("    echo {} > /sys/bus/dax/drivers/kmem/new_id\n", online.dax);
    out += fmt::format("  or: daxctl reconfigure-device --mode=system-ram {}\n", online.dax);
  }
  if (online.blocks.empty()) return;
  out += fmt::format("bring {} blocks of {} online, movable\n", online.blocks.size(), online.dax);
  out += fmt::format(
      "    echo online_movable > /sys/devices/system/memory/memory{}/state   (and so on)\n",
      online.blocks.front());
  out += fmt::format("  or: daxctl online-memory {}\n", online.dax);
}

}  // namespace

ProvisionPlan plan_provision(const Platform& platform, const ProvisionOptions& options) {
  return Planner(platform, options).plan();
}

std::vector<ReversibleWrite> writes_of(const RegionPlan& region) {
  const std::string window = devices + region.window + "/";
  const std::string folder = devices + region.name + "/";
  std::vector<ReversibleWrite> writes;
  writes.push_back(
      {{window + "create_ram_region", region.name}, {window + "delete_region", region.name}});
  writes.push_back(
      {{folder + "interleave_granularity", fmt::format("{}", region.granularity)}, {}});
  writes.push_back({{folder + "interleave_ways", fmt::format("{}", region.members.size())}, {}});
  for (const RegionMember& member : region.members) {
    const std::string decoder = devices + member.decoder + "/";
    writes.push_back({{decoder + "mode", "ram"}, {}});
    writes.push_back({{decoder + "dpa_size", fmt::format("{:#x}", region.member_bytes)},
                      {decoder + "dpa_size", "0"}});
  }
  writes.push_back(
      {{folder + "size", fmt::format("{:#x}", region.bytes())}, {folder + "size", "0"}});
  for (std::size_t way = 0; way < region.members.size(); ++way) {
    const std::string target = fmt::format("{}target{}", folder, way);
    writes.push_back({{target, region.members[way].decoder}, {target, "\n"}});
  }
  writes.push_back({{folder + "commit", "1"}, {folder + "commit", "0"}});
  writes.push_back({{"sys/bus/cxl/drivers/cxl_region/bind", region.name},
                    {"sys/bus/cxl/drivers/cxl_region/unbind", region.name}});
  return writes;
}

std::string text_of(const ProvisionPlan& plan) {
  std::string out;
  for (const RegionPlan& region : plan.regions) append_region(region, out);
  for (const OnlinePlan& online : plan.online) append_online(online, out);
  for (const std::string& obstacle : plan.obstacles) out += "left alone: " + obstacle + "\n";
  if (plan.is_empty()) out += "nothing to do: no CXL memory is idle\n";
  return out;
}

}  // namespace cxltier
