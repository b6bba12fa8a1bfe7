// SPDX-License-Identifier: Apache-2.0
//
// One function for each step of a scan, in the order of the picture in controller.h.
#include "runtime/controller/controller.h"

#include <algorithm>

#include "policy/check.h"
#include "policy/heat_histogram.h"
#include "runtime/settings/fixed_text.h"
#include "runtime/topology/sysfs_text.h"
#include "runtime/topology/tree_text.h"

namespace cxltier {
namespace {

// Bytes that may move per second, both directions together: far below what any memory link carries,
// so that moving never competes with the program for it.  Up to one second of it may be saved.
constexpr std::uint64_t move_bytes_per_second = 256u << 20;

// Regions are at least this large where memory comes in small pages; the VMA budget makes them
// larger for heaps above 992 MiB.  Finer sees single hot buffers between cold values, coarser costs
// less: a scan costs about 3 us per VMA beside what the pages cost.
constexpr std::uint64_t region_min_bytes = 512u << 10;

// Scans that move next to nothing, at most a 256th of what is managed, after which the workload
// counts as settled.  A single hot page among cold ones takes steady_max scans to be known as that;
// two thirds of them, since some have passed before the last large move.
constexpr std::uint32_t quiet_scans_min = 16;
constexpr std::uint64_t quiet_divisor = 256;

// At rest, this part of what is managed newly out of place is a change.
constexpr std::uint64_t displaced_divisor = 64;

// A process over its limit must be back under it within ten seconds: at least this part per tick.
constexpr std::uint64_t over_limit_divisor = 4;
constexpr Nanoseconds over_limit_interval = seconds(1);

// A scan is brought forward when the heap grew by this part of itself.
constexpr std::uint64_t growth_divisor = 16;

std::uint64_t nanoseconds_of(Nanoseconds n) noexcept { return n.count; }

}  // namespace

Controller::Controller(const ControllerSeams& seams, const ControllerConfig& config,
                       ControllerStorage& storage) noexcept
    : seams_(seams),
      config_(config),
      storage_(storage),
      parameters_(preset_of(config.settings.policy)),
      node_tiers_(config.machine, config.tiers),
      caps_(caps_of(config.settings, config.machine, config.tiers)),
      sensor_({seams.policy, seams.smaps, seams.numa_maps, seams.clock}, storage.sensed,
              storage.sensed_spare, config.machine.page_size),
      mover_({seams.pages, seams.clock}, config.machine.page_size),
      regions_(storage.regions),
      regions_spare_(storage.regions_spare) {
  CXLTIER_CHECK(config.vma_budget <= vmas_max && config.vma_budget > 1);
  FixedText(page_.policy) << name_of(config.settings.policy);
  page_.page_size = config.machine.page_size.count;
  page_.started_ns = nanoseconds_of(seams.clock.now());
  page_.runtime_bytes = sizeof(Controller) + sizeof(ControllerStorage);
  page_.state =
      config.settings.policy == PolicyKind::first_touch ? RunState::watching : RunState::active;
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
  if (phase_ == Phase::resting) {
    open_window();
  } else {
    scan(stop);
  }
  page_.thread_cpu_ns += nanoseconds_of(seams_.clock.thread_cpu() - cpu_begin);
}

// Regions that are new in the layout are cooled with the others, and so are seen by this window.
void Controller::open_window() noexcept {
  const Nanoseconds cpu_begin = seams_.clock.thread_cpu();
  follow_heap();
  const bool shared = seams_.process.shares_pages();
  sensor_.cool(shared ? AccessBits::Cool::all : AccessBits::Cool::touched);
  bits_readable_ = !shared || sensor_.read_residue().ok();
  window_cost_ = seams_.clock.thread_cpu() - cpu_begin;
  phase_ = Phase::watching;
  due_at_ = seams_.clock.now() + window_.length();
}

void Controller::scan(const std::atomic<bool>& stop) noexcept {
  const Nanoseconds cpu_begin = seams_.clock.thread_cpu();
  phase_ = Phase::resting;
  if (!sense()) return publish();
  const Nanoseconds cpu_sensed = seams_.clock.thread_cpu();
  measure();
  const std::size_t planned = plan();
  const Nanoseconds cpu_planned = seams_.clock.thread_cpu();
  move(planned, stop);
  page_.sensor_cpu_ns += nanoseconds_of(window_cost_ + (cpu_sensed - cpu_begin));
  page_.policy_cpu_ns += nanoseconds_of(cpu_planned - cpu_sensed);
  page_.mover_cpu_ns += nanoseconds_of(seams_.clock.thread_cpu() - cpu_planned);
  rest(window_cost_ + (cpu_planned - cpu_begin), expected(planned));
  publish();
}

// What the plan's first `count` moves are about.
Pages Controller::expected(std::size_t count) const noexcept {
  Pages sum;
  for (const Move& move : std::span(storage_.moves).first(count)) sum += move.pages_expected;
  return sum;
}

// Pages that lie on a slower tier than their region's rank earned it.
Pages Controller::pending() const noexcept {
  Pages sum;
  for (const Region& region : live()) {
    if (region.wish == tier_none) continue;
    for (std::size_t t = index_of(region.wish) + 1; t < tiers_max; ++t) {
      sum += Pages{region.resident[t]};
    }
  }
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
  move_credit_ = std::min(move_bytes_per_second,
                          move_credit_ + since_last.count / 1000 * move_bytes_per_second / 1000000);
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
  const Nanoseconds now = seams_.clock.now();
  const bool first = scanned_at_ == Nanoseconds{};
  const Nanoseconds elapsed = first ? window_.length() : now - scanned_at_;
  const Result<std::size_t> seen = sensor_.read(node_tiers_, storage_.seen);
  if (!seen.ok()) {
    fail("the kernel's maps of this process cannot be read", seen.error());
    return false;
  }
  failures_ = 0;
  update_map(seen.value(), bits_readable_ ? elapsed : Nanoseconds{});
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
  sensor_.follow(std::span(storage_.heap).first(ranges), {region_min, vmas});
}

void Controller::update_map(std::size_t seen, Nanoseconds elapsed) noexcept {
  const auto observations = std::span<const Observation>(storage_.seen).first(seen);
  const auto unknown = static_cast<std::size_t>(
      std::count_if(observations.begin(), observations.end(),
                    [](const Observation& o) { return o.visibility == Visibility::unknown; }));
  if (2 * unknown > seen || elapsed == Nanoseconds{}) ++page_.scans_unknown;
  Pages touched{};
  Pages resident{};
  for (const Observation& o : observations) {
    if (o.visibility == Visibility::unknown) continue;
    touched += Pages{o.touched_pages};
    for (const std::uint32_t pages : o.resident) resident += Pages{pages};
  }
  window_.learn(touched, resident);
  region_count_ = update_regions(live(), observations, elapsed, regions_spare_);
  std::swap(regions_, regions_spare_);
}

// What each tier holds and has room for, now.
void Controller::measure() noexcept {
  TreeText text(seams_.files);
  for (std::size_t i = 0; i < config_.machine.node_count; ++i) {
    const std::size_t id = index_of(config_.machine.nodes[i].id);
    const Pages size = pages_of(config_.machine.nodes[i].size, config_.machine.page_size);
    by_node_[i] = {
        {sensor_.view().anonymous_pages[id]}, {}, reserve_of_node(size, config_.watermarks[i])};
    if (config_.tiers.tier_of[i] == tier_none) continue;
    if (text.read(Path("sys/devices/system/node/node").number(id).text("/meminfo")) != 0) continue;
    const std::optional<Bytes> free = parse_meminfo(text.view(), "MemFree:");
    if (free) by_node_[i].free = pages_of(*free, config_.machine.page_size);
  }
  room_ = measure_room(config_.machine, config_.tiers,
                       std::span(by_node_).first(config_.machine.node_count), caps_);
}

std::size_t Controller::plan() noexcept {
  const Limits limits{config_.tiers.tier_count, room_.tiers, move_budget(), seams_.clock.now()};
  const auto ranks = std::span(storage_.ranks).first(region_count_);
  rank_regions(live(), limits, parameters_, ranks);
  return plan_moves(live(), limits, parameters_, storage_.moves, ranks);
}

Pages Controller::over_limit() const noexcept {
  Pages over{};
  for (const Pages tier : room_.over_limit) over += tier;
  return over;
}

Pages Controller::move_budget() const noexcept {
  const Pages saved = pages_of({move_credit_}, config_.machine.page_size);
  return std::max(saved, Pages{over_limit().count / over_limit_divisor});
}

void Controller::move(std::size_t count, const std::atomic<bool>& stop) noexcept {
  Direction direction = Direction::none;
  for (std::size_t i = 0; i < count && !stop.load(std::memory_order_relaxed); ++i) {
    const Move& move = storage_.moves[i];
    // Demotions made room that the first look at the nodes did not see.
    if (direction == Direction::demote && move.direction == Direction::promote) measure();
    direction = move.direction;
    const auto nodes = std::span(room_.nodes).first(room_.node_count);
    const MoveOutcome outcome = mover_.carry_out(move, node_tiers_, nodes, stop);
    record_outcome(regions_[move.region], move, {outcome.moved, outcome.refused},
                   seams_.clock.now(), parameters_);
    this->count(move, outcome);
  }
}

void Controller::count(const Move& move, const MoveOutcome& outcome) noexcept {
  const bool up = move.direction == Direction::promote;
  (up ? page_.pages_promoted : page_.pages_demoted) += outcome.moved.count;
  for (std::size_t i = 0; i < refusal_kinds; ++i) page_.pages_refused[i] += outcome.refused_by[i];
  const std::uint64_t bytes = bytes_of(outcome.moved, config_.machine.page_size).count;
  move_credit_ -= std::min(move_credit_, bytes);
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
  page_.regions = region_count_;
  page_.vmas = sensor_.view().vma_count;
  Pages managed{};
  for (const Region& region : live()) managed += resident_pages(region);
  page_.managed_pages = managed.count;
  const HeatHistogram histogram = histogram_of(live());
  for (std::size_t i = 0; i < heat_bins; ++i) page_.heat_histogram[i] = histogram.pages[i].count;
  publish_tiers();
  seams_.telemetry.publish(page_);
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
