// SPDX-License-Identifier: Apache-2.0
//
// sysfs of the cards' PCI functions, and the SMBIOS table.
#include "bench/tier/host/theoretical_peak.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <vector>

#include "runtime/topology/sysfs_text.h"
#include "runtime/topology/tree_text.h"

namespace cxltier::bench {
namespace {

class CardVisitor final : public EntryVisitor {
 public:
  void visit(std::string_view name) noexcept override {
    if (number_after("mem", name)) names.emplace_back(name);
  }
  std::vector<std::string> names;
};

// A memory device stands below the PCI function that is its card.
std::string card_text(FileTree& tree, const std::string& card, const char* file) {
  TreeText text(tree);
  const Path path = Path("sys/bus/cxl/devices/").text(card).text("/../").text(file);
  return text.read(path) == 0 ? std::string(text.view()) : std::string();
}

TheoreticalPeak peak_of_cards(FileTree& tree) {
  CardVisitor cards;
  static_cast<void>(tree.list("sys/bus/cxl/devices", cards));
  TheoreticalPeak peak{0, true,
                       fmt::format("link{} of {} CXL card{}", cards.names.size() == 1 ? "" : "s",
                                   cards.names.size(), cards.names.size() == 1 ? "" : "s")};
  for (const std::string& card : cards.names) {
    const double gbps = gbps_of_link(card_text(tree, card, "current_link_speed"),
                                     card_text(tree, card, "current_link_width"));
    if (gbps <= 0) return {};  // a sum without one of them would be no ceiling
    peak.gbps += gbps;
  }
  return peak;
}

TheoreticalPeak peak_of_modules(FileTree& tree) {
  std::vector<char> table(std::size_t{1} << 18);
  const Result<std::size_t> length = tree.read("sys/firmware/dmi/tables/DMI", table);
  if (!length.ok()) return {};
  const std::span<const char> used(table.data(), std::min(length.value_or(0), table.size()));
  return {gbps_of_modules(used), false, "all memory modules in firmware's table"};
}

// One structure of the table: type, length, handle, fields; then texts, closed by two zeros.
struct Structure {
  std::span<const char> fields;  // from the type on

  [[nodiscard]] unsigned number(std::size_t at, std::size_t bytes) const {
    unsigned value = 0;
    for (std::size_t i = 0; i < bytes && at + i < fields.size(); ++i) {
      value |= static_cast<unsigned>(static_cast<unsigned char>(fields[at + i])) << (8 * i);
    }
    return value;
  }
};

// Takes the next structure off the front; empty fields at the end or where the table is broken.
Structure next_structure(std::span<const char>& rest) {
  constexpr std::size_t header = 4;
  const std::size_t length = rest.size() < header ? 0 : static_cast<unsigned char>(rest[1]);
  if (length < header || length > rest.size()) return {};
  const Structure structure{rest.first(length)};
  std::size_t end = length;
  while (end + 1 < rest.size() && (rest[end] != 0 || rest[end + 1] != 0)) ++end;
  rest = rest.subspan(std::min(end + 2, rest.size()));
  return structure;
}

// Offsets in a "Memory Device" structure, DSP0134 7.18.
constexpr unsigned type_memory_device = 17;
constexpr std::size_t at_data_width = 0x0a;
constexpr std::size_t at_size = 0x0c;
constexpr std::size_t at_speed = 0x15;
constexpr std::size_t at_configured_speed = 0x20;
constexpr std::size_t at_extended_configured_speed = 0x58;
constexpr unsigned extended = 0xffff;

// Configured megatransfers per second, else what the module could do; 0: not said.
unsigned speed_of(const Structure& module) {
  unsigned speed = module.number(at_configured_speed, 2);
  if (speed == extended) speed = module.number(at_extended_configured_speed, 4);
  if (speed == 0) speed = module.number(at_speed, 2);
  return speed == extended ? 0 : speed;
}

}  // namespace

double gbps_of_modules(std::span<const char> smbios) {
  double gbps = 0;
  for (;;) {
    const Structure module = next_structure(smbios);
    if (module.fields.empty()) return gbps;
    const bool is_module = module.number(0, 1) == type_memory_device;
    if (!is_module || module.number(at_size, 2) == 0) continue;  // size 0: an empty slot
    const unsigned width = module.number(at_data_width, 2);
    const unsigned speed = speed_of(module);
    if (speed == 0 || width == 0 || width == 0xffff) return 0;
    gbps += speed * 1e6 * width / 8 * 1e-9;
  }
}

double gbps_of_link(const std::string& speed, const std::string& width) {
  const double transfers = std::strtod(speed.c_str(), nullptr);
  const double lanes = std::strtod(width.c_str(), nullptr);
  const bool known = transfers > 0 && transfers < 1000 && lanes >= 1 && lanes <= 32;
  return known ? transfers * lanes / 8 : 0;
}

std::map<int, TheoreticalPeak> read_theoretical_peaks(FileTree& tree, const Machine& machine) {
  const TheoreticalPeak cards = peak_of_cards(tree);
  const TheoreticalPeak modules = peak_of_modules(tree);
  std::map<int, TheoreticalPeak> peaks;
  for (std::size_t i = 0; i < machine.node_count; ++i) {
    const Node& node = machine.nodes[i];
    const int id = static_cast<int>(index_of(node.id));
    if (node.kind == NodeKind::cxl && cards.gbps > 0) peaks[id] = cards;
    if (node.kind == NodeKind::dram && modules.gbps > 0) peaks[id] = modules;
  }
  return peaks;
}

double ceiling_of(const TheoreticalPeak& peak, const Mix& mix) {
  if (!peak.full_duplex) return peak.gbps;
  const double reads = mix.traffic_reads();
  const double writes = mix.stores;
  return peak.gbps * (reads + writes) / std::max(reads, writes);
}

}  // namespace cxltier::bench
