// SPDX-License-Identifier: Apache-2.0
//
// The kernel brings new memory online by itself, in zone Normal; so its policy is set to movable
// for the length of a call, as the first entry of the journal, and set back at the end.
#include "runtime/provision/provisioner.h"

#include <fmt/format.h>

#include <cerrno>
#include <system_error>

namespace cxltier {
namespace {

constexpr const char* policy_file = "sys/devices/system/memory/auto_online_blocks";
constexpr const char* cxl_devices = "sys/bus/cxl/devices/";

std::string block_state(std::uint64_t index) {
  return fmt::format("sys/devices/system/memory/memory{}/state", index);
}

std::string kernel_answer(int error) {
  return fmt::format("{} (errno {})", std::system_category().message(error), error);
}

}  // namespace

void Provisioner::fail(const std::string& fault) {
  if (outcome_.fault.empty()) outcome_.fault = fault;
}

bool Provisioner::put(const SysfsWrite& forward, const SysfsWrite& back) {
  const Result<Done> written = sysfs_.write(forward.path, forward.value);
  if (!written.ok()) {
    fail(fmt::format("writing '{}' to /{}: {}", trimmed_text(forward.value), forward.path,
                     kernel_answer(written.error())));
    return false;
  }
  if (!back.path.empty()) journal_.push_back(back);
  return true;
}

void Provisioner::roll_back() {
  for (auto back = journal_.rbegin(); back != journal_.rend(); ++back) {
    const std::string text = fmt::format("'{}' to /{}", trimmed_text(back->value), back->path);
    const Result<Done> written = sysfs_.write(back->path, back->value);
    if (written.ok()) {
      outcome_.rolled_back.push_back(text);
    } else {
      outcome_.stuck.push_back(text + ": " + kernel_answer(written.error()));
    }
  }
  journal_.clear();
}

// The dax device of a region, once its driver has made it.
std::string Provisioner::wait_for_dax(const std::string& region) {
  sysfs_.expect();
  do {
    Files files(sysfs_.tree());
    for (const DaxInstance& dax : read_dax_list(files)) {
      if (dax.origin == DaxOrigin::cxl && dax.region == region) return dax.name;
    }
  } while (sysfs_.wait());
  fail(
      fmt::format("{} is committed, but no dax device came of it: is the module dax_cxl loaded? "
                  "(modprobe dax_cxl)",
                  region));
  return {};
}

bool Provisioner::bind_kmem(const OnlinePlan& online) {
  const std::string drivers = "sys/bus/dax/drivers/";
  const std::string own = drivers + online.driver + "/";
  if (!online.driver.empty() && !put({own + "unbind", online.dax}, {own + "bind", online.dax})) {
    return false;
  }
  return put({drivers + "kmem/new_id", online.dax}, {drivers + "kmem/unbind", online.dax});
}

bool Provisioner::online_block(std::uint64_t index) {
  return put({block_state(index), "online_movable"}, {block_state(index), "offline"});
}

// Waits until a dax device is system RAM and its blocks are there, and brings online what is not.
bool Provisioner::bring_online(const std::string& name) {
  sysfs_.expect();
  bool tried_to_bind = false;
  do {
    Files files(sysfs_.tree());
    for (const DaxInstance& dax : read_dax_list(files)) {
      if (dax.name != name) continue;
      if (!dax.is_system_ram()) {
        if (!dax.driver.empty() && !tried_to_bind) {
          tried_to_bind = true;
          if (!bind_kmem({dax.name, true, dax.driver, {}})) return false;
        }
        continue;
      }
      const MemoryBlocks blocks = read_memory_blocks(files);
      const auto within = blocks.within(dax.start.value_or(0), dax.size);
      if (within.empty()) continue;
      for (const MemoryBlock* block : within) {
        if (!block->is_online && !online_block(block->index)) return false;
      }
      outcome_.made.push_back(fmt::format("{}: node {}, {} MiB in {} blocks", name,
                                          dax.target_node.value_or(-1), dax.size >> 20,
                                          within.size()));
      return true;
    }
  } while (sysfs_.wait());
  fail(fmt::format("{} did not become system RAM: is the module kmem loaded? (modprobe kmem)",
                   name));
  return false;
}

bool Provisioner::make_region(const RegionPlan& planned) {
  Files files(sysfs_.tree());
  RegionPlan region = planned;
  // Somebody else may have made a region since the plan.
  const std::string next =
      files.value(cxl_devices + region.window + "/create_ram_region").value_or("");
  if (!next.empty()) region.name = next;
  for (const ReversibleWrite& write : writes_of(region)) {
    if (!put(write.forward, write.back)) return false;
  }
  outcome_.made.push_back(fmt::format("{}: {} MiB, {} ways by {} bytes", region.name,
                                      region.bytes() >> 20, region.members.size(),
                                      region.granularity));
  const std::string dax = wait_for_dax(region.name);
  return !dax.empty() && bring_online(dax);
}

ProvisionOutcome Provisioner::apply(const ProvisionPlan& plan) {
  outcome_ = {};
  journal_.clear();
  Files files(sysfs_.tree());
  const std::string policy = files.value(policy_file).value_or("");
  const bool must_set = !policy.empty() && policy != "online_movable";
  bool good = !must_set || put({policy_file, "online_movable"}, {policy_file, policy});
  for (const RegionPlan& region : plan.regions) good = good && make_region(region);
  for (const OnlinePlan& online : plan.online) {
    good = good && (!online.must_bind || bind_kmem(online)) && bring_online(online.dax);
  }
  if (!good) {
    roll_back();
    outcome_.made.clear();
    return outcome_;
  }
  if (must_set) static_cast<void>(sysfs_.write(policy_file, policy).ok());
  outcome_.done = true;
  return outcome_;
}

bool Provisioner::take_dax(const Platform& platform, const DaxInstance& dax) {
  if (!dax.is_system_ram()) return true;
  for (const MemoryBlock* block : platform.blocks.within(dax.start.value_or(0), dax.size)) {
    const char* back = block->zones == "Normal" ? "online_kernel" : "online_movable";
    if (block->is_online &&
        !put({block_state(block->index), "offline"}, {block_state(block->index), back})) {
      return false;
    }
  }
  return put({"sys/bus/dax/drivers/kmem/unbind", dax.name},
             {"sys/bus/dax/drivers/kmem/bind", dax.name});
}

bool Provisioner::take_region(const Platform& platform, const CxlRegion& region) {
  for (const DaxInstance* dax : platform.dax_of_region(region.name)) {
    if (!take_dax(platform, *dax)) return false;
  }
  // From here on the memory is free, and what is left cannot be in use.
  const std::string folder = cxl_devices + region.name + "/";
  const std::string driver = "sys/bus/cxl/drivers/cxl_region/";
  if (region.has_driver && !put({driver + "unbind", region.name}, {driver + "bind", region.name})) {
    return false;
  }
  if (region.is_committed && !put({folder + "commit", "0"}, {folder + "commit", "1"})) return false;
  for (std::size_t way = 0; way < region.targets.size(); ++way) {
    const std::string target = fmt::format("{}target{}", folder, way);
    if (!put({target, "\n"}, {target, region.targets[way]})) return false;
    const std::string size = cxl_devices + region.targets[way] + "/dpa_size";
    const CxlDecoder* decoder = platform.cxl.decoder(region.targets[way]);
    const std::uint64_t bytes = decoder == nullptr ? 0 : decoder->dpa_size.value_or(0);
    if (!put({size, "0"}, {size, fmt::format("{:#x}", bytes)})) return false;
  }
  return put({cxl_devices + region.window + "/delete_region", region.name}, {});
}

ProvisionOutcome Provisioner::undo(const Platform& platform) {
  outcome_ = {};
  for (const CxlRegion& region : platform.cxl.regions) {
    if (region.mode != "ram") continue;
    journal_.clear();  // a region that is gone stays gone
    if (!take_region(platform, region)) {
      roll_back();
      return outcome_;
    }
    outcome_.made.push_back(region.name + " taken away");
  }
  outcome_.done = true;
  return outcome_;
}

}  // namespace cxltier
