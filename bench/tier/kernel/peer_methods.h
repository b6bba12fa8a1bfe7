// SPDX-License-Identifier: Apache-2.0
//
// How two well-known benchmarks measure, reimplemented from their descriptions, so that ours can be
// compared with them on one machine, in one run, in pairs.  None of their code is here.
//
//   STREAM      (McCalpin) copy, scale, add, triad over three arrays of doubles; 16, 16, 24 and 24
//               bytes per element, the read for ownership not counted; best of several passes
//   multichase  (Google) a chase in which one slot of 256 bytes follows the other, in random order
//               within groups of 64 pages and groups in random order, at a random offset within the
//               slot; 200 loads per turn of the loop; best of several samples
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "bench/tier/kernel/timer.h"

namespace cxltier::bench {

struct StreamPass {
  double copy_gbps = 0;
  double scale_gbps = 0;
  double add_gbps = 0;
  double triad_gbps = 0;
};

// Three arrays in one block of memory, at distances that are no power of two: at such, their lines
// meet in the same banks of DRAM, and the loops lose up to a third of their rate (STREAM has its
// OFFSET against that, and its default size has none).  Each loop is run by one thread per CPU over
// its part, and the clock runs from before they are let go to after the last is done.
class StreamMethod {
 public:
  // pre: memory is aligned to 64; count doubles per array, as many as fit
  StreamMethod(std::span<std::byte> memory, std::span<const unsigned> cpus) noexcept;
  // Best of `passes` for each loop.
  StreamPass run(int passes);
  // The sums that the arrays must have after all passes, as STREAM checks them.
  [[nodiscard]] bool is_right() const noexcept;

 private:
  double* array(std::size_t index) const noexcept { return start_ + index * stride_; }
  void run_part(int loop, std::size_t index) const;
  double time_loop(int loop);

  double* start_ = nullptr;
  std::size_t count_ = 0;
  std::size_t stride_ = 0;  // doubles from one array to the next; > count_
  std::span<const unsigned> cpus_;
  double a_ = 1;  // what each array's elements must be
  double b_ = 2;
  double c_ = 0;
};

class MultichaseMethod {
 public:
  // pre: memory is aligned to 256
  MultichaseMethod(std::span<std::byte> memory, std::uint64_t seed);
  // ns per load over one sample.
  double sample_ns(double window_ms, const Timer& timer) noexcept;

 private:
  void* at_ = nullptr;
};

}  // namespace cxltier::bench
