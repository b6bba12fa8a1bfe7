// SPDX-License-Identifier: Apache-2.0
//
// A process that takes a node's free memory, so that a test meets a full node.
//
//   test (nobody)                                hog (root, forked before root was given up)
//   fill(node, leave) -----------order--------->   huge page pool of the node: no byte is written,
//                     <--- free bytes left -----   which matters on slow emulated memory; then
//   release()         -----------order--------->   locked small pages for the rest
//
// It never takes the last page by force: its small pages only prefer the node.  While it works the
// kernel's own reserve is small: a guest of this size has 28 MiB per node by default, below which
// everything, buffers of devices too, would go to the CXL node, and QEMU's devices cannot reach
// that.
#pragma once

#include <cstdint>

namespace cxltier::guest {

// In PreloadedStart::prepare.
void start_hog();

// Leaves about `leave` bytes free on the node; returns how many are.
std::uint64_t hog_fill(int node, std::uint64_t leave);

// Gives everything back; returns when that is done.  A hog whose test has ended does so too.
void hog_release();

// False once the hog is gone, be it that the kernel killed it for lack of memory.
[[nodiscard]] bool hog_lives();

}  // namespace cxltier::guest
