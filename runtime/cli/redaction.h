// SPDX-License-Identifier: Apache-2.0
//
// Takes out of a snapshot what identifies single devices and disks.
#pragma once

#include "runtime/topology/platform/stored_tree.h"

namespace cxltier {

// Serial numbers become 0x1, 0x2, ...: equal ones stay equal.  Serials in PCI configuration space
// become 0, and the values of root= and of UUIDs on the kernel command line "redacted".
void redact(StoredTree& tree);

}  // namespace cxltier
