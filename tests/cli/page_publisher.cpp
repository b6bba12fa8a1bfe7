// SPDX-License-Identifier: Apache-2.0
//
// A process that publishes one known page where the environment says, tells its pid on stdout, and
// lives until its stdin closes.  The page stays behind: whoever starts this removes the folder.
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "runtime/telemetry/writer.h"

int main() {
  using namespace cxltier;
  static TelemetryWriter writer;
  const FolderPlace place{std::getenv("XDG_RUNTIME_DIR"), "/dev/shm", ::geteuid()};
  const Result<ProcessIdentity> self = identity_of_self();
  if (!self.ok() || !writer.open(place, self.value()).ok()) return 1;
  TelemetryPage page;
  page.state = RunState::active;
  std::strcpy(page.policy.data(), "hot-cold");
  page.page_size = 4096;
  page.updated_ns = 1;
  page.started_ns = 1;
  page.ticks = 12;
  page.pages_promoted = 256;
  page.pages_demoted = 512;
  page.pages_refused[static_cast<std::size_t>(Refusal::busy)] = 3;
  page.thread_cpu_ns = 1'500'000'000;
  page.node_count = 2;
  page.nodes[0] = {0, static_cast<std::uint8_t>(NodeKind::dram), 0, 0, 1000};
  page.nodes[1] = {2, static_cast<std::uint8_t>(NodeKind::cxl), 1, 0, 3000};
  page.tier_count = 2;
  page.tiers[0] = {1000, 1024, 40};
  page.tiers[1] = {3000, ~std::uint64_t{0}, 0};
  page.heat_histogram[0] = 3000;
  page.heat_histogram[63] = 1000;
  page.heat[0] = 3000;
  page.heat[127] = 1000;
  writer.publish(page);
  std::printf("%d\n", ::getpid());
  std::fflush(stdout);
  while (std::getchar() != EOF) {
  }
  return 0;
}
