// SPDX-License-Identifier: Apache-2.0
//
// What must be true before the controller may tick, in the order in which it is found out: two
// tiers, the system calls, no policy that somebody chose, the maps of the process.
#include "runtime/preload/runtime.h"

#include <errno.h>
#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>

#include "cxltier/heap.hpp"
#include "cxltier/tier_heap.hpp"
#include "runtime/os/line_reader.h"
#include "runtime/os/syscall_probe.h"
#include "runtime/preload/core_table.h"
#include "runtime/settings/fixed_text.h"
#include "runtime/telemetry/process_identity.h"
#include "runtime/topology/machine_profile.h"
#include "runtime/topology/machine_reader.h"
#include "runtime/topology/process_nodes.h"
#include "runtime/topology/sysfs_text.h"
#include "runtime/topology/tier_text.h"
#include "runtime/topology/tree_text.h"
#include "runtime/topology/zone_text.h"

namespace cxltier {
namespace {

// The regions' part of the process's VMAs: one in twenty of what the kernel allows at most.
std::size_t vma_budget_of(FileTree& files) noexcept {
  constexpr std::uint64_t map_count_default = 65530;
  TreeText text(files);
  std::uint64_t map_count = map_count_default;
  if (text.read(Path("proc/sys/vm/max_map_count")) == 0) {
    map_count = parse_number(text.view()).value_or(map_count_default);
  }
  return std::clamp<std::uint64_t>(map_count / 20, vmas_for_allocator + 2,
                                   vmas_max + vmas_for_allocator) -
         vmas_for_allocator;
}

// Processors that the process may run on; the controller's thread has its mask.
std::uint32_t cpu_count() noexcept {
  cpu_set_t cpus;
  if (sched_getaffinity(0, sizeof cpus, &cpus) != 0) return 1;
  return static_cast<std::uint32_t>(std::max(1, CPU_COUNT(&cpus)));
}

// Nodes that the process may use and that have memory.
NodeSet usable_nodes(const Machine& machine, const NodeSet& allowed) noexcept {
  NodeSet nodes;
  for (std::size_t i = 0; i < machine.node_count; ++i) {
    const Node& node = machine.nodes[i];
    if (node.size.count > 0 && (allowed.empty() || allowed.contains(node.id))) {
      nodes.insert(node.id);
    }
  }
  return nodes;
}

// Appends what is left of `range` when the pins, which are sorted, are cut out of it.
std::size_t add_without(heap::Range range, std::span<const heap::Range> pins,
                        std::span<AddressRange> out, std::size_t count) noexcept {
  for (const heap::Range& pin : pins) {
    if (pin.end <= range.begin || pin.begin >= range.end) continue;
    if (pin.begin > range.begin && count < out.size()) out[count++] = {range.begin, pin.begin};
    range.begin = std::min(pin.end, range.end);
  }
  if (range.begin < range.end && count < out.size()) out[count++] = {range.begin, range.end};
  return count;
}

}  // namespace

std::size_t HeapOfThisProcess::copy(std::span<AddressRange> out) noexcept {
  static_assert(sizeof(heap::Range) == sizeof(AddressRange));
  std::array<heap::Range, 256> part;
  std::array<heap::Range, 32> pins;
  const std::size_t count = heap::copy_ranges(part);
  const std::size_t pin_count = heap::copy_pinned_ranges(pins.data(), pins.size());
  std::size_t written = 0;
  for (const heap::Range& range : std::span(part).first(count)) {
    written = add_without(range, std::span(pins).first(pin_count), out, written);
  }
  return written;
}

Bytes HeapOfThisProcess::mapped() noexcept { return {heap::mapped_bytes()}; }

Runtime::Runtime(const Settings& settings, const ProcessMemory& process, const char* runtime_folder,
                 ControllerStorage& storage) noexcept
    : settings_(settings),
      standard_error_(process.standard_error),
      files_("/"),
      process_(files_, process.marks),
      runtime_folder_(runtime_folder),
      storage_(storage) {
  FixedText(start_page_.policy) << name_of(settings.policy);
  start_page_.page_size = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  start_page_.started_ns = clock_.now().count;
  start_page_.runtime_bytes = sizeof(Runtime) + sizeof(ControllerStorage);
}

void Runtime::publish(const TelemetryPage& page) noexcept {
  writer_.publish(page);
  published_statistics.publish(page);
}

bool Runtime::prepare() noexcept {
  open_telemetry(runtime_folder_);
  return begin();
}

bool Runtime::follow_machine() noexcept {
  if (controller_) {
    controller_->hand_over();
    start_page_ = controller_->page();
  }
  controller_.reset();
  start_page_.state = RunState::starting;
  start_page_.reason = {};
  start_page_.node_count = start_page_.tier_count = 0;
  storage_.leaves.fill(Leaf{});
  if (!begin()) return false;
  controller_->carry_on(start_page_);
  return true;
}

bool Runtime::begin() noexcept {
  const bool has_tiers = read_tiers();
  waits_for_memory_ = !has_tiers && MachineWatch::may_grow(files_);
  if (!has_tiers || !probe_calls() || !open_maps()) return give_up(RunState::idle);
  const ControllerSeams seams{*policy_, pages_, smaps_,   numa_maps_, clock_,
                              files_,   heap_,  process_, chase_,     *this};
  controller_.emplace(seams, config_, storage_);
  std::array<char, 200> line{};
  FixedText(line) << "watches this process: policy " << name_of(settings_.policy) << ", "
                  << std::uint64_t{config_.tiers.tier_count} << " tiers";
  if (settings_.log == LogLevel::all) standard_error_.write_line(line.data());
  return true;
}

bool Runtime::give_up(RunState state) noexcept {
  std::array<char, 240> line{};
  FixedText(line) << "this process stays as it is: " << start_page_.reason.data();
  if (settings_.log == LogLevel::all) standard_error_.write_line(line.data());
  start_page_.state = state;
  start_page_.updated_ns = clock_.now().count;
  start_page_.thread_cpu_ns = clock_.thread_cpu().count;
  publish(start_page_);
  return false;
}

void Runtime::open_telemetry(const char* runtime_folder) noexcept {
  const Result<ProcessIdentity> self = identity_of_self();
  if (!self.ok()) return;
  const FolderPlace place{.runtime_folder = runtime_folder, .uid = self.value().uid};
  if (writer_.open(place, self.value()).ok()) publish(start_page_);
}

bool Runtime::read_tiers() noexcept {
  FixedText reason(start_page_.reason);
  watch_.take(files_);
  const Result<Reading> reading = read_machine(files_);
  const Result<ProcessNodes> mine = read_process_nodes(files_);
  if (!reading.ok()) {
    reason << "the machine's memory nodes cannot be read (errno "
           << static_cast<unsigned>(reading.error()) << ")";
    return false;
  }
  config_.machine = reading.value().machine;
  config_.settings = settings_;
  apply_saved_profile();
  read_watermarks();
  config_.vma_budget = vma_budget_of(files_);
  config_.cpus = cpu_count();
  const ProcessNodes nodes = mine.value_or({});
  const NodeSet usable = usable_nodes(config_.machine, nodes.allowed);
  for (Node& node : std::span(config_.machine.nodes).first(config_.machine.node_count)) {
    if (!usable.contains(node.id)) node.size = {};  // a cpuset keeps us out: no memory for us there
  }
  choose_tiers(nodes.own);
  policy_.emplace(usable, slower_nodes(caps_of(settings_, config_.machine, config_.tiers),
                                       config_.machine, config_.tiers));
  if (config_.tiers.tier_count < 2) reason << "only one memory tier on this machine";
  return config_.tiers.tier_count >= 2;
}

// What was measured here is better than what firmware says.  A saved profile that does not fit is
// silent, as `cxltier run` and `topo` say it, unless everything is to be logged or it was named.
void Runtime::apply_saved_profile() noexcept {
  const ProfilePlaces places{.named = settings_.profile.data(),
                             .own = settings_.profile_own.data()};
  const ProfileReading found = find_profile(files_, places, config_.machine);
  if (found.ok()) {
    apply_profile(found.profile, config_.machine);
    return;
  }
  const bool named = *found.path != '\0' && settings_.profile[0] != '\0';
  const bool refused = found.fault != ProfileFault::absent;
  if (settings_.log == LogLevel::off || (!named && !refused)) return;
  if (!named && settings_.log != LogLevel::all) return;
  std::array<char, 360> line{};
  FixedText text(line);
  text << "the machine profile ";
  text.append_foreign(found.path) << " " << text_of(found.fault);
  standard_error_.write_line(text.view());
}

// The order that the user gave, if it fits this machine, else the machine's own.
void Runtime::choose_tiers(const NodeSet& own) noexcept {
  config_.tiers = assign_tiers(config_.machine, own);
  if (settings_.tiers[0] == '\0') return;
  const ParsedTiers chosen = parse_tiers(settings_.tiers.data(), config_.machine);
  if (chosen.ok()) {
    config_.tiers = chosen.tiers;
    return;
  }
  std::array<char, 360> line{};
  FixedText text(line);
  text << "CXLTIER_TIERS=" << settings_.tiers.data() << ": '";
  text.append_foreign(chosen.word)
      << "' " << text_of(chosen.fault) << "; using the machine's own order; see cxltier topo";
  standard_error_.write_line(text.view());
}

// Unknown watermarks are 0: the reserve is then a part of the node's size.
void Runtime::read_watermarks() noexcept {
  config_.watermarks = {};
  ProcessTextLinux zones;
  if (!zones.open("/proc/zoneinfo").ok()) return;
  LineReader lines(zones);
  ZoneText text;
  while (const std::optional<std::string_view> line = lines.next()) {
    const std::optional<ZoneText::Watermark> mark = text.feed(*line);
    const std::size_t at = mark ? position_of(config_.machine, mark->node) : nodes_max;
    if (at < config_.machine.node_count) config_.watermarks[at] += mark->high;
  }
}

// First the thread's own policy: under numactl, or in a service that sets one, the user has chosen.
bool Runtime::probe_calls() noexcept {
  FixedText reason(start_page_.reason);
  const std::size_t size = config_.machine.page_size.count;
  void* page = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) return false;
  *static_cast<volatile char*>(page) = 1;
  bool all_work = true;
  for (std::size_t i = 0; i < static_cast<std::size_t>(ProbedCall::kinds); ++i) {
    const auto call = static_cast<ProbedCall>(i);
    const ProbeVerdict verdict = probe_call(call, page, size);
    if (verdict.kind == ProbeVerdict::Kind::works) continue;
    reason << (all_work ? "system calls not permitted here: " : ", ") << name_of(call);
    reason << (verdict.kind == ProbeVerdict::Kind::kills ? " (kills)" : " (refused)");
    all_work = false;
  }
  munmap(page, size);
  if (!all_work) return false;
  const Result<PolicyOwner> owner = owner_of_thread_policy();
  if (owner.ok() && owner.value() == PolicyOwner::nobody) return true;
  reason << "this process has a memory policy of its own (numactl, service or container)";
  return false;
}

bool Runtime::open_maps() noexcept {
  Result<Done> opened = smaps_.open("/proc/self/smaps");
  if (opened.ok()) opened = numa_maps_.open("/proc/self/numa_maps");
  if (opened.ok()) return true;
  FixedText(start_page_.reason) << "/proc/self/smaps and numa_maps cannot be opened (errno "
                                << static_cast<unsigned>(opened.error()) << ")";
  return false;
}

}  // namespace cxltier
