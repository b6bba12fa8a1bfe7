// SPDX-License-Identifier: Apache-2.0
//
// Threads that use memory while the runtime moves it.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <thread>
#include <utility>

#include "tests/guest/pattern.h"

namespace cxltier::guest {

// Calls `pass` over and over, with a pause between, until it is destroyed.
class Repeated {
 public:
  Repeated(std::chrono::microseconds pause, std::function<void()> pass)
      : thread_([this, pause, pass = std::move(pass)] {
          while (!stop_.load()) {
            pass();
            passes_.fetch_add(1);
            if (pause.count() > 0) std::this_thread::sleep_for(pause);
          }
        }) {}
  Repeated(const Repeated&) = delete;
  Repeated& operator=(const Repeated&) = delete;
  ~Repeated() {
    stop_.store(true);
    thread_.join();
  }
  [[nodiscard]] std::uint64_t passes() const { return passes_.load(); }

 private:
  std::atomic<bool> stop_{false};
  std::atomic<std::uint64_t> passes_{0};
  std::thread thread_;
};

// Reads one word of each page of a part and counts the wrong ones.
class PageReader {
 public:
  // `first_word` and `last_word`: the part; pages are 512 words.
  PageReader(const Pattern& pattern, std::size_t first_word, std::size_t last_word,
             std::chrono::microseconds pause)
      : load_(pause, [this, &pattern, first_word, last_word] {
          wrong_.fetch_add(pattern.wrong(0, 512, first_word, last_word));
        }) {}
  [[nodiscard]] std::size_t wrong() const { return wrong_.load(); }
  [[nodiscard]] std::uint64_t passes() const { return load_.passes(); }

 private:
  std::atomic<std::size_t> wrong_{0};
  Repeated load_;
};

// Writes a new round of a pattern, and checks it before it writes the next.
class RoundWriter {
 public:
  static constexpr std::size_t step = 8;  // one word per cache line

  explicit RoundWriter(Pattern& pattern)
      : load_(std::chrono::milliseconds(1), [this, &pattern] {
          if (round_ > 0) wrong_.fetch_add(pattern.wrong(round_, step));
          pattern.write(++round_, step);
        }) {}
  [[nodiscard]] std::size_t wrong() const { return wrong_.load(); }
  [[nodiscard]] std::uint64_t rounds() const { return load_.passes(); }

 private:
  std::uint64_t round_ = 0;
  std::atomic<std::size_t> wrong_{0};
  Repeated load_;
};

}  // namespace cxltier::guest
