// SPDX-License-Identifier: Apache-2.0
//
// The configuration has no place of its own: distributions keep it in /boot or beside the modules.
#include "runtime/topology/platform/kernel_facts.h"

#include <algorithm>

namespace cxltier {
namespace {

std::string release_of(Files& files) {
  if (const auto release = files.value("proc/sys/kernel/osrelease")) return *release;
  // "Linux version 6.12.95+deb12-amd64 (..."
  const std::string version = files.value("proc/version").value_or("");
  const std::vector<std::string_view> words = words_of(version);
  return words.size() > 2 ? std::string(words[2]) : std::string();
}

void read_config(Files& files, KernelFacts& facts) {
  for (const std::string& path :
       {"boot/config-" + facts.release, "usr/lib/modules/" + facts.release + "/config",
        "lib/modules/" + facts.release + "/config"}) {
    if (facts.release.empty()) return;
    const std::optional<std::string> text = files.whole(path);
    if (!text) continue;
    facts.config = parse_kernel_config(*text);
    facts.config_path = path;
    if (!facts.config.empty()) return;
  }
}

bool has_hypervisor_flag(std::string_view cpuinfo) {
  for (const std::string_view line : lines_of(cpuinfo)) {
    if (!line.starts_with("flags")) continue;
    const std::vector<std::string_view> flags = words_of(line);
    return std::find(flags.begin(), flags.end(), "hypervisor") != flags.end();
  }
  return false;
}

}  // namespace

bool KernelFacts::has_module(std::string_view name) const {
  return std::find(modules.begin(), modules.end(), name) != modules.end();
}

std::optional<std::string> KernelFacts::parameter(std::string_view key) const {
  // The last one counts, as it does for the kernel.
  for (auto word = command_line.rbegin(); word != command_line.rend(); ++word) {
    if (*word == key) return std::string();
    if (word->starts_with(key) && word->size() > key.size() && (*word)[key.size()] == '=') {
      return word->substr(key.size() + 1);
    }
  }
  return std::nullopt;
}

std::string KernelFacts::log_line(std::string_view text) const {
  const std::size_t at = log.find(text);
  if (at == std::string::npos) return {};
  const std::size_t before = log.rfind('\n', at);
  const std::size_t begin = before == std::string::npos ? 0 : before + 1;
  return log.substr(begin, std::min(log.find('\n', at), log.size()) - begin);
}

std::optional<KernelVersion> parse_kernel_version(std::string_view release) {
  const std::vector<std::string_view> parts = words_of(release, ".-+");
  if (parts.size() < 2) return std::nullopt;
  const std::optional<std::uint64_t> major = number_in(parts[0]);
  const std::optional<std::uint64_t> minor = number_in(parts[1]);
  if (!major || !minor || *major > 999 || *minor > 999) return std::nullopt;
  return KernelVersion{static_cast<unsigned>(*major), static_cast<unsigned>(*minor)};
}

std::map<std::string, std::string> parse_kernel_config(std::string_view text) {
  std::map<std::string, std::string> config;
  for (const std::string_view line : lines_of(text)) {
    const std::size_t equals = line.find('=');
    if (!line.starts_with("CONFIG_") || equals == std::string_view::npos) continue;
    config[std::string(line.substr(0, equals))] = line.substr(equals + 1);
  }
  return config;
}

KernelFacts read_kernel_facts(Files& files, const std::string& log) {
  KernelFacts facts;
  facts.release = release_of(files);
  facts.version = parse_kernel_version(facts.release);
  read_config(files, facts);
  const std::string command_line = files.value("proc/cmdline").value_or("");
  for (const std::string_view word : words_of(command_line)) facts.command_line.emplace_back(word);
  facts.modules = files.names("sys/module");
  facts.log = log.empty() ? files.whole("dmesg.txt").value_or("") : log;
  facts.hypervisor_visible = has_hypervisor_flag(files.whole("proc/cpuinfo").value_or(""));
  return facts;
}

}  // namespace cxltier
