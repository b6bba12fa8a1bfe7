// SPDX-License-Identifier: Apache-2.0
//
// What must hold of whatever the parsers make of any bytes: faults lie within the table, lists are
// no longer than what the bytes can hold, a machine that was read is a valid one.
#include "tests/fuzz/parsers.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string_view>
#include <utility>

#include "policy/check.h"
#include "runtime/topology/acpi/cedt.h"
#include "runtime/topology/acpi/hmat.h"
#include "runtime/topology/acpi/slit.h"
#include "runtime/topology/acpi/srat.h"
#include "runtime/topology/machine_reader.h"
#include "runtime/topology/platform/cxl_listing.h"
#include "runtime/topology/platform/imported_text.h"
#include "runtime/topology/platform/iomem.h"
#include "runtime/topology/platform/kernel_facts.h"
#include "runtime/topology/platform/memory_blocks.h"
#include "runtime/topology/platform/pci_config.h"
#include "runtime/topology/platform/tar_file.h"
#include "runtime/topology/process_nodes.h"
#include "runtime/topology/tier_text.h"

namespace cxltier::fuzz {
namespace {

std::string_view text_of(Bytes bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

void check_faults(const acpi::Faults& faults, Bytes bytes) {
  for (const acpi::Fault& fault : faults) {
    CXLTIER_CHECK(fault.offset <= bytes.size() + acpi::header_size + 8);
    CXLTIER_CHECK(!fault.text.empty() && !fault.section.empty());
  }
}

void feed_cedt(Bytes bytes) {
  const acpi::Cedt cedt = acpi::parse_cedt(bytes);
  check_faults(cedt.faults, bytes);
  for (const acpi::Window& window : cedt.windows) {
    CXLTIER_CHECK(window.targets.size() <= window.ways && window.ways <= 16);
  }
}

void feed_srat(Bytes bytes) {
  const acpi::Srat srat = acpi::parse_srat(bytes);
  check_faults(srat.faults, bytes);
  CXLTIER_CHECK(srat.memory.size() + srat.processors.size() <= bytes.size() / 2);
}

void feed_slit(Bytes bytes) {
  const acpi::Slit slit = acpi::parse_slit(bytes);
  check_faults(slit.faults, bytes);
  CXLTIER_CHECK(slit.distances.size() == slit.localities * slit.localities);
}

void feed_hmat(Bytes bytes) {
  const acpi::Hmat hmat = acpi::parse_hmat(bytes);
  check_faults(hmat.faults, bytes);
  for (const acpi::Locality& one : hmat.localities) {
    CXLTIER_CHECK(one.values.size() == one.initiators.size() * one.targets.size());
  }
}

void feed_pci_config(Bytes bytes) {
  const PciConfig config = parse_pci_config(bytes);
  CXLTIER_CHECK(config.dvsecs.size() <= 960);
  CXLTIER_CHECK(!config.cxl || config.cxl->offset + 0xe <= bytes.size());
}

void feed_iomem(Bytes bytes) {
  const Iomem iomem = parse_iomem(text_of(bytes));
  for (std::size_t i = 0; i < iomem.ranges.size(); ++i) {
    CXLTIER_CHECK(iomem.ranges[i].first <= iomem.ranges[i].last);
    CXLTIER_CHECK(iomem.ranges[i].parent == no_parent || iomem.ranges[i].parent < i);
  }
}

void feed_listing(Bytes bytes) {
  const CxlBus bus = parse_cxl_listing(text_of(bytes));
  for (const CxlMemdev& memory : bus.memories) {
    CXLTIER_CHECK(bus.path_of(memory.name).size() <= bus.ports.size() + 1);
  }
  for (const CxlDecoder* window : bus.windows()) static_cast<void>(bus.free_of(*window));
  static_cast<void>(parse_daxctl_listing(text_of(bytes)));
}

void feed_lsmem(Bytes bytes) {
  const std::optional<MemoryBlocks> blocks = parse_lsmem(text_of(bytes));
  CXLTIER_CHECK(!blocks || blocks->size > 0);
  static_cast<void>(parse_kernel_config(text_of(bytes)));
  static_cast<void>(parse_kernel_version(text_of(bytes)));
}

void feed_archive(Bytes bytes) {
  StoredTree tree;
  if (std::optional<StoredTree> read = read_tar(text_of(bytes))) tree = std::move(*read);
  static_cast<void>(import_text(text_of(bytes), tree));
  for (const auto& [name, target] : tree.links) {
    static_cast<void>(tree.resolved(name + "/x", StoredTree::Last::follow));
  }
  const std::optional<StoredTree> again = read_tar(write_tar(tree, "top"));
  CXLTIER_CHECK(tree.files.empty() || again);
}

// Any bytes as any file of sysfs: cut at 0xff into pieces, and each file that is read gets the next
// piece, so that one input gives a whole machine.
class FuzzTree final : public FileTree {
 public:
  explicit FuzzTree(std::string_view input) : rest_(input) {}

  Result<std::size_t> read(const char*, std::span<char> out) noexcept override {
    const std::string_view piece = next_piece();
    if (piece == "!") return Error{5};
    return piece.copy(out.data(), out.size());
  }
  Result<std::size_t> read_link(const char* path, std::span<char> out) noexcept override {
    return read(path, out);
  }
  Result<std::size_t> list(const char*, EntryVisitor& visitor) noexcept override {
    std::size_t visited = 0;
    for (std::string_view names = next_piece(); !names.empty(); ++visited) {
      const std::size_t end = std::min(names.find(' '), names.size());
      visitor.visit(names.substr(0, end));
      names.remove_prefix(std::min(end + 1, names.size()));
    }
    return visited;
  }

 private:
  std::string_view next_piece() {
    const std::size_t end = std::min(rest_.find('\xff'), rest_.size());
    const std::string_view piece = rest_.substr(0, end);
    rest_.remove_prefix(std::min(end + 1, rest_.size()));
    return piece;
  }

  std::string_view rest_;
};

void feed_topology(Bytes bytes) {
  const std::string_view input = text_of(bytes);
  FuzzTree tree(input);
  const Result<Reading> reading = read_machine(tree);
  if (!reading.ok()) return;
  const Machine& machine = reading.value().machine;
  CXLTIER_CHECK(is_valid(machine) && machine.node_count > 0);
  CXLTIER_CHECK(is_valid(assign_tiers(machine, NodeSet{}), machine));
  const ParsedTiers tiers = parse_tiers(input.substr(0, 32), machine);
  CXLTIER_CHECK(is_valid(tiers.tiers, machine));
  static_cast<void>(read_process_nodes(tree).ok());
}

constexpr Parser all_parsers[] = {
    {"topology", feed_topology}, {"cedt", feed_cedt},       {"srat", feed_srat},
    {"slit", feed_slit},         {"hmat", feed_hmat},       {"pci_config", feed_pci_config},
    {"iomem", feed_iomem},       {"listing", feed_listing}, {"lsmem", feed_lsmem},
    {"archive", feed_archive},
};

}  // namespace

std::span<const Parser> parsers() { return all_parsers; }

const Parser& parser_named(std::string_view name) {
  for (const Parser& parser : all_parsers) {
    if (parser.name == name) return parser;
  }
  CXLTIER_CHECK(false && "no such parser");
  return all_parsers[0];
}

}  // namespace cxltier::fuzz
