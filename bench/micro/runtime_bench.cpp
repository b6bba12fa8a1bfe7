// SPDX-License-Identifier: Apache-2.0
//
// The part of a tick that meets the system: reading access bits, and publishing telemetry.
#include <benchmark/benchmark.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "runtime/os/clock_linux.h"
#include "runtime/os/file_tree_linux.h"
#include "runtime/os/memory_policy_linux.h"
#include "runtime/os/process_text_linux.h"
#include "runtime/sensor/access_bits.h"
#include "runtime/telemetry/writer.h"
#include "runtime/topology/machine_reader.h"

namespace cxltier {
namespace {

constexpr std::size_t region_bytes = std::size_t{256} << 10;

// Touched memory of this process, which the sensor watches.
class WatchedMemory {
 public:
  explicit WatchedMemory(std::size_t bytes)
      : bytes_(bytes),
        start_(::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) {
    if (start_ == MAP_FAILED) return;
    (void)::madvise(start_, bytes_, MADV_NOHUGEPAGE);
    std::memset(start_, 1, bytes_);
  }
  ~WatchedMemory() {
    if (start_ != MAP_FAILED) ::munmap(start_, bytes_);
  }
  WatchedMemory(const WatchedMemory&) = delete;
  WatchedMemory& operator=(const WatchedMemory&) = delete;
  [[nodiscard]] AddressRange range() const {
    const auto begin = reinterpret_cast<std::uintptr_t>(start_);
    return {begin, begin + bytes_};
  }
  [[nodiscard]] bool mapped() const { return start_ != MAP_FAILED; }

 private:
  std::size_t bytes_;
  void* start_;
};

void bench_sensor_read(benchmark::State& state) {
  const auto count = static_cast<std::size_t>(state.range(0));
  const WatchedMemory memory(count * region_bytes);
  FileTreeLinux tree("/");
  const Result<Reading> reading = read_machine(tree);
  ProcessTextLinux smaps;
  ProcessTextLinux numa_maps;
  if (!memory.mapped() || !reading.ok() || !smaps.open("/proc/self/smaps").ok() ||
      !numa_maps.open("/proc/self/numa_maps").ok()) {
    return state.SkipWithError("smaps, numa_maps or sysfs cannot be read here");
  }
  const Machine& machine = reading.value().machine;
  NodeSet nodes;
  for (std::size_t i = 0; i < machine.node_count; ++i) nodes.insert(machine.nodes[i].id);
  MemoryPolicyLinux policy(nodes);
  ClockLinux clock;
  std::vector<SensedRegion> regions(count + 64);
  std::vector<SensedRegion> spare(count + 64);
  std::vector<Observation> seen(count + 256);
  AccessBits sensor({policy, smaps, numa_maps, clock}, regions, spare, machine.page_size);
  const std::array<AddressRange, 1> heap = {memory.range()};
  sensor.follow(heap, {{region_bytes}, count + 8});
  const NodeTiers tiers(machine, assign_tiers(machine, {}));
  std::size_t observed = 0;
  for (auto _ : state) {
    sensor.cool(AccessBits::Cool::all);
    const Result<std::size_t> read = sensor.read(tiers, seen);
    if (!read.ok()) return state.SkipWithError("the sensor could not read");
    observed = read.value();
  }
  state.counters["regions"] = static_cast<double>(observed);
}
BENCHMARK(bench_sensor_read)->Name("sensor_read")->Arg(16)->Arg(256)->Unit(benchmark::kMicrosecond);

void bench_smaps_lines(benchmark::State& state) {
  constexpr std::array lines = {"7f00aa000000-7f00aa021000 rw-p 00000000 00:00 0 ",
                                "Size:                132 kB",
                                "Rss:                 132 kB",
                                "Pss:                 132 kB",
                                "Referenced:           12 kB",
                                "Anonymous:           132 kB",
                                "AnonHugePages:         0 kB",
                                "VmFlags: rd wr mr mw me ac sd"};
  for (auto _ : state) {
    for (const char* const line : lines) {
      if (!parse_vma_line(line)) benchmark::DoNotOptimize(parse_smaps_value(line));
    }
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(lines.size()));
}
BENCHMARK(bench_smaps_lines)->Name("smaps_lines");

void bench_telemetry_publish(benchmark::State& state) {
  std::string folder = (std::filesystem::temp_directory_path() / "cxltier-micro-XXXXXX").string();
  if (::mkdtemp(folder.data()) == nullptr) return state.SkipWithError("no temporary folder");
  const Result<ProcessIdentity> self = identity_of_self();
  TelemetryWriter writer;
  if (self.ok() && writer.open({nullptr, folder.c_str(), ::geteuid()}, self.value()).ok()) {
    TelemetryPage page;
    page.state = RunState::active;
    page.node_count = 3;
    for (auto _ : state) {
      ++page.ticks;
      writer.publish(page);
    }
    writer.close();
  } else {
    state.SkipWithError("no telemetry page could be made");
  }
  std::error_code ignored;
  std::filesystem::remove_all(folder, ignored);
}
BENCHMARK(bench_telemetry_publish)->Name("telemetry_publish");

}  // namespace
}  // namespace cxltier
