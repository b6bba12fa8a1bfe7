// SPDX-License-Identifier: Apache-2.0
//
// Outputs of tools that people send when they ask for help, put where the readers look for them.
//
//   acpidump, a raw table   sys/firmware/acpi/tables/NAME
//   lspci -xxx, -xxxx       sys/bus/pci/devices/ADDRESS/config
//   cxl list, daxctl list   cxl-list.json, daxctl-list.json
//   lsmem, numactl -H       lsmem.txt, sys/devices/system/node
//   /proc/iomem, dmesg      proc/iomem, dmesg.txt
#pragma once

#include <string>
#include <string_view>

#include "runtime/topology/platform/stored_tree.h"

namespace cxltier {

// What the bytes were taken for, such as "lspci"; empty if nothing known, and then nothing is
// stored.
[[nodiscard]] std::string import_text(std::string_view bytes, StoredTree& tree);

}  // namespace cxltier
