// SPDX-License-Identifier: Apache-2.0
//
// One run of the demo: the servers, the load, and the measuring of rows.
//
//             plain server                              server under `cxltier run`
//   all_dram by_hand static_split            cxltier
//   kernel_balancing all_cxl
//             placed by us before each row              placed by us once (the split), then tiered
//
// Both hold the same data and are pinned to the same CPU.  At any time one of them is stopped, so
// that it neither costs CPU time nor sees its memory as cold while nobody asks it.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bench/redis_demo/hot_pages.h"
#include "bench/redis_demo/load_client.h"
#include "bench/redis_demo/nodes.h"
#include "bench/redis_demo/options.h"
#include "bench/redis_demo/placement.h"
#include "bench/redis_demo/row_result.h"
#include "bench/redis_demo/runtime_figures.h"
#include "bench/redis_demo/server.h"

namespace cxltier::demo {

struct HandTryResult {
  std::string name;
  double requests_per_s = 0;
  double hot_dram_page_share = 0;
};

// What report.json says about the run as a whole.
struct Setup {
  std::string redis_version;
  std::string kernel;
  std::uint64_t resident_bytes = 0;         // anonymous, of the plain server after loading
  std::uint64_t tiered_resident_bytes = 0;  // of the other one; 0: not started
  std::uint64_t budget_bytes = 0;
  std::uint64_t dram_free_bytes = 0;  // on all DRAM nodes after loading
  std::uint64_t hot_value_pages = 0;
  std::uint64_t hot_entries_found = 0;
  std::uint64_t written_pages = 0;
  double load_s = 0;
  std::vector<HandTryResult> hand_tries;
  std::string hand_best;
};

class Session {
 public:
  explicit Session(const Options& options);

  // Loads the servers and finds the hot pages.
  void prepare();
  // Measures all rows in all rounds.
  void measure();

  const std::vector<RowResult>& rows() const { return rows_; }
  const Setup& setup() const { return setup_; }
  const Nodes& nodes() const { return nodes_; }
  const Dataset& dataset() const { return dataset_; }

 private:
  // A loaded server with its load and what is known of its memory.
  struct Target {
    std::unique_ptr<Server> server;
    std::unique_ptr<LoadClient> client;
    HotObjects hot;
    std::vector<PageAddress> hot_pages;
  };
  enum class Mover { nobody, kernel, runtime };
  // Counters before and after windows.
  struct Counters {
    std::uint64_t numa_pages_migrated = 0;
    RuntimeFigures runtime;
  };

  Target start_target(const std::string& name, const std::vector<std::string>& launcher);
  void prepare_plain();
  void prepare_tiered();
  void study_metadata();
  void choose_hand_placement();
  std::uint64_t place(Target& target, const Placement& placement);
  std::uint64_t place_for(const std::string& row, std::size_t round);
  Placement placement_for(const std::string& row);
  std::vector<PageAddress> find_written(Target& target);
  std::uint64_t place_hand(const HandTry& hand_try);
  std::uint64_t place_hand_well();
  int is_last_round(std::size_t round, double round_s) const;
  void measure_row(RowResult& row, std::size_t round);
  void finish_row(RowResult& row, Target& target);
  enum class Settling { from_the_split, placed };
  void run_windows(RowResult& row, RoundResult& round, Settling settling);
  void record_pages(RowResult& row, Target& target);
  Counters read_counters(Target& target, Mover mover);
  double dram_share(const Target& target, const std::vector<PageAddress>& pages) const;
  double hot_dram_share(const Target& target) const;
  Target& target_of(const std::string& row);
  void activate(const std::string& row);
  std::string cxltier_path() const;

  Options options_;
  Dataset dataset_;
  NumaBalancing balancing_;
  Nodes nodes_;
  ServerFolder folder_;
  Target plain_;
  Target tiered_;
  HotMetadata metadata_;
  std::optional<HandTry> hand_best_;
  double hand_best_rate_ = 0;  // requests per second of its window
  std::vector<RowResult> rows_;
  int last_round_ = 0;  // 1 from the start of the last round on
  Setup setup_;
};

}  // namespace cxltier::demo
