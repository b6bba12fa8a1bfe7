// SPDX-License-Identifier: Apache-2.0
//
// The running kernel: version, configuration, command line, loaded modules, log, processor flags.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/topology/platform/files.h"

namespace cxltier {

struct KernelVersion {
  unsigned major = 0;
  unsigned minor = 0;
  friend auto operator<=>(const KernelVersion&, const KernelVersion&) = default;
};

struct KernelFacts {
  std::string release;  // "6.12.95+deb12-amd64"; empty: not known
  std::optional<KernelVersion> version;
  // "CONFIG_CXL_BUS" to "y", "m" or a value; empty if the configuration cannot be read.
  std::map<std::string, std::string> config;
  std::string config_path;  // where it was read
  std::vector<std::string> command_line;
  std::vector<std::string> modules;  // names in sys/module, built-in ones with parameters too
  std::string log;                   // empty: not known
  bool hypervisor_visible = false;   // CPUID's hypervisor bit, as /proc/cpuinfo shows it

  [[nodiscard]] bool has_module(std::string_view name) const;
  // The value of "key=value", or an empty text for a bare "key"; nothing if it is not there.
  [[nodiscard]] std::optional<std::string> parameter(std::string_view key) const;
  // The first line of the log that holds the text; empty if none does.
  [[nodiscard]] std::string log_line(std::string_view text) const;
};

// `log` is the kernel's log where the reader has it from elsewhere; else dmesg.txt of a snapshot.
[[nodiscard]] KernelFacts read_kernel_facts(Files& files, const std::string& log);

[[nodiscard]] std::optional<KernelVersion> parse_kernel_version(std::string_view release);
[[nodiscard]] std::map<std::string, std::string> parse_kernel_config(std::string_view text);

}  // namespace cxltier
