// SPDX-License-Identifier: Apache-2.0
//
// Between the simulator's leaves of 2 MiB units and the policy's leaves of 4 KiB pages.
//
// Each tenant has a policy of its own, which knows its own leaves and half of the fast tier: what
// two preloaded processes that know nothing of each other do.
#include "policy/simulator/product_policy.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>
#include <vector>

#include "policy/check.h"
#include "policy/tiering.h"

namespace cxltier::simulator {
namespace {

constexpr std::uint64_t rwp_pages = 64;  // watched in each leaf
constexpr double rwp_fault_ns = 3000;
constexpr double rwp_page_ns = 80;  // to arm one and to read it back
constexpr double bits_ns_per_page = (14e6 + 10e6) / (1024 * 256);
constexpr double window_longest_ns = 1e9;
constexpr double touched_share_max = 0.15;
constexpr double touched_share_min = 0.05;
constexpr double sensing_share = 0.03;  // of one core
constexpr double sensing_credit_max_ns = 4e9;
constexpr std::uint16_t steps_seen_max = 255;

// How long to watch: halved or doubled until a small part of memory is touched.
class AdaptiveWindow {
 public:
  explicit AdaptiveWindow(double shortest_ns) : shortest_ns_(shortest_ns) {}
  [[nodiscard]] double length_ns() const { return length_ns_; }
  void learn(double touched_share) {
    // Several halvings at once, as touches grow with the window at most in proportion.
    if (touched_share > touched_share_max) length_ns_ /= touched_share > 0.6 ? 8 : 2;
    if (touched_share < touched_share_min) length_ns_ *= touched_share < 0.01 ? 4 : 2;
    length_ns_ = std::clamp(length_ns_, shortest_ns_, window_longest_ns);
  }

 private:
  double shortest_ns_;
  double length_ns_ = 100e6;
};

// One tenant's policy and its memory.
class Tenant {
 public:
  Tenant(const TieringConfig& config, std::vector<std::uint32_t> leaves)
      : global_(std::move(leaves)),
        leaves_(global_.size()),
        choices_(2048),
        moves_(2048),
        tiering_(config, {leaves_, choices_, moves_}) {}

  [[nodiscard]] const std::vector<std::uint32_t>& global() const { return global_; }
  [[nodiscard]] Tiering& tiering() { return tiering_; }
  [[nodiscard]] const Tiering& tiering() const { return tiering_; }

  std::vector<LeafSample> samples;
  std::vector<LeafPlacement> placements;

  // Leaves that were ordered to move in the last tick, and where their pages were.
  struct Pending {
    LeafMove move;
    Residence32 before{};
    std::uint64_t units = 0;
  };
  std::vector<Pending> pending;

 private:
  std::vector<std::uint32_t> global_;
  std::vector<Leaf> leaves_;
  std::vector<LeafChoice> choices_;
  std::vector<LeafMove> moves_;
  Tiering tiering_;
};

class Product final : public TieringPolicy {
 public:
  explicit Product(const ProductOptions& options)
      : options_(options),
        window_(options.sensor == SensorModel::rwp ? 1e6 : 10e6),
        interval_(milliseconds(250)) {}

  [[nodiscard]] Nanoseconds interval() const override { return interval_; }
  [[nodiscard]] MoverModel mover() const override {
    return {.rate_gbps = 10, .stall_us_unit = stall_us_huge, .threads = 1};
  }

  [[nodiscard]] PerTier<double> placement(const MemorySystem& system, std::uint32_t leaf) override {
    PerTier<double> share{};
    share[0] = 1;
    if (tenants_.empty()) return share;
    const auto& owners = system.workload().tenant_of_leaf;
    const std::size_t owner = owners.empty() ? 0 : owners[leaf];
    const FirstPlacement first =
        tenants_[owner]->tiering().place(call_site, {system.workload().leaf_units * unit_bytes});
    for (std::size_t t = 0; t < system.machine().tier_count; ++t) {
      share[t] = first.weight[t] / 64.0;
    }
    return share;
  }

  void tick(View& view, std::vector<Order>& orders) override {
    if (tenants_.empty()) start(view);
    for (auto& tenant : tenants_) report(view, *tenant);
    const Coverage coverage = sense(view) ? Coverage::all_seen : Coverage::listed_only;
    Nanoseconds next = seconds(1);
    for (auto& tenant : tenants_) {
      next = std::min(next, plan(view, *tenant, coverage, orders));
    }
    const std::uint64_t quanta = std::max<std::uint64_t>(1, next.count / quantum.count);
    interval_ = {quanta * quantum.count};
  }

  [[nodiscard]] std::string remark() const override {
    constexpr std::array<const char*, 4> modes = {"steady", "recency", "hold", "freeze"};
    if (tenants_.empty()) return {};
    return modes[static_cast<std::size_t>(tenants_.front()->tiering().view().mode)];
  }

 private:
  static constexpr std::uint16_t call_site = 1;

  [[nodiscard]] static std::uint64_t leaf_pages(const View& view) {
    return view.leaf_units() * unit_pages;
  }

  void start(const View& view) {
    std::size_t tenants = 1;
    for (std::size_t leaf = 0; leaf < view.leaf_count(); ++leaf) {
      tenants = std::max<std::size_t>(tenants, view.tenant_of(leaf) + 1u);
    }
    TieringConfig config;
    config.parameters = options_.parameters;
    config.cpus = static_cast<std::uint32_t>(view.machine().cores / static_cast<double>(tenants));
    local_.resize(view.leaf_count());
    for (std::size_t t = 0; t < tenants; ++t) {
      std::vector<std::uint32_t> leaves;
      for (std::uint32_t leaf = 0; leaf < view.leaf_count(); ++leaf) {
        if (view.tenant_of(leaf) != t) continue;
        local_[leaf] = static_cast<std::uint32_t>(leaves.size());
        leaves.push_back(leaf);
      }
      tenants_.push_back(std::make_unique<Tenant>(config, std::move(leaves)));
      for (const std::uint32_t leaf : tenants_.back()->global()) note_placement(view, leaf);
    }
  }

  void note_placement(const View& view, std::uint32_t leaf) {
    LeafPlacement placement{.leaf = local_[leaf], .call_site = call_site};
    for (std::size_t t = 0; t < view.tier_count(); ++t) {
      placement.resident[t] = static_cast<std::uint32_t>(view.resident(leaf)[t] * unit_pages);
    }
    tenants_[view.tenant_of(leaf)]->placements.push_back(placement);
  }

  // What became of the last plan.  What was freed and allocated anew meanwhile is placed anew.
  void report(const View& view, Tenant& tenant) {
    for (const Tenant::Pending& pending : tenant.pending) {
      const std::uint32_t leaf = tenant.global()[pending.move.leaf];
      if (std::ranges::find(view.renewed(), leaf) != view.renewed().end()) continue;
      const std::size_t to = index_of(pending.move.to);
      const std::uint64_t now = view.resident(leaf)[to];
      const std::uint64_t moved = now - std::min<std::uint64_t>(now, pending.before[to]);
      const auto spent = static_cast<double>(moved) * stall_us_huge * 1000;
      tenant.tiering().record(pending.move,
                              {.moved = {moved * unit_pages},
                               .refused = {},
                               .spent = {static_cast<std::uint64_t>(spent)}},
                              view.now());
    }
    tenant.pending.clear();
    for (const std::uint32_t leaf : view.renewed()) {
      if (tenants_[view.tenant_of(leaf)].get() != &tenant) continue;
      tenant.placements.push_back({.leaf = local_[leaf], .call_site = call_site});
      note_placement(view, leaf);
    }
  }

  // Looks, if the budget allows it; whether it did.
  bool sense(View& view) {
    const double elapsed_ns = view.elapsed_s() * 1e9;
    credit_ns_ = std::min(sensing_credit_max_ns, credit_ns_ + elapsed_ns * sensing_share);
    since_scan_ns_ += elapsed_ns;
    sensor_cpu_ns_ = 0;
    for (auto& tenant : tenants_) tenant->samples.clear();
    if (credit_ns_ < last_cost_ns_ || since_scan_ns_ < window_.length_ns()) return false;
    const std::uint64_t pages = leaf_pages(view);
    const bool is_rwp = options_.sensor == SensorModel::rwp;
    const std::uint64_t watched = is_rwp ? std::min(rwp_pages, pages) : pages;
    double touched_all = 0;
    for (std::uint32_t leaf = 0; leaf < view.leaf_count(); ++leaf) {
      const std::uint64_t touched = view.touched_pages(leaf, watched, window_.length_ns());
      touched_all += static_cast<double>(touched);
      if (touched == 0) continue;
      LeafSample sample{.leaf = local_[leaf],
                        .touched = static_cast<std::uint32_t>(touched * pages / watched)};
      if (is_rwp) see_details(view, leaf, watched, touched, sample);
      tenants_[view.tenant_of(leaf)]->samples.push_back(sample);
    }
    const double all = static_cast<double>(watched) * static_cast<double>(view.leaf_count());
    sensor_cpu_ns_ =
        is_rwp ? all * rwp_page_ns + touched_all * rwp_fault_ns : all * bits_ns_per_page;
    view.charge(sensor_cpu_ns_);
    credit_ns_ -= sensor_cpu_ns_;
    last_cost_ns_ = sensor_cpu_ns_;
    since_scan_ns_ = 0;
    window_seen_ns_ = window_.length_ns();
    window_.learn(touched_all / all);
    return true;
  }

  // Faults are reads or writes, and come in an order.
  void see_details(View& view, std::uint32_t leaf, std::uint64_t watched, std::uint64_t touched,
                   LeafSample& sample) const {
    const std::uint64_t written = view.written_pages(leaf, watched, window_.length_ns());
    sample.written =
        static_cast<std::uint32_t>(std::min(written, touched) * leaf_pages(view) / watched);
    sample.steps = static_cast<std::uint16_t>(std::min<std::uint64_t>(touched, steps_seen_max));
    Random random(view.seed(), static_cast<std::uint64_t>(Stream::policy), view.tick(), leaf);
    sample.steps_near =
        static_cast<std::uint16_t>(random.binomial(sample.steps, view.sequential_share(leaf)));
  }

  [[nodiscard]] TierReading reading(const View& view, const Tenant& tenant,
                                    std::size_t tier) const {
    const TierModel& model = view.machine().tiers[tier];
    const double write_weight = traffic_weight(model, 1);
    TierReading reading;
    reading.latency_idle_ps = static_cast<std::uint32_t>(model.idle_ns * 1000);
    reading.latency_ps = static_cast<std::uint32_t>(view.probe_ns(tier) * 1000);
    reading.probes = static_cast<std::uint32_t>(std::max(1.0, view.elapsed_s() * 8));
    reading.read_mbps = static_cast<std::uint32_t>(model.bandwidth_gbps * 1000);
    reading.write_mbps = static_cast<std::uint32_t>(model.bandwidth_gbps * 1000 / write_weight);
    reading.duplex = model.write_linear < 0 ? Duplex::full : Duplex::half;
    std::uint64_t used = 0;
    for (const std::uint32_t leaf : tenant.global()) used += view.resident(leaf)[tier];
    reading.used = {used * unit_pages};
    reading.capacity = {view.capacity_units(tier) * unit_pages / tenants_.size()};
    return reading;
  }

  Nanoseconds plan(View& view, Tenant& tenant, Coverage coverage, std::vector<Order>& orders) {
    TickInput input;
    input.now = view.now();
    input.elapsed = {static_cast<std::uint64_t>(view.elapsed_s() * 1e9)};
    input.window = {static_cast<std::uint64_t>(window_seen_ns_)};
    input.sampled_pages = options_.sensor == SensorModel::rwp ? rwp_pages : 0;
    input.coverage = coverage;
    std::ranges::sort(tenant.samples, {}, &LeafSample::leaf);
    input.samples = tenant.samples;
    input.placements = tenant.placements;
    input.tier_count = static_cast<std::uint8_t>(view.tier_count());
    for (std::size_t t = 0; t < view.tier_count(); ++t) input.tiers[t] = reading(view, tenant, t);
    input.sensor_cpu = {
        static_cast<std::uint64_t>(sensor_cpu_ns_ / static_cast<double>(tenants_.size()))};
    const TickPlan plan = tenant.tiering().tick(input);
    tenant.placements.clear();
    for (const LeafMove& move : plan.moves) add_orders(view, tenant, move, orders);
    return plan.next;
  }

  // Pages of a leaf that are not on the target go there, those on the named tier first.
  void add_orders(const View& view, Tenant& tenant, const LeafMove& move,
                  std::vector<Order>& orders) const {
    const std::uint32_t leaf = tenant.global()[move.leaf];
    const Residence32& resident = view.resident(leaf);
    std::uint64_t units = (move.pages.count + unit_pages / 2) / unit_pages;
    const auto take = [&](std::size_t from) {
      const auto taken = static_cast<std::uint32_t>(std::min<std::uint64_t>(units, resident[from]));
      if (taken == 0 || from == index_of(move.to)) return;
      units -= taken;
      orders.push_back({.leaf = leaf,
                        .from = static_cast<std::uint8_t>(from),
                        .to = static_cast<std::uint8_t>(move.to),
                        .units = taken});
    };
    tenant.pending.push_back({move, resident, units});
    if (index_of(move.from) < view.tier_count()) take(index_of(move.from));
    for (std::size_t t = 0; t < view.tier_count(); ++t) {
      if (t != index_of(move.from)) take(t);
    }
  }

  ProductOptions options_;
  AdaptiveWindow window_;
  Nanoseconds interval_;
  std::vector<std::unique_ptr<Tenant>> tenants_;
  std::vector<std::uint32_t> local_;  // index of a leaf in its tenant
  double credit_ns_ = sensing_credit_max_ns;
  double last_cost_ns_ = 0;
  double since_scan_ns_ = window_longest_ns;
  double window_seen_ns_ = 0;
  double sensor_cpu_ns_ = 0;
};

constexpr std::array<std::string_view, 5> product_list = {"balance", "balance-bits", "hot-cold",
                                                          "interleave", "capacity"};

constexpr std::array<std::string_view, 5> ablation_list = {
    "balance-no-guard", "balance-no-admission", "balance-no-marginal-step",
    "balance-no-change-detector", "balance-no-stream-test"};

}  // namespace

std::unique_ptr<TieringPolicy> make_product(const ProductOptions& options) {
  return std::make_unique<Product>(options);
}

std::unique_ptr<TieringPolicy> make_product(std::string_view name) {
  const auto found = std::ranges::find(ablation_list, name);
  if (found != ablation_list.end()) {
    ProductOptions options{.parameters = preset_of(PolicyKind::balance)};
    Mechanisms& mechanisms = options.parameters.mechanisms;
    const std::array<bool*, ablation_list.size()> switches = {
        &mechanisms.guard, &mechanisms.admission, &mechanisms.marginal_step,
        &mechanisms.change_detector, &mechanisms.stream_test};
    *switches[static_cast<std::size_t>(found - ablation_list.begin())] = false;
    return make_product(options);
  }
  ProductOptions options;
  constexpr std::string_view bits = "-bits";
  if (name.ends_with(bits)) {
    options.sensor = SensorModel::bits;
    name.remove_suffix(bits.size());
  }
  const std::optional<PolicyKind> kind = parse_policy(name);
  if (!kind) return nullptr;
  options.parameters = preset_of(*kind);
  return make_product(options);
}

std::span<const std::string_view> product_names() { return product_list; }
std::span<const std::string_view> ablation_names() { return ablation_list; }

}  // namespace cxltier::simulator
