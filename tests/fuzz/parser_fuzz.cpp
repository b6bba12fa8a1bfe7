// SPDX-License-Identifier: Apache-2.0
//
// Any bytes into one parser of the machine's tables and texts, which CXLTIER_FUZZ_PARSER names.
//
// Every parser is total; what it says of the bytes must hold: faults lie within the table, lists
// are no longer than what the bytes can hold.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "policy/check.h"
#include "runtime/topology/acpi/cedt.h"
#include "runtime/topology/acpi/hmat.h"
#include "runtime/topology/acpi/slit.h"
#include "runtime/topology/acpi/srat.h"
#include "runtime/topology/platform/cxl_listing.h"
#include "runtime/topology/platform/imported_text.h"
#include "runtime/topology/platform/iomem.h"
#include "runtime/topology/platform/kernel_facts.h"
#include "runtime/topology/platform/memory_blocks.h"
#include "runtime/topology/platform/pci_config.h"
#include "runtime/topology/platform/tar_file.h"

namespace cxltier {
namespace {

using Bytes = std::span<const std::uint8_t>;

[[maybe_unused]] std::string_view text_of(Bytes bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

void check_faults(const acpi::Faults& faults, Bytes bytes) {
  for (const acpi::Fault& fault : faults) {
    CXLTIER_CHECK(fault.offset <= bytes.size() + acpi::header_size + 8);
    CXLTIER_CHECK(!fault.text.empty() && !fault.section.empty());
  }
}

[[maybe_unused]] void fuzz_cedt(Bytes bytes) {
  const acpi::Cedt cedt = acpi::parse_cedt(bytes);
  check_faults(cedt.faults, bytes);
  for (const acpi::Window& window : cedt.windows) {
    CXLTIER_CHECK(window.targets.size() <= window.ways && window.ways <= 16);
  }
}

[[maybe_unused]] void fuzz_srat(Bytes bytes) {
  const acpi::Srat srat = acpi::parse_srat(bytes);
  check_faults(srat.faults, bytes);
  CXLTIER_CHECK(srat.memory.size() + srat.processors.size() <= bytes.size() / 2);
}

[[maybe_unused]] void fuzz_slit(Bytes bytes) {
  const acpi::Slit slit = acpi::parse_slit(bytes);
  check_faults(slit.faults, bytes);
  CXLTIER_CHECK(slit.distances.size() == slit.localities * slit.localities);
}

[[maybe_unused]] void fuzz_hmat(Bytes bytes) {
  const acpi::Hmat hmat = acpi::parse_hmat(bytes);
  check_faults(hmat.faults, bytes);
  for (const acpi::Locality& one : hmat.localities) {
    CXLTIER_CHECK(one.values.size() == one.initiators.size() * one.targets.size());
  }
}

[[maybe_unused]] void fuzz_pci_config(Bytes bytes) {
  const PciConfig config = parse_pci_config(bytes);
  CXLTIER_CHECK(config.dvsecs.size() <= 960);
  CXLTIER_CHECK(!config.cxl || config.cxl->offset + 0xe <= bytes.size());
}

[[maybe_unused]] void fuzz_iomem(Bytes bytes) {
  const Iomem iomem = parse_iomem(text_of(bytes));
  for (std::size_t i = 0; i < iomem.ranges.size(); ++i) {
    CXLTIER_CHECK(iomem.ranges[i].first <= iomem.ranges[i].last);
    CXLTIER_CHECK(iomem.ranges[i].parent == no_parent || iomem.ranges[i].parent < i);
  }
}

[[maybe_unused]] void fuzz_listing(Bytes bytes) {
  const CxlBus bus = parse_cxl_listing(text_of(bytes));
  for (const CxlMemdev& memory : bus.memories) {
    CXLTIER_CHECK(bus.path_of(memory.name).size() <= bus.ports.size() + 1);
  }
  for (const CxlDecoder* window : bus.windows()) static_cast<void>(bus.free_of(*window));
  static_cast<void>(parse_daxctl_listing(text_of(bytes)));
}

[[maybe_unused]] void fuzz_lsmem(Bytes bytes) {
  const std::optional<MemoryBlocks> blocks = parse_lsmem(text_of(bytes));
  CXLTIER_CHECK(!blocks || blocks->size > 0);
  static_cast<void>(parse_kernel_config(text_of(bytes)));
  static_cast<void>(parse_kernel_version(text_of(bytes)));
}

[[maybe_unused]] void fuzz_archive(Bytes bytes) {
  StoredTree tree;
  if (std::optional<StoredTree> read = read_tar(text_of(bytes))) tree = std::move(*read);
  static_cast<void>(import_text(text_of(bytes), tree));
  for (const auto& [name, target] : tree.links) {
    static_cast<void>(tree.resolved(name + "/x", StoredTree::Last::follow));
  }
  const std::optional<StoredTree> again = read_tar(write_tar(tree, "top"));
  CXLTIER_CHECK(tree.files.empty() || again);
}

}  // namespace
}  // namespace cxltier

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  cxltier::CXLTIER_FUZZ_PARSER({bytes, size});
  return 0;
}
