// SPDX-License-Identifier: Apache-2.0
//
// The machine profile: what `cxltier bench --save` measured on this machine, as values.
//
//   cxltier-profile 1                    first line
//   machine.cpu AMD EPYC 9354            which machine it is of: processor, nodes and their sizes
//   node.2.bytes 137438953472
//   node.2.latency_ns 251.30
//   node.2.bandwidth_gbps.R 18.20        reads
//   node.2.bandwidth_gbps.W-nt 9.70      writes that read nothing first
//   weights.R 0:13,2:1                   interleave weights for a mix
//
// Other keys are skipped; a key that is known must have a value that makes sense, or none of the
// file is used.  The same holds for a file of another machine: figures that were measured replace
// firmware's, so they must be this machine's.  Everything read is untrusted.  No allocation; any
// thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "policy/machine.h"
#include "policy/units.h"
#include "runtime/os/file_tree.h"

namespace cxltier {

// A measured latency may be above what is believed of firmware: emulated memory takes microseconds.
inline constexpr std::uint64_t measured_ns_max = 1'000'000;

struct ProfileNode {
  NodeId id{};
  Bytes size{};
  std::uint32_t latency_ns = 0;  // 0: not measured
  std::uint32_t read_mbps = 0;
  std::uint32_t write_mbps = 0;
};

// Interleave weights for one mix of reads and writes; by position in MachineProfile::nodes, 0:
// none.
struct ProfileWeights {
  std::array<char, 12> mix{};  // "R", "2:1", zero-terminated
  std::array<std::uint8_t, nodes_max> weight{};
};

struct MachineProfile {
  std::array<char, 64> cpu{};  // zero-terminated, cut; "-": it has no name
  std::uint32_t node_count = 0;
  std::array<ProfileNode, nodes_max> nodes{};
  std::uint32_t mix_count = 0;
  std::array<ProfileWeights, 8> weights{};
};

enum class ProfileFault : std::uint8_t {
  none,
  absent,
  unreadable,       // error: the errno
  not_a_profile,    // the first line is another
  version,          // of a version that is not ours
  malformed,        // line: where
  cut_off,          // the last line has no end
  other_processor,  // measured on a machine with another processor
  other_nodes,      // ... with other memory nodes, or nodes of another size
};

struct ProfileReading {
  MachineProfile profile;
  ProfileFault fault = ProfileFault::absent;
  int error = 0;
  std::uint32_t line = 0;
  const char* path = "";  // the caller's, as it stands in ProfilePlaces

  [[nodiscard]] bool ok() const noexcept { return fault == ProfileFault::none; }
};

// Where to look.  A named file is the only one, and "none" is none at all; else the first that fits
// this machine, the user's own before the machine's.  Absolute paths; they outlive the reading.
struct ProfilePlaces {
  const char* named = "";
  const char* own = "";
  const char* machine = profile_of_machine;

  static constexpr const char* profile_of_machine = "/etc/cxltier/machine.profile";
};

// Values of a profile's text; its machine is not compared with anything.
// post: node_count <= nodes_max, ids ascending, values within their limits
[[nodiscard]] ProfileReading parse_profile(std::string_view text) noexcept;

// A profile's fault against the machine that reads it: other_processor, other_nodes or none.  Sizes
// may differ by a factor of two, since a virtual machine's balloon takes memory and gives it back.
// pre: `cpu` as cpu_model() gives it
[[nodiscard]] ProfileFault compare_profile(const MachineProfile& profile, const Machine& machine,
                                           std::string_view cpu) noexcept;

// The profile that is to be used here; if none fits, the first fault other than absence.
[[nodiscard]] ProfileReading find_profile(FileTree& tree, const ProfilePlaces& places,
                                          const Machine& machine) noexcept;

// What was measured replaces what firmware says.  pre: the profile is of this machine
void apply_profile(const MachineProfile& profile, Machine& machine) noexcept;

// The processor's name from proc/cpuinfo, at most 63 characters; "-" where there is none.
std::string_view cpu_model(FileTree& tree, std::span<char, 64> out) noexcept;

// Why it is not used, as a clause behind the path, with what to do about it.
[[nodiscard]] const char* text_of(ProfileFault fault) noexcept;

}  // namespace cxltier
