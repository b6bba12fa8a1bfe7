// SPDX-License-Identifier: Apache-2.0
//
// The keys and values of the demo and the order in which they are loaded.
//
// Key k is "key:" and k in 12 digits.  Its value starts with the same 12 digits, then pseudo-random
// printable bytes that depend on k alone, so that a reply can be told from any other and every run
// has the same digest.  Keys are loaded in order; the first fifth is the hot one, so that hot keys
// lie together in memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "bench/redis_demo/server.h"

namespace cxltier::demo {

// With Redis's header of 5 bytes and its end byte this is jemalloc's class of exactly 1 KiB: a page
// holds 4 values and no value straddles two.
inline constexpr std::size_t value_size = 1018;
inline constexpr std::size_t key_size = 16;
inline constexpr std::size_t digits_size = 12;

struct Dataset {
  std::uint64_t keys = 0;
  std::uint64_t hot_keys = 0;  // 0 … hot_keys-1
};

Dataset dataset_of(double values_mib);
std::string key_of(std::uint64_t number);
std::string value_of(std::uint64_t number);

// Loads all keys and waits until the hash table has reached its size for good.
void load(Server& server, const Dataset& dataset);

}  // namespace cxltier::demo
