// SPDX-License-Identifier: Apache-2.0
//
// Everything that the controller's thread works on, in one object for one private mapping.
//
// prepare() finds out whether there is anything to do here; whatever is missing ends in a reason
// that `cxltier stat` shows, and the program runs on untouched.  Belongs to the controller's
// thread, but for telemetry().close() after that thread has ended.
#pragma once

#include <atomic>
#include <optional>

#include "runtime/controller/controller.h"
#include "runtime/os/clock_linux.h"
#include "runtime/os/file_tree_linux.h"
#include "runtime/os/latency_chase_linux.h"
#include "runtime/os/memory_policy_linux.h"
#include "runtime/os/page_mover_linux.h"
#include "runtime/os/process_state_linux.h"
#include "runtime/os/process_text_linux.h"
#include "runtime/os/standard_error.h"
#include "runtime/telemetry/writer.h"
#include "runtime/topology/machine_watch.h"

namespace cxltier {

// The allocator's ranges as the controller wants them.
class HeapOfThisProcess final : public HeapRanges {
 public:
  std::size_t copy(std::span<AddressRange> out) noexcept override;
  Bytes mapped() noexcept override;
};

// What a process keeps about itself outside the runtime, beyond fork and restart.
struct ProcessMemory {
  const ForkMarks& marks;
  const StandardError& standard_error;
};

class Runtime final : private TelemetrySink {
 public:
  // `runtime_folder`: the value of XDG_RUNTIME_DIR, or null.
  // `storage` may be zero-filled memory that nobody has touched yet.
  Runtime(const Settings& settings, const ProcessMemory& process, const char* runtime_folder,
          ControllerStorage& storage) noexcept;

  // Reads the machine, probes, opens; returns whether the controller may tick.  If not, the reason
  // is published.
  bool prepare() noexcept;

  // Whether this process may use other nodes than when the machine was last read.
  [[nodiscard]] bool machine_changed() noexcept { return watch_.is_outdated(files_); }
  // Reads the machine anew; then as prepare(), but the counters go on, and what is known of heat is
  // learned again.
  bool follow_machine() noexcept;
  // Whether memory may still appear that would give the controller something to do.
  [[nodiscard]] bool waits_for_memory() const noexcept { return waits_for_memory_; }

  // pre: prepare() or follow_machine() returned true at last
  [[nodiscard]] Controller& controller() noexcept { return *controller_; }
  [[nodiscard]] TelemetryWriter& telemetry() noexcept { return writer_; }

 private:
  void publish(const TelemetryPage& page) noexcept override;
  bool begin() noexcept;
  void open_telemetry(const char* runtime_folder) noexcept;
  bool read_tiers() noexcept;
  void apply_saved_profile() noexcept;
  void choose_tiers(const NodeSet& own) noexcept;
  void read_watermarks() noexcept;
  bool probe_calls() noexcept;
  bool open_maps() noexcept;
  bool give_up(RunState state) noexcept;

  Settings settings_;
  const StandardError& standard_error_;
  FileTreeLinux files_;
  ClockLinux clock_;
  ProcessTextLinux smaps_;
  ProcessTextLinux numa_maps_;
  PageMoverLinux pages_;
  LatencyChaseLinux chase_;
  ProcessStateLinux process_;
  HeapOfThisProcess heap_;
  TelemetryWriter writer_;
  const char* runtime_folder_;
  ControllerConfig config_;
  TelemetryPage start_page_;  // what is published before there is a controller
  MachineWatch watch_;
  bool waits_for_memory_ = false;
  std::optional<MemoryPolicyLinux> policy_;
  std::optional<Controller> controller_;
  ControllerStorage& storage_;
};

}  // namespace cxltier
