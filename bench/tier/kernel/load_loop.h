// SPDX-License-Identifier: Apache-2.0
//
// The loop that all load generators share, over a vector type that each file brings.
//
//   struct Isa {
//     using Vector = ...;                              16, 32 or 64 bytes
//     static Vector load(const std::byte* from);       aligned
//     static void store(std::byte* to, Vector v);      aligned
//     static void store_nt(std::byte* to, Vector v);   aligned
//     static Vector zero();
//     static Vector mixed(Vector a, Vector b);         depends on both
//     static std::uint64_t digest(Vector v);
//     static void fence();                             after non-temporal stores
//   };
//
// pre: Isa has internal linkage, which gives all of this internal linkage too.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "bench/tier/kernel/load_kernel.h"
#include "bench/tier/kernel/mix.h"

namespace cxltier::bench {

template <typename Isa>
struct LoadLoop {
  using Vector = typename Isa::Vector;
  static constexpr std::size_t vectors = line_bytes / sizeof(Vector);

  static Vector load_line(const std::byte* line, Vector sum) noexcept {
    for (std::size_t i = 0; i < vectors; ++i) {
      sum = Isa::mixed(sum, Isa::load(line + i * sizeof(Vector)));
    }
    return sum;
  }

  template <Mix::Store How>
  static void store_line(std::byte* line, Vector value) noexcept {
    for (std::size_t i = 0; i < vectors; ++i) {
      if constexpr (How == Mix::Store::non_temporal) {
        Isa::store_nt(line + i * sizeof(Vector), value);
      } else {
        Isa::store(line + i * sizeof(Vector), value);
      }
    }
  }

  static void pause(std::uint32_t delay) noexcept {
    for (std::uint32_t i = 0; i < delay; ++i) asm volatile("");
  }

  // Two sums, so that a line does not wait for the line before it.
  template <unsigned Loads, unsigned Stores, unsigned Streams, Mix::Store How>
  static std::uint64_t run(const LoadPass& pass) noexcept {
    constexpr std::uint64_t groups_per_pause = Loads + Stores >= 2 ? 1 : 2;
    constexpr std::uint64_t load_stride = Loads / Streams * line_bytes;
    constexpr std::uint64_t store_stride = Stores * line_bytes;
    const std::byte* load = pass.buffer + pass.first * load_stride;
    std::byte* store = pass.buffer + pass.groups * Loads * line_bytes + pass.first * store_stride;
    const std::uint64_t to_second = pass.groups * load_stride;
    Vector even = Isa::zero();
    Vector odd = Isa::zero();
    for (std::uint64_t group = 0; group < pass.count; ++group) {
      for (unsigned i = 0; i < Loads / Streams; ++i) {
        even = load_line(load + i * line_bytes, even);
        if constexpr (Streams == 2) odd = load_line(load + to_second + i * line_bytes, odd);
      }
      for (unsigned i = 0; i < Stores; ++i) store_line<How>(store + i * line_bytes, even);
      load += load_stride;
      store += store_stride;
      if (pass.delay != 0 && group % groups_per_pause == 0) pause(pass.delay);
      std::swap(even, odd);
    }
    if constexpr (How == Mix::Store::non_temporal) Isa::fence();
    return Isa::digest(Isa::mixed(even, odd));
  }

  static LoadFunction function(const Mix& mix) noexcept {
    using Store = Mix::Store;
    if (mix.streams == 2) {
      if (mix.loads != 2 || mix.stores != 1) return nullptr;
      return mix.store == Store::non_temporal ? &run<2, 1, 2, Store::non_temporal>
                                              : &run<2, 1, 2, Store::allocating>;
    }
    if (mix.stores == 0) return mix.loads == 1 ? &run<1, 0, 1, Store::none> : nullptr;
    if (mix.store == Store::non_temporal) {
      static constexpr std::array<LoadFunction, 4> by_loads = {
          &run<0, 1, 1, Store::non_temporal>, &run<1, 1, 1, Store::non_temporal>,
          &run<2, 1, 1, Store::non_temporal>, &run<3, 1, 1, Store::non_temporal>};
      return mix.stores == 1 && mix.loads < by_loads.size() ? by_loads[mix.loads] : nullptr;
    }
    if (mix.stores == 2) return mix.loads == 1 ? &run<1, 2, 1, Store::allocating> : nullptr;
    static constexpr std::array<LoadFunction, 9> by_loads = {
        &run<0, 1, 1, Store::allocating>, &run<1, 1, 1, Store::allocating>,
        &run<2, 1, 1, Store::allocating>, &run<3, 1, 1, Store::allocating>,
        &run<4, 1, 1, Store::allocating>, &run<5, 1, 1, Store::allocating>,
        &run<6, 1, 1, Store::allocating>, &run<7, 1, 1, Store::allocating>,
        &run<8, 1, 1, Store::allocating>};
    return mix.stores == 1 && mix.loads < by_loads.size() ? by_loads[mix.loads] : nullptr;
  }
};

}  // namespace cxltier::bench
