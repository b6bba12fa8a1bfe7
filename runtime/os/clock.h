// SPDX-License-Identifier: Apache-2.0
//
// Time as the controller sees it.  Contract of clock_linux.cpp and of the tests' fake.
#pragma once

#include "policy/units.h"

namespace cxltier {

class Clock {
 public:
  // CLOCK_MONOTONIC.
  virtual Nanoseconds now() noexcept = 0;
  // Processor time that the calling thread has used.
  virtual Nanoseconds thread_cpu() noexcept = 0;

 protected:
  ~Clock() = default;
};

}  // namespace cxltier
