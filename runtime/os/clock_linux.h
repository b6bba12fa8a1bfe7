// SPDX-License-Identifier: Apache-2.0
//
// The machine's clocks.  Any thread.
#pragma once

#include "runtime/os/clock.h"

namespace cxltier {

class ClockLinux final : public Clock {
 public:
  Nanoseconds now() noexcept override;
  Nanoseconds thread_cpu() noexcept override;
};

}  // namespace cxltier
