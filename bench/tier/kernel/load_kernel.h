// SPDX-License-Identifier: Apache-2.0
//
// Load generators: loops that read and write whole lines as fast as a core can, chosen when the
// program runs by what the processor has.
//
//   load_kernel_avx512   64-byte vectors        x86-64, found by cpuid
//   load_kernel_avx2     32
//   load_kernel_sse2     16                     every x86-64
//   load_kernel_neon     16                     every arm64
//   load_kernel_scalar    8                     anything else; no non-temporal stores
//
// Each file is compiled for its own instructions, and everything in it has internal linkage: a
// shared inline function compiled for AVX-512 would be linked into code that runs without it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "bench/tier/kernel/mix.h"

namespace cxltier::bench {

// Each of a mix's streams walks an area of its own in the buffer, one after the other:
//
//   | lines to load: L per group | (a second load stream) | lines to store: S per group |
//
// Loads and stores side by side in one stream were tried and reach 0.80 of this bandwidth (AMD Zen
// 3): the prefetcher follows each stream by itself.  After each pair of lines, or each longer
// group, come `delay` iterations of an empty loop.
struct LoadPass {
  std::byte* buffer = nullptr;  // aligned to 64
  std::uint64_t groups = 0;     // in the whole buffer: groups_in
  std::uint64_t first = 0;      // of this pass; first + count <= groups
  std::uint64_t count = 0;
  std::uint32_t delay = 0;  // a knob, not a unit
};

// Returns a value that depends on everything read, so that no load can be left out.
using LoadFunction = std::uint64_t (*)(const LoadPass& pass) noexcept;

struct LoadKernel {
  std::string_view name;      // "avx2"
  bool has_nt_stores = true;  // false: non-temporal mixes are made of ordinary stores
  LoadFunction (*function)(const Mix& mix) noexcept = nullptr;  // nullptr for a mix it has not
};

// The kernels that this processor can run, widest first; never empty.
[[nodiscard]] std::span<const LoadKernel> runnable_kernels() noexcept;
// By name; nullptr if there is none of that name, or if it cannot run here.
[[nodiscard]] const LoadKernel* find_kernel(std::string_view name) noexcept;
[[nodiscard]] std::string kernel_names();

// How many groups of a mix fit a buffer.
[[nodiscard]] std::uint64_t groups_in(const Mix& mix, std::uint64_t buffer_bytes) noexcept;

extern const LoadKernel load_kernel_sse2;
extern const LoadKernel load_kernel_avx2;
extern const LoadKernel load_kernel_avx512;
extern const LoadKernel load_kernel_neon;
extern const LoadKernel load_kernel_scalar;

}  // namespace cxltier::bench
