// SPDX-License-Identifier: Apache-2.0
//
// The health of this machine's CXL devices, which sysfs does not have: each is asked for it.
#pragma once

#include "runtime/topology/platform/platform.h"

namespace cxltier {

// Asks each memory device through /dev/cxl/memN and notes its answer.  A device that cannot be
// opened is listed in Platform::closed, one that does not answer keeps its health unknown.  Needs
// root; changes nothing on the device.
void add_device_health(Platform& platform);

}  // namespace cxltier
