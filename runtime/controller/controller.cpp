// SPDX-License-Identifier: Apache-2.0
//
// One function for each step of a scan, in the order of the picture in controller.h.
#include "runtime/controller/controller.h"

#include <algorithm>

#include "policy/check.h"
#include "runtime/settings/fixed_text.h"
#include "runtime/topology/sysfs_text.h"
#include "runtime/topology/tree_text.h"

namespace cxltier {
namespace {

// Regions are at least this large where memory comes in small pages; the VMA budget makes them
// larger for heaps above 992 MiB.  Finer sees single hot buffers between cold values, coarser costs
// less: a scan costs about 3 us per VMA beside what the pages cost.
constexpr std::uint64_t region_min_bytes = 512u << 10;

// Probes of a scan, half of them when its window opens and half when it ends: the load of two
// moments.  18 us each.
constexpr std::size_t probes_each_time = 6;

// Scans that move next to nothing, at most a 256th of what is managed, after which the workload
// counts as settled.  A single hot page among cold ones takes steady_max scans to be known as that;
// two thirds of them, since some have passed before the last large move.
constexpr std::uint32_t quiet_scans_min = 16;
constexpr std::uint64_t quiet_divisor = 256;

// At rest, this part of what is managed newly out of place is a change.
constexpr std::uint64_t displaced_divisor = 64;

// A process over its limit must be back under it within ten seconds.
constexpr Nanoseconds over_limit_interval = seconds(1);

// A program that is over its limit by more than this part of what it has there grows on slower
// tiers until it is back under it: demoting what it has just written would cost it more.
constexpr std::uint64_t grows_slower_divisor = 16;

// A scan is brought forward when the heap grew by this part of itself.
constexpr std::uint64_t growth_divisor = 16;

// Where firmware does not tell a tier's latency: that of local DRAM, and more by distance, of which
// 10 is local (ACPI, SLIT).
constexpr std::uint32_t local_latency_ps = 100'000;
constexpr std::uint32_t local_distance = 10;

std::uint64_t nanoseconds_of(Nanoseconds n) noexcept { return n.count; }

// The least distance of a node from any node of the fastest tier; local if unknown.
std::uint32_t distance_of(const Machine& machine, const TierMap& tiers, std::size_t node) noexcept {
  std::uint32_t least = ~0u;
  for (std::size_t i = 0; i < machine.node_count; ++i) {
    const std::uint32_t distance = machine.distance[i][node];
    if (tiers.tier_of[i] == TierIndex{0} && distance != 0) least = std::min(least, distance);
  }
  return least == ~0u ? local_distance : least;
}

// Of each tier the latency of its nearest node.
std::array<std::uint32_t, tiers_max> latencies_of(const Machine& machine,
                                                  const TierMap& tiers) noexcept {
  std::array<std::uint32_t, tiers_max> latency_ps{};
  for (std::size_t i = 0; i < machine.node_count; ++i) {
    if (tiers.tier_of[i] == tier_none) continue;
    const std::uint32_t firmware_ns = machine.nodes[i].performance.read_latency_ns;
    const std::uint32_t by_distance =
        distance_of(machine, tiers, i) * (local_latency_ps / local_distance);
    const std::uint32_t mine = firmware_ns != 0 ? firmware_ns * 1000 : by_distance;
    std::uint32_t& least = latency_ps[index_of(tiers.tier_of[i])];
    if (least == 0 || mine < least) least = mine;
  }
  return latency_ps;
}

Extent extent_of(const Observation& seen) noexcept { return {seen.first_page, seen.page_count}; }

// Pages of a leaf on tiers slower than its rank earned it.
Pages out_of_place(const Leaf& leaf) noexcept {
  Pages pages;
  if (leaf.wish == wish_own) return pages;
  for (std::size_t t = leaf.wish + std::size_t{1}; t < tiers_max; ++t) {
    pages += Pages{pages_on(leaf, t)};
  }
  return pages;
}

}  // namespace

Controller::Controller(const ControllerSeams& seams, const ControllerConfig& config,
                       ControllerStorage& storage) noexcept
    : seams_(seams),
      config_(config),
      storage_(storage),
      node_tiers_(config.machine, config.tiers),
      caps_(caps_of(config.settings, config.machine, config.tiers)),
      slower_from_(slower_from(caps_, config.tiers)),
      firmware_ps_(latencies_of(config.machine, config.tiers)),
      tiering_({.page_size = config.machine.page_size,
                .parameters = preset_of(config.settings.policy),
                .cpus = config.cpus},
               {.leaves = storage.leaves, .choices = storage.choices, .moves = storage.moves}),
      sensor_({seams.policy, seams.smaps, seams.numa_maps, seams.clock}, storage.sensed,
              storage.sensed_spare, config.machine.page_size),
      latency_(seams.chase),
      mover_({seams.pages, seams.clock}, config.machine.page_size) {
  CXLTIER_CHECK(config.vma_budget <= vmas_max && config.vma_budget > 1);
  FixedText(page_.policy) << name_of(config.settings.policy);
  page_.page_size = config.machine.page_size.count;
  page_.started_ns = nanoseconds_of(seams.clock.now());
  page_.runtime_bytes = sizeof(Controller) + sizeof(ControllerStorage);
  page_.state =
      config.settings.policy == PolicyKind::first_touch ? RunState::watching : RunState::active;
}

void Controller::hand_over() noexcept { sensor_.grow(Growth::local); }

void Controller::carry_on(const TelemetryPage& before) noexcept {
  CXLTIER_CHECK(page_.ticks == 0);
  page_.started_ns = before.started_ns;
  page_.ticks = before.ticks;
  page_.scans_unknown = before.scans_unknown;
  page_.pages_promoted = before.pages_promoted;
  page_.pages_demoted = before.pages_demoted;
  page_.pages_refused = before.pages_refused;
  page_.sensor_cpu_ns = before.sensor_cpu_ns;
  page_.policy_cpu_ns = before.policy_cpu_ns;
  page_.mover_cpu_ns = before.mover_cpu_ns;
  page_.thread_cpu_ns = before.thread_cpu_ns;
}

bool Controller::due() noexcept {
  const Nanoseconds now = seams_.clock.now();
  if (now >= due_at_) return true;
  const std::uint64_t mapped = seams_.heap.mapped().count;
  const bool grew = mapped > heap_at_scan_.count + heap_at_scan_.count / growth_divisor;
  return phase_ == Phase::resting && grew && now - scanned_at_ >= CpuBudget::interval_min;
}

void Controller::tick(const std::atomic<bool>& stop) noexcept {
  const Nanoseconds cpu_begin = seams_.clock.thread_cpu();
  const bool scans = phase_ == Phase::watching;
  if (scans) {
    scan(stop);
  } else {
    open_window();
  }
  page_.thread_cpu_ns += nanoseconds_of(seams_.clock.thread_cpu() - cpu_begin);
  if (scans) publish();
}

// Regions that are new in the layout are cooled with the others, and so are seen by this window.
void Controller::open_window() noexcept {
  const Nanoseconds cpu_begin = seams_.clock.thread_cpu();
  follow_heap();
  const bool shared = seams_.process.shares_pages();
  sensor_.cool(shared ? AccessBits::Cool::all : AccessBits::Cool::touched);
  bits_readable_ = !shared || sensor_.read_residue().ok();
  if (heap_at_scan_ >= config_.probe_heap_min) latency_.open(config_.machine, config_.tiers);
  latency_.probe(probes_each_time);
  window_cost_ = seams_.clock.thread_cpu() - cpu_begin;
  phase_ = Phase::watching;
  due_at_ = seams_.clock.now() + window_.length();
}

void Controller::scan(const std::atomic<bool>& stop) noexcept {
  const Nanoseconds cpu_begin = seams_.clock.thread_cpu();
  phase_ = Phase::resting;
  latency_.probe(probes_each_time);
  if (!sense()) return;
  const Nanoseconds cpu_sensed = seams_.clock.thread_cpu();
  measure();
  const std::span<const LeafMove> moves = plan();
  const Nanoseconds cpu_planned = seams_.clock.thread_cpu();
  const Pages planned = expected(moves);
  move(moves, stop);
  page_.sensor_cpu_ns += nanoseconds_of(window_cost_ + (cpu_sensed - cpu_begin));
  page_.policy_cpu_ns += nanoseconds_of(cpu_planned - cpu_sensed);
  page_.mover_cpu_ns += nanoseconds_of(seams_.clock.thread_cpu() - cpu_planned);
  rest(window_cost_ + (cpu_planned - cpu_begin), planned);
}

Pages Controller::expected(std::span<const LeafMove> moves) noexcept {
  Pages sum;
  for (const LeafMove& move : moves) sum += move.pages;
  return sum;
}

Pages Controller::pending() const noexcept {
  Pages sum;
  for (const Leaf& leaf : std::span(storage_.leaves).first(extent_count_))
    sum += out_of_place(leaf);
  return sum;
}

// Moves are a change; and at rest it is a change when clearly more is out of place than when the
// rest began: that is seen two scans before the first move.
void Controller::note_change(Pages planned) noexcept {
  const Pages out_of_place = pending();
  const bool resting = quiet_scans_ >= quiet_scans_min;
  const bool displaced =
      resting && out_of_place > at_rest_ + Pages{page_.managed_pages / displaced_divisor};
  const bool moving = planned.count > page_.managed_pages / quiet_divisor;
  quiet_scans_ = moving || displaced ? 0 : quiet_scans_ + 1;
  if (quiet_scans_ == quiet_scans_min) at_rest_ = out_of_place;
}

// Decides when to look again.
void Controller::rest(Nanoseconds sensing, Pages planned) noexcept {
  const Nanoseconds now = seams_.clock.now();
  const Nanoseconds since_last = scanned_at_ == Nanoseconds{} ? Nanoseconds{} : now - scanned_at_;
  scanned_at_ = now;
  note_change(planned);
  const Pace pace = quiet_scans_ >= quiet_scans_min ? Pace::quiet : Pace::settling;
  Nanoseconds interval = budget_.spend(sensing, since_last, pace);
  // While demotion makes progress the limit comes before the budget.
  if (planned > Pages{} && over_limit() > Pages{})
    interval = std::min(interval, over_limit_interval);
  due_at_ = now + (interval - window_.length());
  page_.interval_ns = nanoseconds_of(interval);
}

bool Controller::sense() noexcept {
  const Result<std::size_t> seen = sensor_.read(node_tiers_, storage_.seen);
  if (!seen.ok()) {
    fail("the kernel's maps of this process cannot be read", seen.error());
    return false;
  }
  failures_ = 0;
  const auto observations = std::span<const Observation>(storage_.seen).first(seen.value());
  take_layout(observations);
  learn_window(observations);
  return true;
}

void Controller::follow_heap() noexcept {
  const std::size_t vmas =
      seams_.process.forks() ? std::min(config_.vma_budget, vmas_forking) : config_.vma_budget;
  const bool huge = seams_.process.huge_pages_by_default() || sensor_.view().huge_kib > 0;
  const Bytes region_min{huge ? std::max(config_.machine.huge_page_size.count, region_min_bytes)
                              : std::max(config_.machine.page_size.count, region_min_bytes)};
  heap_at_scan_ = seams_.heap.mapped();
  // Half of the budget at least is for cutting; ranges beyond that stay unmanaged.
  const std::size_t ranges = seams_.heap.copy(std::span(storage_.heap).first(vmas / 2));
  sensor_.grow(growth());
  sensor_.follow(std::span(storage_.heap).first(ranges), {region_min, vmas});
}

Growth Controller::growth() noexcept {
  if (config_.settings.policy == PolicyKind::first_touch) return Growth::local;
  Pages used{};
  Pages over{};
  for (std::size_t t = 0; t < slower_from_ && slower_from_ < config_.tiers.tier_count; ++t) {
    used += room_.tiers[t].used;
    over += room_.over_limit[t];
  }
  const bool far_over = over.count > used.count / grows_slower_divisor;
  growth_ =
      far_over || (growth_ == Growth::slower && over > Pages{}) ? Growth::slower : Growth::local;
  return growth_;
}

// Carries the leaves over if memory is cut otherwise than at the last scan.
void Controller::take_layout(std::span<const Observation> seen) noexcept {
  const auto before = std::span<const Extent>(storage_.extents).first(extent_count_);
  const bool is_same =
      std::equal(seen.begin(), seen.end(), before.begin(), before.end(),
                 [](const Observation& o, const Extent& extent) { return extent_of(o) == extent; });
  if (is_same) return;
  const auto leaves = std::span(storage_.leaves);
  const auto carried = std::span(storage_.leaves_spare).first(seen.size());
  const auto after = std::span(storage_.extents_spare).first(seen.size());
  std::transform(seen.begin(), seen.end(), after.begin(), extent_of);
  carry_leaves(before, leaves.first(extent_count_), after, carried);
  std::copy(carried.begin(), carried.end(), leaves.begin());
  if (extent_count_ > seen.size()) {
    const auto gone = leaves.subspan(seen.size(), extent_count_ - seen.size());
    std::fill(gone.begin(), gone.end(), Leaf{});
  }
  std::copy(after.begin(), after.end(), storage_.extents.begin());
  extent_count_ = seen.size();
}

void Controller::learn_window(std::span<const Observation> seen) noexcept {
  std::size_t unknown = 0;
  Pages touched{};
  Pages resident{};
  for (const Observation& o : seen) {
    if (o.visibility == Visibility::unknown) {
      ++unknown;
      continue;
    }
    touched += Pages{o.touched_pages};
    for (const std::uint32_t pages : o.resident) resident += Pages{pages};
  }
  if (2 * unknown > seen.size() || !bits_readable_) ++page_.scans_unknown;
  window_.learn(touched, resident);
}

// What each tier holds and has room for, now.
void Controller::measure() noexcept {
  TreeText text(seams_.files);
  for (std::size_t i = 0; i < config_.machine.node_count; ++i) {
    const std::size_t id = index_of(config_.machine.nodes[i].id);
    by_node_[i] = {{sensor_.view().anonymous_pages[id]}, {}, {}};
    if (config_.tiers.tier_of[i] == tier_none) continue;
    if (text.read(Path("sys/devices/system/node/node").number(id).text("/meminfo")) != 0) continue;
    const std::optional<Bytes> free = parse_meminfo(text.view(), "MemFree:");
    if (free) by_node_[i].free = pages_of(*free, config_.machine.page_size);
    // Blocks of it may have come or gone since the machine was read.
    const Bytes size =
        parse_meminfo(text.view(), "MemTotal:").value_or(config_.machine.nodes[i].size);
    by_node_[i].reserve =
        reserve_of_node(pages_of(size, config_.machine.page_size), config_.watermarks[i]);
  }
  room_ = measure_room(config_.machine, config_.tiers,
                       std::span(by_node_).first(config_.machine.node_count), caps_);
}

std::span<const Observation> Controller::seen() const noexcept {
  return std::span(storage_.seen).first(extent_count_);
}

// What was touched, and where everything lies.  Bits that say nothing leave all heat as it is.
void Controller::list_observations(TickInput& input) noexcept {
  std::size_t samples = 0;
  std::uint32_t leaf = 0;
  for (const Observation& o : seen()) {
    const bool is_known = o.visibility == Visibility::seen;
    storage_.placements[leaf] = {.leaf = leaf, .resident = o.resident, .call_site = 0};
    if (!is_known || o.touched_pages > 0) {
      storage_.samples[samples++] = {.leaf = leaf,
                                     .touched = is_known ? o.touched_pages : touched_unknown};
    }
    ++leaf;
  }
  input.placements = std::span(storage_.placements).first(leaf);
  input.coverage = bits_readable_ ? Coverage::all_seen : Coverage::listed_only;
  if (bits_readable_) input.samples = std::span(storage_.samples).first(samples);
}

// Latencies as probed, if every tier could be: a measured one and one of firmware do not compare.
void Controller::list_tiers(TickInput& input) noexcept {
  input.tier_count = config_.tiers.tier_count;
  const std::array<TierLatency, tiers_max> probed = latency_.take();
  bool is_probed = true;
  for (std::size_t t = 0; t < input.tier_count; ++t) is_probed &= probed[t].idle_ps != 0;
  for (std::size_t t = 0; t < input.tier_count; ++t) {
    TierReading& tier = input.tiers[t];
    tier.used = room_.tiers[t].used;
    tier.capacity = room_.tiers[t].capacity;
    tier.latency_idle_ps = is_probed ? probed[t].idle_ps : firmware_ps_[t];
    tier.latency_ps = is_probed ? probed[t].loaded_ps : firmware_ps_[t];
    tier.probes = is_probed ? probed[t].batches : 1;
    page_.latencies[t].idle_ps = probed[t].idle_ps;
    if (probed[t].loaded_ps != 0) page_.latencies[t].loaded_ps = probed[t].loaded_ps;
  }
}

std::span<const LeafMove> Controller::plan() noexcept {
  TickInput input;
  input.now = seams_.clock.now();
  input.elapsed = planned_at_ == Nanoseconds{} ? window_.length() : input.now - planned_at_;
  input.window = std::max(sensor_.window(), milliseconds(1));
  // Sensing has a budget of its own and goes on while moves are held, so it is no reason to hold.
  input.sensor_cpu = {};
  list_tiers(input);
  list_observations(input);
  planned_at_ = input.now;
  return tiering_.tick(input).moves;
}

Pages Controller::over_limit() const noexcept {
  Pages over{};
  for (const Pages tier : room_.over_limit) over += tier;
  return over;
}

void Controller::move(std::span<const LeafMove> moves, const std::atomic<bool>& stop) noexcept {
  Direction last = Direction::none;
  for (const LeafMove& move : moves) {
    if (stop.load(std::memory_order_relaxed)) return;
    const Direction direction = move.to < move.from ? Direction::promote : Direction::demote;
    // Demotions made room that the first look at the nodes did not see.
    if (last == Direction::demote && direction == Direction::promote) measure();
    last = direction;
    const Nanoseconds begin = seams_.clock.thread_cpu();
    const auto nodes = std::span(room_.nodes).first(room_.node_count);
    const MoveOutcome outcome = mover_.carry_out(
        {storage_.extents[move.leaf], direction, move.to, move.pages}, node_tiers_, nodes, stop);
    const Nanoseconds spent = seams_.clock.thread_cpu() - begin;
    tiering_.record(move, {outcome.moved, outcome.refused, spent}, seams_.clock.now());
    count(direction, outcome);
  }
}

void Controller::count(Direction direction, const MoveOutcome& outcome) noexcept {
  const bool up = direction == Direction::promote;
  (up ? page_.pages_promoted : page_.pages_demoted) += outcome.moved.count;
  for (std::size_t i = 0; i < refusal_kinds; ++i) page_.pages_refused[i] += outcome.refused_by[i];
}

void Controller::fail(const char* what, int error) noexcept {
  due_at_ = seams_.clock.now() + CpuBudget::interval_min;
  if (++failures_ < failures_max) return;
  page_.state = RunState::stopped;
  FixedText(page_.reason) << what << " (errno " << static_cast<unsigned>(error) << ")";
}

void Controller::publish() noexcept {
  ++page_.ticks;
  page_.updated_ns = nanoseconds_of(seams_.clock.now());
  page_.call_ns_max = nanoseconds_of(std::max(sensor_.longest_call(), mover_.longest_call()));
  page_.regions = extent_count_;
  page_.window_ns = nanoseconds_of(sensor_.window());
  page_.vmas = sensor_.view().vma_count;
  Pages managed{};
  for (const Observation& o : seen()) {
    for (const std::uint32_t pages : o.resident) managed += Pages{pages};
  }
  page_.managed_pages = managed.count;
  publish_policy();
  publish_tiers();
  seams_.telemetry.publish(page_);
}

void Controller::publish_policy() noexcept {
  const TieringView view = tiering_.view();
  page_.heat = tiering_.heat();
  for (std::size_t bin = 0; bin < rate_bins; ++bin) {
    page_.heat_histogram[bin] = page_.heat[2 * bin] + page_.heat[2 * bin + 1];
  }
  page_.mode = static_cast<std::uint32_t>(view.mode);
  page_.changes = static_cast<std::uint32_t>(view.changes);
  page_.holds = static_cast<std::uint32_t>(view.holds);
  page_.mean_latency_ps = view.mean_latency_ps;
  page_.share = view.share;
  page_.target = view.target;
  page_.verdict_pages = {};
  for (const Leaf& leaf : std::span(storage_.leaves).first(extent_count_)) {
    page_.verdict_pages[leaf.verdict] += leaf.pages;
  }
}

void Controller::publish_tiers() noexcept {
  const Machine& machine = config_.machine;
  page_.node_count = machine.node_count;
  page_.tier_count = config_.tiers.tier_count;
  for (std::size_t i = 0; i < machine.node_count; ++i) {
    TelemetryNode& node = page_.nodes[i];
    node.id = static_cast<std::uint32_t>(machine.nodes[i].id);
    node.kind = static_cast<std::uint8_t>(machine.nodes[i].kind);
    node.tier = static_cast<std::uint8_t>(config_.tiers.tier_of[i]);
    node.pages = by_node_[i].anonymous.count;
  }
  for (std::size_t t = 0; t < config_.tiers.tier_count; ++t) {
    TelemetryTier& tier = page_.tiers[t];
    tier.pages = room_.tiers[t].used.count;
    tier.limit_pages =
        std::min(caps_.cap[t], caps_.is_dram[t] ? caps_.dram_total : pages_unlimited).count;
    tier.over_limit_pages_max = std::max(tier.over_limit_pages_max, room_.over_limit[t].count);
  }
}

}  // namespace cxltier
