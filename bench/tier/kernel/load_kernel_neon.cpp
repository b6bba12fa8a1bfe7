// SPDX-License-Identifier: Apache-2.0
//
// NEON: 16-byte vectors, on every arm64.  Non-temporal stores are STNP: a hint that a core may
// ignore, and then the store reads its line after all.
#include <arm_neon.h>

#include <cstddef>
#include <cstdint>

#include "bench/tier/kernel/load_kernel.h"
#include "bench/tier/kernel/load_loop.h"

namespace cxltier::bench {
namespace {

// A pair of registers, since STNP stores pairs.
struct Pair {
  uint64x2_t low;
  uint64x2_t high;
};

struct Isa {
  using Vector = Pair;
  static const std::uint64_t* words(const std::byte* from) noexcept {
    return reinterpret_cast<const std::uint64_t*>(from);
  }
  static Vector load(const std::byte* from) noexcept {
    return {vld1q_u64(words(from)), vld1q_u64(words(from) + 2)};
  }
  static void store(std::byte* to, Vector value) noexcept {
    vst1q_u64(reinterpret_cast<std::uint64_t*>(to), value.low);
    vst1q_u64(reinterpret_cast<std::uint64_t*>(to) + 2, value.high);
  }
  static void store_nt(std::byte* to, Vector value) noexcept {
    asm volatile("stnp %q0, %q1, [%2]" ::"w"(value.low), "w"(value.high), "r"(to) : "memory");
  }
  static Vector zero() noexcept { return {vdupq_n_u64(0), vdupq_n_u64(0)}; }
  static Vector mixed(Vector a, Vector b) noexcept {
    return {veorq_u64(a.low, b.low), veorq_u64(a.high, b.high)};
  }
  static std::uint64_t digest(Vector v) noexcept {
    return vgetq_lane_u64(v.low, 0) ^ vgetq_lane_u64(v.high, 0);
  }
  static void fence() noexcept { asm volatile("dmb ishst" ::: "memory"); }
};

}  // namespace

const LoadKernel load_kernel_neon = {"neon", true, &LoadLoop<Isa>::function};

}  // namespace cxltier::bench
