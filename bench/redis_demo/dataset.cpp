// SPDX-License-Identifier: Apache-2.0
//
// Makes and loads the data; see the header.
#include "bench/redis_demo/dataset.h"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>

#include "bench/redis_demo/clock.h"
#include "bench/redis_demo/failure.h"

namespace cxltier::demo {
namespace {

constexpr std::uint64_t pipeline_keys = 32;
constexpr double rehash_max_s = 60;

// Steele, Lea and Flood's SplitMix64: any seed gives a good sequence.
std::uint64_t next_random(std::uint64_t& state) {
  std::uint64_t z = state += 0x9e3779b97f4a7c15;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

void wait_for_rehash(Server& server) {
  for (const double end = now_s() + rehash_max_s; now_s() < end; usleep(200'000)) {
    const std::string tables = server.control().call({"DEBUG", "HTSTATS", "0"});
    if (tables.find("rehashing target") == std::string::npos) return;
  }
  fail("Redis did not finish growing its hash table within 60 s");
}

}  // namespace

Dataset dataset_of(double values_mib) {
  Dataset dataset;
  dataset.keys = static_cast<std::uint64_t>(std::ceil(values_mib * 1048576 / value_size));
  dataset.hot_keys = dataset.keys / 5;
  return dataset;
}

std::string key_of(std::uint64_t number) {
  std::string digits = std::to_string(number);
  return "key:" + std::string(digits_size - digits.size(), '0') + digits;
}

std::string value_of(std::uint64_t number) {
  std::string value(value_size, '\0');
  key_of(number).copy(value.data(), digits_size, key_size - digits_size);
  std::uint64_t state = number;
  for (std::size_t at = digits_size; at < value_size; at += sizeof state) {
    // 6 bits per byte, from '0' on: printable.
    const std::uint64_t bytes = (next_random(state) & 0x3f3f3f3f3f3f3f3f) + 0x3030303030303030;
    std::memcpy(value.data() + at, &bytes, std::min(sizeof bytes, value_size - at));
  }
  return value;
}

// Two batches are under way, so that making one and storing the other happen at the same time.
void load(Server& server, const Dataset& dataset) {
  Connection& control = server.control();
  std::uint64_t waiting = 0;
  for (std::uint64_t first = 0; first < dataset.keys; first += pipeline_keys) {
    const std::uint64_t end = std::min(first + pipeline_keys, dataset.keys);
    for (std::uint64_t k = first; k < end; ++k) control.append({"SET", key_of(k), value_of(k)});
    control.flush();
    for (; waiting > 0; --waiting) control.read_reply();
    waiting = end - first;
  }
  for (; waiting > 0; --waiting) control.read_reply();
  if (control.call({"DBSIZE"}) != std::to_string(dataset.keys)) fail("Redis lost keys in loading");
  wait_for_rehash(server);
}

}  // namespace cxltier::demo
