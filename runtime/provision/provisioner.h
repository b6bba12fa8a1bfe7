// SPDX-License-Identifier: Apache-2.0
//
// Carries out a plan, or takes regions away again.
//
// Every write that changes something goes into a journal with its opposite.  When a write fails,
// the journal is run backwards, so that a call leaves either all of what it says or nothing.
#pragma once

#include <string>
#include <vector>

#include "runtime/provision/plan.h"
#include "runtime/provision/sysfs.h"

namespace cxltier {

struct ProvisionOutcome {
  bool done = false;
  std::string fault;                     // the write that failed, and the kernel's answer
  std::vector<std::string> made;         // "region0: dax0.0, node 1, 512 MiB"
  std::vector<std::string> rolled_back;  // writes that took things back
  std::vector<std::string> stuck;        // writes of the way back that failed too
};

class Provisioner {
 public:
  explicit Provisioner(Sysfs& sysfs) : sysfs_(sysfs) {}

  [[nodiscard]] ProvisionOutcome apply(const ProvisionPlan& plan);

  // Takes regions of volatile memory away: blocks offline, kmem unbound, region unbound and
  // deleted.  Stops at the first block that the kernel will not take offline and brings back what
  // it took.
  [[nodiscard]] ProvisionOutcome undo(const Platform& platform);

 private:
  bool put(const SysfsWrite& forward, const SysfsWrite& back);
  bool make_region(const RegionPlan& region);
  bool bring_online(const std::string& dax);
  bool bind_kmem(const OnlinePlan& online);
  bool online_block(std::uint64_t index);
  std::string wait_for_dax(const std::string& region);
  bool take_region(const Platform& platform, const CxlRegion& region);
  bool take_dax(const Platform& platform, const DaxInstance& dax);
  void roll_back();
  void fail(const std::string& fault);

  Sysfs& sysfs_;
  std::vector<SysfsWrite> journal_;
  ProvisionOutcome outcome_;
};

}  // namespace cxltier
