// SPDX-License-Identifier: Apache-2.0
//
// AVX-512F: a line is one vector.  Compiled with -mavx512f; run only where cpuid says so.
#include <immintrin.h>

#include <cstddef>
#include <cstdint>

#include "bench/tier/kernel/load_kernel.h"
#include "bench/tier/kernel/load_loop.h"

namespace cxltier::bench {
namespace {

struct Isa {
  using Vector = __m512i;
  static Vector load(const std::byte* from) noexcept { return _mm512_load_si512(from); }
  static void store(std::byte* to, Vector value) noexcept { _mm512_store_si512(to, value); }
  static void store_nt(std::byte* to, Vector value) noexcept {
    _mm512_stream_si512(reinterpret_cast<__m512i*>(to), value);
  }
  static Vector zero() noexcept { return _mm512_setzero_si512(); }
  static Vector mixed(Vector a, Vector b) noexcept { return _mm512_xor_si512(a, b); }
  static std::uint64_t digest(Vector v) noexcept {
    alignas(64) std::uint64_t words[8];
    _mm512_store_si512(words, v);
    return words[0] ^ words[7];
  }
  static void fence() noexcept { _mm_sfence(); }
};

}  // namespace

const LoadKernel load_kernel_avx512 = {"avx512", true, &LoadLoop<Isa>::function};

}  // namespace cxltier::bench
