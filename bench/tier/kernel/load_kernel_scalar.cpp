// SPDX-License-Identifier: Apache-2.0
//
// Plain C++: 8-byte words.  For processors without a kernel of their own, and to check the others
// against; "non-temporal" stores are ordinary ones here.
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "bench/tier/kernel/load_kernel.h"
#include "bench/tier/kernel/load_loop.h"

namespace cxltier::bench {
namespace {

struct Isa {
  using Vector = std::uint64_t;
  static Vector load(const std::byte* from) noexcept {
    Vector value;
    std::memcpy(&value, from, sizeof value);
    return value;
  }
  static void store(std::byte* to, Vector value) noexcept { std::memcpy(to, &value, sizeof value); }
  static void store_nt(std::byte* to, Vector value) noexcept { store(to, value); }
  static Vector zero() noexcept { return 0; }
  static Vector mixed(Vector a, Vector b) noexcept { return a ^ b; }
  static std::uint64_t digest(Vector v) noexcept { return v; }
  static void fence() noexcept {}
};

}  // namespace

const LoadKernel load_kernel_scalar = {"scalar", false, &LoadLoop<Isa>::function};

}  // namespace cxltier::bench
