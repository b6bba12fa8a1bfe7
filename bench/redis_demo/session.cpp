// SPDX-License-Identifier: Apache-2.0
//
// Preparing: servers, data, hot pages, placements.  Measuring is in session_measure.cpp.
#include "bench/redis_demo/session.h"

#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <filesystem>

#include "bench/redis_demo/clock.h"
#include "bench/redis_demo/failure.h"

namespace cxltier::demo {
namespace {

constexpr std::uint64_t budget_part = 4;  // the budget is a quarter of the resident size

std::string mib_text(std::uint64_t bytes) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f MiB", static_cast<double>(bytes) / 1048576);
  return text;
}

std::string kernel_release() {
  utsname name{};
  uname(&name);
  return name.release;
}

std::string info_field(const std::string& info, const std::string& field) {
  const std::size_t at = info.find(field + ":");
  if (at == std::string::npos) return "unknown";
  const std::size_t begin = at + field.size() + 1;
  return info.substr(begin, info.find("\r\n", begin) - begin);
}

bool needs_cxl(const Options& options) {
  return std::any_of(options.rows.begin(), options.rows.end(),
                     [](const std::string& row) { return row != "all_dram"; });
}

}  // namespace

Session::Session(const Options& options)
    : options_(options),
      dataset_(dataset_of(options.values_mib)),
      nodes_(read_nodes(options.cxl_node)),
      folder_(options.keep) {
  if (needs_cxl(options) && nodes_.cxl < 0) {
    fail(
        "no node with memory and without CPUs: run this in a guest that has one "
        "(qemu/run -- …), name it by --cxl-node, or choose --rows all_dram");
  }
  if (needs_cxl(options) && geteuid() != 0) {
    fail("moving the pages of another user's process needs root");
  }
  for (const std::string& name : options.rows) {
    rows_.emplace_back();
    rows_.back().name = name;
  }
  balancing_.set(0);
  pin_to_cpu(0, nodes_.cpu_client);
}

// Absolute, since children run in a folder of their own.
std::string Session::cxltier_path() const {
  return std::filesystem::absolute(options_.bin_dir + "/bin/cxltier").string();
}

void Session::prepare() {
  setup_.kernel = kernel_release();
  const double start = now_s();
  prepare_plain();
  setup_.load_s = now_s() - start;
  if (has_row(options_, "by_hand")) study_metadata();
  if (has_row(options_, "cxltier")) {
    plain_.server->pause();
    prepare_tiered();
    tiered_.server->pause();
    plain_.server->resume();
  }
  for (int node : nodes_.dram) setup_.dram_free_bytes += free_bytes(node);
}

Session::Target Session::start_target(const std::string& name,
                                      const std::vector<std::string>& launcher) {
  ServerPlan plan;
  plan.name = name;
  plan.launcher = launcher;
  // A name is looked up in PATH, a path is made absolute.
  const bool is_path = options_.redis.find('/') != std::string::npos;
  plan.redis = is_path ? std::filesystem::absolute(options_.redis).string() : options_.redis;
  plan.folder = folder_.path();
  plan.cpu = nodes_.cpu_server;
  Target target;
  target.server = std::make_unique<Server>(plan);
  progress(name + " server: loading " + std::to_string(dataset_.keys) + " values");
  load(*target.server, dataset_);
  constexpr std::uint64_t load_seed = 20'260'101;  // any number: it fixes the sequence of keys
  target.client = std::make_unique<LoadClient>(*target.server, dataset_, load_seed);
  progress(name + " server: finding " + std::to_string(dataset_.hot_keys) + " hot values");
  target.hot = find_hot_objects(*target.server, dataset_);
  target.hot_pages = value_pages(target.hot);
  return target;
}

void Session::prepare_plain() {
  plain_ = start_target("plain", {});
  const std::uint64_t pages = anonymous_pages(plain_.server->pid()).size();
  setup_.redis_version =
      info_field(plain_.server->control().call({"INFO", "server"}), "redis_version");
  setup_.resident_bytes = pages * page_size;
  setup_.budget_bytes = pages / budget_part * page_size;
  setup_.hot_value_pages = plain_.hot_pages.size();
  progress("resident " + mib_text(setup_.resident_bytes) + ", DRAM budget " +
           mib_text(setup_.budget_bytes) + ", hot values " +
           mib_text(setup_.hot_value_pages * page_size));
}

// The runtime starts when most of the data is there: a load that is demoted as it grows takes five
// times as long in an emulated guest, where writes to CXL cost twenty times as much.
void Session::prepare_tiered() {
  const std::uint64_t start_bytes = setup_.resident_bytes / 8 * 7;
  tiered_ = start_target("tiered", {cxltier_path(), "run", "--policy", options_.policy, "--limit",
                                    "dram=" + std::to_string(setup_.budget_bytes), "--start",
                                    std::to_string(start_bytes), "--"});
  setup_.tiered_resident_bytes = anonymous_pages(tiered_.server->pid()).size() * page_size;
}

void Session::study_metadata() {
  progress("searching the plain server's memory for hot metadata");
  metadata_ = find_hot_metadata(*plain_.server, plain_.hot);
  setup_.hot_entries_found = metadata_.entries_found;
  setup_.written_pages = find_written(plain_).size();
  progress("hot pages: table " + std::to_string(metadata_.table.size()) + ", entries " +
           std::to_string(metadata_.entries.size()) + ", keys " +
           std::to_string(metadata_.keys.size()) + ", objects " +
           std::to_string(metadata_.objects.size()) + ", in front " +
           std::to_string(metadata_.in_front.size()) + ", written " +
           std::to_string(setup_.written_pages));
}

// Pages that the server writes in a second of load.
std::vector<PageAddress> Session::find_written(Target& target) {
  clear_written_marks(target.server->pid());
  target.client->run_window(std::min(1.0, options_.window_s));
  std::vector<PageAddress> written = written_pages(target.server->pid());
  // Without soft-dirty bits every page reads as written: then the list says nothing.
  if (written.size() * page_size > setup_.budget_bytes) written.clear();
  return written;
}

// Places twice where written pages count: once to see what is written under this placement.
std::uint64_t Session::place_hand(const HandTry& hand_try) {
  HandTry now = hand_try;
  const auto place_now = [&] {
    const std::vector<PageAddress> pages = anonymous_pages(plain_.server->pid());
    return place(plain_, place_by_hand(pages, now.wanted, plain_.hot_pages,
                                       setup_.budget_bytes / page_size));
  };
  const std::uint64_t moved = place_now();
  if (hand_try.written == HandTry::Written::ignored) return moved;
  now.wanted.insert(now.wanted.begin(), find_written(plain_));
  return moved + place_now();
}

// A server goes on taking and freeing buffers, so the same placement is worth more or less each
// time: the best of several goes, or the first that comes near what it was worth before.
std::uint64_t Session::place_hand_well() {
  constexpr int goes_max = 3;
  constexpr double near = 0.9;
  std::uint64_t moved = 0;
  for (int go = 0; go < goes_max; ++go) {
    moved += place_hand(*hand_best_);
    if (plain_.client->run_window(options_.window_s).requests_per_s >= near * hand_best_rate_)
      break;
  }
  return moved;
}

// Gives each try one window; the best is what the row by_hand measures.
void Session::choose_hand_placement() {
  for (const HandTry& hand_try : hand_tries(plain_.hot_pages, metadata_)) {
    place_hand(hand_try);
    const WindowResult window = plain_.client->run_window(options_.window_s);
    setup_.hand_tries.push_back({hand_try.name, window.requests_per_s, hot_dram_share(plain_)});
    progress("by_hand try '" + hand_try.name +
             "': " + std::to_string(static_cast<long>(window.requests_per_s)) + " requests/s");
    if (hand_best_ && window.requests_per_s <= hand_best_rate_) continue;
    hand_best_rate_ = window.requests_per_s;
    hand_best_ = hand_try;
    setup_.hand_best = hand_try.name;
  }
}

Placement Session::placement_for(const std::string& row) {
  const std::vector<PageAddress> pages = anonymous_pages(target_of(row).server->pid());
  if (row == "all_dram") return place_all_on_dram(pages);
  if (row == "all_cxl") return place_all_on_cxl(pages);
  return place_split(pages);
}

// Demotes first, so that DRAM never holds more than it must.  Returns the pages that were moved.
std::uint64_t Session::place(Target& target, const Placement& placement) {
  MoveCounts counts;
  const int pid = target.server->pid();
  if (!placement.cxl.empty()) counts += move_pages_to(pid, placement.cxl, nodes_.cxl);
  counts += move_pages_to(pid, placement.dram, nodes_.dram_first());
  if (counts.refused > 0) {
    progress(std::to_string(counts.refused) + " pages could not be moved");
  }
  return counts.moved;
}

Session::Target& Session::target_of(const std::string& row) {
  return row == "cxltier" ? tiered_ : plain_;
}

}  // namespace cxltier::demo
