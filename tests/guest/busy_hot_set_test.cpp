// SPDX-License-Identifier: Apache-2.0
//
// A thread that never blocks, on a hot set that fits its processor's TLB: the access bits are set
// again only if cooling flushed the TLB.  A sensor that does not do so reads the hottest memory of
// all as cold.
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <memory>

#include "runtime/os/clock_linux.h"
#include "runtime/os/memory_policy_linux.h"
#include "runtime/os/process_text_linux.h"
#include "runtime/sensor/access_bits.h"
#include "tests/guest/load.h"
#include "tests/guest/machine_nodes.h"
#include "tests/guest/own_pages.h"
#include "tests/guest/polling.h"
#include "tests/guest/preloaded.h"

namespace cxltier::guest {
namespace {

constexpr std::size_t mib = 1u << 20;
constexpr std::size_t region_bytes = 512u << 10;
constexpr std::size_t heap_bytes = 16 * mib;
constexpr std::size_t hot_begin = 8 * mib;
constexpr std::size_t hot_bytes = 256u << 10;
constexpr int scans = 20;

NodeSet all_nodes() {
  NodeSet nodes;
  for (const int node : dram_nodes()) nodes.insert(static_cast<NodeId>(node));
  for (const int node : cxl_nodes()) nodes.insert(static_cast<NodeId>(node));
  return nodes;
}

// The sensor over a mapping of its own, on the real seams.
class SensorOfMapping {
 public:
  SensorOfMapping()
      : policy_(all_nodes()),
        storage_(new std::array<SensedRegion, 64>),
        spare_(new std::array<SensedRegion, 64>),
        sensor_({policy_, smaps_, numa_maps_, clock_}, *storage_, *spare_, {page_bytes}) {}

  [[nodiscard]] bool open() {
    heap_ =
        static_cast<volatile char*>(mmap(nullptr, heap_bytes + region_bytes, PROT_READ | PROT_WRITE,
                                         MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    madvise(const_cast<char*>(heap_), heap_bytes + region_bytes, MADV_NOHUGEPAGE);
    const auto at = reinterpret_cast<std::uintptr_t>(heap_);
    heap_ += (region_bytes - at % region_bytes) % region_bytes;
    fill();
    const auto begin = reinterpret_cast<std::uintptr_t>(heap_);
    const AddressRange range{begin, begin + heap_bytes};
    sensor_.follow({&range, 1}, {{region_bytes}, 64});
    return smaps_.open("/proc/self/smaps").ok() && numa_maps_.open("/proc/self/numa_maps").ok();
  }

  void cool() { sensor_.cool(AccessBits::Cool::touched); }

  // What one scan says of the region of the hot set, and of one that nobody touches.
  struct Scan {
    Observation hot;
    Observation idle;
  };
  [[nodiscard]] Scan scan() {
    std::array<Observation, 64> seen{};
    const Result<std::size_t> count = sensor_.read(NodeTiers(), seen);
    if (!count.ok() || count.value() != heap_bytes / region_bytes) return {};
    return {seen[hot_begin / region_bytes], seen[1]};
  }

  [[nodiscard]] volatile char* hot() const { return heap_ + hot_begin; }

 private:
  // From one CPU: what a thread leaves behind when it changes its CPU, up to 31 pages on their way
  // to the kernel's lists, MADV_COLD passes over until that CPU has more for the lists.
  void fill() {
    cpu_set_t before;
    cpu_set_t here;
    ASSERT_EQ(sched_getaffinity(0, sizeof before, &before), 0);
    CPU_ZERO(&here);
    CPU_SET(sched_getcpu(), &here);
    ASSERT_EQ(sched_setaffinity(0, sizeof here, &here), 0);
    for (std::size_t i = 0; i < heap_bytes; i += page_bytes) heap_[i] = 1;
    ASSERT_EQ(sched_setaffinity(0, sizeof before, &before), 0);
  }

  ClockLinux clock_;
  MemoryPolicyLinux policy_;
  ProcessTextLinux smaps_;
  ProcessTextLinux numa_maps_;
  std::unique_ptr<std::array<SensedRegion, 64>> storage_;
  std::unique_ptr<std::array<SensedRegion, 64>> spare_;
  AccessBits sensor_;
  volatile char* heap_ = nullptr;
};

TEST(BusyHotSet, NoScanReadsItAsCold) {
  SensorOfMapping sensor;
  ASSERT_TRUE(sensor.open());
  volatile char* const hot = sensor.hot();
  const Repeated busy(std::chrono::microseconds(0), [hot] {
    char sum = 0;
    for (std::size_t i = 0; i < hot_bytes; i += 64) sum = static_cast<char>(sum + hot[i]);
    hot[0] = sum;
  });
  std::uint32_t least = ~0u;
  for (int scan = 0; scan < scans; ++scan) {
    sensor.cool();
    // Two whole passes after the cooling have touched every page of the hot set.
    const std::uint64_t passes = busy.passes();
    ASSERT_TRUE(
        becomes_true(std::chrono::seconds(60), [&] { return busy.passes() >= passes + 2; }));
    const auto seen = sensor.scan();
    ASSERT_EQ(seen.hot.visibility, Visibility::seen) << "scan " << scan;
    EXPECT_GE(seen.hot.touched_pages, hot_bytes / page_bytes / 2) << "scan " << scan;
    EXPECT_EQ(seen.idle.touched_pages, 0u) << "scan " << scan;
    least = std::min(least, seen.hot.touched_pages);
  }
  std::printf("least seen of the hot set: %u of %zu pages\n", least, hot_bytes / page_bytes);
}

}  // namespace
}  // namespace cxltier::guest

int main(int argc, char** argv) {
  cxltier::guest::require_guest();
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
