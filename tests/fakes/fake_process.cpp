// SPDX-License-Identifier: Apache-2.0
//
// The texts of the fake process as the kernel prints them, and its seams with their faults.
#include "tests/fakes/fake_process.h"

#include <cerrno>
#include <cstdio>
#include <cstring>

namespace cxltier::fakes {
namespace {

std::string line_of(const char* name, std::uint64_t kib) {
  char text[64];
  std::snprintf(text, sizeof text, "%-16s%8llu kB\n", name, static_cast<unsigned long long>(kib));
  return text;
}

}  // namespace

FakeProcess::FakeProcess()
    : smaps_(*this, &FakeProcess::smaps_text), numa_maps_(*this, &FakeProcess::numa_maps_text) {}

void FakeProcess::touch(std::uintptr_t address, int node_if_new) {
  const std::uintptr_t page = address / page_bytes * page_bytes;
  const auto [it, is_new] = pages_.try_emplace(page);
  if (is_new) it->second.node = grows_slower(page) ? 2 : node_if_new;
  it->second.touched = true;
}

bool FakeProcess::grows_slower(std::uintptr_t page) const {
  const auto after = bound_.upper_bound(page);
  if (after == bound_.begin()) return false;
  const Vma& vma = std::prev(after)->second;
  const bool slower = vma.policy == RangePolicy::slower || vma.policy == RangePolicy::slower_fixed;
  return slower && vma.range.contains(page);
}

std::uint64_t FakeProcess::pages_on(int node) const {
  std::uint64_t count = 0;
  for (const auto& [address, page] : pages_) count += page.node == node ? 1 : 0;
  return count;
}

std::uint64_t FakeProcess::free_on(int node) const {
  const FakeNode& n = nodes[static_cast<std::size_t>(node)];
  const std::uint64_t used = n.used_by_others + pages_on(node);
  return n.pages > used ? n.pages - used : 0;
}

Machine FakeProcess::machine() const {
  Machine machine;
  machine.node_count = 3;
  for (std::uint16_t i = 0; i < 3; ++i) {
    Node& node = machine.nodes[i];
    node.id = static_cast<NodeId>(i);
    node.kind = i == 2 ? NodeKind::cxl : NodeKind::dram;
    node.cpu_count = i == 2 ? 0 : 1;
    node.size = {nodes[i].pages * page_bytes};
    for (std::uint16_t j = 0; j < 3; ++j) machine.distance[i][j] = i == j ? 10 : 20;
  }
  return machine;
}

bool FakeProcess::call_fails() {
  cpu_ = cpu_ + cost_per_call;
  now_ = now_ + cost_per_call;
  return faults.fails();
}

// Runs of equal policy inside the heap, adjacent equal ones merged, as the kernel keeps them.
std::vector<FakeProcess::Vma> FakeProcess::vmas() const {
  std::vector<Vma> out;
  for (const AddressRange& heap : heap_) {
    std::uintptr_t at = heap.begin;
    while (at < heap.end) {
      auto next = bound_.upper_bound(at);
      Vma vma{{at, heap.end}, false, RangePolicy::local};
      if (next != bound_.begin() && std::prev(next)->second.range.contains(at)) {
        vma = std::prev(next)->second;
        vma.range.begin = at;
      } else if (next != bound_.end()) {
        vma.range.end = next->first;
      }
      vma.range.end = std::min(vma.range.end, heap.end);
      at = vma.range.end;
      const bool merges = !out.empty() && out.back().range.end == vma.range.begin &&
                          out.back().bound == vma.bound && out.back().policy == vma.policy;
      if (merges) {
        out.back().range.end = vma.range.end;
      } else {
        out.push_back(vma);
      }
    }
  }
  return out;
}

std::size_t FakeProcess::vma_count() const { return vmas().size(); }

std::string FakeProcess::smaps_text() const {
  std::string text =
      "00400000-00401000 r-xp 00000000 08:01 42   /usr/bin/program\nRss: 4 kB\n"
      "Referenced: 4 kB\nVmFlags: rd ex mr mw me\n";
  for (const Vma& vma : vmas()) {
    char head[80];
    std::snprintf(head, sizeof head, "%lx-%lx rw-p 00000000 00:00 0 \n", vma.range.begin,
                  vma.range.end);
    std::uint64_t resident = 0;
    std::uint64_t touched = 0;
    for (auto it = pages_.lower_bound(vma.range.begin);
         it != pages_.end() && it->first < vma.range.end; ++it) {
      ++resident;
      touched += it->second.touched ? 1 : 0;
    }
    text += head + line_of("Rss:", resident * 4) + line_of("Referenced:", touched * 4) +
            line_of("AnonHugePages:", 0) + "VmFlags: rd wr mr mw me ac\n";
  }
  return text;
}

std::string FakeProcess::numa_maps_text() const {
  std::string text = "00400000 default file=/usr/bin/program mapped=1 N0=1 kernelpagesize_kB=4\n";
  for (const Vma& vma : vmas()) {
    std::array<std::uint64_t, 3> on{};
    for (auto it = pages_.lower_bound(vma.range.begin);
         it != pages_.end() && it->first < vma.range.end; ++it) {
      ++on[static_cast<std::size_t>(it->second.node)];
    }
    const char* policy = application_bound                      ? "bind:0"
                         : !vma.bound                           ? "default"
                         : vma.policy == RangePolicy::local     ? "local"
                         : vma.policy == RangePolicy::all_nodes ? "prefer (many):0-2"
                         : vma.policy == RangePolicy::slower    ? "prefer (many):2"
                                                                : "prefer (many)=static:2";
    char head[64];
    std::snprintf(head, sizeof head, "%lx %s", vma.range.begin, policy);
    text += head;
    for (std::size_t i = 0; i < 3; ++i) {
      if (on[i] != 0) text += " N" + std::to_string(i) + "=" + std::to_string(on[i]);
    }
    text += " kernelpagesize_kB=4\n";
  }
  return text;
}

Result<std::size_t> FakeProcess::Text::read_at(std::uint64_t offset, std::span<char> out) noexcept {
  if (process_.call_fails()) return Error{process_.faults.error};
  if (process_.maps_error != 0) return Error{process_.maps_error};
  if (offset == 0) text_ = (process_.*make_)();
  if (offset >= text_.size()) return std::size_t{0};
  const std::size_t size = std::min<std::size_t>(out.size(), text_.size() - offset);
  std::memcpy(out.data(), text_.data() + offset, size);
  return size;
}

Result<Done> FakeProcess::bind(AddressRange range, RangePolicy policy) noexcept {
  if (call_fails()) return Error{faults.error};
  const auto inside = [&](const auto& entry) { return range.covers(entry.second.range); };
  std::erase_if(bound_, inside);
  bound_[range.begin] = {range, true, policy};
  return Done{};
}

bool FakeProcess::is_locked(AddressRange range) const {
  for (const AddressRange& locked : locked_) {
    if (locked.overlap(range).size() > 0) return true;
  }
  return false;
}

Result<Done> FakeProcess::cool(AddressRange range) noexcept {
  if (call_fails()) return Error{faults.error};
  if (is_locked(range)) return Error{EINVAL};
  cooled_bytes += range.size();
  if (has_child) return Done{};
  for (auto it = pages_.lower_bound(range.begin); it != pages_.end() && it->first < range.end;
       ++it) {
    it->second.touched = false;
  }
  return Done{};
}

Result<PolicyOwner> FakeProcess::owner_of(std::uintptr_t) noexcept {
  if (call_fails()) return Error{faults.error};
  return application_bound ? PolicyOwner::application : PolicyOwner::nobody;
}

Result<Done> FakeProcess::locate(std::span<const std::uintptr_t> pages,
                                 std::span<int> status) noexcept {
  if (call_fails()) return Error{faults.error};
  for (std::size_t i = 0; i < pages.size(); ++i) {
    const auto it = pages_.find(pages[i]);
    status[i] = it == pages_.end() ? -ENOENT : it->second.node;
  }
  return Done{};
}

// As the kernel: a page that cannot move has its errno; a full node ends the call early and leaves
// the rest without an answer.
Result<Done> FakeProcess::move(std::span<const std::uintptr_t> pages, NodeId node,
                               std::span<int> status) noexcept {
  if (call_fails()) return Error{faults.error};
  for (int& s : status) s = -EAGAIN;
  const int target = static_cast<int>(index_of(node));
  for (std::size_t i = 0; i < pages.size(); ++i) {
    const auto it = pages_.find(pages[i]);
    if (it == pages_.end()) {
      status[i] = -ENOENT;
    } else if (has_child) {
      status[i] = -EACCES;
    } else if (it->second.move_error != 0) {
      status[i] = -it->second.move_error;
    } else if (it->second.node != target && free_on(target) == 0) {
      status[i] = -ENOMEM;
      return Done{};
    } else {
      it->second.node = target;
      status[i] = target;
    }
  }
  return Done{};
}

Result<std::size_t> FakeProcess::read(const char* path, std::span<char> out) noexcept {
  if (call_fails()) return Error{faults.error};
  int node = 0;
  if (std::sscanf(path, "sys/devices/system/node/node%d/meminfo", &node) != 1 || node > 2) {
    return Error{ENOENT};
  }
  const int size = std::snprintf(
      out.data(), out.size(), "Node %d MemTotal: %llu kB\nNode %d MemFree: %llu kB\n", node,
      static_cast<unsigned long long>(nodes[static_cast<std::size_t>(node)].pages * 4), node,
      static_cast<unsigned long long>(free_on(node) * 4));
  return static_cast<std::size_t>(size);
}

std::size_t FakeProcess::copy(std::span<AddressRange> out) noexcept {
  const std::size_t count = std::min(out.size(), heap_.size());
  std::copy_n(heap_.begin(), count, out.begin());
  return count;
}

Bytes FakeProcess::mapped() noexcept {
  Bytes sum;
  for (const AddressRange& range : heap_) sum = sum + Bytes{range.size()};
  return sum;
}

Result<Done> FakeProcess::open(std::size_t slot, NodeId node) noexcept {
  if (call_fails()) return Error{faults.error};
  probed_[slot] = node;
  return Done{};
}

Result<std::uint32_t> FakeProcess::walk(std::size_t slot) noexcept {
  if (call_fails()) return Error{EAGAIN};
  return nodes[index_of(probed_[slot])].latency_ps;
}

}  // namespace cxltier::fakes
