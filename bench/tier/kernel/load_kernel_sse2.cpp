// SPDX-License-Identifier: Apache-2.0
//
// SSE2: 16-byte vectors, on every x86-64.
#include <emmintrin.h>

#include <cstddef>
#include <cstdint>

#include "bench/tier/kernel/load_kernel.h"
#include "bench/tier/kernel/load_loop.h"

namespace cxltier::bench {
namespace {

struct Isa {
  using Vector = __m128i;
  static Vector load(const std::byte* from) noexcept {
    return _mm_load_si128(reinterpret_cast<const __m128i*>(from));
  }
  static void store(std::byte* to, Vector value) noexcept {
    _mm_store_si128(reinterpret_cast<__m128i*>(to), value);
  }
  static void store_nt(std::byte* to, Vector value) noexcept {
    _mm_stream_si128(reinterpret_cast<__m128i*>(to), value);
  }
  static Vector zero() noexcept { return _mm_setzero_si128(); }
  static Vector mixed(Vector a, Vector b) noexcept { return _mm_xor_si128(a, b); }
  static std::uint64_t digest(Vector v) noexcept {
    return static_cast<std::uint64_t>(_mm_cvtsi128_si64(_mm_xor_si128(v, _mm_srli_si128(v, 8))));
  }
  static void fence() noexcept { _mm_sfence(); }
};

}  // namespace

const LoadKernel load_kernel_sse2 = {"sse2", true, &LoadLoop<Isa>::function};

}  // namespace cxltier::bench
