// SPDX-License-Identifier: Apache-2.0
//
// Walks sys/bus/pci/devices; links of sysfs are preferred, the configuration space is the fallback.
#include "runtime/topology/platform/pci_list.h"

#include <fmt/format.h>

#include <algorithm>

namespace cxltier {
namespace {

bool is_address(std::string_view name) {
  return name.size() >= 12 && name[4] == ':' && name[7] == ':' && name[10] == '.';
}

PciLink link_from(const LinkState& state) {
  constexpr double speeds[] = {0, 2.5, 5, 8, 16, 32, 64};
  if (state.speed >= std::size(speeds)) return {};
  return {speeds[state.speed], state.width};
}

class PciReader {
 public:
  explicit PciReader(Files& files) : files_(files) {}

  PciFunction read(const std::string& address) {
    const std::string folder = "sys/bus/pci/devices/" + address;
    PciFunction function;
    function.address = address;
    const std::string path = files_.link(folder);
    const std::vector<std::string_view> parts = words_of(path, "/");
    if (parts.size() >= 2 && is_address(parts[parts.size() - 2])) {
      function.parent = parts[parts.size() - 2];
    }
    function.class_code = static_cast<std::uint32_t>(number(folder + "/class"));
    function.vendor = static_cast<std::uint16_t>(number(folder + "/vendor"));
    function.device = static_cast<std::uint16_t>(number(folder + "/device"));
    function.numa_node = files_.signed_number(folder + "/numa_node");
    function.driver = last_name(files_.link(folder + "/driver"));
    read_config(folder, function);
    read_links(folder, function);
    // Only CXL devices are asked for more: a large machine has a thousand functions.
    if (function.is_cxl_memory()) read_cxl_files(folder, function);
    return function;
  }

 private:
  std::uint64_t number(const std::string& path) { return files_.number(path).value_or(0); }
  void read_config(const std::string& folder, PciFunction& function);
  void read_links(const std::string& folder, PciFunction& function);
  void read_cxl_files(const std::string& folder, PciFunction& function);
  std::uint64_t error_total(const std::string& path);

  Files& files_;
};

void PciReader::read_config(const std::string& folder, PciFunction& function) {
  const std::optional<std::string> bytes = files_.whole(folder + "/config");
  if (!bytes || bytes->empty()) return;
  function.config =
      parse_pci_config({reinterpret_cast<const std::uint8_t*>(bytes->data()), bytes->size()});
  function.is_config_short = bytes->size() <= 64;
  const auto byte = [&](std::size_t at) -> std::uint32_t {
    return at < bytes->size() ? static_cast<std::uint8_t>((*bytes)[at]) : 0;
  };
  if (function.class_code == 0) function.class_code = byte(11) << 16 | byte(10) << 8 | byte(9);
  if (function.vendor == 0) function.vendor = static_cast<std::uint16_t>(byte(1) << 8 | byte(0));
  if (function.device == 0) function.device = static_cast<std::uint16_t>(byte(3) << 8 | byte(2));
}

void PciReader::read_links(const std::string& folder, PciFunction& function) {
  const auto link = [&](const char* end) {
    const std::string start = folder + "/" + end + "_link_";
    return PciLink{parse_link_speed(files_.value(start + "speed").value_or("")),
                   static_cast<unsigned>(std::min<std::uint64_t>(number(start + "width"), 64))};
  };
  function.current = link("current");
  function.maximum = link("max");
  if (function.config && function.maximum.width == 0) {
    function.current = link_from(function.config->current);
    function.maximum = link_from(function.config->maximum);
  }
}

// The line "TOTAL_ERR_COR 12", or its like, of an AER counter file.
std::uint64_t PciReader::error_total(const std::string& path) {
  const std::string text = files_.value(path).value_or("");
  for (const std::string_view line : lines_of(text)) {
    if (!line.starts_with("TOTAL_")) continue;
    return number_in(words_of(line).back()).value_or(0);
  }
  return 0;
}

void PciReader::read_cxl_files(const std::string& folder, PciFunction& function) {
  for (const std::string& name : files_.names(folder)) {
    if (name.starts_with("mem") && number_in(std::string_view(name).substr(3))) {
      function.memdevs.push_back(name);
    }
  }
  function.errors_correctable = error_total(folder + "/aer_dev_correctable");
  function.errors_fatal =
      error_total(folder + "/aer_dev_fatal") + error_total(folder + "/aer_dev_nonfatal");
}

PciLink slower(const PciLink& a, const PciLink& b) {
  if (!a.is_known()) return b;
  if (!b.is_known()) return a;
  return {std::min(a.speed, b.speed), std::min(a.width, b.width)};
}

bool is_below(const PciLink& link, const PciLink& bound) {
  return link.speed < bound.speed || link.width < bound.width;
}

}  // namespace

double PciLink::bytes_per_second() const {
  const double coding = speed <= 5 ? 0.8 : speed <= 32 ? 128.0 / 130.0 : 1.0;
  return speed * 1e9 * coding * width / 8;
}

bool PciFunction::is_cxl_memory() const {
  return has_cxl_class() || (config && config->cxl && config->cxl->can_mem());
}

bool PciFunction::is_integrated() const {
  return config && config->port_type == PortType::integrated_endpoint;
}

const PciFunction* PciList::find(std::string_view address) const {
  const auto found =
      std::find_if(functions.begin(), functions.end(),
                   [address](const PciFunction& function) { return function.address == address; });
  return found == functions.end() ? nullptr : &*found;
}

std::optional<LinkVerdict> PciList::link_of(const PciFunction& function) const {
  if (function.is_integrated() || !function.maximum.is_known()) return std::nullopt;
  LinkVerdict verdict;
  verdict.device_maximum = function.maximum;
  verdict.effective = function.current;
  if (const PciFunction* port = find(function.parent); port != nullptr) {
    verdict.port = port->address;
    verdict.port_maximum = port->maximum;
    verdict.effective = slower(function.current, port->current);
  }
  if (!verdict.effective.is_known()) return std::nullopt;
  verdict.is_degraded = is_below(verdict.effective, verdict.device_maximum);
  if (!verdict.is_degraded) {
    verdict.limit = "device";
  } else {
    const bool at_port =
        verdict.port_maximum.is_known() &&
        !is_below(verdict.effective, slower(verdict.port_maximum, verdict.device_maximum));
    verdict.limit = at_port ? "port" : "training";
  }
  return verdict;
}

PciList read_pci_list(Files& files) {
  PciList list;
  PciReader reader(files);
  for (const std::string& name : files.names("sys/bus/pci/devices")) {
    if (is_address(name)) list.functions.push_back(reader.read(name));
  }
  return list;
}

double parse_link_speed(std::string_view text) {
  const std::vector<std::string_view> words = words_of(text);
  if (words.size() < 2 || words[1] != "GT/s") return 0;
  const std::vector<std::string_view> parts = words_of(words[0], ".");
  if (parts.empty() || parts.size() > 2) return 0;
  const std::optional<std::uint64_t> whole = number_in(parts[0]);
  const std::optional<std::uint64_t> tenths = parts.size() == 2 ? number_in(parts[1]) : 0;
  if (!whole || *whole > 1000 || !tenths || *tenths > 9) return 0;
  return static_cast<double>(*whole) + static_cast<double>(*tenths) / 10;
}

std::string link_text(const PciLink& link) {
  return fmt::format("x{} at {:g} GT/s", link.width, link.speed);
}

}  // namespace cxltier
