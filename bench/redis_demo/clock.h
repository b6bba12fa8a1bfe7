// SPDX-License-Identifier: Apache-2.0
//
// Seconds on the monotonic clock, and the progress line on stderr that carries them.
#pragma once

#include <chrono>
#include <cstdio>
#include <string>

namespace cxltier::demo {

inline double now_s() {
  using std::chrono::steady_clock;
  static const auto start = steady_clock::now();
  return std::chrono::duration<double>(steady_clock::now() - start).count();
}

inline void progress(const std::string& text) {
  std::fprintf(stderr, "[%6.1f s] %s\n", now_s(), text.c_str());
}

}  // namespace cxltier::demo
