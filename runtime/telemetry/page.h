// SPDX-License-Identifier: Apache-2.0
//
// The page through which a process under cxltier tells the world what the runtime does in it.
//
// One file per process, named "PID", in $XDG_RUNTIME_DIR/cxltier/, else /dev/shm/cxltier-UID/:
//
//   +------------------+  0
//   | Header           |  magic, version, size, pid, start time, boot id: who wrote this
//   +------------------+
//   | generation       |  odd while the controller writes, even when the values belong together
//   +------------------+
//   | Counters ...     |  plain values, little endian, append only: a newer page is longer
//   +------------------+
//
// The controller's thread is the only writer.  Readers use pread and distrust every value: the file
// may be cut short, stale (its process is gone and the pid reused) or hostile.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "policy/leaf_map.h"
#include "policy/machine.h"
#include "policy/rate.h"
#include "policy/units.h"

namespace cxltier {

inline constexpr std::array<char, 8> telemetry_magic{'c', 'x', 'l', 't', 'i', 'e', 'r', '\n'};
inline constexpr std::uint32_t telemetry_version = 1;
inline constexpr std::size_t verdicts_max = 32;  // room for more than there are
static_assert(verdict_count <= verdicts_max);

// What the controller is doing.
enum class RunState : std::uint32_t {
  starting,  // reads the machine, probes system calls
  active,    // senses and moves
  watching,  // senses, moves nothing: policy first-touch
  idle,      // cannot work here, see `reason`; the program runs untouched
  stopped,   // ended by fork, exit or a broken check
};

// Why pages were not moved, by what the kernel answered.
enum class Refusal : std::uint32_t {
  shared,     // EACCES: mapped by several processes (a fork child lives)
  busy,       // EBUSY, EAGAIN: pinned or under writeback
  no_memory,  // ENOMEM: the target node has no free page
  absent,     // ENOENT: the page went away in between
  unmovable,  // EFAULT, EIO: zero page, or not movable
  forbidden,  // EPERM, ENODEV: cpuset or permission
  other,
  kinds,  // count of the above
};
inline constexpr std::size_t refusal_kinds = static_cast<std::size_t>(Refusal::kinds);

struct TelemetryHeader {
  std::array<char, 8> magic{};
  std::uint32_t version = 0;
  std::uint32_t size = 0;  // of the whole page
  std::uint32_t pid = 0;   // as the process itself sees it
  std::uint32_t uid = 0;
  std::uint64_t start_time_ticks = 0;  // field 22 of /proc/PID/stat
  std::array<char, 40> boot_id{};      // zero-terminated text
  // Inode of the PID namespace that `pid` belongs to: containers may share one /dev/shm.
  std::uint64_t pid_namespace = 0;
};

struct TelemetryNode {
  std::uint32_t id = 0;
  std::uint8_t kind = 0;  // NodeKind
  std::uint8_t tier = 0;  // 0xff: none
  std::uint16_t reserved = 0;
  std::uint64_t pages = 0;  // anonymous pages of the process on this node
};

struct TelemetryTier {
  std::uint64_t pages = 0;
  std::uint64_t limit_pages = 0;  // ~0: none
  std::uint64_t over_limit_pages_max = 0;
};

// A tier's latency as probed; 0: not probed.
struct TelemetryLatency {
  std::uint32_t idle_ps = 0;
  std::uint32_t loaded_ps = 0;
};

struct TelemetryPage {
  TelemetryHeader header{};
  std::uint32_t generation = 0;
  RunState state = RunState::starting;
  std::array<char, 32> policy{};   // zero-terminated
  std::array<char, 160> reason{};  // zero-terminated; why the state is idle or stopped, else empty

  std::uint64_t page_size = 0;
  std::uint64_t updated_ns = 0;  // CLOCK_MONOTONIC
  std::uint64_t started_ns = 0;
  std::uint64_t ticks = 0;
  std::uint64_t interval_ns = 0;  // between scans, adapts to cost
  std::uint64_t regions = 0;
  std::uint64_t managed_pages = 0;  // resident pages inside regions
  std::uint64_t vmas = 0;           // of the whole process, at the last scan
  // Scans whose access bits could not be read, since a fork child lived.
  std::uint64_t scans_unknown = 0;

  std::uint64_t pages_promoted = 0;
  std::uint64_t pages_demoted = 0;
  std::array<std::uint64_t, refusal_kinds> pages_refused{};

  std::uint64_t sensor_cpu_ns = 0;
  std::uint64_t policy_cpu_ns = 0;
  std::uint64_t mover_cpu_ns = 0;
  std::uint64_t thread_cpu_ns = 0;  // everything that the controller's thread used
  std::uint64_t call_ns_max = 0;    // longest single sensor or mover call: bounds a stall
  std::uint64_t runtime_bytes = 0;  // memory that the runtime reserved for itself

  std::uint32_t node_count = 0;
  std::uint32_t tier_count = 0;
  std::array<TelemetryNode, nodes_max> nodes{};
  std::array<TelemetryTier, tiers_max> tiers{};
  std::array<std::uint64_t, rate_bins> heat_histogram{};  // resident pages by bin of their rate

  std::uint64_t exec_mark = 0;  // ProcessIdentity's, of the program that wrote this; 0: unknown
  std::uint64_t window_ns = 0;  // how long access bits were open in the last scan
  std::array<TelemetryLatency, tiers_max> latencies{};

  // What the policy thinks.  Shares of traffic in 1/65536; a target of 65535: as much as fits.
  std::uint32_t mode = 0;  // TieringMode
  std::uint32_t changes = 0;
  std::uint32_t holds = 0;
  std::uint32_t mean_latency_ps = 0;  // of an access, by the tiers' latencies; 0: unknown
  std::array<std::uint16_t, tiers_max> share{};
  std::array<std::uint16_t, tiers_max> target{};
  // Resident pages by the policy's last word on their region, in the order of Verdict.
  std::array<std::uint64_t, verdicts_max> verdict_pages{};
  std::array<std::uint64_t, heat_bins> heat{};  // the histogram in quarter octaves
};

// What every page has, of whatever version: all up to and with `state`.  A shorter file is damaged.
inline constexpr std::uint32_t telemetry_size_min = offsetof(TelemetryPage, policy);

static_assert(std::is_trivially_copyable_v<TelemetryPage> &&
              std::is_standard_layout_v<TelemetryPage>);

static_assert(sizeof(TelemetryPage) < 8192);

[[nodiscard]] constexpr const char* name_of(RunState state) noexcept {
  switch (state) {
    case RunState::starting:
      return "starting";
    case RunState::active:
      return "active";
    case RunState::watching:
      return "watching";
    case RunState::idle:
      return "idle";
    case RunState::stopped:
      return "stopped";
  }
  return "unknown";  // of a newer version
}

[[nodiscard]] constexpr const char* name_of(Refusal refusal) noexcept {
  constexpr std::array<const char*, refusal_kinds> names{
      "shared", "busy", "no_memory", "absent", "unmovable", "forbidden", "other"};
  return refusal < Refusal::kinds ? names[static_cast<std::size_t>(refusal)] : "unknown";
}

}  // namespace cxltier
