// SPDX-License-Identifier: Apache-2.0
//
// Fault injection: the k-th call of any seam fails, for every k until a run meets no failure.
//
// Whatever fails, no page is lost, the controller goes on, and in the end the hot pages are where
// they belong: one refusal must cost time, never the goal.
#include <gtest/gtest.h>

#include "tests/controller/controlled_process.h"

namespace cxltier {
namespace {

using fakes::ControlledProcess;
using fakes::page_bytes;

constexpr Bytes quarter{ControlledProcess::pages / 4 * page_bytes};

void survive_fault_at(std::uint64_t call, int error) {
  ControlledProcess on(quarter, PolicyKind::hot_cold, call);
  on.process.faults.error = error;
  on.run(30);
  ASSERT_TRUE(on.contents_whole()) << "call " << call << " errno " << error;
  ASSERT_EQ(on.process.published().state, RunState::active) << "call " << call;
  ASSERT_LE(on.process.pages_on(0) + on.process.pages_on(1), ControlledProcess::pages / 4 + 128)
      << "call " << call << " errno " << error;
  ASSERT_GE(on.hot_on_dram(), ControlledProcess::hot_pages * 2 / 3)
      << "call " << call << " errno " << error;
}

// The calls of the first eight ticks one by one: later ones only repeat them.
TEST(ControllerFaults, SurvivesTheFailureOfEveryCall) {
  ControlledProcess dry(quarter);
  dry.run(8);
  const std::uint64_t calls = dry.process.faults.calls;
  ASSERT_GT(calls, 50u);
  for (std::uint64_t call = 1; call <= calls; ++call) {
    survive_fault_at(call, call % 2 == 0 ? 12 : 1);  // ENOMEM, EPERM
    if (HasFatalFailure()) return;
  }
}

}  // namespace
}  // namespace cxltier
