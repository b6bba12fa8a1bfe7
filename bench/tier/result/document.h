// SPDX-License-Identifier: Apache-2.0
//
// A result: the machine, how it was measured, and cells with their samples.
//
//   Document
//     machine, settings        what was measured, and with what
//     cells[]                  one figure each, with every raw sample
//       samples[]              values, what the host did meanwhile, why it does not count if so
//       summary                from the samples that count
//       flags[]                what the validity rules say of it
//     uncertainties[]          what could not be seen or done here, and what that costs
//
// All outputs are made of this and of nothing else, and a published machine is a Document too.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "bench/tier/host/disturbance.h"
#include "bench/tier/verdict/statistics.h"
#include "bench/tier/verdict/validity.h"

namespace cxltier::bench {

// Fields may be added within a version; none changes its meaning.
inline constexpr const char* document_schema = "cxltier-bench";
inline constexpr int document_version = 1;

struct Sample {
  double value = 0;
  double companion = 0;  // the second quantity of the cell, measured in the same window
  Disturbance host;
  std::vector<std::string> causes;  // empty: it counts
  [[nodiscard]] bool counts() const { return causes.empty(); }
};

enum class Better : std::uint8_t { lower, higher };

struct Cell {
  std::string id;              // the same for the same question on every machine: compared by it
  std::string mode;            // latency, bandwidth, curve, ...
  std::string label;           // for people
  std::string quantity;        // latency, bandwidth, rate, time
  std::string unit;            // ns, GB/s, ...
  std::string companion_unit;  // empty: no second quantity
  Better better = Better::lower;
  int cpu_node = -1;
  std::vector<int> nodes;  // memory
  std::string mix;
  std::string pages;
  std::size_t threads = 0;
  int delay = -1;
  std::vector<Sample> samples;
  Summary summary;
  Summary companion;
  std::map<std::string, double> extra;  // quantiles, shares, counts; names carry the unit
  Flags flags;
};

struct MachineNode {
  int id = 0;
  std::string kind;
  int tier = -1;
  std::uint64_t bytes = 0;
  std::size_t cpus = 0;  // cores that may be used here
  double firmware_latency_ns = 0;
  double firmware_read_gbps = 0;
};

struct MachineRecord {
  std::string kernel;
  std::string cpu_model;
  std::string architecture;
  std::string hypervisor;  // "none", "kvm", "unnamed", "emulated"
  bool emulated = false;
  std::size_t cpus = 0;
  std::uint64_t llc_bytes = 0;
  std::uint64_t memory_bytes = 0;
  std::string thp;             // "always [madvise] never"
  std::string numa_balancing;  // "0", "1", or "not visible"
  std::string governor;        // "performance", or "not visible"
  double load_average = -1;
  std::vector<MachineNode> nodes;
};

struct Settings {
  std::string mode;
  std::uint64_t seed = 1;
  int rounds = 0;
  double sample_ms = 0;
  std::string pages;
  std::string kernel;  // the load generator
  double timer_cost_ns = 0;
  double timer_ns_per_tick = 0;
  double llc_latency_ns = 0;  // measured, for the floor; 0: not measured
};

struct Document {
  std::string name;     // of a published machine; empty: measured here
  std::string source;   // of a published machine
  std::string licence;  // of its figures
  std::string started;  // UTC, ISO 8601
  double duration_s = 0;
  MachineRecord machine;
  Settings settings;
  std::vector<Cell> cells;
  Flags flags;  // about the whole run
  std::vector<std::string> uncertainties;
  std::vector<std::string> findings;  // lines for people: what follows from the cells

  [[nodiscard]] const Cell* find(const std::string& id) const {
    for (const Cell& cell : cells) {
      if (cell.id == id) return &cell;
    }
    return nullptr;
  }
};

// Fills both summaries from the samples that count, and flags a cell of which half do not.  If none
// counts, all are used and the cell is flagged invalid: a figure with a warning is worth more than
// none.
void summarise(Cell& cell);

// What two figures measured in the same rounds, or one figure and its companion, have in pairs: of
// samples that count on both sides; where fewer than 3 do, of all, and then `undisturbed` is false.
struct Pairs {
  std::vector<double> first;
  std::vector<double> second;
  bool undisturbed = true;
};
[[nodiscard]] Pairs pairs_of(const Cell& first, const Cell& second);
[[nodiscard]] Pairs pairs_with_companion(const Cell& cell);

// The worst of a document: the run's own flags and those of its cells.
[[nodiscard]] Severity worst_of(const Document& document);

[[nodiscard]] std::string json_of(const Document& document);
// Nothing, and the reason in `fault`, if the text is no document of a version that we know.
[[nodiscard]] std::optional<Document> parse_document(const std::string& text, std::string& fault);

[[nodiscard]] std::string csv_of(const Document& document);

}  // namespace cxltier::bench
