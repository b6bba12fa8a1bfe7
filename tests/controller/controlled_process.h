// SPDX-License-Identifier: Apache-2.0
//
// A controller over a fake process whose program has a hot fifth: 90 % of its touches go there.
//
//   regions   0 1 2 | 3 4 ... 14       16 regions of 512 KiB, the first ones hot
//   placement pages dealt 1:3 to DRAM and CXL, as after an interleaved start
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <random>

#include "runtime/controller/controller.h"
#include "tests/fakes/fake_process.h"

namespace cxltier::fakes {

struct ControlledProcess {
  static constexpr std::uintptr_t base = 0x7f0000000000;
  static constexpr std::uint64_t region_pages = 128;
  static constexpr std::uint64_t regions = 15;
  static constexpr std::uint64_t hot_regions = 3;
  static constexpr std::uint64_t pages = regions * region_pages;
  static constexpr std::uint64_t hot_pages = hot_regions * region_pages;

  explicit ControlledProcess(Bytes dram_limit, PolicyKind policy = PolicyKind::hot_cold,
                             std::uint64_t fault_at = 0, const NodeSet& own = {}) {
    process.map({base, base + pages * page_bytes});
    for (std::uint64_t i = 0; i < pages; ++i) {
      process.touch(address(i), i % 4 == 0 ? 0 : 2);
      process.pages()[address(i)].content = i * 0x9e3779b97f4a7c15;
    }
    process.faults.at = fault_at;
    config.machine = process.machine();
    config.tiers = assign_tiers(config.machine, own);
    config.settings.policy = policy;
    config.settings.limit_dram = dram_limit;
    config.vma_budget = 64;
    config.probe_heap_min = {};
    storage = std::make_unique<ControllerStorage>();
    make_controller();
  }

  void make_controller() {
    controller = std::make_unique<Controller>(
        ControllerSeams{process, process, process.smaps(), process.numa_maps(), process, process,
                        process, process, process, process},
        config, *storage);
  }

  // As when the machine changed.
  void take_over() {
    const TelemetryPage before = controller->page();
    storage->leaves.fill(Leaf{});
    make_controller();
    controller->carry_on(before);
  }

  static std::uintptr_t address(std::uint64_t page) { return base + page * page_bytes; }

  // The program runs until the controller is due, then that ticks, until it has scanned so often.
  void run(std::uint64_t scans) {
    const std::uint64_t end = controller->page().ticks + scans;
    while (controller->page().ticks < end) {
      const Nanoseconds wait = controller->due_at() - process.now();
      process.advance(wait);
      const std::uint64_t touches = std::min<std::uint64_t>(wait.count / 250'000, 40'000);
      for (std::uint64_t touch = 0; touch < touches; ++touch) {
        const bool hot = random() % 10 != 0;
        process.touch(
            address(hot ? random() % hot_pages : hot_pages + random() % (pages - hot_pages)));
      }
      if (single_hot_page) process.touch(address(*single_hot_page));
      controller->tick(stop);
    }
  }

  std::uint64_t hot_on_dram() {
    std::uint64_t count = 0;
    for (std::uint64_t i = 0; i < hot_pages; ++i) {
      count += process.pages()[address(i)].node != 2 ? 1 : 0;
    }
    return count;
  }
  bool contents_whole() {
    for (std::uint64_t i = 0; i < pages; ++i) {
      if (process.pages()[address(i)].content != i * 0x9e3779b97f4a7c15) return false;
    }
    return process.pages().size() == pages;
  }

  std::optional<std::uint64_t> single_hot_page;  // touched before every tick
  FakeProcess process;
  ControllerConfig config;
  std::unique_ptr<ControllerStorage> storage;
  std::unique_ptr<Controller> controller;
  std::atomic<bool> stop{false};
  std::mt19937 random{20261130};
};

}  // namespace cxltier::fakes
