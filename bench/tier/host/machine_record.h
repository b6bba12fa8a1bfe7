// SPDX-License-Identifier: Apache-2.0
//
// The machine as it goes into a result, read before anything is measured.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "bench/tier/host/processors.h"
#include "bench/tier/result/document.h"
#include "policy/machine.h"
#include "runtime/os/file_tree.h"

namespace cxltier::bench {

[[nodiscard]] MachineRecord read_machine_record(FileTree& tree, const Machine& machine,
                                                const TierMap& tiers, const Processors& processors);

// What cannot be seen here, and what that costs in certainty; lines for people.
[[nodiscard]] std::vector<std::string> uncertainties_of(const MachineRecord& machine,
                                                        const Processors& processors);

// Whether a machine whose processor is emulated gave these: DMI's vendor, the processor's name, and
// its flags.  A virtual machine on real cores is not emulated.
[[nodiscard]] bool is_emulated(std::string_view vendor, std::string_view cpu_model,
                               std::string_view cpu_flags);

}  // namespace cxltier::bench
