// SPDX-License-Identifier: Apache-2.0
//
// Where Redis keeps the hot keys: found exactly, by asking the server and reading its memory.
//
//   bucket array      dictEntry           robj                value (sds)
//   [ . . e . . ] --> { key, v, next } --> { bits, ptr } ----> "000000000042…"
//                        |      `--> the next entry of the bucket
//                        `--> key (sds) "key:000000000042"
//
// DEBUG OBJECT tells the address of the robj; ptr is its second word.  Who points at the robj is
// found by searching the server's memory for that address: the word is an entry's v when the word
// before it points at the key.  Who points at the entry is found the same way: a page with many
// such words is a page of the bucket array, another one holds an entry in front of it in a bucket.
//
// Redis moves none of these while it only serves GETs (active defragmentation is off by default).
#pragma once

#include <cstdint>
#include <vector>

#include "bench/redis_demo/dataset.h"
#include "bench/redis_demo/process_pages.h"
#include "bench/redis_demo/server.h"

namespace cxltier::demo {

// Addresses by hot key number.
struct HotObjects {
  std::vector<std::uint64_t> objects;  // of the robj
  std::vector<std::uint64_t> values;   // of the value's first byte
};

// errors: throws Failure when the server does not tell addresses, or a value is not where it should
HotObjects find_hot_objects(Server& server, const Dataset& dataset);

// Pages that hold the hot keys' values, ascending.
std::vector<PageAddress> value_pages(const HotObjects& hot);

// Pages of what stands around the values, each list ascending.  Lists may be empty when this Redis
// has other structures; entries_found says how far the search came.
struct HotMetadata {
  std::vector<PageAddress> objects;
  std::vector<PageAddress> entries;
  std::vector<PageAddress> keys;
  std::vector<PageAddress> table;
  std::vector<PageAddress> in_front;  // entries, and their keys, that a lookup passes on its way
  std::uint64_t entries_found = 0;
};

HotMetadata find_hot_metadata(Server& server, const HotObjects& hot);

}  // namespace cxltier::demo
