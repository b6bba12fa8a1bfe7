// SPDX-License-Identifier: Apache-2.0
//
// AVX2: 32-byte vectors.  Compiled with -mavx2; run only where cpuid says so.
#include <immintrin.h>

#include <cstddef>
#include <cstdint>

#include "bench/tier/kernel/load_kernel.h"
#include "bench/tier/kernel/load_loop.h"

namespace cxltier::bench {
namespace {

struct Isa {
  using Vector = __m256i;
  static Vector load(const std::byte* from) noexcept {
    return _mm256_load_si256(reinterpret_cast<const __m256i*>(from));
  }
  static void store(std::byte* to, Vector value) noexcept {
    _mm256_store_si256(reinterpret_cast<__m256i*>(to), value);
  }
  static void store_nt(std::byte* to, Vector value) noexcept {
    _mm256_stream_si256(reinterpret_cast<__m256i*>(to), value);
  }
  static Vector zero() noexcept { return _mm256_setzero_si256(); }
  static Vector mixed(Vector a, Vector b) noexcept { return _mm256_xor_si256(a, b); }
  static std::uint64_t digest(Vector v) noexcept {
    return static_cast<std::uint64_t>(_mm256_extract_epi64(v, 0) ^ _mm256_extract_epi64(v, 2));
  }
  static void fence() noexcept { _mm_sfence(); }
};

}  // namespace

const LoadKernel load_kernel_avx2 = {"avx2", true, &LoadLoop<Isa>::function};

}  // namespace cxltier::bench
