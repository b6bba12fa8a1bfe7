// SPDX-License-Identifier: Apache-2.0
//
// How fast the way to a device is, and whether firmware's figures can be believed.
#include <fmt/format.h>

#include "runtime/doctor/checks.h"
#include "runtime/topology/node_performance.h"

namespace cxltier {
namespace {

// CXL's own rate from the first version on; a device that cannot do it runs in a degraded mode
// (CXL 3.1, chapter 6).
constexpr double native_speed = 32;

std::string gigabytes(const PciLink& link) {
  return fmt::format("{:.1f} GB/s", link.bytes_per_second() / 1e9);
}

void show_ends(const PciFunction& function, const LinkVerdict& link, Diagnosis& found) {
  found.show("sys/bus/pci/devices/" + function.address,
             fmt::format("{}, can {}", link_text(function.current), link_text(function.maximum)));
  if (!link.port.empty()) {
    found.show("sys/bus/pci/devices/" + link.port,
               fmt::format("port, can {}", link_text(link.port_maximum)));
  }
}

void judge_degraded(const PciFunction& function, const LinkVerdict& link, Diagnosis& found) {
  found.problem(CheckState::fail,
                fmt::format("{} runs {} instead of {}: at most {} instead of {}", function.address,
                            link_text(link.effective), link_text(link.device_maximum),
                            gigabytes(link.effective), gigabytes(link.device_maximum)));
  if (link.limit == "port") {
    found.fix(
        fmt::format("the slot is the limit ({} can {}): use a faster slot, or change its "
                    "bifurcation in firmware set-up",
                    link.port, link_text(link.port_maximum)));
  } else {
    found.fix(
        "both ends can do more, so the link trained lower: check riser, retimer, cable and "
        "slot, reseat the card, and look for link errors (aer_dev_correctable)");
  }
}

// The slowest link between the device and the host bridge, above its own.
void judge_path(const Platform& platform, const PciFunction& function, const LinkVerdict& link,
                Diagnosis& found) {
  const PciFunction* at = platform.pci.find(function.parent);
  for (int steps = 0; at != nullptr && steps < 16; ++steps) {
    const std::optional<LinkVerdict> above = platform.pci.link_of(*at);
    const PciFunction* port = platform.pci.find(at->parent);
    if (above && port != nullptr && at->config && at->config->port_type == PortType::upstream &&
        above->effective.bytes_per_second() < link.effective.bytes_per_second()) {
      found.problem(CheckState::warn,
                    fmt::format("the switch above {} is linked {}, slower than the device",
                                function.address, link_text(above->effective)));
      show_ends(*at, *above, found);
      found.fix("all devices below this switch share that link: use a wider slot for the switch");
      return;
    }
    at = port;
  }
}

bool is_absurd(std::uint64_t latency) { return latency > latency_ns_max; }

}  // namespace

Diagnosis check_link(const Platform& platform) {
  Diagnosis found;
  std::size_t links = 0;
  std::size_t integrated = 0;
  for (const PciFunction& function : platform.pci.functions) {
    if (!function.is_cxl_memory()) continue;
    integrated += function.is_integrated();
    const std::optional<LinkVerdict> link = platform.pci.link_of(function);
    if (!link) continue;
    ++links;
    show_ends(function, *link, found);
    if (link->is_degraded) {
      judge_degraded(function, *link, found);
    } else if (function.maximum.speed < native_speed) {
      found.problem(
          CheckState::warn,
          fmt::format("{} can do no more than {}, below CXL's own 32 GT/s: at most {}",
                      function.address, link_text(function.maximum), gigabytes(function.maximum)));
      found.reference = "CXL 3.1, chapter 6";
      found.fix(
          "check whether the device is meant to be that slow: a bifurcated card or an old "
          "firmware shows a lower maximum");
    }
    judge_path(platform, function, *link, found);
  }
  if (found.state != CheckState::ok) return found;
  if (links > 0) {
    found.summary = fmt::format("{} link{} at the device's maximum", links, links == 1 ? "" : "s");
    return found;
  }
  if (integrated > 0) return skipped("not applicable: integrated into the root complex, no link");
  return skipped("no CXL device with a link");
}

Diagnosis check_errors(const Platform& platform) {
  Diagnosis found;
  std::size_t devices = 0;
  for (const PciFunction& function : platform.pci.functions) {
    if (!function.is_cxl_memory()) continue;
    ++devices;
    const std::string folder = "sys/bus/pci/devices/" + function.address;
    if (function.errors_fatal > 0) {
      found.problem(CheckState::fail, fmt::format("{}: {} uncorrectable link errors",
                                                  function.address, function.errors_fatal));
      found.show(folder + "/aer_dev_fatal", fmt::format("{}", function.errors_fatal));
    }
    if (function.errors_correctable > 0) {
      found.problem(CheckState::warn, fmt::format("{}: {} corrected link errors", function.address,
                                                  function.errors_correctable));
      found.show(folder + "/aer_dev_correctable", fmt::format("{}", function.errors_correctable));
    }
  }
  if (found.state != CheckState::ok) {
    found.fix(
        "see whether the counters grow; if so, reseat the card, check riser, retimer and slot");
    return found;
  }
  if (devices == 0) return skipped("no CXL device on the PCI bus");
  return fine("none counted");
}

Diagnosis check_latency(const Platform& platform) {
  Diagnosis found;
  bool any_known = false;
  for (const CxlRegion& region : platform.cxl.regions) {
    const CxlPerformance& values = region.performance;
    any_known |= values.read_latency != 0 || values.read_bandwidth != 0;
    if (!is_absurd(values.read_latency) && !is_absurd(values.write_latency)) continue;
    found.problem(CheckState::warn, fmt::format("{}: a latency of {} ns is implausible; not used",
                                                region.name, values.read_latency));
    found.show(fmt::format("sys/bus/cxl/devices/{}/access0/read_latency", region.name),
               fmt::format("{}", values.read_latency));
    found.fix(
        "kernels before 6.16 add the link's picoseconds to nanoseconds: use a newer one, or "
        "measure with: cxltier bench tier");
  }
  if (platform.reading && found.state == CheckState::ok) {
    for (const Finding& finding : platform.reading->findings.list()) {
      if (finding.kind != FindingKind::latency_absurd &&
          finding.kind != FindingKind::bandwidth_absurd) {
        continue;
      }
      found.problem(CheckState::warn, fmt::format("node {}: a value of {} is implausible; not used",
                                                  index_of(finding.node), finding.value));
      found.show(
          fmt::format("sys/devices/system/node/node{}/access0/initiators", index_of(finding.node)),
          fmt::format("{}", finding.value));
    }
  }
  if (found.state != CheckState::ok) return found;
  if (cxl_nodes(platform).empty() && platform.cxl.regions.empty()) return skipped("no CXL memory");
  if (!any_known) {
    return skipped(
        "firmware gives no latency or bandwidth (no HMAT or no generic port); cxltier "
        "measures them");
  }
  return fine("plausible");
}

}  // namespace cxltier
