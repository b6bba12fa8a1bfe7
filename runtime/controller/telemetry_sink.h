// SPDX-License-Identifier: Apache-2.0
//
// Where the controller publishes what it did.  Contract: the telemetry writer behind it, or a test.
#pragma once

#include "runtime/telemetry/page.h"

namespace cxltier {

class TelemetrySink {
 public:
  // Cannot fail: a page that cannot be written is lost, and the next one comes.
  virtual void publish(const TelemetryPage& page) noexcept = 0;

 protected:
  ~TelemetrySink() = default;
};

}  // namespace cxltier
