// SPDX-License-Identifier: Apache-2.0
//
// What `cxl list` and `daxctl list` of versions 75 to 85 print, as the same values that sysfs
// gives.
//
// The output is an array, or with -u an object; with -v things nest below "ports:root0",
// "endpoints:port1", "decoders:port1", "regions:decoder0.0", without -v below "memdevs", "regions".
// So objects are known by their own key ("memdev", "region", "decoder"), wherever they stand.
// Values that no device has (a temperature of -95, a life used of -95 %, a negative extent) are
// left out.  Pure and total: text that is no JSON gives an empty bus with a fault.
#pragma once

#include <string_view>
#include <vector>

#include "runtime/topology/platform/cxl_bus.h"
#include "runtime/topology/platform/dax_list.h"

namespace cxltier {

[[nodiscard]] CxlBus parse_cxl_listing(std::string_view text);

[[nodiscard]] std::vector<DaxInstance> parse_daxctl_listing(std::string_view text);

// Adds to a bus of sysfs what only the listing knows: health, poison, firmware that is staged.
void add_health(const CxlBus& listed, CxlBus& bus);

}  // namespace cxltier
