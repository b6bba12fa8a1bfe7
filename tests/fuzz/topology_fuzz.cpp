// SPDX-License-Identifier: Apache-2.0
//
// Any bytes as any file of sysfs: the parsers are total, and every reading is a valid machine.
//
// The input is cut at 0xff into pieces, and each file that is read gets the next piece, so that one
// input gives a whole machine.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "runtime/topology/machine_reader.h"
#include "runtime/topology/process_nodes.h"
#include "runtime/topology/tier_text.h"

namespace cxltier {
namespace {

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

void expect(bool holds) {
  if (!holds) std::abort();
}

void fuzz_machine(std::string_view input) {
  FuzzTree tree(input);
  const Result<Reading> reading = read_machine(tree);
  if (!reading.ok()) return;
  const Machine& machine = reading.value().machine;
  expect(is_valid(machine) && machine.node_count > 0);
  expect(is_valid(assign_tiers(machine, NodeSet{}), machine));
  const ParsedTiers tiers = parse_tiers(input.substr(0, 32), machine);
  expect(is_valid(tiers.tiers, machine));
  static_cast<void>(read_process_nodes(tree).ok());
}

}  // namespace
}  // namespace cxltier

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  cxltier::fuzz_machine({reinterpret_cast<const char*>(bytes), size});
  return 0;
}
